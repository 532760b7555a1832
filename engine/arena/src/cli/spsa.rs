//! The words of `chuhe-match spsa`.

use std::path::PathBuf;

use anyhow::Context;
use arena::external::EngineSpec;
use arena::plan::PlayerSpec;
use arena::protocol::Protocol;
use arena::spsa::{self, EngineContest, Parameter, Settings};
use clap::Args;

use super::{GameArgs, player};

#[derive(Debug, Args)]
pub(crate) struct SpsaArgs {
    /// The engine to tune: the command of a UCI or UCCI engine that has the numbers as options
    #[arg(long, value_name = "COMMAND")]
    engine: String,
    /// Another option of it (a button without =); may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// Its protocol, uci or ucci; both are tried otherwise
    #[arg(long)]
    protocol: Option<Protocol>,
    /// Number of its first rank in UCI moves; found out otherwise
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=1))]
    rank_base: Option<u8>,
    /// A number to tune, as on OpenBench: NAME,VALUE,MIN,MAX,C_END,R_END; may be given again
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    param: Vec<String>,
    /// Numbers to tune from a TOML file: tables `parameter` of name, value, min, max, c_end, r_end (0.002 if not given)
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Numbers of Chuhe's own search (built with the feature tune), by the steps in its source: all, or names with commas
    #[arg(long, value_name = "NAMES")]
    search_params: Option<String>,

    /// How often the numbers move
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    iterations: u64,
    /// Pairs of games in each iteration
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    batch: u64,
    /// Iterations begun before the last one's result is in, so that no thread waits
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=1000))]
    ahead: u64,
    /// By what power learning slows down
    #[arg(long, default_value_t = 0.602)]
    alpha: f64,
    /// By what power the two sides come nearer
    #[arg(long, default_value_t = 0.101)]
    gamma: f64,
    /// A of the algorithm, as a part of all pairs
    #[arg(long, default_value_t = 0.1)]
    stability: f64,

    #[command(flatten)]
    games: GameArgs,
    /// Journal of finished pairs: the same command goes on from it
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: PathBuf,
    /// The way of every number as CSV, written at the end and when interrupted
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// The same as a page with curves
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// JSON alone on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

impl SpsaArgs {
    pub(crate) fn concurrency(&self) -> usize {
        usize::from(self.games.concurrency)
    }

    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let mut parameters = Vec::new();
        for line in &self.param {
            parameters.push(Parameter::parse(line)?);
        }
        if let Some(path) = &self.params {
            let shown = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| shown.clone())?;
            parameters.extend(Parameter::parse_file(&shown, &text)?);
        }
        if let Some(names) = &self.search_params {
            parameters.extend(Parameter::of_search(names)?);
        }
        spsa::check(&parameters)?;
        for (name, value) in [("alpha", self.alpha), ("gamma", self.gamma), ("stability", self.stability)] {
            anyhow::ensure!((0.0..=2.0).contains(&value), "--{name} {value}: expected 0 to 2");
        }
        Ok(Settings {
            parameters,
            iterations: self.iterations,
            batch: self.batch,
            ahead: self.ahead,
            seed: self.games.seed,
            alpha: self.alpha,
            gamma: self.gamma,
            stability: self.stability,
        })
    }

    /// The games, `pairs` of them at most.
    pub(crate) fn contest(&self, pairs: u64) -> anyhow::Result<EngineContest> {
        let games = &self.games;
        let PlayerSpec::Engine(engine) = player(&self.engine, &self.option, self.protocol, self.rank_base)?
        else {
            anyhow::bail!(
                "--engine {:?}: a player in this process cannot be tuned; give the command of an engine (chuhe built with --features tune)",
                self.engine
            )
        };
        let engine: EngineSpec = engine;
        let seeds = (games.seed, pairs);
        Ok(EngineContest::prepare(engine, games.waits(), games.settings()?, games.openings(), seeds)?)
    }
}
