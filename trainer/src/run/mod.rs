//! A training run: from a plan to a finished net's checkpoint.
//!
//! [`start`] begins a run, or goes on with one that was begun by the same plan; [`resume`] goes on with one by its
//! folder alone. Either way the numbers are those of an undisturbed run, bit for bit.

mod diverged;
mod looks;
mod session;
mod together;

use crate::checkpoint::{self, Checkpoint, CheckpointError, FORMAT, RunManifest, State};
use crate::config::{Config, ConfigError};
use crate::data::files::files;
use crate::data::intact::check_blocks;
use crate::data::samples::Encoder;
use crate::data::source::Source;
use crate::data::survey::{COUNTED_BLOCKS, FEW_BLOCKS, Survey, survey};
use crate::data::{DataError, FilterCounts, Plan, Share};
use crate::init::{self, InitError, Origin};
use crate::model::ModelError;
use crate::model::net::NetChoice;
use crate::model::weights::WeightsError;
use crate::progress::Progress;
use crate::ranks::{Ranks, RanksError};
use crate::score_scale::{self, ScaleError};
use crate::validate::ValidationSet;
use nnue_format::FloatNet;
use serde::{Deserialize, Serialize};
use session::Session;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use together::Told;

/// What can end a run before its end.
#[derive(Debug, Error)]
pub enum RunError {
    /// The configuration.
    #[error("configuration: {0}")]
    Config(#[from] ConfigError),
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A step.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Weights that do not fit the model.
    #[error("checkpoint: {0}")]
    Weights(#[from] WeightsError),
    /// First weights that cannot be used.
    #[error(transparent)]
    Init(#[from] InitError),
    /// The score scale cannot be fitted.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The other processes of the run.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The folder holds something else.
    #[error("{}: {what}", folder.display())]
    Folder {
        /// Which folder.
        folder: PathBuf,
        /// Why it cannot be used.
        what: String,
    },
    /// The loss or a weight is not a number.
    #[error(
        "step {step}: {what}; the run stops here, and no checkpoint is written or deleted. Last good checkpoint: \
         {last}. What is known of this step: {diagnosis}. A lower learning rate or another filter may help"
    )]
    NotFinite {
        /// The step, counted from 1.
        step: u64,
        /// What is not a number.
        what: String,
        /// The newest checkpoint, or a word that there is none.
        last: String,
        /// The folder of the diagnosis, or why there is none.
        diagnosis: String,
    },
}

/// How a run is carried out; nothing in here changes its numbers.
#[derive(Clone)]
pub struct Conduct {
    /// Makes the net: on which device, with which kernel.
    pub net: NetChoice,
    /// Set from outside to stop after the step in progress.
    pub interrupted: Arc<AtomicBool>,
    /// Stop after this many steps in all, with a checkpoint, as if interrupted.
    pub stop_after: Option<u64>,
    /// The commit the program was built from.
    pub commit: String,
    /// Show no progress.
    pub quiet: bool,
    /// The processes that train together.
    pub ranks: Arc<Ranks>,
}

/// What a run came to. Written to `result.json` when it is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Did it reach its last step?
    pub complete: bool,
    /// Mean training loss of the last steps.
    pub loss: f64,
    /// Loss on the validation set, λ as at the end; `null` when no share was set aside.
    pub validation_loss: Option<f64>,
    /// The same for the best fit of material alone.
    pub material_validation_loss: Option<f64>,
    /// Positions trained on a second, loading included, in this call.
    pub positions_per_second: f64,
    /// Share of that time spent waiting for data.
    pub waiting: f64,
    /// Steps done.
    pub steps: u64,
    /// Steps of the whole run.
    pub total_steps: u64,
    /// Positions trained on, each as often as it was used.
    pub positions: u64,
    /// Positions of the validation set.
    pub validation_positions: u64,
    /// Wall time of this call.
    pub seconds: f64,
    /// The architecture.
    pub architecture: String,
    /// The newest checkpoint.
    pub checkpoint: PathBuf,
    /// The checkpoint of the lowest validation loss, with its step and loss.
    pub best: Option<Best>,
    /// Did the run end because validations brought nothing any more?
    pub plateau: bool,
    /// What the filters did to the data that were looked at before the run (in the call that began it).
    pub filters: Option<FilterCounts>,
    /// Centipawns the material fit gives rook, cannon, knight, bishop, advisor, pawn and the move.
    pub material_values: Option<[f64; 7]>,
}

/// The best of the validated states of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Where it is kept.
    pub checkpoint: PathBuf,
    /// Its step.
    pub step: u64,
    /// Its validation loss.
    pub validation_loss: f64,
}

const MANIFEST: &str = "manifest.json";
const RESULT: &str = "result.json";

/// Begins a run in `out`, or goes on with the one there if it is of the same plan.
///
/// # Errors
/// [`RunError`]; a folder with another plan's run is left alone.
pub fn start(config_text: &str, data: &[PathBuf], out: &Path, conduct: Conduct) -> Result<Outcome, RunError> {
    start_from(None, config_text, data, out, conduct)
}

/// As [`start`]; the first weights are those of `init`, a net file or a checkpoint ([`crate::init`]).
///
/// # Errors
/// [`RunError`].
pub fn start_from(
    init: Option<&Path>,
    config_text: &str,
    data: &[PathBuf],
    out: &Path,
    conduct: Conduct,
) -> Result<Outcome, RunError> {
    let ranks = conduct.ranks.clone();
    leaving(&ranks, start_run(init, config_text, data, out, conduct))
}

/// Leaves the other ranks: together with them at a good end, else with a word to them.
fn leaving(ranks: &Ranks, result: Result<Outcome, RunError>) -> Result<Outcome, RunError> {
    let result = result.and_then(|outcome| {
        ranks.finish()?;
        Ok(outcome)
    });
    if let Err(error) = &result {
        ranks.fail(error);
    }
    result
}

fn start_run(
    init: Option<&Path>,
    config_text: &str,
    data: &[PathBuf],
    out: &Path,
    conduct: Conduct,
) -> Result<Outcome, RunError> {
    let config = Config::parse(config_text)?;
    let source = Source::open_all(&files(&config, data)?, config.loader.skip_damage)?;
    let facts = together::facts(config_text, source.files(), out, &conduct);
    let init_name = init.map_or("none".into(), |path| path.display().to_string());
    conduct.ranks.agree(&facts.with("--init", init_name))?;
    if !conduct.ranks.is_first() {
        return follow(out, config, source, conduct);
    }
    let init = init.map(init::read).transpose()?;
    let origin = init.as_ref().map(|(_, origin)| origin.clone());
    let manifest_path = out.join(MANIFEST);
    if manifest_path.exists() {
        let manifest = read_manifest(out)?;
        let digest = |origin: &Option<Origin>| origin.as_ref().map(|origin| origin.sha256.clone());
        if manifest.config != config_text
            || manifest.inputs != source.files()
            || digest(&manifest.init) != digest(&origin)
        {
            let what = "holds a run with another configuration, other data or other first weights; choose another \
                        --out, or delete it";
            return Err(RunError::Folder { folder: out.to_path_buf(), what: what.to_owned() });
        }
        return go_on(out, manifest, config, source, conduct);
    }
    if holds_something(out) {
        let what = "is not empty and holds no run; choose another --out".to_owned();
        return Err(RunError::Folder { folder: out.to_path_buf(), what });
    }
    if !config.loader.skip_damage {
        check_blocks(&source)?;
    }
    fs::create_dir_all(out).map_err(|source| CheckpointError::Io { path: out.to_path_buf(), source })?;
    let arch = config.architecture()?;
    let plan = Plan::new(&config, source, Encoder::new(&arch)?)?;
    let survey = survey_for(&config, &plan, conduct.quiet)?;
    let score_scale = score_scale::settle(&config.loss, &plan)?;
    let manifest = RunManifest {
        format: FORMAT,
        program: format!("chuhe-train {}", env!("CARGO_PKG_VERSION")),
        commit: conduct.commit.clone(),
        architecture: arch.to_string(),
        architecture_id: arch.id().to_string(),
        seed: config.training.seed,
        total_steps: total_steps(&config, survey.epoch_positions),
        epoch_positions: survey.epoch_positions,
        score_scale,
        init: origin,
        config: config_text.to_owned(),
        inputs: plan.source.files().to_vec(),
    };
    let begin = match &init {
        Some((net, _)) => Begin::From(net),
        None => Begin::New,
    };
    checkpoint::write_file(&manifest_path, &checkpoint::to_json(&manifest, &manifest_path)?)?;
    Told::run(&manifest, &State::default())?.tell(&conduct.ranks)?;
    let mut session = session(out, manifest, config, plan, conduct, begin)?;
    if init.is_some() {
        session.checkpoint()?;
    }
    session.counts = Some(survey.counts);
    session.run()
}

/// Goes on with the run in `out`.
///
/// # Errors
/// [`RunError`], as when the data have changed.
pub fn resume(out: &Path, conduct: Conduct) -> Result<Outcome, RunError> {
    let ranks = conduct.ranks.clone();
    leaving(&ranks, resume_run(out, conduct))
}

fn resume_run(out: &Path, conduct: Conduct) -> Result<Outcome, RunError> {
    let manifest = together::manifest(&conduct.ranks, || manifest_to_resume(out))?;
    let config = Config::parse(&manifest.config)?;
    let source = Source::reopen(&manifest.inputs, config.loader.skip_damage)?;
    conduct.ranks.agree(&together::facts(&manifest.config, source.files(), out, &conduct))?;
    if conduct.ranks.is_first() {
        go_on(out, manifest, config, source, conduct)
    } else {
        follow(out, config, source, conduct)
    }
}

/// The part of a rank other than 0: what it trains, rank 0 tells.
fn follow(out: &Path, config: Config, source: Source, conduct: Conduct) -> Result<Outcome, RunError> {
    let (manifest, state) = match Told::hear(&conduct.ranks)? {
        Told::Complete(outcome) => return Ok(*outcome),
        Told::Run { manifest, state } => (*manifest, state),
    };
    let state = together::state(&state)?;
    let plan = Plan::new(&config, source, Encoder::new(&config.architecture()?)?)?;
    session(out, manifest, config, plan, conduct, Begin::OfRank0(state))?.run()
}

fn manifest_to_resume(out: &Path) -> Result<RunManifest, RunError> {
    if !out.join(MANIFEST).exists() {
        let what = "holds no run (there is no manifest.json); begin one with `chuhe-train train`".to_owned();
        return Err(RunError::Folder { folder: out.to_path_buf(), what });
    }
    read_manifest(out)
}

fn go_on(
    out: &Path,
    manifest: RunManifest,
    config: Config,
    source: Source,
    conduct: Conduct,
) -> Result<Outcome, RunError> {
    let result = out.join(RESULT);
    if let Ok(bytes) = fs::read(&result) {
        let outcome: Outcome = serde_json::from_slice(&bytes).map_err(|error| RunError::Folder {
            folder: out.to_path_buf(),
            what: format!("{RESULT}: {error}; delete that file to finish the run again"),
        })?;
        Told::Complete(Box::new(outcome.clone())).tell(&conduct.ranks)?;
        Progress::start(0, conduct.quiet).say("already complete");
        return Ok(outcome);
    }
    let arch = config.architecture()?;
    if arch.id().to_string() != manifest.architecture_id {
        let what = format!(
            "was begun with {} of id {}, which this program computes as {}; use the program it was begun with",
            manifest.architecture,
            manifest.architecture_id,
            arch.id()
        );
        return Err(RunError::Folder { folder: out.to_path_buf(), what });
    }
    let plan = Plan::new(&config, source, Encoder::new(&arch)?)?;
    // A run killed before its first checkpoint begins again.
    let net;
    let begin = match checkpoint::locate(out) {
        Ok(folder) => Begin::After(Box::new(of_this_run(Checkpoint::read(&folder)?, &manifest, &folder)?)),
        Err(CheckpointError::NotFound(_)) => match &manifest.init {
            Some(origin) => {
                net = init::reread(origin)?;
                Begin::From(&net)
            }
            None => Begin::New,
        },
        Err(error) => return Err(error.into()),
    };
    Told::run(&manifest, &begin.state())?.tell(&conduct.ranks)?;
    session(out, manifest, config, plan, conduct, begin)?.run()
}

/// What the first weights of a session are.
enum Begin<'a> {
    /// Drawn by chance.
    New,
    /// Those of an earlier net.
    From(&'a FloatNet),
    /// Those of the run itself.
    After(Box<Checkpoint>),
    /// Those of rank 0, which has told how far the run is.
    OfRank0(State),
}

impl Begin<'_> {
    /// How far the run is.
    fn state(&self) -> State {
        match self {
            Begin::New | Begin::From(_) => State::default(),
            Begin::After(checkpoint) => checkpoint.state.clone(),
            Begin::OfRank0(state) => state.clone(),
        }
    }
}

/// A checkpoint of another run would be trained on without anybody's noticing, as far as its shapes fit.
fn of_this_run(
    checkpoint: Checkpoint,
    manifest: &RunManifest,
    folder: &Path,
) -> Result<Checkpoint, RunError> {
    let found = &checkpoint.run;
    let what = if found.architecture_id != manifest.architecture_id {
        let (found, expected) = (&found.architecture, &manifest.architecture);
        format!("is a checkpoint of {found}, and this run trains {expected}")
    } else if (&found.config, &found.inputs, found.total_steps)
        != (&manifest.config, &manifest.inputs, manifest.total_steps)
    {
        "is a checkpoint of a run with another configuration or other data".to_owned()
    } else {
        return Ok(checkpoint);
    };
    let what = format!("{what}; take it out of this run's checkpoints");
    Err(RunError::Folder { folder: folder.to_path_buf(), what })
}

fn session(
    out: &Path,
    manifest: RunManifest,
    config: Config,
    mut plan: Plan,
    conduct: Conduct,
    begin: Begin<'_>,
) -> Result<Session, RunError> {
    let arch = config.architecture()?;
    let mut net = (conduct.net)(&arch, config.net.factorised, config.training.seed)?;
    plan.share = Share { rank: conduct.ranks.rank(), world: conduct.ranks.world() };
    let validation = ValidationSet::read(&plan, config.validation.max_positions)?;
    let state = match begin {
        Begin::New => State::default(),
        Begin::From(source) => {
            net.set_parameters(&init::parameters(source, &arch, net.parameters()?)?)?;
            State::default()
        }
        Begin::After(checkpoint) => {
            net.set_parameters(&checkpoint.parameters)?;
            checkpoint.state
        }
        Begin::OfRank0(state) => state,
    };
    together::spread(&conduct.ranks, &mut *net)?;
    Session::new(out, manifest, config, plan, conduct, net, validation, state)
}

/// Looks at the data before the run: all of it when anything is given in epochs, else as much as tells about how long
/// an epoch is.
fn survey_for(config: &Config, plan: &Plan, quiet: bool) -> Result<Survey, RunError> {
    if config.training.steps > 0 && !config.learning_rate.counts_epochs() {
        return Ok(survey(plan, FEW_BLOCKS)?);
    }
    Progress::start(0, quiet).say("counting one epoch, to turn epochs into steps");
    Ok(survey(plan, COUNTED_BLOCKS)?)
}

/// Steps of the whole run: as given, or as many full batches as show each position `epochs` times.
fn total_steps(config: &Config, epoch_positions: u64) -> u64 {
    let training = &config.training;
    match training.steps {
        0 => {
            let positions = u128::from(training.epochs) * u128::from(epoch_positions);
            positions.div_ceil(training.batch_size as u128) as u64
        }
        steps => steps,
    }
}

/// Is there anything in the folder but what a killed start leaves?
fn holds_something(folder: &Path) -> bool {
    let is_left_over = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".partial");
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| !is_left_over(&entry.file_name())))
}

/// The manifest of the run in `out`.
///
/// # Errors
/// [`RunError::Folder`], also for one of another layout.
pub fn read_manifest(out: &Path) -> Result<RunManifest, RunError> {
    let path = out.join(MANIFEST);
    let wrong = |what: String| RunError::Folder { folder: out.to_path_buf(), what };
    let bytes = fs::read(&path).map_err(|error| wrong(format!("{MANIFEST}: {error}")))?;
    checkpoint::manifest_of(&bytes, |value| value.get("format"))
        .map_err(|what| wrong(format!("{MANIFEST}: {what}")))
}
