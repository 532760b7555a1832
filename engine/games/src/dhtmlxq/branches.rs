//! The tree of a game: lines that branch off lines, in whatever order the file has them.
//!
//! Each line is played once, and the variations off it are read on the way back, the last one first: no
//! position is played to twice, however the branches lie.

use std::collections::HashMap;

use xiangqi::Position;

use crate::error::{FaultKind, GameFault, Place, ReadGame, shown};
use crate::line::Line;
use crate::tree::{GameTree, NodeId};

use super::block::{Block, MAIN, Moves};
use super::fields::{self, Written, moves};
use super::scan::{Field, Lines, unescape};

/// A game of a text.
pub(super) fn read(game: usize, block: &Block<'_>, lines: &Lines) -> ReadGame {
    let start = fields::start(block);
    let mut tree = GameTree::new(start.as_ref().map_or_else(|_| Position::start(), Clone::clone));
    tree.tags = fields::tags(block);
    tree.outcome = fields::outcome(block);
    let mut reader = Reader {
        game,
        lines,
        block,
        line: Line::new(tree.start().clone()),
        read: ReadGame::new(tree),
        comments_used: 0,
    };
    match start {
        Ok(_) => reader.read_lines(),
        Err((field, why)) => reader.fault(FaultKind::Start, MAIN, 0, field.at, field.value.trim(), &why),
    }
    reader.read
}

const CUT: &str = "the text ends inside the list of moves";

/// A line whose moves are played and whose variations are being read.
struct Open {
    /// The index of the line.
    index: usize,
    /// The plies of it that stand in the tree.
    plies: usize,
    /// How many of its variations have been read.
    done: usize,
}

struct Reader<'a> {
    game: usize,
    lines: &'a Lines,
    block: &'a Block<'a>,
    line: Line,
    read: ReadGame,
    comments_used: usize,
}

impl<'a> Reader<'a> {
    fn read_lines(&mut self) {
        let nowhere = Field { name: "movelist", value: "", at: 0, closed: true };
        let main = Moves { number: MAIN, parent: MAIN, ply: 1, field: self.block.main.unwrap_or(nowhere) };
        let mut all = vec![main];
        all.extend(&self.block.variations);
        let branches = branches(&all);
        let mut read = vec![false; all.len()];
        let mut open = vec![self.play(&all[MAIN], MAIN)];
        read[MAIN] = true;
        while let Some(top) = open.last_mut() {
            let Some(&next) = branches[top.index].get(top.done) else {
                open.pop();
                continue;
            };
            top.done += 1;
            // Behind the end of the main line a variation would become the main line.
            let reach = top.plies + usize::from(top.index != MAIN);
            if all[next].ply <= reach {
                read[next] = true;
                self.line.back_to(all[next].ply - 1);
                open.push(self.play(&all[next], next));
            }
        }
        self.report_lost(&all, &read);
    }

    /// Plays a line from where it branches off, as far as it is legal.
    fn play(&mut self, moves_of: &Moves<'_>, index: usize) -> Open {
        let (number, block) = (moves_of.number, self.block);
        let first = if number == MAIN { 0 } else { moves_of.ply };
        let from = block.comments.partition_point(|comment| (comment.line, comment.ply) < (number, first));
        let mut comments = block.comments[from..].iter().take_while(|c| c.line == number).peekable();
        while let Some(comment) = comments.next_if(|comment| comment.ply == 0) {
            self.comment(GameTree::ROOT, comment.value);
        }
        let field = moves_of.field;
        for written in moves(field) {
            let ply = self.line.depth() + 1;
            match self.play_one(&written, field.closed) {
                Ok(node) => {
                    while let Some(comment) = comments.next_if(|comment| comment.ply <= ply) {
                        self.comment(node, comment.value);
                    }
                }
                Err((kind, why)) => {
                    let found = written.mv.map_or_else(|| written.found.to_owned(), |mv| mv.to_string());
                    self.fault(kind, number, ply, written.at, &found, why);
                    return Open { index, plies: self.line.depth(), done: 0 };
                }
            }
        }
        if !field.closed {
            let (ply, end) = (self.line.depth() + 1, field.at + field.value.len());
            self.fault(FaultKind::Cut, number, ply, end, "", CUT);
        }
        Open { index, plies: self.line.depth(), done: 0 }
    }

    fn play_one(&mut self, written: &Written<'_>, closed: bool) -> Result<NodeId, (FaultKind, &'static str)> {
        match written.mv {
            Some(mv) => self.line.play(&mut self.read.tree, mv).map_err(|why| (FaultKind::Illegal, why)),
            None if closed => {
                Err((FaultKind::Unreadable, "expected four digits for two squares, as in 7747"))
            }
            None => Err((FaultKind::Cut, CUT)),
        }
    }

    fn comment(&mut self, node: NodeId, value: &str) {
        self.comments_used += 1;
        self.read.tree.add_comment(node, &unescape(value));
    }

    /// Says which variations and comments have no place.
    fn report_lost(&mut self, all: &[Moves<'_>], read: &[bool]) {
        for (line, _) in all.iter().zip(read).filter(|(_, read)| !**read) {
            let why = format!("it branches off line {}, which was not read so far", line.parent);
            self.fault(FaultKind::Structure, line.number, line.ply, line.field.at, line.field.name, &why);
        }
        for field in &self.block.odd {
            let line = self.lines.line(field.at);
            self.read.warnings.push(format!("line {line}: {:?} names no line and ply", shown(field.name)));
        }
        // Two variations of one number share their comments.
        let left = self.block.comments.len().saturating_sub(self.comments_used);
        if left > 0 {
            self.read.warnings.push(format!("{left} comments stand at plies that were not read"));
        }
    }

    fn fault(&mut self, kind: FaultKind, variation: usize, ply: usize, at: usize, found: &str, why: &str) {
        let place = Place::Line(self.lines.line(at));
        let (game, found, why) = (self.game, shown(found), why.to_owned());
        self.read.add_fault(GameFault { kind, game, variation, ply, place, found, why });
    }
}

/// So many lines are gone up from one whose first ply comes after the branch, to the one that has it.
const MOST_STEPS_UP: usize = 64;

/// For each line, the lines that branch off it, the last ply first, else in the order of the file.
fn branches(all: &[Moves<'_>]) -> Vec<Vec<usize>> {
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    for (i, line) in all.iter().enumerate() {
        // Where two have one number, the first is meant.
        numbers.entry(line.number).or_insert(i);
    }
    let mut branches = vec![Vec::new(); all.len()];
    for (i, line) in all.iter().enumerate().skip(1) {
        let mut parent = numbers.get(&line.parent).copied();
        for _ in 0..MOST_STEPS_UP {
            match parent {
                Some(p) if p != MAIN && all[p].ply >= line.ply => {
                    parent = numbers.get(&all[p].parent).copied();
                }
                _ => break,
            }
        }
        if let Some(p) = parent.filter(|&p| p == MAIN || all[p].ply < line.ply) {
            branches[p].push(i);
        }
    }
    for list in &mut branches {
        list.sort_by_key(|&i| std::cmp::Reverse(all[i].ply));
    }
    branches
}
