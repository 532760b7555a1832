//! The commands that look at runs, checkpoints and nets and change none of them.

pub mod inspect;
mod inspect_net;
mod inspect_two;
pub mod report;
pub mod validate;

use crate::checkpoint::Checkpoint;
use crate::config::Config;
use crate::data::source::{Role, Source};
use crate::data::{DataError, Location};
use crate::model::net::{Net, NetChoice};
use anyhow::Result;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Is this path a net file, and not a checkpoint or a run?
fn is_net(path: &Path) -> bool {
    path.is_file()
}

/// A loss for people.
fn loss_text(loss: Option<f64>) -> String {
    loss.map_or("–".to_owned(), |loss| format!("{loss:.6}"))
}

/// Prints JSON for people and programs.
fn print_json(value: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// The net of a checkpoint, on the device asked for.
fn net_of(checkpoint: &Checkpoint, config: &Config, choice: &NetChoice) -> Result<Box<dyn Net>> {
    let mut net = choice(&config.architecture()?, config.net.factorised, config.training.seed)?;
    net.set_parameters(&checkpoint.parameters)?;
    Ok(net)
}

/// Other record files than those of a run. Of a run with validation files they are taken whole, as those were.
fn other_files(paths: &[PathBuf], config: &Config) -> Result<Source, DataError> {
    let role = if config.validation.data.is_empty() { Role::default() } else { Role::Validation };
    let files: Vec<_> = paths.iter().map(|path| (role, Location::from(path.as_path()))).collect();
    Source::open_all(&files, config.loader.skip_damage)
}
