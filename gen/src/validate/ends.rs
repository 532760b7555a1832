//! Adjudications: the plan's limits, applied to the recorded scores, must give the recorded end.

use nnue_format::record::GameRecord;

use crate::adjudicate::Adjudicator;
use crate::plan::Adjudication;

/// What is wrong with the end of a game of self-play, and at which ply (from 0); the game is one that the rules allow.
/// A game without scores has nothing to check.
pub fn check_end(game: &GameRecord, plan: &Adjudication) -> Option<(usize, String)> {
    let recorded = (game.outcome, game.reason);
    let mut walk = game.positions().ok()?;
    let mut adjudicator = Adjudicator::default();
    let count = game.len();
    while let Some(step) = walk.next() {
        let (position, ply) = step.ok()?;
        let Some((score, flags)) = ply.scored else { continue };
        let is_last = ply.number + 1 == count;
        // The rules are asked first.
        if is_last && !game.reason.is_adjudicated() {
            return None;
        }
        match adjudicator.see(plan, position.side_to_move(), score, !flags.is_not_best(), ply.number + 1) {
            Some(end) if is_last && end == recorded => return None,
            Some((outcome, reason)) => {
                let (was, why) = recorded;
                let what = format!(
                    "the plan ends the game after this ply as {outcome} by {reason}; recorded is {was} by {why} after {count} plies"
                );
                return Some((ply.number, what));
            }
            None if is_last => {
                let (was, why) = recorded;
                return Some((
                    ply.number,
                    format!("recorded as {was} by {why}; the plan lets the game go on"),
                ));
            }
            None => {}
        }
    }
    None
}
