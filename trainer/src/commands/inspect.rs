//! `chuhe-train inspect`: what a checkpoint or a net file is, and in what two checkpoints differ.

use super::{inspect_net, inspect_two, is_net, loss_text, print_json};
use crate::checkpoint::{self, Checkpoint};
use crate::model::weights::Parameter;
use crate::watch::statistics::norm;
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Words of the command.
#[derive(Args)]
pub struct InspectArgs {
    /// A checkpoint, a run for its newest, or a net file
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
    /// Another checkpoint or run: say in what it differs from the first
    #[arg(value_name = "OTHER")]
    other: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Carries it out.
///
/// # Errors
/// What is wrong with the checkpoint or net.
pub fn inspect(args: &InspectArgs) -> Result<ExitCode> {
    let nets = is_net(&args.checkpoint) || args.other.as_deref().is_some_and(is_net);
    match &args.other {
        Some(_) if nets => bail!("two checkpoints or runs can be compared; a net file cannot"),
        Some(other) => inspect_two::inspect(&args.checkpoint, other, args.json)?,
        None if nets => inspect_net::inspect(&args.checkpoint, args.json)?,
        None => one(&args.checkpoint, args.json)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The size of one parameter and of what its optimiser remembers.
#[derive(Serialize)]
struct Size<'a> {
    name: &'a str,
    shape: &'a [usize],
    norm: f64,
    largest: f64,
    not_finite: usize,
    /// Norms of the optimiser's tensors, by name.
    state: serde_json::Map<String, serde_json::Value>,
}

fn size(parameter: &Parameter) -> Size<'_> {
    let weights = &parameter.weights;
    Size {
        name: &parameter.name,
        shape: &parameter.shape,
        norm: norm(weights),
        largest: f64::from(weights.iter().fold(0f32, |largest, weight| largest.max(weight.abs()))),
        not_finite: weights.iter().filter(|weight| !weight.is_finite()).count(),
        state: states(parameter).map(|(name, values)| (name.to_owned(), json!(norm(values)))).collect(),
    }
}

/// The tensors of a parameter's optimiser, by name.
pub(super) fn states(parameter: &Parameter) -> impl Iterator<Item = (&str, &[f32])> {
    parameter.state.iter().map(|tensor| (tensor.name.as_str(), &tensor.values[..]))
}

fn one(path: &Path, json: bool) -> Result<()> {
    let folder = checkpoint::locate(path)?;
    let checkpoint = Checkpoint::read(&folder)?;
    let (state, run) = (&checkpoint.state, &checkpoint.run);
    let sizes: Vec<Size<'_>> = checkpoint.parameters.iter().map(size).collect();
    if json {
        let shapes: serde_json::Map<_, _> =
            checkpoint.parameters.iter().map(|p| (p.name.clone(), json!(p.shape))).collect();
        return print_json(&json!({
            "folder": folder,
            "run": run,
            "step": state.step,
            "epoch": state.epoch,
            "positions": state.positions,
            "loss": state.recent.last(),
            "validation_loss": state.validation.map(|(_, loss)| loss),
            "validation_step": state.validation.map(|(step, _)| step),
            "proving_positions": checkpoint.positions.len(),
            "parameters": shapes,
            "sizes": sizes,
        }));
    }
    println!("checkpoint  {}", folder.display());
    println!("net         {} (id {})", run.architecture, run.architecture_id);
    println!("step        {} of {}, epoch {}", state.step, run.total_steps, state.epoch);
    println!("positions   {}; {} to prove an export on", state.positions, checkpoint.positions.len());
    let validation =
        state.validation.map_or("–".to_owned(), |(step, loss)| format!("{loss:.6} at step {step}"));
    println!(
        "loss        {} in the last step; validation {validation}",
        loss_text(state.recent.last().copied())
    );
    println!("program     {} {}", run.program, run.commit);
    println!("epoch       {} positions", run.epoch_positions);
    for input in &run.inputs {
        println!("input       {} ({} bytes, {})", input.path, input.bytes, input.sha256);
    }
    println!("  {:<24} {:<14} {:>12} {:>9}  optimiser: norms", "parameter", "shape", "norm", "largest");
    for size in sizes {
        let shape = format!("{:?}", size.shape);
        let states: Vec<String> = size
            .state
            .iter()
            .map(|(name, norm)| format!("{name} {:.3e}", norm.as_f64().unwrap_or(f64::NAN)))
            .collect();
        let states = if states.is_empty() { "none".to_owned() } else { states.join(", ") };
        println!("  {:<24} {shape:<14} {:>12.4} {:>9.4}  {states}", size.name, size.norm, size.largest);
        if size.not_finite > 0 {
            println!("  {:<24} {} of its weights are no numbers", "", size.not_finite);
        }
    }
    println!("\n{}", run.config.trim_end());
    Ok(())
}
