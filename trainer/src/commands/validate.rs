//! `chuhe-train validate`: the loss of a checkpoint or of a net file on validation games.

use super::{is_net, loss_text, net_of, other_files, print_json};
use crate::checkpoint::Checkpoint;
use crate::config::Config;
use crate::data::source::Source;
use crate::model::net::NetChoice;
use crate::report::buckets::Bucket;
use crate::report::data::{by_net, by_reference};
use crate::report::{DataView, ReportError};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Words of the command.
#[derive(Args)]
pub struct ValidateArgs {
    /// A checkpoint, a run for its newest, or a net file (judged by the reference evaluator)
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
    /// Record files [default: those of the run]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    data: Vec<PathBuf>,
    /// Print the result as JSON, with the losses by pieces, stack, prediction and score
    #[arg(long)]
    json: bool,
}

/// Carries it out.
///
/// # Errors
/// What is wrong with the checkpoint, the net or the files.
pub fn validate(args: &ValidateArgs, choice: &NetChoice) -> Result<ExitCode> {
    let (view, step) = if is_net(&args.checkpoint) { of_net(args)? } else { of_checkpoint(args, choice)? };
    if args.json {
        let value = json!({
            "validation_loss": view.loss,
            "material_validation_loss": view.material_loss,
            "positions": view.positions,
            "step": step,
            "filters": view.filters,
            "calibration_error": view.calibration_error,
            "buckets": view.buckets,
        });
        print_json(&value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (loss, material) = (loss_text(view.loss), loss_text(view.material_loss));
    println!("validation loss  {loss} (best fit of material alone: {material})");
    println!("positions        {}; {}", view.positions, view.filters);
    if let Some(error) = view.calibration_error {
        println!("calibration      predicted chances are off by {:.2} % in the mean", 100.0 * error);
    }
    print_buckets("pieces", &view.buckets.by_pieces);
    if view.buckets.by_stack.len() > 1 {
        print_buckets("stack", &view.buckets.by_stack);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_buckets(name: &str, buckets: &[Bucket]) {
    if buckets.is_empty() {
        return;
    }
    println!("{name:<10} {:>10} {:>10} {:>10} {:>10}", "positions", "loss", "predicted", "outcome");
    for bucket in buckets {
        println!(
            "{:<10} {:>10} {:>10.6} {:>10.4} {:>10.4}",
            bucket.name, bucket.positions, bucket.loss, bucket.prediction, bucket.outcome
        );
    }
}

fn of_checkpoint(args: &ValidateArgs, choice: &NetChoice) -> Result<(DataView, Option<u64>)> {
    let checkpoint = Checkpoint::read(&args.checkpoint)?;
    let config = checkpoint.run.settled_config()?;
    let source = if args.data.is_empty() {
        Source::reopen(&checkpoint.run.inputs, config.loader.skip_damage)?
    } else {
        other_files(&args.data, &config)?
    };
    let mut net = net_of(&checkpoint, &config, choice)?;
    let view = DataView::of(&config, source, &mut |batch| by_net(&mut *net, batch))?;
    Ok((view, Some(checkpoint.state.step)))
}

fn of_net(args: &ValidateArgs) -> Result<(DataView, Option<u64>)> {
    if args.data.is_empty() {
        bail!("a net file does not know where its data lie; give --data FILE");
    }
    let (file, _) = nnue_format::net::read(&args.checkpoint)?;
    let config = net_config(&file.description.config, &file.net.arch.to_string(), &args.checkpoint)?;
    let source = other_files(&args.data, &config)?;
    let judge = &mut |batch: &_| -> Result<_, ReportError> { by_reference(&file.net, batch) };
    Ok((DataView::of(&config, source, judge)?, None))
}

/// The configuration that a net was trained with; all defaults for a net that was not trained.
fn net_config(text: &str, arch: &str, path: &Path) -> Result<Config> {
    let bare = format!("[net]\narchitecture = {arch:?}\n");
    let text = if text.trim().is_empty() { &bare } else { text };
    let config = Config::parse(text).with_context(|| format!("{}: its configuration", path.display()))?;
    // The description is text that anyone may have written; what the net is stands in its header.
    let mut config = config;
    config.net.architecture = arch.to_owned();
    Ok(config)
}
