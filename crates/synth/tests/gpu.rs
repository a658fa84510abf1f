//! Witnesses on devices and their evaluations against the CPU's, on the host backend always, on
//! NVIDIA's devices and on OpenCL's where there are any.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::sync::Arc;

use blst::blst_fr;
use cuzk_gpu_backend::host::{Fault, HostConfig, HostDevice};
use cuzk_gpu_backend::{Backend, Buffer, Context, Device, Error, Host, Stream, suite};
use cuzk_pipeline_core::{CancelToken, Cx, ErrorKind, Footprint, Place, Placement, Stage, Value};
use cuzk_synth::gpu::{DeviceEval, DeviceTemplate, LoadTemplate, UploadWitness, upload};
use cuzk_synth::{
    FilecoinCircuit, PorepCircuit, PostCircuit, SnapCircuit, Statement, SynthError, WitnessSize, eval_ab,
    fixture,
};
use cuzk_values::{
    Bits, Coefficients, CompactScalars, DeviceWitness, Evals, Matrix, MatrixBuilder, OnDevice, Places, Poly,
    PostKind, R1cs, Repeat, Scalar, Witness,
};
use ff::Field;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The first device with its queues, where there is one.
fn open<B: Backend>() -> Option<Context<B>> {
    suite::open::<B>().map(|device| Context::new(device).unwrap())
}

fn rng() -> ChaCha8Rng {
    let seed = rand::random();
    eprintln!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// The limbs, which are equal only of scalars that are fully reduced.
fn limbs(scalars: &[Scalar]) -> Vec<[u64; 4]> {
    scalars.iter().map(|scalar| blst_fr::from(*scalar).l).collect()
}

fn download<B: Backend, W: bytemuck::Pod>(context: &Context<B>, buffer: &B::Buffer) -> Vec<W> {
    let mut words = vec![W::zeroed(); buffer.bytes() as usize / size_of::<W>()];
    context.compute().download(buffer, 0, bytemuck::cast_slice_mut(&mut words)).unwrap();
    words
}

/// Variables of a random circuit: shared ones, then those of each copy of the run, then others.
#[derive(Clone, Copy)]
struct Part {
    shared: u32,
    own: u32,
    rest: u32,
}

impl Part {
    fn random(rng: &mut ChaCha8Rng, most: u32) -> Self {
        Self { shared: rng.gen_range(1..most), own: rng.gen_range(0..most), rest: rng.gen_range(0..most) }
    }

    fn len(self, copies: u32) -> u32 {
        self.shared + copies * self.own + self.rest
    }
}

/// Coefficients: small ones of all kinds, powers of two, large ones, and as many more as there are to be.
fn coefficients(rng: &mut ChaCha8Rng, more: u64) -> Coefficients {
    let mut coefficients = Coefficients::default();
    (0..more).for_each(|i| _ = coefficients.intern(Scalar::from(i + 3)));
    for i in [1, 2, 3, 8, 9, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, u64::MAX] {
        coefficients.intern(Scalar::from(i));
        coefficients.intern(-Scalar::from(i));
    }
    (30..254).for_each(|i| _ = coefficients.intern(Scalar::from(2).pow_vartime([i])));
    (0..9).for_each(|_| _ = coefficients.intern(Scalar::random(&mut *rng)));
    coefficients
}

/// A matrix whose run stands `copies` times, and which has `rows` beside it.
fn matrix(
    rng: &mut ChaCha8Rng,
    [inputs, aux]: [Part; 2],
    copies: u32,
    rows: [u32; 3],
    indices: u32,
) -> Matrix {
    let (first_aux, columns) = (inputs.len(copies), inputs.len(copies) + aux.len(copies));
    let arguments = rng.gen_range(0..4);
    let own =
        [inputs.shared..inputs.shared + inputs.own, first_aux + aux.shared..first_aux + aux.shared + aux.own];
    let within: Vec<u32> = (0..inputs.shared + inputs.own)
        .chain(first_aux..first_aux + aux.shared + aux.own)
        .chain(Repeat::BOUND..Repeat::BOUND + arguments)
        .collect();
    let outside: Vec<u32> = (0..columns).collect();
    let mut builder = MatrixBuilder::default();
    for row in 0..rows.iter().sum() {
        let known = if (rows[0]..rows[0] + rows[1]).contains(&row) { &within } else { &outside };
        let len = match rng.gen_range(0..12) {
            0 => 0,
            1..7 => rng.gen_range(1..3),
            7..10 => rng.gen_range(3..20),
            10 => rng.gen_range(20..200),
            _ => rng.gen_range(200..1_000),
        };
        let mut columns: Vec<u32> = (0..len).map(|_| *known.choose(rng).unwrap()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.iter().for_each(|column| builder.entry(*column, rng.gen_range(0..indices)));
        builder.end_row();
    }
    let [inputs, aux] = own;
    let bound = (0..copies * arguments).map(|_| rng.gen_range(0..columns)).collect();
    builder.build_repeating(Repeat { count: copies, rows: rows[0]..rows[0] + rows[1], inputs, aux, bound })
}

/// Random constraints, in which nothing is right, and their variables.
fn random(rng: &mut ChaCha8Rng, most: u32, copies: u32, more: u64) -> (R1cs, Witness) {
    let parts = [Part::random(rng, 50), Part::random(rng, most)];
    let coefficients = coefficients(rng, more);
    let rows = [(); 3].map(|()| rng.gen_range(0..most));
    let [a, b, c] =
        [rows, rows, [0; 3]].map(|rows| matrix(rng, parts, copies, rows, coefficients.values().len() as u32));
    let [inputs, aux] = parts.map(|part| part.len(copies) as usize);
    let r1cs = R1cs::new(inputs, aux, coefficients, [a, b, c]);

    let share = rng.gen_range(0..=100);
    let scalar = |rng: &mut ChaCha8Rng| match rng.gen_range(0..5) {
        0 => Scalar::ZERO,
        1 => Scalar::ONE,
        2 => -Scalar::ONE,
        _ => Scalar::random(rng),
    };
    let mut public = vec![Scalar::ONE];
    public.resize_with(inputs, || scalar(rng));
    // As a circuit of equal parts has them.
    let Part { shared, own, .. } = parts[1];
    let mut some = |of: u32| (0..of).filter(|_| rng.gen_range(0..100) < share).collect::<Vec<_>>();
    let places = Places::repeating(some(shared), some(own), shared, own, copies);
    let mut ones = Bits::zeros(aux);
    (0..aux).filter(|_| rng.gen_bool(0.5)).for_each(|i| ones.set(i));
    let mut words = ones.into_words();
    places.iter().for_each(|at| words[at as usize / 64] &= !(1 << (at % 64)));
    let wide = (0..places.len()).map(|_| scalar(rng)).collect();
    let aux = CompactScalars::new(Bits::from_words(words, aux).unwrap(), places, wide);
    (r1cs, Witness { inputs: public, aux })
}

fn is_the_cpus<B: Backend>(context: &Context<B>, r1cs: &R1cs, witness: &Witness) {
    let cx = Cx::detached();
    let template = DeviceTemplate::<B>::new(context, r1cs).unwrap();
    let on_device = upload(&cx, context, witness).unwrap();
    let (a, b) = template.evaluate(context, &on_device).unwrap();

    let places: Vec<u32> = witness.aux.wide_at().iter().collect();
    assert_eq!(download::<B, u32>(context, &on_device.wide_at), places);
    assert_eq!(download::<B, u64>(context, &on_device.ones), witness.aux.ones().words());
    assert_eq!(download::<B, [u64; 4]>(context, &on_device.wide), limbs(witness.aux.wide()));
    assert_eq!(download::<B, [u64; 4]>(context, &on_device.inputs), limbs(&witness.inputs));
    let expected = eval_ab(&cx, r1cs, witness).unwrap();
    for (name, got, expected) in [("a", a, expected.0), ("b", b, expected.1)] {
        assert_eq!(got.log_len(), r1cs.log_domain());
        let (got, expected) = (download::<B, [u64; 4]>(context, got.buffer()), limbs(expected.scalars()));
        let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        assert!(wrong.is_none() && got.len() == expected.len(), "{name}: row {wrong:?}");
    }
}

fn random_circuits<B: Backend>(most: u32, circuits: usize) {
    let Some(context) = open::<B>() else { return };
    let rng = &mut rng();
    for i in 0..circuits {
        let (copies, more) = (rng.gen_range(1..6), if i == 0 { 70_000 } else { 0 });
        let (r1cs, witness) = random(rng, most, copies, more);
        is_the_cpus(&context, &r1cs, &witness);
    }
}

#[test]
fn random_circuits_are_the_cpus() {
    random_circuits::<Host>(150, 60);
    random_circuits::<Host>(6_000, 2);
}

/// A partition of 2 KiB of each kind.
fn filecoins() -> [(FilecoinCircuit, Witness); 4] {
    let cx = Cx::detached();
    let porep = PorepCircuit::of_size(2048).unwrap();
    let snap = SnapCircuit::of_size(2048).unwrap();
    let post = |kind| {
        let circuit = PostCircuit::of_size(kind, 2048).unwrap();
        let input = fixture::SparsePost::new(kind, 2048, 1).unwrap().build();
        (circuit.into(), circuit.witness(&cx, &input, 0).unwrap())
    };
    [
        (porep.into(), porep.witness(&cx, &fixture::porep(2048, 1).unwrap(), 0).unwrap()),
        (snap.into(), snap.witness(&cx, &fixture::snap(2048, 1).unwrap(), 0).unwrap()),
        post(PostKind::Window),
        post(PostKind::Winning),
    ]
}

fn filecoins_circuits<B: Backend>() {
    let Some(context) = open::<B>() else { return };
    for (circuit, witness) in filecoins() {
        is_the_cpus(&context, &circuit.record().unwrap().r1cs, &witness);
    }
}

#[test]
fn filecoins_circuits_are_the_cpus() {
    filecoins_circuits::<Host>();
}

fn size(r1cs: &R1cs, witness: &Witness) -> WitnessSize {
    let places = witness.aux.wide_at();
    let stored = places.first().len() + places.run().0.len();
    WitnessSize { inputs: r1cs.inputs, aux: r1cs.aux, wide: places.len(), places: stored }
}

/// What of a device is in use once everything queued is done.
fn ours<B: Backend>(context: &Context<B>) -> Result<u64, Error> {
    context.transfer().sync()?;
    context.compute().sync()?;
    Ok(context.device().memory()?.ours)
}

/// Runs a stage on a device; what it made, and how much more of the device is in use then.
fn run<B: Backend, S: Stage<Error = SynthError>>(
    context: &Context<B>,
    stage: &S,
    input: S::In,
) -> Result<(S::Out, Footprint), SynthError> {
    assert_eq!(stage.placement(), Placement::Gpu);
    let before = ours(context)?;
    let out = stage.run(&Cx::detached().with_device(Place::Gpu(0), context), input)?;
    Ok((out, Footprint::device(ours(context)? - before)))
}

/// All stages, which take what they declare.
fn stages<B: Backend>(
    context: &Context<B>,
    (r1cs, witness): &(Arc<R1cs>, Arc<Witness>),
) -> Result<OnDeviceEvals<B>, SynthError> {
    let (size, log_domain) = (size(r1cs, witness), r1cs.log_domain());
    let load = LoadTemplate::<B>::new(r1cs.clone());
    let (template, took) = run(context, &load, ())?;
    assert_eq!((template.footprint(), load.cost().left()), (took, took));
    assert_eq!(DeviceTemplate::<B>::bytes(r1cs), took.device);

    let stage = UploadWitness::<B>::new(size);
    let (on_device, took) = run(context, &stage, witness.clone())?;
    assert_eq!(stage.cost().left(), took);
    assert!(on_device.footprint().fits(took));

    let (on_device, template) = (Arc::new(on_device), Arc::new(template));
    let stage = DeviceEval::<B>::new(size, log_domain);
    let (evals, took) = run(context, &stage, (on_device.clone(), template.clone()))?;
    assert_eq!(stage.cost().left(), took);
    Ok(evals)
}

type OnDeviceEvals<B> =
    (Poly<Evals, OnDevice<<B as Backend>::Buffer>>, Poly<Evals, OnDevice<<B as Backend>::Buffer>>);

/// A circuit that has arguments, and places that repeat.
fn some() -> (Arc<R1cs>, Arc<Witness>) {
    let mut circuits = (0..).map(|seed| random(&mut ChaCha8Rng::seed_from_u64(seed), 200, 3, 0));
    let (r1cs, witness) = circuits
        .find(|(r1cs, witness)| {
            let places = witness.aux.wide_at();
            !(places.first().is_empty() || places.run().0.is_empty() || r1cs.a.repeat().bound.is_empty())
        })
        .unwrap();
    (Arc::new(r1cs), Arc::new(witness))
}

fn memory_is_what_was_declared<B: Backend>() {
    let Some(context) = open::<B>() else { return };
    let before = ours(&context).unwrap();
    stages(&context, &some()).unwrap();
    assert_eq!(ours(&context).unwrap(), before);
}

#[test]
fn stages_take_what_they_declare() {
    memory_is_what_was_declared::<Host>();
}

/// As much as the stages declare suffices, and no less.
#[test]
fn what_is_declared_suffices() {
    let circuit = some();
    let size = size(&circuit.0, &circuit.1);
    let load = LoadTemplate::<Host>::new(circuit.0.clone()).cost();
    let upload = UploadWitness::<Host>::new(size).cost();
    let eval = DeviceEval::<Host>::new(size, circuit.0.log_domain()).cost();
    let floor = (load.left() + upload.left() + eval.to_start()).device;
    assert!(floor >= (load.left() + upload.to_start()).device);
    let of = |memory| {
        let device = HostDevice::new(&HostConfig { memory, ..HostConfig::default() });
        stages(&Context::<Host>::new(device).unwrap(), &circuit)
    };
    of(floor).unwrap();
    let error = of(floor - 256).unwrap_err();
    assert!(matches!(error, SynthError::Device(Error::OutOfMemory { .. })), "{error}");
    assert_eq!(error.kind(), ErrorKind::Resource);
}

#[test]
fn faults_are_errors_and_leave_the_device_as_it_was() {
    let circuit = some();
    let faults: [fn(u64) -> Fault; 3] =
        [|after| Fault::Allocation { after }, |after| Fault::Launch { after }, |after| Fault::Loss { after }];
    for (i, fault) in faults.into_iter().enumerate() {
        let failed = (0..1_000).find(|after| {
            let device = HostDevice::new(&HostConfig::default());
            let context = Context::<Host>::new(device.clone()).unwrap();
            device.inject(fault(*after));
            let result = stages(&context, &circuit);
            let Err(error) = result else { return true };
            match error {
                SynthError::Device(Error::OutOfMemory { .. }) if i == 0 => {}
                SynthError::Device(Error::Launch { .. }) if i == 1 => {}
                SynthError::Device(Error::Lost { .. }) if i == 2 => return false,
                other => panic!("{other}"),
            }
            assert_eq!(ours(&context).unwrap(), 0, "{:?}", fault(*after));
            stages(&context, &circuit).unwrap();
            false
        });
        // Buffers and page-locked pieces; kernels; those and copies.
        let least = [20, 4, 20][i];
        assert!(failed.unwrap() >= least, "{:?}", fault(failed.unwrap()));
    }
}

#[test]
fn foreign_witnesses_are_refused_before_anything_is_queued() {
    let (r1cs, witness) = some();
    let device = HostDevice::new(&HostConfig::default());
    let context = Context::<Host>::new(device.clone()).unwrap();
    let template = DeviceTemplate::<Host>::new(&context, &r1cs).unwrap();
    let good = upload(&Cx::detached(), &context, &witness).unwrap();
    let short = |buffer: &<Host as Backend>::Buffer| context.device().buffer(buffer.bytes() - 32).unwrap();
    let foreign = [
        ("inputs", DeviceWitness { inputs: short(&good.inputs), ..good.clone() }),
        ("auxiliary variables", DeviceWitness { aux: good.aux + 1, ..good.clone() }),
        ("words of bits", DeviceWitness { ones: short(&good.ones), ..good.clone() }),
        ("full-width values", DeviceWitness { wide: short(&good.wide), ..good.clone() }),
    ];
    device.inject(Fault::Allocation { after: 0 });
    for (name, witness) in foreign {
        let error = template.evaluate(&context, &witness).unwrap_err();
        assert!(matches!(error, SynthError::Foreign { what, .. } if what == name), "{error}");
        assert_eq!(error.kind(), ErrorKind::Bug);
    }
    let error = template.evaluate(&context, &good).unwrap_err();
    assert!(matches!(error, SynthError::Device(Error::OutOfMemory { .. })), "{error}");
    template.evaluate(&context, &good).unwrap();

    let on_device = || Cx::detached().with_device(Place::Gpu(0), &context);
    let size = size(&r1cs, &witness);
    for other in [
        WitnessSize { inputs: size.inputs + 1, ..size },
        WitnessSize { aux: size.aux + 1, ..size },
        WitnessSize { wide: size.wide - 1, ..size },
    ] {
        let stage = UploadWitness::<Host>::new(other);
        let error = stage.run(&on_device(), witness.clone()).unwrap_err();
        assert!(matches!(error, SynthError::Foreign { .. }), "{error}");
    }
    let stage = DeviceEval::<Host>::new(size, r1cs.log_domain() + 1);
    let error = stage.run(&on_device(), (Arc::new(good), Arc::new(template))).unwrap_err();
    assert!(matches!(error, SynthError::Foreign { what: "points of the domain", .. }), "{error}");
    let other = random(&mut ChaCha8Rng::seed_from_u64(6), 200, 3, 0).0;
    let stage = LoadTemplate::<Host>::from(&other, Arc::new(move |_: &Cx<'_>| Ok(r1cs.clone())));
    let error = stage.run(&on_device(), ()).unwrap_err();
    assert!(matches!(error, SynthError::Foreign { what: "bytes of constraints", .. }), "{error}");
}

#[test]
fn stages_want_a_device_and_can_be_cancelled() {
    let (r1cs, witness) = some();
    let load = LoadTemplate::<Host>::new(r1cs.clone());
    let stage = UploadWitness::<Host>::new(size(&r1cs, &witness));
    assert_eq!((load.name(), stage.name()), ("eval.load".into(), "witness.upload".into()));
    let error = load.run(&Cx::detached(), ()).unwrap_err();
    assert!(matches!(error, SynthError::Device(Error::NoContext { backend: "host", .. })), "{error}");
    let error = stage.run(&Cx::detached(), witness.clone()).unwrap_err();
    assert_eq!(stage.kind(&error), ErrorKind::Bug);

    let context = open::<Host>().unwrap();
    let cancel = CancelToken::default();
    cancel.cancel();
    let cx = Cx::detached().with_cancel(cancel).with_device(Place::Gpu(0), &context);
    let errors = [load.run(&cx, ()).map(drop).unwrap_err(), stage.run(&cx, witness).map(drop).unwrap_err()];
    assert!(errors.iter().all(|error| matches!(error, SynthError::Cancelled(_))));
    assert_eq!(ours(&context).unwrap(), 0);
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuzk_gpu_backend::Cuda;

    use super::*;

    #[test]
    fn random_circuits_are_the_cpus() {
        random_circuits::<Cuda>(150, 60);
        random_circuits::<Cuda>(6_000, 10);
    }

    #[test]
    fn filecoins_circuits_are_the_cpus() {
        filecoins_circuits::<Cuda>();
    }

    #[test]
    fn stages_take_what_they_declare() {
        memory_is_what_was_declared::<Cuda>();
    }
}

#[cfg(feature = "opencl")]
mod opencl {
    use cuzk_gpu_backend::OpenCl;

    use super::*;

    #[test]
    fn random_circuits_are_the_cpus() {
        OpenCl::accept_cpus();
        random_circuits::<OpenCl>(150, 20);
        random_circuits::<OpenCl>(6_000, 2);
    }

    #[test]
    fn filecoins_circuits_are_the_cpus() {
        OpenCl::accept_cpus();
        filecoins_circuits::<OpenCl>();
    }

    #[test]
    fn stages_take_what_they_declare() {
        OpenCl::accept_cpus();
        memory_is_what_was_declared::<OpenCl>();
    }
}
