//! Who plays the pairs of a tuning run.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::parameter::Parameter;
use crate::external::{EngineSpec, ExternalPlayer, Waits};
use crate::game::{GameSettings, NoGame, play};
use crate::openings::{OpeningError, Openings};
use crate::outcome::Side;
use crate::plan::{OpeningPlan, PlanError, open_openings};
use crate::player::{Player, StartError};
use crate::record::GameRecord;

/// What a pair gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairPoints {
    /// Half points of the upper side in each game.
    pub points: [u8; 2],
    /// What went wrong in it: a game lost by a failure.
    pub note: Option<String>,
}

/// Why there is no result.
#[derive(Debug)]
pub enum NoPair {
    /// The run is being ended.
    Interrupted,
    /// The run cannot go on.
    Error(ContestError),
}

/// Why pairs cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ContestError {
    /// The engine does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There is no opening.
    #[error(transparent)]
    Opening(#[from] OpeningError),
    /// The engine cannot be told a number.
    #[error(
        "the engine's option {name}: {what} (Chuhe has its search's numbers in builds with: cargo build --release -p engine --features tune)"
    )]
    Option {
        /// The option.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// A game that cannot be played, through no fault of a player.
    #[error("pair {pair}: {what}")]
    Game {
        /// The pair, from 0.
        pair: u64,
        /// What is wrong.
        what: String,
    },
}

/// Plays pairs on one thread.
pub trait Contestant: Send {
    /// Plays a pair (from 0) with the upper and the lower side's values.
    ///
    /// # Errors
    /// When there is no result.
    fn play(&mut self, pair: u64, sides: &[Vec<i32>; 2]) -> Result<PairPoints, NoPair>;
}

/// Pairs of games of an engine against itself.
pub struct EngineContest {
    engine: EngineSpec,
    waits: Waits,
    settings: GameSettings,
    opening_plan: OpeningPlan,
    openings: Arc<Mutex<Openings>>,
}

impl EngineContest {
    /// Reads the book, if there is one.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn prepare(
        engine: EngineSpec,
        waits: Waits,
        settings: GameSettings,
        opening_plan: OpeningPlan,
        (seed, pairs): (u64, u64),
    ) -> Result<EngineContest, PlanError> {
        let openings = open_openings(&opening_plan, settings.rules, seed, pairs)?;
        Ok(EngineContest { engine, waits, settings, opening_plan, openings: Arc::new(Mutex::new(openings)) })
    }

    /// All that can change a game.
    pub fn description(&self) -> Value {
        let openings = self.openings.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "command": self.engine.words,
            "options": self.engine.options,
            "protocol": self.engine.protocol.map(|protocol| protocol.name()),
            "rank_base": self.engine.rank_base,
            "limit": self.settings.limit.to_string(),
            "margin_ms": self.settings.limit.is_timed().then_some(self.settings.margin_ms),
            "rules": self.settings.rules.to_string(),
            "openings": self.opening_plan.describe(&openings),
            "adjudication": format!("{:?}", self.settings.adjudication),
        })
    }

    /// Starts the engine once and looks whether it can be told every number; gives its name.
    ///
    /// # Errors
    /// Where it does not start, or an option is missing or has another range.
    pub fn check(&self, parameters: &[Parameter]) -> Result<String, ContestError> {
        let mut player = self.external(Arc::default());
        player.begin_game()?;
        for Parameter { name, min, max, .. } in parameters {
            let wrong = |what: String| ContestError::Option { name: name.clone(), what };
            let rest = player.announced(name).ok_or_else(|| wrong("the engine has none".to_owned()))?;
            let words: Vec<&str> = rest.split_whitespace().collect();
            let after = |key: &str| {
                let at = words.iter().position(|word| *word == key)?;
                words.get(at + 1)?.parse::<i64>().ok()
            };
            let (Some(least), Some(most)) = (after("min"), after("max")) else {
                return Err(wrong(format!("expected one with a least and a greatest value, found {rest:?}")));
            };
            if i64::from(*min) < least || i64::from(*max) > most {
                return Err(wrong(format!(
                    "it goes from {least} to {most}, the parameter from {min} to {max}"
                )));
            }
        }
        Ok(player.info().name.clone())
    }

    /// Somebody to play pairs on one thread, told the names of the numbers.
    pub fn contestant(&self, parameters: &[Parameter], halt: &Arc<AtomicBool>) -> Box<dyn Contestant> {
        let names = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        Box::new(EngineContestant {
            names,
            players: [self.external(Arc::clone(halt)), self.external(Arc::clone(halt))],
            settings: self.settings,
            openings: Arc::clone(&self.openings),
        })
    }

    fn external(&self, halt: Arc<AtomicBool>) -> ExternalPlayer {
        ExternalPlayer::new(self.engine.clone(), self.waits, halt)
    }
}

struct EngineContestant {
    names: Vec<String>,
    players: [ExternalPlayer; 2],
    settings: GameSettings,
    openings: Arc<Mutex<Openings>>,
}

impl Contestant for EngineContestant {
    fn play(&mut self, pair: u64, sides: &[Vec<i32>; 2]) -> Result<PairPoints, NoPair> {
        let opening = self.openings.lock().unwrap_or_else(PoisonError::into_inner).of_pair(pair);
        let opening = opening.map_err(|error| NoPair::Error(error.into()))?;
        for (player, values) in self.players.iter_mut().zip(sides) {
            let options =
                self.names.iter().zip(values).map(|(name, value)| (name.clone(), value.to_string()));
            player.tune(options.collect());
        }
        let no_pair = |error| match error {
            NoGame::Interrupted => NoPair::Interrupted,
            NoGame::Start(error) => NoPair::Error(error.into()),
            NoGame::Opening(_) => NoPair::Error(ContestError::Game { pair, what: error.to_string() }),
        };
        let [upper, lower] = &mut self.players;
        let first = play([&mut *upper, &mut *lower], &opening, &self.settings).map_err(no_pair)?;
        let second = play([lower, upper], &opening, &self.settings).map_err(no_pair)?;
        let games = [GameRecord::new(Side::A, first), GameRecord::new(Side::B, second)];
        let failed = games.iter().find_map(|game| {
            let (side, kind) = game.failure()?;
            let side = if side == Side::A { "upper" } else { "lower" };
            Some(format!("{} of the {side} side: {}", kind.name(), game.detail.as_deref().unwrap_or("")))
        });
        Ok(PairPoints { points: games.each_ref().map(GameRecord::half_points_of_a), note: failed })
    }
}
