//! The memory of a handle: a range of addresses, physical memory behind its beginning.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUresult};

use super::driver::Context;
use crate::{Arena, Block, Error, MemoryKind, MemoryReport};

/// Physical memory is asked for in pieces of this many bytes at the least.
const PIECE: u64 = 64 << 20;

/// A device's memory, as far as one handle may use it.
#[derive(Debug)]
pub(super) struct Memory {
    /// The first address.
    base: u64,
    /// How many addresses.
    size: u64,
    books: Mutex<Books>,
}

#[derive(Debug)]
struct Books {
    arena: Arena,
    /// Bytes from `base` on that have memory behind them, and the pieces of it.
    mapped: u64,
    pieces: Vec<(u64, u64)>,
}

/// `properties` of physical memory of a device.
fn properties(context: &Context) -> sys::CUmemAllocationProp {
    let location = location(context);
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location,
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

fn location(context: &Context) -> sys::CUmemLocation {
    sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: context.device }
}

/// Bytes that the device has, and that nobody uses.
fn free_and_total(context: &Context) -> Result<(u64, u64), Error> {
    context.enter()?;
    let (mut free, mut total) = (0, 0);
    // SAFETY: both pointers are to numbers that live through the call.
    context
        .check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) })
        .map(|()| (free as u64, total as u64))
}

impl Memory {
    /// Room for `limit` bytes, or for all that the device has.
    pub(super) fn new(context: &Context, limit: Option<u64>) -> Result<Self, Error> {
        let (_, total) = free_and_total(context)?;
        let properties = properties(context);
        let mut granularity = 0;
        let minimum = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        // SAFETY: both pointers are to values that live through the call.
        let result = unsafe {
            sys::cuMemGetAllocationGranularity(&raw mut granularity, &raw const properties, minimum)
        };
        context.check("cuMemGetAllocationGranularity", result)?;
        // A limit is there to be used up; without one, memory is put behind the first addresses alone.
        let whole = limit.is_some();
        let limit = limit.unwrap_or(total).min(total);
        let size = limit.next_multiple_of(PIECE.next_multiple_of((granularity as u64).max(1)));
        let mut base = 0;
        // SAFETY: the pointer is to an address that lives through the call.
        let result = unsafe { sys::cuMemAddressReserve(&raw mut base, size as usize, 0, 0, 0) };
        context.check("cuMemAddressReserve", result)?;
        let arena = if whole { Arena::new(limit).apart() } else { Arena::new(limit) };
        let books = Books { arena, mapped: 0, pieces: Vec::new() };
        Ok(Self { base, size, books: Mutex::new(books) })
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block, and its address; `None` where there is no room.
    pub(super) fn take(&self, context: &Context, bytes: u64) -> Result<Option<(Block, u64)>, Error> {
        context.enter()?;
        let mut books = self.books();
        loop {
            let Some(block) = books.arena.take(bytes) else { return Ok(None) };
            match self.map(context, &mut books, block.offset() + block.bytes()) {
                Ok(true) => {
                    let address = self.base + block.offset();
                    return Ok(Some((block, address)));
                }
                other => {
                    books.arena.give_back(block);
                    // The device may have as much left at lower addresses.
                    if !other? && !books.arena.together() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Puts memory behind the first `end` bytes; `false` if the device has none left.
    fn map(&self, context: &Context, books: &mut Books, end: u64) -> Result<bool, Error> {
        if end <= books.mapped {
            return Ok(true);
        }
        let bytes = (end - books.mapped).next_multiple_of(PIECE).min(self.size - books.mapped);
        let (properties, mut handle) = (properties(context), 0);
        // SAFETY: both pointers are to values that live through the call.
        let result = unsafe { sys::cuMemCreate(&raw mut handle, bytes as usize, &raw const properties, 0) };
        if result == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Ok(false);
        }
        context.check("cuMemCreate", result)?;
        let at = self.base + books.mapped;
        let access = sys::CUmemAccessDesc {
            location: location(context),
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the addresses are reserved, in multiples of the granularity, and nothing is behind them;
        // the handle is released whatever comes, which the mapping outlives.
        unsafe {
            let mapped = sys::cuMemMap(at, bytes as usize, 0, handle, 0);
            let _ = sys::cuMemRelease(handle);
            context.check("cuMemMap", mapped)?;
            books.pieces.push((at, bytes));
            books.mapped += bytes;
            let set = sys::cuMemSetAccess(at, bytes as usize, &raw const access, 1);
            context.check("cuMemSetAccess", set)?;
        }
        Ok(true)
    }

    pub(super) fn give_back(&self, block: Block) {
        self.books().arena.give_back(block);
    }

    pub(super) fn report(&self, context: &Context) -> Result<MemoryReport, Error> {
        let (free, total) = free_and_total(context)?;
        let books = self.books();
        // What has been mapped is ours, used or not.
        let idle = books.mapped.saturating_sub(books.arena.used()).min(books.arena.free());
        let free = free.saturating_add(idle).min(total);
        let largest = books.arena.largest().min(free);
        Ok(MemoryReport::new(total, free, books.arena.used(), largest))
    }

    /// The error that says that `requested` bytes are not to be had.
    pub(super) fn out(&self, context: &Context, kind: MemoryKind, requested: u64) -> Error {
        let device = context.id().to_string();
        match kind {
            MemoryKind::Device => {
                let free_there = free_and_total(context).map_or(0, |(free, _)| free);
                let books = self.books();
                let there = free_there.saturating_add(books.mapped.saturating_sub(books.arena.used()));
                let free = books.arena.free().min(there);
                let largest = books.arena.largest().min(free);
                Error::OutOfMemory { device, kind, requested, free, largest, limit: books.arena.size() }
            }
            // The kernel's limit on locked memory is not known here, nor what is left of it.
            MemoryKind::Pinned => {
                Error::OutOfMemory { device, kind, requested, free: 0, largest: 0, limit: 0 }
            }
        }
    }

    /// Gives everything back to the driver.
    ///
    /// # Safety
    /// No work that uses the memory is queued any more.
    pub(super) unsafe fn free(&self, context: &Context) {
        context.enter_anyway();
        let mut books = self.books();
        for (at, bytes) in books.pieces.drain(..) {
            // SAFETY: it was mapped as it is unmapped here, and is not in use.
            let _ = unsafe { sys::cuMemUnmap(at, bytes as usize) };
        }
        // SAFETY: nothing is mapped in the range any more.
        let _ = unsafe { sys::cuMemAddressFree(self.base, self.size as usize) };
    }
}
