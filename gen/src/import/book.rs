//! Opening books out of games: positions after so many plies, or lines of moves. In memory are the digests of what is
//! there already.

use std::collections::HashSet;

use game_files::{FaultKind, Format, fen_list};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Game, Move, Position};

use super::{Imported, LeftOut, Seen, Tally, lines};

/// Positions, one a line and each once: after `plies` of every line, or without it where the games begin, with
/// the operations that a list of positions had. A position where the game is over by the rules is no opening.
pub struct Positions {
    plies: Option<usize>,
    variations: bool,
    rules: RuleSet,
    seen: HashSet<u64>,
}

impl Positions {
    /// None seen yet.
    pub fn new(plies: Option<usize>, variations: bool, rules: RuleSet) -> Positions {
        Positions { plies, variations, rules, seen: HashSet::new() }
    }

    /// The lines of text for a game; counts them and what is left out.
    pub fn of(&mut self, imported: &Imported, tally: &mut Tally) -> String {
        let tree = &imported.game.tree;
        let mut out = String::new();
        let Some(plies) = self.plies else {
            let has_start = imported.game.main_fault().is_none_or(|fault| fault.kind != FaultKind::Start);
            let is_list = matches!(imported.format, Format::FenList | Format::JsonLines);
            if has_start {
                self.add(tree.start(), if is_list { &tree.tags } else { &[] }, tally, &mut out);
            }
            return out;
        };
        for moves in lines(tree, self.variations) {
            match after(tree.start(), &moves, plies, self.rules) {
                Ok(position) => self.add(&position, &[], tally, &mut out),
                Err(why) => tally.leave_out(why),
            }
        }
        out
    }

    fn add(&mut self, position: &Position, tags: &[(String, String)], tally: &mut Tally, out: &mut String) {
        if self.seen.insert(position.key()) {
            tally.written += 1;
            out.push_str(&fen_list::write([(position, tags)]));
        } else {
            tally.leave_out(LeftOut::Duplicate);
        }
    }
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
pub struct MoveLines {
    plies: Option<usize>,
    variations: bool,
    start: Position,
    seen: Seen,
}

impl MoveLines {
    /// None seen yet.
    pub fn new(plies: Option<usize>, variations: bool) -> MoveLines {
        MoveLines { plies, variations, start: Position::start(), seen: Seen::default() }
    }

    /// The lines of text for a game; counts them and what is left out.
    pub fn of(&mut self, imported: &Imported, tally: &mut Tally) -> String {
        let tree = &imported.game.tree;
        let mut out = String::new();
        for mut moves in lines(tree, self.variations) {
            moves.truncate(self.plies.unwrap_or(usize::MAX));
            if *tree.start() != self.start {
                tally.leave_out(LeftOut::OtherStart);
            } else if moves.is_empty() {
                tally.leave_out(LeftOut::NoMoves);
            } else if self.seen.is_new(&self.start, &moves) {
                tally.written += 1;
                let words: Vec<String> = moves.iter().map(ToString::to_string).collect();
                out.push_str(&words.join(" "));
                out.push('\n');
            } else {
                tally.leave_out(LeftOut::Duplicate);
            }
        }
        out
    }
}
