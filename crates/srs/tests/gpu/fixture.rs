//! Parameter files with points of our choice, and a device to load them to.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use blst::blst_fp;
use blstrs::{Fp, G1Affine, G2Affine};
use cuzk_gpu_backend::{Backend, Buffer, Context, Device, Error, Stream};
use cuzk_pipeline_core::{Cx, Place, Stage};
use cuzk_srs::gpu::{DevicePoint, LoadBases, Staging};
use cuzk_srs::{Layout, ParameterFile, Query, SrsError, encode_key};
use cuzk_values::{Bases, DeviceBases, QueryLengths, Srs, VerifyingKey};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rand_chacha::ChaCha8Rng;
use rand_core::{OsRng, RngCore, SeedableRng};
use tempfile::TempDir;

/// A change of a stored point.
pub(crate) type Spoil = dyn Fn(&mut [u8]);

pub(crate) fn random() -> ChaCha8Rng {
    let seed = OsRng.next_u64();
    eprintln!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// A point with a query of its own in a parameter file.
pub(crate) trait TestPoint: DevicePoint<Curve: Curve<AffineRepr = Self>> {
    const QUERY: Query;
    fn query(srs: &Srs) -> &Bases<Self>;
    /// The coordinates as a device has them.
    fn limbs(&self) -> Vec<u64>;
}

fn words(coordinates: &[Fp]) -> Vec<u64> {
    coordinates.iter().flat_map(|x| blst_fp::from(*x).l).collect()
}

impl TestPoint for G1Affine {
    const QUERY: Query = Query::H;
    fn query(srs: &Srs) -> &Bases<Self> {
        &srs.h
    }
    fn limbs(&self) -> Vec<u64> {
        words(&[self.x(), self.y()])
    }
}

impl TestPoint for G2Affine {
    const QUERY: Query = Query::BG2;
    fn query(srs: &Srs) -> &Bases<Self> {
        &srs.b_g2
    }
    fn limbs(&self) -> Vec<u64> {
        let (x, y) = (self.x(), self.y());
        words(&[x.c0(), x.c1(), y.c0(), y.c1()])
    }
}

pub(crate) fn random_points<P: TestPoint>(n: usize, random: &mut ChaCha8Rng) -> Vec<P> {
    let mut point = P::Curve::random(random);
    let mut next = || {
        point = point.double();
        point.to_affine()
    };
    (0..n).map(|_| next()).collect()
}

/// A parameter file whose query of `P` has these points, and its bytes.
pub(crate) struct TestFile {
    pub(crate) _folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) layout: Layout,
}

impl TestFile {
    pub(crate) fn new<P: TestPoint>(points: &[P]) -> Self {
        let (g1, g2) = (G1Affine::generator(), G2Affine::generator());
        let vk = VerifyingKey {
            alpha_g1: g1,
            beta_g1: g1,
            beta_g2: g2,
            gamma_g2: g2,
            delta_g1: g1,
            delta_g2: g2,
            ic: vec![g1],
        };
        let n = points.len();
        let lengths = QueryLengths { inputs: 1, h: n, l: 1, a: 1, b: n };
        let layout = Layout::new(&lengths);
        let mut bytes = encode_key(&vk);
        for query in Query::ALL {
            bytes.extend((query.count(&lengths) as u32).to_be_bytes());
            for i in 0..query.count(&lengths) {
                let at = bytes.len();
                bytes.resize(at + query.point_bytes(), 0);
                match query {
                    _ if query == P::QUERY => points[i].encode(&mut bytes[at..]),
                    Query::BG2 => bytes[at..].copy_from_slice(&g2.to_uncompressed()),
                    _ => bytes[at..].copy_from_slice(&g1.to_uncompressed()),
                }
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.params");
        let file = Self { _folder: folder, path, bytes, layout };
        file.write(&[]);
        file
    }

    /// Writes it, with some points of `P`'s query changed.
    pub(crate) fn spoil<P: TestPoint>(&self, points: &[(usize, &Spoil)]) -> Srs {
        let section = self.layout.section(P::QUERY);
        let changes: Vec<_> = points
            .iter()
            .map(|(index, spoil)| {
                let at = section.start as usize + index * section.point_bytes;
                let mut point = self.bytes[at..at + section.point_bytes].to_vec();
                spoil(&mut point);
                (at, point)
            })
            .collect();
        self.write(&changes);
        self.srs()
    }

    pub(crate) fn write(&self, changes: &[(usize, Vec<u8>)]) {
        let mut bytes = self.bytes.clone();
        changes.iter().for_each(|(at, with)| bytes[*at..at + with.len()].copy_from_slice(with));
        // Another file, so that who maps the old one keeps it.
        let _ = fs::remove_file(&self.path);
        fs::write(&self.path, bytes).unwrap();
    }

    pub(crate) fn srs(&self) -> Srs {
        ParameterFile::open(&self.path, self.layout.lengths()).unwrap().srs()
    }
}

/// A device with a staging, and what is done with them.
pub(crate) struct Bench<B: Backend> {
    pub(crate) context: Arc<Context<B>>,
    pub(crate) staging: Arc<Staging<B>>,
}

impl<B: Backend> Bench<B> {
    /// `None` where the backend has no device.
    pub(crate) fn open(piece: usize) -> Option<Self> {
        match Context::open(0, None) {
            Ok(context) => Some(Self::of(context, piece)),
            Err(error @ (Error::Unavailable { .. } | Error::NoDevice { .. })) => {
                eprintln!("SKIPPED, this tests nothing: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn of(context: Context<B>, piece: usize) -> Self {
        let staging = Arc::new(Staging::new(context.device(), piece).unwrap());
        Self { context: Arc::new(context), staging }
    }

    pub(crate) fn cx(&self) -> Cx<'_> {
        Cx::detached().with_device(Place::Gpu(0), &*self.context)
    }

    pub(crate) fn load<P: TestPoint>(
        &self,
        bases: &Bases<P>,
        range: Range<usize>,
    ) -> Result<DeviceBases<B::Buffer, P>, SrsError> {
        LoadBases::<B, P>::new("srs.test", bases.clone(), range).run(&self.cx(), self.staging.clone())
    }

    /// What is in a buffer, by who uses it on the queue of kernels.
    pub(crate) fn words(&self, buffer: &B::Buffer) -> Vec<u64> {
        words_of::<B>(&self.context, buffer)
    }

    /// Bytes of the device that are in use once all is done.
    pub(crate) fn used(&self) -> u64 {
        self.context.compute().sync().unwrap();
        self.context.transfer().sync().unwrap();
        self.context.device().memory().unwrap().ours
    }
}

pub(crate) fn words_of<B: Backend>(context: &Context<B>, buffer: &B::Buffer) -> Vec<u64> {
    let mut words = vec![0_u64; (buffer.bytes() / 8) as usize];
    context.compute().download(buffer, 0, bytemuck::cast_slice_mut(&mut words)).unwrap();
    words
}

pub(crate) fn limbs<P: TestPoint>(points: &[P]) -> Vec<u64> {
    points.iter().flat_map(P::limbs).collect()
}
