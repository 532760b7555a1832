//! `chuhe backends`, `chuhe net random`, `chuhe net verify`, `chuhe net export`; `chuhe net examine` is in `examine.rs`

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use nnue_format::net::put_in_place;
use nnue_format::{Architecture, Description, Eval, NetFile, Overwrite, QuantisedNet, reference};
use nnue_infer::{Backend, EngineNet, Evaluator};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use xiangqi::{Position, Score};

use super::{CHECK_FAILED, Show};
use crate::eval::{NetBytes, load_net, read_net};

/// Random games of a verification are so long at most, in plies.
const VERIFY_GAME_PLIES: usize = 200;
/// Their seed.
const VERIFY_SEED: u64 = 20_260_101;

#[derive(Args)]
pub(super) struct BackendsArguments {
    #[command(flatten)]
    show: Show,
}

pub(super) fn backends(arguments: &BackendsArguments) -> anyhow::Result<ExitCode> {
    let names: Vec<String> = Backend::available().iter().map(Backend::to_string).collect();
    arguments.show.print(&names, || names.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Subcommand)]
pub(super) enum NetVerb {
    /// Write a net of random weights, for tests and speed figures
    Random(RandomArguments),
    /// Check a net file, and that every backend of this CPU evaluates it as the reference does
    Verify(VerifyArguments),
    /// Measure what a net knows, beside the hand-crafted evaluation: symmetry, endgames, mates, stability, calibration
    Examine(super::examine::Arguments),
    /// Check a net file and write it to another place, whole or not at all
    Export(ExportArguments),
}

#[derive(Args)]
pub(super) struct RandomArguments {
    /// Architecture: classic, or as in "half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks"
    #[arg(long)]
    arch: String,
    /// Seed of the weights
    #[arg(long)]
    seed: u64,
    /// The file to write
    #[arg(long)]
    out: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    show: Show,
}

#[derive(Args)]
pub(super) struct VerifyArguments {
    /// The net file; embedded for the net in the program
    file: String,
    /// How many positions of random games every backend evaluates
    #[arg(long, default_value_t = 1000)]
    positions: usize,
    #[command(flatten)]
    show: Show,
}

#[derive(Args)]
pub(super) struct ExportArguments {
    /// The net file; embedded for the net in the program
    file: String,
    /// The file to write, or a folder: the file is named after the net's id then
    #[arg(long)]
    out: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    show: Show,
}

pub(super) fn run(verb: &NetVerb) -> anyhow::Result<ExitCode> {
    match verb {
        NetVerb::Random(arguments) => random(arguments),
        NetVerb::Verify(arguments) => verify(arguments),
        NetVerb::Examine(arguments) => super::examine::examine(arguments),
        NetVerb::Export(arguments) => export(arguments),
    }
}

fn random(arguments: &RandomArguments) -> anyhow::Result<ExitCode> {
    let arch: Architecture = arguments.arch.parse().context("--arch")?;
    let description = Description {
        program: format!("chuhe {}", crate::VERSION),
        config: format!("random weights, architecture {arch}, seed {}", arguments.seed),
        ..Description::default()
    };
    let file = NetFile { net: QuantisedNet::random(&arch, arguments.seed), description };
    let overwrite = if arguments.overwrite { Overwrite::Yes } else { Overwrite::No };
    let id = file.write(&arguments.out, overwrite)?;
    let out = arguments.out.display().to_string();
    let result = json!({ "id": id.to_string(), "arch": arch.to_string(), "out": out });
    arguments.show.print(&result, || format!("{out}: {arch}, id {id}"))?;
    Ok(ExitCode::SUCCESS)
}

fn export(arguments: &ExportArguments) -> anyhow::Result<ExitCode> {
    let spec = &arguments.file;
    let Some(loaded) = load_net(spec, Backend::best())? else {
        anyhow::bail!("{spec:?} stands for the hand-crafted evaluation, which is no net: nothing to export")
    };
    let (id, arch) = (loaded.id, loaded.net.arch());
    let path = match arguments.out.is_dir() {
        true => arguments.out.join(id.file_name()),
        false => arguments.out.clone(),
    };
    let overwrite = if arguments.overwrite { Overwrite::Yes } else { Overwrite::No };
    put_in_place(&path, &loaded.bytes, overwrite)?;
    let out = path.display().to_string();
    let result = json!({ "id": id.to_string(), "arch": arch.to_string(), "out": out });
    arguments.show.print(&result, || format!("{out}: {arch}, id {id}"))?;
    Ok(ExitCode::SUCCESS)
}

fn verify(arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    let path = &arguments.file;
    let refused = |error: String| -> anyhow::Result<ExitCode> {
        let no: [&str; 0] = [];
        let result = json!({ "ok": false, "id": null, "backends": no, "error": error });
        arguments.show.print(&result, || format!("{path}: {error}"))?;
        Ok(ExitCode::from(CHECK_FAILED))
    };
    let NetBytes { file: NetFile { net, .. }, id, .. } = match read_net(path) {
        Ok(Some(read)) => read,
        Ok(None) => anyhow::bail!(
            "{path:?} stands for the hand-crafted evaluation, which is no net: nothing to verify"
        ),
        Err(error @ nnue_format::NetFileError::Io { .. }) => return Err(error.into()),
        Err(error) => return refused(error.to_string()),
    };
    let mut backends = Vec::new();
    let mut ok = true;
    let mut differing = None;
    for backend in Backend::available() {
        let difference = first_difference(&net, backend, arguments.positions)?;
        ok &= difference.is_none();
        let difference = difference.map(|found| found.to_string());
        differing = differing.or_else(|| difference.clone());
        backends.push(backend.to_string());
    }
    let result = json!({
        "ok": ok,
        "id": id.to_string(),
        "backends": backends,
        "arch": net.arch.to_string(),
        "positions": arguments.positions,
        "error": differing,
    });
    arguments.show.print(&result, || match &differing {
        None => format!(
            "{path}: {}, id {id}\nreference = {} on {} positions",
            net.arch,
            backends.join(" = "),
            arguments.positions
        ),
        Some(found) => format!("{path}: {found}"),
    })?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// A position on which a backend and the reference differ.
struct Difference {
    backend: Backend,
    fen: String,
    reference: Eval,
    found: Eval,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} says raw {} where the reference says {}, in {}",
            self.backend, self.found.raw, self.reference.raw, self.fen
        )
    }
}

/// Plays random games and evaluates every position, incrementally along the game, and some
/// anew; the first position where the backend and the reference differ.
fn first_difference(
    net: &QuantisedNet,
    backend: Backend,
    positions: usize,
) -> anyhow::Result<Option<Difference>> {
    let engine_net = Arc::new(EngineNet::new(net, backend)?);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(VERIFY_SEED);
    let mut along = Evaluator::new(Arc::clone(&engine_net));
    let mut seen = 0;
    while seen < positions {
        let mut pos = Position::start();
        along.reset(&pos);
        for ply in 0..VERIFY_GAME_PLIES {
            let reference = reference::evaluate(net, &pos);
            let mut found = along.evaluate_full(&pos);
            if found == reference && ply % 16 == 0 {
                let mut anew = Evaluator::new(Arc::clone(&engine_net));
                anew.reset(&pos);
                found = anew.evaluate_full(&pos);
            }
            // The reference does not clamp to the range of evaluations; the engine does.
            let clamped = reference.cp.clamp(-Score::EVAL_LIMIT, Score::EVAL_LIMIT);
            if found.raw != reference.raw || found.cp != clamped {
                return Ok(Some(Difference { backend, fen: pos.fen(), reference, found }));
            }
            seen += 1;
            let moves = pos.legal_moves();
            if seen >= positions || moves.is_empty() {
                break;
            }
            let mv = moves[(rng.next_u64() % moves.len() as u64) as usize];
            if let Some(change) = pos.make(mv).change {
                along.push(&change);
            }
        }
    }
    Ok(None)
}
