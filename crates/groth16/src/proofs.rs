//! Proofs that survive the loss of devices.

use std::sync::Arc;

use cuzk_pipeline_core::{Engine, ErrorKind, Graph, Ledger, Options, Run, RunError, Value};
use cuzk_synth::Statement;
use cuzk_values::Proof;

use crate::{Blinding, Groth16Error, Prover, graph};

/// A graph that proves something of which the caller keeps the input.
pub type ProofGraph<I, P = Proof> = Arc<Graph<Arc<I>, P>>;

/// The graphs of a statement's proofs: on devices while any works, and on the CPU after that.
pub struct Proofs<I: Value + Sync, P: Value = Proof> {
    devices: Option<ProofGraph<I, P>>,
    cpu: ProofGraph<I, P>,
}

impl<I: Value + Sync> Proofs<I> {
    /// The graphs of a prover, which is [on devices](Prover::on) or not.
    ///
    /// # Errors
    /// As [`graph::proof`].
    pub fn new<S: Statement<Input = I>>(
        prover: &Prover,
        statement: S,
        partitions: usize,
        blindings: &[Blinding],
    ) -> Result<Self, Groth16Error> {
        let of = |prover: &Prover| graph::proof(prover, statement, partitions, blindings).map(Arc::new);
        let devices = prover.accelerator().map(|_| of(prover)).transpose()?;
        Ok(Self { devices, cpu: of(&prover.on_cpu())? })
    }
}

impl<I: Value + Sync, P: Value> Proofs<I, P> {
    /// Any two graphs of the same proof, the first of which needs a device.
    pub fn of(devices: Option<ProofGraph<I, P>>, cpu: ProofGraph<I, P>) -> Self {
        Self { devices, cpu }
    }

    /// The graph of a proof's first attempt.
    pub fn graph(&self) -> &ProofGraph<I, P> {
        self.devices.as_ref().unwrap_or(&self.cpu)
    }

    /// Starts a proof.
    pub fn submit<'a>(&'a self, engine: &'a Engine, input: &Arc<I>, options: Options) -> Attempt<'a, I, P> {
        let run = engine.submit_with(self.graph(), input.clone(), options.clone());
        Attempt { proofs: self, engine, input: input.clone(), options, run }
    }
}

/// A proof under way.
pub struct Attempt<'a, I: Value + Sync, P: Value = Proof> {
    proofs: &'a Proofs<I, P>,
    engine: &'a Engine,
    input: Arc<I>,
    options: Options,
    run: Run<P>,
}

impl<I: Value + Sync, P: Value> Attempt<'_, I, P> {
    /// The run that is under way.
    pub fn run(&self) -> &Run<P> {
        &self.run
    }

    /// Waits for the proof. Where a device fails, the proof is made again: on the devices that are
    /// left, or on the CPU. `again` hears of each failure, the run that follows, and whether
    /// that is on the CPU.
    ///
    /// # Errors
    /// The [`RunError`] of the last run.
    pub fn wait(self, mut again: impl FnMut(&RunError, &Run<P>, bool)) -> Result<P, RunError> {
        let Self { proofs, engine, input, options, run } = self;
        let mut outcome = run.wait();
        let (mut on_devices, mut failed) = (proofs.devices.is_some(), 0);
        while let Err(error) = &outcome
            && error.kind() == ErrorKind::Device
            && on_devices
        {
            // If no more of them failed since, those that are left cannot take it.
            let (all, failed_now) = devices(engine)?;
            on_devices = failed < failed_now && failed_now < all;
            failed = failed_now;
            let graph = if on_devices { proofs.graph() } else { &proofs.cpu };
            let run = engine.submit_with(graph, input.clone(), options.clone());
            again(error, &run, !on_devices);
            outcome = run.wait();
        }
        outcome
    }
}

/// How many devices the engine has, and how many of them failed.
fn devices(engine: &Engine) -> Result<(usize, usize), RunError> {
    let status = engine.status()?;
    let devices = status.ledgers.iter().filter(|l| matches!(l.ledger, Ledger::Device(_))).count();
    Ok((devices, status.quarantined.len()))
}
