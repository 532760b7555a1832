//! The recipe of a loop: `LOOP.toml`. Unknown keys are refused with their line.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::per_generation::PerGeneration;

/// The longest loop, in generations.
const MAX_GENERATIONS: u32 = 9999;
/// Verbs of `chuhe-gen` that make one record file out of several.
const TOOLS: [&str; 5] = ["merge", "dedup", "filter", "shuffle", "rescore"];

/// Words that the loop gives its children itself.
const OWN_WORDS: [(&str, &[&str]); 5] = [
    ("play.args", &["--out", "--seed", "--net", "--threads", "--json", "--positions", "--games"]),
    ("data.tools.args", &["--out", "--json", "--threads"]),
    ("train.args", &["--data", "--out", "--json", "--threads", "--stop-after"]),
    ("export.args", &["--out", "--force", "--json"]),
    ("match.args", &["--a", "--b", "--pairs", "--seed", "--concurrency", "--journal", "--pgn", "--json"]),
];

/// A recipe.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The loop as a whole.
    #[serde(rename = "loop")]
    pub whole: LoopSettings,
    /// Self-play.
    pub play: Play<PerGeneration>,
    /// What is trained on.
    #[serde(default)]
    pub data: DataSettings,
    /// Training.
    pub train: TrainSettings,
    /// Export and proof of the net.
    #[serde(default)]
    pub export: ExportSettings,
    /// The match that judges the new net.
    #[serde(rename = "match")]
    pub contest: MatchSettings,
    /// What is kept.
    #[serde(default)]
    pub disk: DiskSettings,
}

/// `[loop]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopSettings {
    /// Where everything goes; relative to the recipe.
    pub folder: PathBuf,
    /// Generations in all; may be raised later.
    pub generations: u32,
    /// All seeds follow from this and the generation; below 2^53.
    #[serde(default = "one")]
    pub seed: u64,
    /// Threads of every step; 0: one per core. Changes no game.
    #[serde(default)]
    pub threads: usize,
    /// The net that generation 1 plays with; without it the hand-crafted evaluation. Relative to the recipe.
    pub start_net: Option<PathBuf>,
}

/// `[play]`: one of positions and games; nodes and the rest are words of `chuhe-gen play`. `N` is a number that may differ
/// between generations in a recipe, and a plain one in the settings of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Play<N> {
    /// Scored positions.
    pub positions: Option<N>,
    /// Or games.
    pub games: Option<N>,
    /// Nodes a move.
    pub nodes: Option<N>,
    /// Depth a move, in plies.
    pub depth: Option<u32>,
    /// Further words for `chuhe-gen play`.
    #[serde(default)]
    pub args: Vec<String>,
}

/// Self-play of one generation.
pub(super) type PlaySettings = Play<u64>;

impl Play<PerGeneration> {
    /// What a generation is played with.
    pub(super) fn of(&self, generation: u32) -> PlaySettings {
        let number = |numbers: &Option<PerGeneration>| numbers.as_ref().and_then(|all| all.of(generation));
        PlaySettings {
            positions: number(&self.positions),
            games: number(&self.games),
            nodes: number(&self.nodes),
            depth: self.depth,
            args: self.args.clone(),
        }
    }

    /// Every list with its name.
    fn lists(&self) -> [(&'static str, Option<&PerGeneration>); 3] {
        [
            ("play.positions", self.positions.as_ref()),
            ("play.games", self.games.as_ref()),
            ("play.nodes", self.nodes.as_ref()),
        ]
    }
}

/// `[data]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSettings {
    /// The games of so many generations, this one included, are trained on. Those that the present net played are
    /// always among them.
    pub generations: u32,
    /// Verbs that the games go through, one after the other, before training.
    pub tools: Vec<ToolSettings>,
}

/// `[[data.tools]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSettings {
    /// merge, dedup, filter, shuffle or rescore.
    pub verb: String,
    /// Its words besides files and `--out`.
    #[serde(default)]
    pub args: Vec<String>,
}

/// `[train]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSettings {
    /// The trainer's configuration; relative to the recipe. Its seed is replaced.
    pub config: PathBuf,
    /// Further words for `chuhe-train train`.
    #[serde(default)]
    pub args: Vec<String>,
}

/// `[export]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExportSettings {
    /// Further words for `chuhe-train export`.
    pub args: Vec<String>,
    /// Positions on which every backend of this CPU must equal the reference; 0: no such step.
    pub verify_positions: u64,
}

/// Against whom the new net plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opponent {
    /// Against the one that played the games.
    Previous,
    /// Against the hand-crafted evaluation.
    Hce,
}

/// What a test is worth that ends without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// The new net has failed.
    Failure,
    /// It has passed if its Elo is above 0.
    ByElo,
}

/// What follows when the new net has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The old net plays the next generation, and its games of before are trained on as well.
    Keep,
    /// The loop ends.
    Stop,
    /// The new net goes on all the same.
    Accept,
}

/// `[match]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchSettings {
    /// Against whom.
    #[serde(default = "previous")]
    pub opponent: Opponent,
    /// Pairs of games at most.
    pub pairs: u64,
    /// Nodes a move.
    pub nodes: Option<u64>,
    /// Depth a move, in plies.
    pub depth: Option<u32>,
    /// Elo under H0, in the model's unit.
    #[serde(default)]
    pub elo0: f64,
    /// Elo under H1.
    #[serde(default = "ten")]
    pub elo1: f64,
    /// Probability of accepting H1 where H0 is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// Probability of accepting H0 where H1 is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// Further words for `chuhe-match run`.
    #[serde(default)]
    pub args: Vec<String>,
    /// What a test without a decision is worth.
    #[serde(default = "failure")]
    pub undecided: Undecided,
    /// What follows when the new net has failed.
    #[serde(default = "keep")]
    pub on_failure: OnFailure,
}

/// `[disk]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiskSettings {
    /// So much must stay free beside what a step is expected to write, in MiB.
    pub min_free_mib: u64,
    /// Record files of self-play are kept for so many generations (more where training needs them); 0: for ever.
    pub keep_games: u32,
    /// Training folders are kept for so many generations; 0: for ever.
    pub keep_models: u32,
    /// Keep what the tools made, once its generation is done.
    pub keep_tools: bool,
}

const fn one() -> u64 {
    1
}
const fn ten() -> f64 {
    10.0
}
const fn five_percent() -> f64 {
    0.05
}
const fn previous() -> Opponent {
    Opponent::Previous
}
const fn failure() -> Undecided {
    Undecided::Failure
}
const fn keep() -> OnFailure {
    OnFailure::Keep
}

impl Default for DataSettings {
    fn default() -> Self {
        DataSettings { generations: 1, tools: Vec::new() }
    }
}

impl Default for ExportSettings {
    fn default() -> Self {
        ExportSettings { args: Vec::new(), verify_positions: 1000 }
    }
}

impl Default for DiskSettings {
    fn default() -> Self {
        DiskSettings { min_free_mib: 1024, keep_games: 0, keep_models: 0, keep_tools: false }
    }
}

/// What is wrong with a recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// The system refused.
    #[error("{path}: cannot read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no recipe: the message names line and key.
    #[error("{path}: {source}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// What was found.
        source: Box<toml::de::Error>,
    },
    /// A setting is out of its range.
    #[error("{path}: {name} is {found}; expected {expected}")]
    Setting {
        /// The file.
        path: PathBuf,
        /// The setting.
        name: &'static str,
        /// Its value.
        found: String,
        /// What it can be.
        expected: String,
    },
}

/// A factor that a recipe cannot be scaled by: what was found, and what was expected.
#[derive(Debug, thiserror::Error)]
#[error("--scale {0}; expected {1}")]
pub struct ScaleError(f64, &'static str);

impl Recipe {
    /// Reads a recipe; paths in it become relative to where this program runs.
    ///
    /// # Errors
    /// [`RecipeError`] names line or setting.
    pub fn read(path: &Path) -> Result<Recipe, RecipeError> {
        let text = read_text(path)?;
        let toml = |source| RecipeError::Toml { path: path.to_owned(), source: Box::new(source) };
        let mut recipe: Recipe = toml::from_str(&text).map_err(toml)?;
        let base = path.parent().unwrap_or(Path::new(""));
        recipe.whole.folder = base.join(&recipe.whole.folder);
        recipe.train.config = base.join(&recipe.train.config);
        recipe.whole.start_net = recipe.whole.start_net.map(|net| base.join(net));
        recipe.place_words(base);
        recipe.check().map_err(|(name, found, expected)| RecipeError::Setting {
            path: path.to_owned(),
            name,
            found,
            expected,
        })?;
        Ok(recipe)
    }

    /// The same recipe with so many times the games, in a folder of its own beside the old one (`…-x0.1`); 1 changes nothing.
    ///
    /// # Errors
    /// Where the factor is no number above 0, or nothing would be left to play.
    pub fn scaled(mut self, factor: f64) -> Result<Recipe, ScaleError> {
        if factor == 1.0 {
            return Ok(self);
        }
        if !(factor.is_finite() && factor > 0.0) {
            return Err(ScaleError(factor, "a number above 0, such as 0.1 or 10"));
        }
        let counts = [&mut self.play.positions, &mut self.play.games].into_iter().flatten();
        for count in counts.flat_map(PerGeneration::numbers_mut) {
            *count = (*count as f64 * factor).round() as u64;
            if *count == 0 {
                return Err(ScaleError(factor, "a number that leaves something to play"));
            }
        }
        let mut name = self.whole.folder.file_name().unwrap_or_default().to_owned();
        name.push(format!("-x{factor}"));
        self.whole.folder.set_file_name(name);
        Ok(self)
    }

    /// `{recipe}` in words for children is the recipe's folder: they run in the loop's.
    fn place_words(&mut self, base: &Path) {
        let absolute = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
        let folder = absolute.to_string_lossy();
        let tools = self.data.tools.iter_mut().map(|tool| &mut tool.args);
        let lists = [&mut self.play.args, &mut self.train.args, &mut self.export.args];
        for list in lists.into_iter().chain([&mut self.contest.args]).chain(tools) {
            list.iter_mut().for_each(|word| *word = word.replace("{recipe}", &folder));
        }
    }

    /// The trainer's configuration as text, and its seed replaced.
    ///
    /// # Errors
    /// When the file cannot be read or is no TOML with tables.
    pub fn train_config(&self, seed: u64) -> Result<String, RecipeError> {
        let path = &self.train.config;
        let text = read_text(path)?;
        let toml = |source| RecipeError::Toml { path: path.clone(), source: Box::new(source) };
        let mut table: toml::Table = toml::from_str(&text).map_err(toml)?;
        let training = table.entry("training").or_insert_with(|| toml::Table::new().into());
        let seed = i64::try_from(seed).unwrap_or(i64::MAX);
        match training.as_table_mut() {
            Some(training) => _ = training.insert("seed".to_owned(), seed.into()),
            None => {
                let (found, expected) = (training.type_str().to_owned(), "a table".to_owned());
                let path = path.clone();
                return Err(RecipeError::Setting { path, name: "training", found, expected });
            }
        }
        Ok(table.to_string())
    }

    fn check(&self) -> Result<(), (&'static str, String, String)> {
        let whole = &self.whole;
        let ensure = |fits: bool, name, found: &dyn ToString, expected: &str| {
            if fits { Ok(()) } else { Err((name, found.to_string(), expected.to_owned())) }
        };
        let count = whole.generations;
        ensure((1..=MAX_GENERATIONS).contains(&count), "loop.generations", &count, "1 to 9999")?;
        ensure(whole.seed < 1 << 53, "loop.seed", &whole.seed, "a number below 2^53")?;
        let play = &self.play;
        let given = |is_some| if is_some { "given" } else { "missing" };
        let both = format!("{} and games {}", given(play.positions.is_some()), given(play.games.is_some()));
        ensure(play.positions.is_some() != play.games.is_some(), "play.positions", &both, "one of the two")?;
        for (name, list) in play.lists() {
            let empty = list == Some(&PerGeneration::Each(Vec::new()));
            ensure(!empty, name, &"[]", "a number, or a list with one number a generation")?;
        }
        ensure(self.data.generations > 0, "data.generations", &0, "1 or more")?;
        for tool in &self.data.tools {
            let known = TOOLS.contains(&tool.verb.as_str());
            ensure(known, "data.tools.verb", &tool.verb, &TOOLS.join(", "))?;
        }
        let contest = &self.contest;
        ensure(contest.pairs > 0, "match.pairs", &contest.pairs, "1 or more")?;
        let elo = format!("{} to {}", contest.elo0, contest.elo1);
        ensure(contest.elo0 < contest.elo1, "match.elo0", &elo, "elo0 below elo1")?;
        self.check_words()
    }

    /// Refuses words that the loop sets itself.
    fn check_words(&self) -> Result<(), (&'static str, String, String)> {
        let tools: Vec<String> = self.data.tools.iter().flat_map(|tool| tool.args.clone()).collect();
        let lists = [&self.play.args, &tools, &self.train.args, &self.export.args, &self.contest.args];
        for ((name, own), list) in OWN_WORDS.into_iter().zip(lists) {
            let flag = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
            if let Some(word) = list.iter().find(|word| own.contains(&flag(word).as_str())) {
                let expected = format!("words besides {}: the loop gives these itself", own.join(" "));
                return Err((name, word.clone(), expected));
            }
        }
        Ok(())
    }
}

fn read_text(path: &Path) -> Result<String, RecipeError> {
    std::fs::read_to_string(path).map_err(|source| RecipeError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
#[path = "recipe_tests.rs"]
mod tests;
