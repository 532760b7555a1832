//! Games played again from the plan's seed: the same moves, the same scores, the same end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nnue_format::record::GameRecord;
use rayon::prelude::*;
use xiangqi::Game;

use super::research::Engine;
use super::sample::Sample;
use super::{Fault, Kind};
use crate::openings::Starts;
use crate::plan::{Count, Plan};
use crate::play::{Finished, PlayError, play_game, play_on};
use crate::player::EnginePlayer;

/// Games played again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replays {
    /// Games that came out the same.
    pub same: u64,
    /// Games that did not.
    pub different: u64,
    /// Their scored plies.
    pub positions: u64,
}

/// Replays to be made.
pub(super) struct Replaying<'a> {
    engine: &'a Engine,
}

impl<'a> Replaying<'a> {
    /// Checks that games can be played again at all.
    pub(super) fn new(engine: &'a Engine, plan: Option<&Plan>) -> Result<Replaying<'a>, String> {
        let plan = plan.ok_or("the plan in the file is not one of self-play by this version")?;
        plan.check().map_err(|error| error.to_string())?;
        if !plan.is_reproducible() {
            return Err(
                "its moves were searched for a time (--movetime), which no two machines do alike".to_owned()
            );
        }
        engine.is_of(plan.engine_signature, &plan.net)?;
        Ok(Replaying { engine })
    }

    /// Plays the sampled games again, on all cores. `last` is the number of the file's last game.
    pub(super) fn run(
        &self,
        games: Sample<(u64, GameRecord)>,
        plan: Option<&Plan>,
        last: Option<u64>,
    ) -> (Replays, Vec<Fault>) {
        let Some(plan) = plan else { return Default::default() };
        let mut games = games.into_things();
        // Where its opening ended is not known of a game that lacks its first scores.
        if plan.opening.book.is_some() && matches!(plan.count, Count::Positions(_)) {
            games.retain(|(_, game)| Some(game.number) != last);
        }
        let faults: Vec<Option<Fault>> = games
            .par_iter()
            .map_init(|| self.player(plan), |player, (offset, game)| again(plan, player, *offset, game))
            .collect();
        let faults: Vec<Fault> = faults.into_iter().flatten().collect();
        let different = faults.len() as u64;
        let positions = games.iter().map(|(_, game)| game.plies.len() as u64).sum();
        (Replays { same: games.len() as u64 - different, different, positions }, faults)
    }

    fn player(&self, plan: &Plan) -> EnginePlayer {
        let rules = plan.rule_set().unwrap_or(xiangqi::judge::RuleSet::ALL[0]);
        let stop = Arc::new(AtomicBool::new(false));
        EnginePlayer::new(plan.hash_mib, self.engine.source.clone(), rules, stop)
    }
}

/// Plays a game again; what is different, if anything.
fn again(plan: &Plan, player: &mut EnginePlayer, offset: u64, game: &GameRecord) -> Option<Fault> {
    let fault = |ply, what| Some(Fault { offset, game: Some(game.number), ply, kind: Kind::Replay, what });
    let mut found = match played_again(plan, player, game) {
        Ok(Some(found)) => found,
        Ok(None) => return fault(None, "played again, there is no game of this number".to_owned()),
        Err(error) => return fault(None, format!("cannot be played again: {error}")),
    };
    // The last game of an exact number of positions lacks its first scores.
    let surplus = found.plies.len().saturating_sub(game.plies.len());
    if matches!(plan.count, Count::Positions(_)) && found.len() == game.len() {
        found.opening.extend(found.plies.drain(..surplus).map(|ply| ply.mv));
    }
    let (ply, what) = difference(game, &found)?;
    fault(ply, what)
}

/// The game as the plan plays it: from its number alone, or from its opening where that came from a book.
fn played_again(
    plan: &Plan,
    player: &mut EnginePlayer,
    game: &GameRecord,
) -> Result<Option<GameRecord>, PlayError> {
    let never = AtomicBool::new(false);
    if let Ok(starts) = Starts::new(plan, None) {
        let finished = play_game(plan, &starts, game.number, player, &never, &|_| false)?;
        return Ok(match finished {
            Finished::Game(played) => Some(played.record),
            _ => None,
        });
    }
    let Ok(start) = game.start.position() else { return Ok(None) };
    let mut opening = Game::new(start);
    for &mv in &game.opening {
        if opening.try_play(mv).is_err() {
            return Ok(None);
        }
    }
    let played = play_on(plan, game.number, game.start.clone(), opening, player, &never)?;
    Ok(played.map(|(record, _)| record))
}

/// The first difference between a game and its replay.
fn difference(game: &GameRecord, found: &GameRecord) -> Option<(Option<usize>, String)> {
    let moves = game.moves().zip(found.moves());
    if let Some((ply, (was, is))) = moves.enumerate().find(|(_, (was, is))| was != is) {
        return Some((Some(ply), format!("the move is {was}, played again it is {is}")));
    }
    if game.opening.len() != found.opening.len() {
        let (was, is) = (game.opening.len(), found.opening.len());
        return Some((None, format!("the opening has {was} plies, played again {is}")));
    }
    let plies = game.plies.iter().zip(&found.plies);
    if let Some((i, (was, is))) = plies.enumerate().find(|(_, (was, is))| was.score != is.score) {
        let ply = game.opening.len() + i;
        return Some((Some(ply), format!("the score is {}, played again it is {}", was.score.0, is.score.0)));
    }
    if game.len() != found.len() || (game.outcome, game.reason) != (found.outcome, found.reason) {
        let end =
            |game: &GameRecord| format!("{} by {} after {} plies", game.outcome, game.reason, game.len());
        return Some((None, format!("the end is {}, played again {}", end(game), end(found))));
    }
    None
}
