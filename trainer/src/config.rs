//! The training configuration, a TOML file. Every value has a default but the architecture; unknown names are
//! errors, and so are values out of range. `trainer/configs/classic.toml` shows them all with comments.

mod groups;
mod loss;
mod optimiser;
mod rate;

pub use groups::{Group, Groups, PerGroup};
pub use loss::{Fit, LossConfig, ScoreScale, Way};
pub use optimiser::{OptimiserConfig, OptimiserKind};
pub use rate::{PieceConfig, RateConfig, Shape};

use nnue_format::arch::Architecture;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// Not TOML, an unknown name or a value of the wrong type.
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// A value out of its range.
    #[error("{name} is {found}, expected {expected}")]
    Range {
        /// The setting, with its table.
        name: &'static str,
        /// What the file says.
        found: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// An architecture text that means nothing.
    #[error("net.architecture = {text:?}: {error}")]
    Architecture {
        /// The text.
        text: String,
        /// Why not.
        error: nnue_format::error::ArchError,
    },
}

/// A whole configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Which net.
    pub net: NetConfig,
    /// How long, how much at once.
    #[serde(default)]
    pub training: TrainingConfig,
    /// Learning rate over the run.
    #[serde(default)]
    pub learning_rate: RateConfig,
    /// What moves the weights.
    #[serde(default)]
    pub optimiser: OptimiserConfig,
    /// What is minimised.
    #[serde(default)]
    pub loss: LossConfig,
    /// What is trained on, where the command line does not say.
    #[serde(default)]
    pub data: Vec<DataConfig>,
    /// Which positions are used.
    #[serde(default)]
    pub filters: FilterConfig,
    /// How data are read and shuffled.
    #[serde(default)]
    pub loader: LoaderConfig,
    /// The part of the games kept apart.
    #[serde(default)]
    pub validation: ValidationConfig,
    /// When and how many states are kept.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
    /// What is written to be watched.
    #[serde(default)]
    pub watch: WatchConfig,
}

/// `[net]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetConfig {
    /// A name (`classic`) or text (`half-kp 2x256-32-32-1 crelu`) of an architecture.
    pub architecture: String,
    /// Train one more row per slot, shared by all buckets (folded away at export).
    #[serde(default = "yes")]
    pub factorised: bool,
}

/// `[training]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingConfig {
    /// Seed of all chance: first weights, split, shuffle, skips.
    pub seed: u64,
    /// Positions in a step.
    pub batch_size: usize,
    /// Steps in all; 0 takes `epochs` instead.
    pub steps: u64,
    /// Times through the data, turned into steps by one counting pass before training.
    pub epochs: u64,
    /// End the run after this many validations in a row without a better loss; 0 never does.
    pub stop_after_plateau: u64,
    /// A loss counts as better when it is lower by more than this.
    pub plateau_delta: f64,
}

/// `[[data]]`: one data set of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Record files: paths, patterns as `runs/*.rec`, or URLs.
    pub path: Paths,
    /// Its share of every batch, relative to the other sets' weights; where no set has one, they count by their positions.
    pub weight: Option<f64>,
}

/// One path or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Paths {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Paths {
    /// All of them.
    pub fn texts(&self) -> &[String] {
        match self {
            Paths::One(text) => std::slice::from_ref(text),
            Paths::Several(texts) => texts,
        }
    }
}

/// `[filters]`: each skips positions; 0 or false switches one off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilterConfig {
    /// Skip positions that the file marks as not for training (filtered, or duplicates).
    pub marked: bool,
    /// Skip positions whose side to move is in check.
    pub in_check: bool,
    /// Skip positions whose move is a capture.
    pub captures: bool,
    /// Skip positions whose played move was not the search's best.
    pub not_best: bool,
    /// Skip scores beyond this many centipawns, mates among them.
    pub max_score: i32,
    /// Skip plies below this number of the game.
    pub early_plies: usize,
    /// Of the plies from `early_plies` to this number skip some by chance, fewer and fewer in a straight line.
    pub soft_early_plies: usize,
    /// Skip positions with fewer pieces, kings among them.
    pub min_pieces: usize,
    /// Skip positions with more pieces.
    pub max_pieces: usize,
    /// Skip positions more than this many plies after the last capture; the natural limit ends a game at 120.
    pub max_quiet_plies: usize,
    /// Skip positions that were on the board before in the same game.
    pub repetitions: bool,
    /// Skip by chance positions whose score does not agree with the game's outcome: this times the chance of another
    /// outcome at such a score.
    pub disagreement: f64,
    /// Skip this share of what is left, another one each epoch.
    pub random_skip: f64,
}

/// `[loader]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoaderConfig {
    /// Positions, counted after the filters, that are shuffled with each other.
    pub window: usize,
    /// Parts of a data set that are read side by side, each with its share of the window; 0 chooses by the size of the data.
    /// They change the batches. No more threads or ranks than lanes have work.
    pub lanes: usize,
    /// Decoding threads. They change no batch.
    pub threads: usize,
    /// Batches kept ready.
    pub queue: usize,
    /// Leave damaged blocks out and count them, rather than stop.
    pub skip_damage: bool,
    /// Show half of the positions in a mirror, the other half in the next epoch: the board's two halves are worth the
    /// same. Matters to feature sets that do not mirror by themselves.
    pub mirror: bool,
}

/// `[validation]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ValidationConfig {
    /// Share of the games that is never trained on; does not count where `data` is given.
    pub fraction: f64,
    /// Record files to validate on instead. Games of theirs that are among the training data are not trained on.
    pub data: Vec<String>,
    /// At most this many positions of them.
    pub max_positions: usize,
    /// Steps between two validations; the last step is always followed by one.
    pub every_steps: u64,
}

/// `[checkpoint]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointConfig {
    /// Steps between two checkpoints; the last step is always followed by one.
    pub every_steps: u64,
    /// How many are kept, the newest.
    pub keep: usize,
    /// Keep the state of the lowest validation loss aside, in `checkpoints/best`.
    pub best: bool,
}

/// `[watch]`; changes no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WatchConfig {
    /// Write TensorBoard's event files.
    pub tensorboard: bool,
    /// Steps between two looks at weights, gradients and activations; 0 looks whenever the net is validated.
    pub statistics_every_steps: u64,
}

fn yes() -> bool {
    true
}

impl Default for TrainingConfig {
    fn default() -> Self {
        TrainingConfig {
            seed: 1,
            batch_size: 16384,
            steps: 0,
            epochs: 10,
            stop_after_plateau: 0,
            plateau_delta: 0.0,
        }
    }
}

impl Default for FilterConfig {
    fn default() -> Self {
        FilterConfig {
            marked: true,
            in_check: true,
            captures: true,
            not_best: false,
            max_score: 3000,
            early_plies: 0,
            soft_early_plies: 0,
            min_pieces: 0,
            max_pieces: 0,
            max_quiet_plies: 0,
            repetitions: false,
            disagreement: 0.0,
            random_skip: 0.0,
        }
    }
}

impl Default for LoaderConfig {
    fn default() -> Self {
        LoaderConfig { window: 1 << 20, lanes: 0, threads: 1, queue: 4, skip_damage: false, mirror: true }
    }
}

impl Default for ValidationConfig {
    fn default() -> Self {
        ValidationConfig { fraction: 0.02, data: Vec::new(), max_positions: 200_000, every_steps: 1000 }
    }
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        CheckpointConfig { every_steps: 1000, keep: 3, best: true }
    }
}

impl Default for WatchConfig {
    fn default() -> Self {
        WatchConfig { tensorboard: true, statistics_every_steps: 0 }
    }
}

impl Config {
    /// Reads and checks a configuration.
    ///
    /// # Errors
    /// [`ConfigError`] names the line or the setting.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(text)?;
        config.check()?;
        Ok(config)
    }

    /// The architecture that `net.architecture` names.
    ///
    /// # Errors
    /// [`ConfigError::Architecture`].
    pub fn architecture(&self) -> Result<Architecture, ConfigError> {
        let text = &self.net.architecture;
        text.parse().map_err(|error| ConfigError::Architecture { text: text.clone(), error })
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.architecture()?;
        let (training, filters, loader) = (&self.training, &self.filters, &self.loader);
        let share = |x: f64| (0.0..1.0).contains(&x);
        let unit = |x: f64| (0.0..=1.0).contains(&x);
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let batch = training.batch_size;
        range("training.batch_size", batch, (1..=1 << 22).contains(&batch), "1 to 4194304")?;
        let length = training.steps.max(training.epochs);
        range("training.epochs", training.epochs, length > 0, "steps or epochs above 0")?;
        let delta = training.plateau_delta;
        range("training.plateau_delta", delta, delta.is_finite() && delta >= 0.0, "0 or more")?;
        let held_out = self.validation.fraction > 0.0 || !self.validation.data.is_empty();
        let validates = training.stop_after_plateau == 0 || held_out;
        range("training.stop_after_plateau", training.stop_after_plateau, validates, "0 without validation")?;
        self.learning_rate.check()?;
        self.optimiser.check()?;
        self.loss.check()?;
        range("filters.max_score", filters.max_score, filters.max_score >= 0, "0 (off) or more")?;
        range("filters.random_skip", filters.random_skip, share(filters.random_skip), "0 up to below 1")?;
        let disagreement = filters.disagreement;
        range("filters.disagreement", disagreement, unit(disagreement), "0 (off) to 1")?;
        let (least, most) = (filters.min_pieces, filters.max_pieces);
        range("filters.max_pieces", most, most == 0 || most >= least, "0 (off) or min_pieces and more")?;
        let weights = self.data.iter().filter_map(|data| data.weight);
        let fit = weights.clone().all(positive) && [0, self.data.len()].contains(&weights.clone().count());
        let found = format!("{:?}", self.data.iter().map(|data| data.weight).collect::<Vec<_>>());
        range("data.weight", found, fit, "a number above 0 for every data set, or for none")?;
        range("loader.lanes", loader.lanes, loader.lanes <= 1 << 16, "0 (by the data) to 65536")?;
        range("loader.window", loader.window, (1..=1 << 28).contains(&loader.window), "1 to 268435456")?;
        range("loader.threads", loader.threads, (1..=256).contains(&loader.threads), "1 to 256")?;
        range("loader.queue", loader.queue, (1..=1024).contains(&loader.queue), "1 to 1024")?;
        let validation = &self.validation;
        range("validation.fraction", validation.fraction, share(validation.fraction), "0 up to below 1")?;
        range("validation.every_steps", validation.every_steps, validation.every_steps > 0, "1 or more")?;
        let checkpoint = &self.checkpoint;
        range("checkpoint.every_steps", checkpoint.every_steps, checkpoint.every_steps > 0, "1 or more")?;
        range("checkpoint.keep", checkpoint.keep, checkpoint.keep > 0, "1 or more")
    }
}

fn range(
    name: &'static str,
    found: impl ToString,
    fits: bool,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if fits { Ok(()) } else { Err(ConfigError::Range { name, found: found.to_string(), expected }) }
}
