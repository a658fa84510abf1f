//! `cuzk graph`: the stages of a proof, what they cost, what they wait for.

use cuzk_groth16::{Parameters, Prover, graph};
use cuzk_pipeline_core::limits::format_bytes;
use cuzk_pipeline_core::{EdgeView, Footprint, Graph, StageView};
use cuzk_synth::{FilecoinCircuit, SectorShape, Statement};
use cuzk_values::Proof;
use serde_json::{Value as Json, json};

use crate::args::GraphArgs;
use crate::failure::{Class, Classify as _, Failure};
use crate::printer::Printer;
use crate::units::counted;
use crate::{circuits, machine, source};

pub(crate) fn run(printer: Printer, args: &GraphArgs) -> Result<(), Failure> {
    let circuit = source::circuit(args.kind, args.sector_size)?;
    let SectorShape { partitions, non_interactive_partitions, .. } = args.sector_size;
    let partitions = match circuit {
        FilecoinCircuit::Porep(_) if args.non_interactive => non_interactive_partitions,
        FilecoinCircuit::Porep(_) => partitions,
        _ if args.non_interactive => {
            let error = anyhow::anyhow!("--non-interactive is of a porep, not of a {}", circuit.statement());
            return Err(Failure::new(Class::Input, error));
        }
        FilecoinCircuit::Post(_) => 1,
        FilecoinCircuit::Snap(circuit) => circuit.partitions(),
    };
    let constraints = circuits::circuit(printer, &args.circuits, circuit)?;
    let prover = Prover::new(constraints, Parameters::Absent).or_bug()?;
    match circuit {
        FilecoinCircuit::Porep(circuit) => show(printer, args, &prover, circuit, partitions),
        FilecoinCircuit::Post(circuit) => show(printer, args, &prover, circuit, partitions),
        FilecoinCircuit::Snap(circuit) => show(printer, args, &prover, circuit, partitions),
    }
}

fn show<S: Statement>(
    printer: Printer,
    args: &GraphArgs,
    prover: &Prover,
    statement: S,
    partitions: usize,
) -> Result<(), Failure> {
    let graph = graph::proof(prover, statement, partitions, &[]).or_bug()?;
    if args.dot {
        let dot = graph.dot();
        return printer.result(&json!({ "dot": dot }), &dot);
    }
    let (json, text) = (as_json(&graph), as_text(&graph));
    printer.result(&json, &text)
}

fn as_json<I: Send + 'static>(graph: &Graph<I, Proof>) -> Json {
    let bytes = |f: &Footprint| json!({ "host": f.host, "pinned": f.pinned, "device": f.device });
    let stage = |s: StageView<'_>| {
        json!({
            "index": s.index, "name": s.name, "partition": s.part, "resident": s.resident,
            "to_start": bytes(&s.cost.to_start()),
            "outputs": s.cost.outputs().iter().map(bytes).collect::<Vec<_>>(),
        })
    };
    let edge =
        |e: EdgeView| json!({ "from": e.from, "to": e.to, "bytes": bytes(&e.bytes), "shared": e.shared });
    json!({
        "floor": bytes(&graph.floor()),
        "stages": graph.stages().map(stage).collect::<Vec<_>>(),
        "edges": graph.edges().map(edge).collect::<Vec<_>>(),
    })
}

fn as_text<I: Send + 'static>(graph: &Graph<I, Proof>) -> String {
    let mut text = String::from("  #  part  stage                 to start       outputs  after\n");
    for stage in graph.stages() {
        let makers = graph.edges().filter(|e| e.to == Some(stage.index));
        let makers: Vec<String> = makers.map(|e| e.from.map_or("input".into(), |i| i.to_string())).collect();
        let outputs: u64 = stage.cost.outputs().iter().map(|f| f.host).sum();
        text += &format!(
            "{:>3}  {:>4}  {:<16}  {:>12}  {:>12}  {}\n",
            stage.index,
            stage.part.map_or(String::new(), |part| part.to_string()),
            stage.name,
            format_bytes(stage.cost.to_start().host),
            format_bytes(outputs),
            makers.join(" "),
        );
    }
    let threads = machine::threads(None);
    text + &format!(
        "floor: {}, and the input: `cuzk prove` takes it from --memory {} up on {}\n",
        format_bytes(graph.floor().host),
        machine::least_memory(graph.floor(), threads),
        counted(threads, "thread"),
    )
}
