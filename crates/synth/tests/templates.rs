//! Templates as files: what is loaded is what was recorded, whatever is in the folder.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::ops::ControlFlow;
use std::sync::Barrier;

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use cuzk_pipeline_core::Value as _;
use cuzk_synth::template::{MULTIPLE, Origin, Store, TemplateError, compare, decode, encode, key, row_path};
use cuzk_synth::{FilecoinCircuit, Recording, record};
use cuzk_values::{Matrix, R1cs, Scalar};
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn circuit(name: &str) -> FilecoinCircuit {
    name.parse().unwrap()
}

fn unwatched(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The same, also as it is stored, and with no memory to spare.
fn assert_same(loaded: &Recording, recorded: &Recording) {
    let (one, other) = (&loaded.r1cs, &recorded.r1cs);
    assert_eq!(loaded.size, recorded.size);
    assert_eq!((one.inputs, one.aux), (other.inputs, other.aux));
    assert_eq!(one.coefficients.values(), other.coefficients.values());
    for (one, other) in [(&one.a, &other.a), (&one.b, &other.b), (&one.c, &other.c)] {
        assert_eq!(one.repeat(), other.repeat());
        assert_eq!((one.rows(), one.entries()), (other.rows(), other.entries()));
        assert!(one.stored_rows().zip(other.stored_rows()).all(|(one, other)| one.eq(other)));
        assert_eq!(one.footprint(), other.footprint());
    }
    assert_eq!(one.densities, other.densities);
}

#[test]
fn what_is_loaded_is_what_was_recorded() {
    for name in ["porep-2KiB", "snap-2KiB", "window-post-2KiB", "winning-post-32GiB", "window-post-32GiB"] {
        let recorded = circuit(name).record().unwrap();
        let bytes = encode("key", &recorded).unwrap();
        let loaded = decode("key", &bytes).unwrap();
        assert_same(&loaded, &recorded);
        let (memory, file) = (loaded.r1cs.footprint().host, bytes.len() as u64);
        println!("{name}: {file} bytes, {} times that in memory", memory / file);
        assert!(memory < MULTIPLE / 2 * file);
    }
}

/// More coefficients than 16 bits can tell, and no run.
struct ManyCoefficients(u64);

impl Circuit<Scalar> for ManyCoefficients {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || Err(SynthesisError::AssignmentMissing))?;
        let y = cs.alloc_input(|| "y", || Err(SynthesisError::AssignmentMissing))?;
        for i in 0..self.0 {
            let coefficient = Scalar::from(i + 2);
            cs.enforce(
                || "",
                |lc| lc + (coefficient, x) + y,
                |lc| lc + CS::one(),
                |lc| lc + (coefficient, x) + y,
            );
        }
        Ok(())
    }
}

#[test]
fn dictionaries_may_be_large() {
    let recorded = record(ManyCoefficients(70_000)).unwrap();
    assert_eq!(recorded.r1cs.coefficients.values().len(), 70_001);
    let last = recorded.r1cs.a.row(69_999).map(|(column, index)| (column, index as usize));
    let values = recorded.r1cs.coefficients.values();
    let last: Vec<_> = last.map(|(column, index)| (column, values[index])).collect();
    assert_eq!(last, [(1, Scalar::ONE), (2, Scalar::from(70_001))]);
    assert_same(&decode("large", &encode("large", &recorded).unwrap()).unwrap(), &recorded);
}

#[test]
fn a_store_makes_again_what_it_cannot_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("made/later"));
    let post = circuit("window-post-2KiB");
    let recorded = post.record().unwrap();
    assert!(store.load(post).unwrap_err().is_missing());
    assert!(store.stored(post).unwrap_err().is_missing());

    let first = store.load_or_record(post).unwrap();
    assert!(matches!(first.origin, Origin::Recorded) && first.unsaved.is_none());
    let again = store.load_or_record(post).unwrap();
    assert!(matches!(again.origin, Origin::File));
    assert_same(&again.recording, &recorded);
    let path = store.path(post);
    let good = fs_err::read(&path).unwrap();
    let stored = store.stored(post).unwrap();
    assert_eq!((stored.bytes, stored.constraints), (good.len() as u64, 21_889));
    assert_eq!((stored.inputs, stored.aux, stored.circuit), (23, 22_128, post));

    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    let mut version = good.clone();
    version[8] += 1;
    let other = encode(&key(circuit("window-post-4KiB")).unwrap(), &recorded).unwrap();
    let short = good[..good.len() - 1].to_vec();
    let long = [&good[..], b"\0"].concat();
    for (bytes, expected) in [
        (vec![], "not a template"),
        (b"not a template, but as long as its head".to_vec(), "not a template"),
        (good[..20].to_vec(), "header: "),
        (short, "file without its checksum: "),
        (long, "file without its checksum: "),
        (flipped, "its checksum is wrong"),
        (version, "a template of version 3, where 2 is read"),
        (other, "a template of `window-post-4KiB: "),
    ] {
        fs_err::write(&path, bytes).unwrap();
        let loaded = store.load_or_record(post).unwrap();
        let Origin::Rebuilt(why) = loaded.origin else { panic!("{:?}", loaded.origin) };
        assert!(why.to_string().starts_with(expected), "{why}");
        assert_same(&loaded.recording, &recorded);
        assert_eq!(fs_err::read(&path).unwrap(), good);
    }
    assert_eq!(fs_err::read_dir(store.folder()).unwrap().count(), 1, "nothing else is left there");
    assert!(store.remove(post).unwrap());
    assert!(!store.remove(post).unwrap());
}

#[test]
fn a_store_that_takes_nothing_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let post = circuit("winning-post-2KiB");
    // A file where the folder should be, and a folder where the file should be.
    let no_folder = Store::new(folder.path().join("file"));
    fs_err::write(no_folder.folder(), "").unwrap();
    let no_file = Store::new(folder.path());
    fs_err::create_dir(no_file.path(post)).unwrap();
    for store in [no_folder, no_file] {
        let loaded = store.load_or_record(post).unwrap();
        assert!(matches!(loaded.origin, Origin::Rebuilt(_)), "{:?}", loaded.origin);
        assert!(matches!(loaded.unsaved, Some(TemplateError::Io(_))), "{:?}", loaded.unsaved);
    }
    let pipe = Store::new(folder.path().join("pipes"));
    fs_err::create_dir(pipe.folder()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(pipe.path(post)).status().unwrap();
    assert!(made.success());
    assert!(matches!(pipe.load(post), Err(TemplateError::NotAFile)));
}

#[test]
fn writers_and_readers_of_a_folder_do_not_hurt_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (store, post) = (Store::new(folder.path()), circuit("window-post-2KiB"));
    let recorded = post.record().unwrap();
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for writes in [true, true, false, false] {
            let (store, recorded, barrier) = (&store, &recorded, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for _ in 0..50 {
                    if writes {
                        store.save(post, recorded).unwrap();
                    } else {
                        match store.load(post) {
                            Ok(loaded) => assert_same(&loaded, recorded),
                            Err(error) => assert!(error.is_missing(), "{error}"),
                        }
                    }
                }
            });
        }
    });
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
}

/// Bytes changed anywhere are found by the checksum, at the latest.
#[test]
fn changed_files_are_refused() {
    let recorded = circuit("window-post-2KiB").record().unwrap();
    let good = encode("key", &recorded).unwrap();
    let seed = rand::random();
    println!("seed {seed}, {} bytes", good.len());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..2000 {
        let mut bytes = good.clone();
        match rng.gen_range(0..4) {
            0 => bytes.truncate(rng.gen_range(0..bytes.len())),
            1 => bytes.extend((0..rng.gen_range(1..100)).map(|_| rng.r#gen::<u8>())),
            _ => {
                for _ in 0..rng.gen_range(1..8) {
                    let at = rng.gen_range(0..bytes.len());
                    bytes[at] ^= rng.gen_range(1..=255_u8);
                }
            }
        }
        if bytes != good {
            decode("key", &bytes).unwrap_err();
        }
    }
}

/// Upstream's circuit with the path of each row.
#[derive(Default)]
struct Paths {
    namespaces: Vec<String>,
    paths: Vec<String>,
}

impl ConstraintSystem<Scalar> for Paths {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Aux(0)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(Variable::new_unchecked(Index::Input(1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let mut path = self.namespaces.clone();
        path.push(annotation().into());
        path.retain(|name| !name.is_empty());
        self.paths.push(path.join("/"));
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, name: N) {
        self.namespaces.push(name().into());
    }

    fn pop_namespace(&mut self) {
        self.namespaces.pop();
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

#[test]
fn rows_have_upstreams_paths() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for name in ["porep-2KiB", "snap-2KiB", "window-post-2KiB", "winning-post-2KiB"] {
        let circuit = circuit(name);
        let r1cs = circuit.record().unwrap().r1cs;
        let mut upstream = Paths::default();
        circuit.blank().synthesize(&mut upstream).unwrap();
        assert_eq!(upstream.paths.len() + r1cs.inputs, r1cs.constraints());
        let last = upstream.paths.len() - 1;
        for row in [0, last, rng.gen_range(0..last)] {
            assert_eq!(row_path(circuit, &r1cs, row).unwrap(), upstream.paths[row], "{name} {row}");
        }
        assert_eq!(row_path(circuit, &r1cs, last + 2).unwrap(), "input 1 * 0 = 0");
    }
}

#[test]
fn a_template_is_compared_row_by_row() {
    for name in ["snap-2KiB", "window-post-2KiB", "winning-post-2KiB"] {
        let (circuit, mut calls) = (circuit(name), 0);
        let recording = circuit.record().unwrap();
        let rows = recording.r1cs.constraints();
        let mut watch = |done, of| {
            calls += 1;
            assert!(done < rows && of == rows);
            ControlFlow::Continue(())
        };
        compare(circuit, &recording, &mut watch).unwrap();
        assert_eq!(calls, (rows - recording.r1cs.inputs) >> 16, "{name}");
        if rows >> 16 > 0 {
            let stopped = compare(circuit, &recording, &mut |_, _| ControlFlow::Break(()));
            assert!(matches!(stopped, Err(TemplateError::Cancelled(_))));
        }
    }
}

/// What changes a row's entries.
type Change = fn(&mut Vec<(u32, u32)>);

/// A matrix with one stored row changed.
fn changed(matrix: &Matrix, row: usize, change: Change) -> Matrix {
    let mut builder = cuzk_values::MatrixBuilder::default();
    for (i, entries) in matrix.stored_rows().enumerate() {
        let mut entries: Vec<_> = entries.collect();
        if i == row {
            change(&mut entries);
        }
        entries.into_iter().for_each(|(column, index)| builder.entry(column, index));
        builder.end_row();
    }
    builder.build_repeating(matrix.repeat().clone())
}

fn without_last(matrix: &Matrix, row: usize) -> Matrix {
    changed(matrix, row, |entries| entries.truncate(entries.len() - 1))
}

#[test]
fn differences_are_found_and_named() {
    let circuit = circuit("window-post-2KiB");
    let recording = circuit.record().unwrap();
    let run = recording.r1cs.a.repeat().rows.clone();
    // The last row of a sector, in A, in B; and in C of the first.
    let row = run.end as usize - 1;
    let found = |change: &dyn Fn(&mut R1cs)| {
        let mut other = recording.clone();
        change(&mut other.r1cs);
        compare(circuit, &other, &mut unwatched).unwrap_err().to_string()
    };
    assert_eq!(
        found(&|r1cs| r1cs.a = without_last(&r1cs.a, row)),
        format!("row {row} of A is not the circuit's: {}", row_path(circuit, &recording.r1cs, row).unwrap())
    );
    assert!(
        found(&|r1cs| r1cs.b = without_last(&r1cs.b, 0)).starts_with("row 0 of B is not the circuit's: ")
    );
    let changes: [Change; 3] = [
        |entries| entries.push((22_000, 0)),
        |entries| entries.last_mut().unwrap().0 -= 1,
        |entries| entries.last_mut().unwrap().1 ^= 1,
    ];
    for change in changes {
        let found = found(&|r1cs| r1cs.c = changed(&r1cs.c, 2, change));
        assert!(found.starts_with("row 2 of C is not the circuit's: outer namespace/sector_0/"), "{found}");
    }
    let input = recording.r1cs.constraints() - 1;
    let stored = recording.r1cs.a.stored_rows().len() - 1;
    assert_eq!(
        found(&|r1cs| r1cs.a = without_last(&r1cs.a, stored)),
        format!("row {input} of A is not the circuit's: input 22 * 0 = 0")
    );
    let used = &recording.r1cs.densities.b_aux;
    let unused = (0..used.len()).find(|index| !used.get(*index)).unwrap();
    assert_eq!(
        found(&|r1cs| r1cs.densities.b_aux.set(unused)),
        format!("auxiliary variable {unused} is marked wrongly as used, or as not used, in B")
    );
    let mut wide = recording.clone();
    wide.size.wide += 1;
    let wide = compare(circuit, &wide, &mut unwatched).unwrap_err().to_string();
    assert!(wide.contains(" variables that may be neither 0 nor 1, where the circuit has "), "{wide}");
    let other = "window-post-4KiB".parse::<FilecoinCircuit>().unwrap().record().unwrap();
    assert!(matches!(compare(circuit, &other, &mut unwatched), Err(TemplateError::Row { .. })));
}
