//! `chuhe eval`

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use nnue_format::{Architecture, QuantisedNet};
use nnue_infer::EngineNet;
use serde_json::json;

use super::{FenOption, Show, position};
use crate::eval::embedded::DEFAULT;
use crate::eval::{EvalSource, Evaluation, backend_named, load_net, read_net};

/// Which net, on which backend: the same words for every verb.
#[derive(Args, Clone)]
pub(super) struct NetOptions {
    /// Net file; embedded for the net in the program, none for the hand-crafted evaluation
    #[arg(long, value_name = "FILE", default_value = DEFAULT)]
    net: String,
    /// A net of random weights instead of a file: classic, default, or as in "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks"
    #[arg(long, value_name = "NAME", conflicts_with = "net")]
    arch: Option<String>,
    /// Seed of the random weights
    #[arg(long, value_name = "N", default_value_t = 1, requires = "arch")]
    seed: u64,
    /// Backend that evaluates the net (see `chuhe backends`); the fastest if not given
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
}

/// What to evaluate with, and how to name it.
pub(super) struct Chosen {
    pub(super) source: EvalSource,
    /// The net's id; `None` without a net file.
    pub(super) net: Option<String>,
    /// The backend's name; `None` without a net.
    pub(super) backend: Option<String>,
}

impl NetOptions {
    /// The net of random weights that was asked for, if one was.
    fn random(&self) -> anyhow::Result<Option<QuantisedNet>> {
        let Some(name) = &self.arch else { return Ok(None) };
        let arch: Architecture = name.parse().context("--arch")?;
        Ok(Some(QuantisedNet::random(&arch, self.seed)))
    }

    /// The net for no backend yet, with its id where it is a file's; `None` for the hand-crafted evaluation.
    pub(super) fn quantised(&self) -> anyhow::Result<Option<(QuantisedNet, Option<String>)>> {
        if let Some(net) = self.random()? {
            return Ok(Some((net, None)));
        }
        let read = read_net(&self.net)?;
        Ok(read.map(|read| (read.file.net, Some(read.id.to_string()))))
    }

    pub(super) fn choose(&self) -> anyhow::Result<Chosen> {
        let backend = backend_named(self.backend.as_deref().unwrap_or(""))?;
        if let Some(net) = self.random()? {
            let source = EvalSource::Net(Arc::new(EngineNet::new(&net, backend)?));
            return Ok(Chosen { source, net: None, backend: Some(backend.to_string()) });
        }
        match load_net(&self.net, backend)? {
            Some(loaded) => Ok(Chosen {
                source: EvalSource::Net(loaded.net),
                net: Some(loaded.id.to_string()),
                backend: Some(backend.to_string()),
            }),
            None if self.backend.is_some() => {
                anyhow::bail!(
                    "--backend without a net: the hand-crafted evaluation has no backends; give --net FILE or --arch NAME too"
                )
            }
            None => Ok(Chosen { source: EvalSource::Hce, net: None, backend: None }),
        }
    }
}

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    net: NetOptions,
    #[command(flatten)]
    fen: FenOption,
    #[command(flatten)]
    show: Show,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let pos = position(&arguments.fen.fen)?;
    let chosen = arguments.net.choose()?;
    let mut evaluation = Evaluation::new(&chosen.source);
    evaluation.reset(&pos);
    let (raw, cp) = evaluation.evaluate_raw(&pos);
    let result = json!({ "raw": raw, "cp": cp, "net": chosen.net, "backend": chosen.backend });
    arguments
        .show
        .print(&result, || format!("{} for the side to move: cp {cp} (raw {raw})", chosen.source))?;
    Ok(ExitCode::SUCCESS)
}
