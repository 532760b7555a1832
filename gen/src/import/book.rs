//! Opening books out of games: positions after so many plies, or lines of moves.

use std::collections::HashSet;

use game_files::{FaultKind, Format, fen_list};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Move, Position};

use super::{Imported, LeftOut, Tally, lines};

/// Positions, one a line and each once: after `plies` of every line, or without it where the games begin, with
/// the operations that a list of positions had. A position where the game is over by the rules is no opening.
pub fn positions(
    games: &[Imported],
    plies: Option<usize>,
    variations: bool,
    rules: RuleSet,
    tally: &mut Tally,
) -> String {
    let mut seen = HashSet::new();
    let mut out = String::new();
    let mut add = |position: &Position, tags: &[(String, String)], tally: &mut Tally| {
        if seen.insert(position.key()) {
            tally.written += 1;
            out.push_str(&fen_list::write([(position, tags)]));
        } else {
            tally.leave_out(LeftOut::Duplicate);
        }
    };
    for imported in games {
        let tree = &imported.game.tree;
        let Some(plies) = plies else {
            let has_start = imported.game.main_fault().is_none_or(|fault| fault.kind != FaultKind::Start);
            let is_list = matches!(imported.format, Format::FenList | Format::JsonLines);
            if has_start {
                add(tree.start(), if is_list { &tree.tags } else { &[] }, tally);
            }
            continue;
        };
        for moves in lines(tree, variations) {
            match after(tree.start(), &moves, plies, rules) {
                Ok(position) => add(&position, &[], tally),
                Err(why) => tally.leave_out(why),
            }
        }
    }
    out
}

fn after(start: &Position, moves: &[Move], plies: usize, rules: RuleSet) -> Result<Position, LeftOut> {
    let mut game = Game::new(start.clone());
    let moves = moves.get(..plies).ok_or(LeftOut::TooShort)?;
    moves.iter().for_each(|&mv| _ = game.play(mv));
    match judge::status(&game, rules).is_over() {
        true => Err(LeftOut::OverAtStart),
        false => Ok(game.position().clone()),
    }
}

/// Lines of moves in coordinates, one a line and each once, cut to `plies`. Games that begin elsewhere than at
/// the start position are left out.
pub fn move_lines(games: &[Imported], plies: Option<usize>, variations: bool, tally: &mut Tally) -> String {
    let start = Position::start();
    let mut seen = HashSet::new();
    let mut out = String::new();
    for imported in games {
        let tree = &imported.game.tree;
        for mut moves in lines(tree, variations) {
            moves.truncate(plies.unwrap_or(usize::MAX));
            let words: Vec<String> = moves.iter().map(ToString::to_string).collect();
            if *tree.start() != start {
                tally.leave_out(LeftOut::OtherStart);
            } else if moves.is_empty() {
                tally.leave_out(LeftOut::NoMoves);
            } else if seen.insert(moves) {
                tally.written += 1;
                out.push_str(&words.join(" "));
                out.push('\n');
            } else {
                tally.leave_out(LeftOut::Duplicate);
            }
        }
    }
    out
}
