//! Positions searched again, one by one and with empty tables: how far the scores are from those recorded.
//!
//! In its game a search found what the searches before it had left in the table, so that the same score is not to be
//! expected; a shift, or differences far beyond those of other files, tell of another engine or net.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::eval::EvalSource;
use nnue_format::record::{GameRecord, Header, Start};
use rayon::prelude::*;
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;
use xiangqi::{Game, Move, Score};

use super::sample::Sample;
use crate::plan::{Plan, SearchLimit, net_text};
use crate::player::{EnginePlayer, Player};

/// Table of a searcher where the plan does not say, in MiB.
const HASH_MIB: u32 = 8;

/// Who plays and searches again.
pub struct Engine {
    /// The evaluation.
    pub source: EvalSource,
    /// The net's id; zeros: the hand-crafted evaluation.
    pub net: [u8; 32],
    /// Node count of the engine's bench.
    pub signature: u64,
}

impl Engine {
    /// Is this the engine and net of a file? What is not, and what to do.
    pub(super) fn is_of(&self, signature: u64, net: &[u8; 32]) -> Result<(), String> {
        if signature != self.signature {
            return Err(format!(
                "the games are of the engine with signature {signature}, this one has {}: use the program that played them",
                self.signature
            ));
        }
        if net != &self.net {
            let (theirs, ours) = (net_text(net), net_text(&self.net));
            return Err(format!(
                "the games are of the net {theirs}, --net is {ours}: give the net that played them"
            ));
        }
        Ok(())
    }
}

/// A position to search again.
#[derive(Clone, Debug)]
pub struct Target {
    start: Start,
    moves: Vec<Move>,
    mv: Move,
    is_best: bool,
    score: Score,
    rules: RuleSet,
}

impl Target {
    /// The position of a scored ply, counted from the end of the opening.
    pub fn of(game: &GameRecord, scored: usize) -> Target {
        let ply = game.plies[scored];
        Target {
            start: game.start.clone(),
            moves: game.moves().take(game.opening.len() + scored).collect(),
            mv: ply.mv,
            is_best: !ply.flags.is_not_best(),
            score: ply.score,
            rules: game.rules,
        }
    }
}

/// What searching again found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searches {
    /// Positions searched.
    pub positions: u64,
    /// With the same score.
    pub same_score: u64,
    /// Of those whose best move was played: how many, and with the same best move.
    pub best_known: u64,
    /// See above.
    pub same_move: u64,
    /// Decided (mate or win by rule) in the file alone.
    pub decided_there: u64,
    /// Decided in the new search alone.
    pub decided_here: u64,
    /// Differences of the others, new less recorded, in centipawns, from the least up.
    pub differences: Vec<i32>,
    /// Is this another engine or net than the file's?
    pub other_engine: Option<String>,
}

/// Searches to be made.
pub(super) struct Searching<'a> {
    engine: &'a Engine,
    limit: SearchLimit,
    hash_mib: u32,
    other_engine: Option<String>,
}

impl<'a> Searching<'a> {
    /// Finds the limit of the searches.
    pub(super) fn new(
        engine: &'a Engine,
        plan: Option<&Plan>,
        header: Option<&Header>,
        nodes: Option<u64>,
    ) -> Result<Searching<'a>, String> {
        let limit = match (nodes, plan) {
            (Some(nodes), _) => SearchLimit { nodes: Some(nodes), ..SearchLimit::default() },
            (None, Some(plan)) => plan.limit,
            (None, None) => return Err("the file's plan has no limit of searches: give --nodes".to_owned()),
        };
        let other_engine =
            header.and_then(|header| engine.is_of(header.engine_signature, &header.net_id).err());
        let hash_mib = plan.map_or(HASH_MIB, |plan| plan.hash_mib);
        Ok(Searching { engine, limit, hash_mib, other_engine })
    }

    /// Searches the sampled positions again, on all cores.
    pub(super) fn run(self, targets: Sample<Target>) -> Searches {
        let found: Vec<Searches> = targets
            .into_things()
            .par_iter()
            .map_init(|| None, |player, target| self.search(player, target))
            .collect();
        let mut sum = Searches { other_engine: self.other_engine, ..Searches::default() };
        for one in found {
            sum.positions += one.positions;
            sum.same_score += one.same_score;
            sum.best_known += one.best_known;
            sum.same_move += one.same_move;
            sum.decided_there += one.decided_there;
            sum.decided_here += one.decided_here;
            sum.differences.extend(one.differences);
        }
        sum.differences.sort_unstable();
        sum
    }

    fn search(&self, player: &mut Option<(RuleSet, EnginePlayer)>, target: &Target) -> Searches {
        let mut found = Searches::default();
        let Ok(start) = target.start.position() else { return found };
        let mut game = Game::new(start);
        if target.moves.iter().any(|&mv| game.try_play(mv).is_err()) {
            return found;
        }
        if player.as_ref().is_none_or(|(rules, _)| *rules != target.rules) {
            let stop = Arc::new(AtomicBool::new(false));
            let new = EnginePlayer::new(self.hash_mib, self.engine.source.clone(), target.rules, stop);
            *player = Some((target.rules, new));
        }
        let Some((_, player)) = player else { return found };
        player.new_game();
        let choice = player.search(&game, self.limit);
        let (was, is) = (target.score, choice.score);
        found.positions = 1;
        found.same_score = u64::from(was == is);
        found.best_known = u64::from(target.is_best);
        found.same_move = u64::from(target.is_best && choice.best == Some(target.mv));
        match (was.is_decided(), is.is_decided()) {
            (false, false) => found.differences.push(is.0 - was.0),
            (true, false) => found.decided_there = 1,
            (false, true) => found.decided_here = 1,
            (true, true) => {}
        }
        found
    }
}

impl Searches {
    /// The difference below which the given per cent of all lie; `None` of none.
    pub fn quantile(&self, percent: usize) -> Option<i32> {
        let last = self.differences.len().checked_sub(1)?;
        self.differences.get(last * percent.min(100) / 100).copied()
    }

    /// The mean size of the differences in hundredths of a centipawn; `None` of none.
    pub fn mean_size_hundredths(&self) -> Option<i64> {
        let sum: i64 = self.differences.iter().map(|&difference| i64::from(difference.abs())).sum();
        (100 * sum).checked_div(self.differences.len() as i64)
    }

    /// For `--json`.
    pub fn json(&self) -> Value {
        json!({
            "positions": self.positions,
            "same_score": self.same_score,
            "best_known": self.best_known,
            "same_move": self.same_move,
            "decided_in_file_alone": self.decided_there,
            "decided_here_alone": self.decided_here,
            "mean_difference_size": self.mean_size_hundredths().map(|size| size as f64 / 100.0),
            "differences": {
                "p1": self.quantile(1), "p10": self.quantile(10), "p50": self.quantile(50),
                "p90": self.quantile(90), "p99": self.quantile(99),
            },
            "other_engine": self.other_engine,
        })
    }
}
