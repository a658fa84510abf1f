//! The memory of a handle: large buffers are the driver's own, kept for the next of their size; small ones
//! lie in a range of addresses with physical memory behind its beginning.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUresult};

use super::driver::Context;
use crate::arena::ALIGN;
use crate::pool::{LARGE, Pool};
use crate::{Arena, Block, Error, MemoryKind, MemoryReport};

/// Physical memory for small buffers is asked for in pieces of this many bytes at the least.
const PIECE: u64 = 16 << 20;

/// A device's memory, as far as one handle may use it.
#[derive(Debug)]
pub(super) struct Memory {
    /// The first address.
    base: u64,
    /// How many addresses.
    size: u64,
    books: Mutex<Books>,
}

/// What a buffer has.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) address: u64,
    len: u64,
    /// Its place among the small ones; none is the driver's own.
    block: Option<Block>,
}

#[derive(Debug)]
struct Books {
    /// Large buffers by address, and the bytes of all.
    pool: Pool<u64>,
    /// Small buffers.
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
        let limit = limit.unwrap_or(total).min(total);
        let size = limit.next_multiple_of(PIECE.next_multiple_of((granularity as u64).max(1)));
        let mut base = 0;
        // SAFETY: the pointer is to an address that lives through the call.
        let result = unsafe { sys::cuMemAddressReserve(&raw mut base, size as usize, 0, 0, 0) };
        context.check("cuMemAddressReserve", result)?;
        let (arena, pool) = (Arena::new(limit), Pool::new(limit / ALIGN * ALIGN));
        let books = Books { pool, arena, mapped: 0, pieces: Vec::new() };
        Ok(Self { base, size, books: Mutex::new(books) })
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least `bytes`; `None` where there is no room.
    pub(super) fn take(&self, context: &Context, bytes: u64) -> Result<Option<Piece>, Error> {
        context.enter()?;
        let Some(len) = bytes.checked_next_multiple_of(ALIGN) else { return Ok(None) };
        let mut books = self.books();
        let large = len >= LARGE;
        if large && let Some((address, len)) = books.pool.again(len) {
            return Ok(Some(Piece { address, len, block: None }));
        }
        if len > books.pool.free() {
            return Ok(None);
        }
        while let Some(surplus) = books.pool.surplus(len) {
            free(context, surplus)?;
        }
        loop {
            let made = if large { create(context, len)? } else { self.small(context, &mut books, len)? };
            if let Some(piece) = made {
                books.pool.took(len);
                return Ok(Some(piece));
            }
            let Some(spare) = books.pool.spare() else { return Ok(None) };
            free(context, spare)?;
        }
    }

    /// A block among the small ones.
    fn small(&self, context: &Context, books: &mut Books, len: u64) -> Result<Option<Piece>, Error> {
        let Some(block) = books.arena.take(len) else { return Ok(None) };
        let mapped = self.map(context, books, block.offset() + block.bytes());
        if matches!(mapped, Ok(true)) {
            return Ok(Some(Piece { address: self.base + block.offset(), len, block: Some(block) }));
        }
        books.arena.give_back(block);
        mapped.map(|_| None)
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

    pub(super) fn give_back(&self, piece: Piece) {
        let mut books = self.books();
        let Piece { address, len, block } = piece;
        match block {
            Some(block) => {
                books.arena.give_back(block);
                books.pool.returned(len);
            }
            None => books.pool.keep(address, len),
        }
    }

    pub(super) fn report(&self, context: &Context) -> Result<MemoryReport, Error> {
        let (free, total) = free_and_total(context)?;
        let books = self.books();
        let (idle, largest) = (books.idle(), books.largest());
        let free = free.saturating_add(idle).min(total);
        Ok(MemoryReport::new(total, free, books.pool.used(), largest.min(free)))
    }

    /// The error that says that `requested` bytes are not to be had.
    pub(super) fn out(&self, context: &Context, kind: MemoryKind, requested: u64) -> Error {
        let device = context.id().to_string();
        match kind {
            MemoryKind::Device => {
                let free_there = free_and_total(context).map_or(0, |(free, _)| free);
                let books = self.books();
                let free = books.pool.free().min(free_there.saturating_add(books.idle()));
                let (largest, limit) = (books.largest().min(free), books.pool.limit());
                Error::OutOfMemory { device, kind, requested, free, largest, limit }
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
        while let Some(address) = books.pool.spare() {
            // SAFETY: it came from `cuMemAlloc`, and is not in use.
            let _ = unsafe { sys::cuMemFree_v2(address) };
        }
        for (at, bytes) in books.pieces.drain(..) {
            // SAFETY: it was mapped as it is unmapped here, and is not in use.
            let _ = unsafe { sys::cuMemUnmap(at, bytes as usize) };
        }
        // SAFETY: nothing is mapped in the range any more.
        let _ = unsafe { sys::cuMemAddressFree(self.base, self.size as usize) };
    }
}

impl Books {
    /// Bytes of the device that are ours and of no buffer.
    fn idle(&self) -> u64 {
        self.pool.kept() + self.mapped.saturating_sub(self.arena.used())
    }

    /// The largest buffer that the limit leaves room for.
    fn largest(&self) -> u64 {
        let free = self.pool.free();
        if free >= LARGE { free } else { self.arena.largest().min(free) }
    }
}

/// Memory of the driver's own; `None` if the device has none left.
fn create(context: &Context, len: u64) -> Result<Option<Piece>, Error> {
    let mut address = 0;
    // SAFETY: the pointer is to an address that lives through the call.
    match unsafe { sys::cuMemAlloc_v2(&raw mut address, len as usize) } {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Ok(None),
        other => {
            context.check("cuMemAlloc", other)?;
            Ok(Some(Piece { address, len, block: None }))
        }
    }
}

/// Gives idle memory of the driver's own back to it.
fn free(context: &Context, address: u64) -> Result<(), Error> {
    // SAFETY: it came from `cuMemAlloc`; it is idle, so that no buffer and no queued work has it, and
    // it has left the books.
    context.check("cuMemFree", unsafe { sys::cuMemFree_v2(address) })
}
