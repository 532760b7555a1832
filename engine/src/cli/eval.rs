//! `chuhe eval`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{FenOption, Show, position};
use crate::eval::{EvalSource, Evaluation, backend_named, load_net};

/// Which net, on which backend: the same words for every verb.
#[derive(Args, Clone)]
pub(super) struct NetOptions {
    /// Net file; none for the hand-crafted evaluation
    #[arg(long, value_name = "FILE", default_value = "none")]
    net: String,
    /// Backend that evaluates the net (see `chuhe backends`); the fastest if not given
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
}

/// What to evaluate with, and how to name it.
pub(super) struct Chosen {
    pub(super) source: EvalSource,
    /// The net's id; `None` without a net.
    pub(super) net: Option<String>,
    /// The backend's name; `None` without a net.
    pub(super) backend: Option<String>,
}

impl NetOptions {
    pub(super) fn choose(&self) -> anyhow::Result<Chosen> {
        let backend = backend_named(self.backend.as_deref().unwrap_or(""))?;
        match load_net(&self.net, backend)? {
            Some(loaded) => Ok(Chosen {
                source: EvalSource::Net(loaded.net),
                net: Some(loaded.id.to_string()),
                backend: Some(backend.to_string()),
            }),
            None if self.backend.is_some() => {
                anyhow::bail!(
                    "--backend without a net: the hand-crafted evaluation has no backends; give --net FILE too"
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
