//! Trees written move by move, each saying whether it is followed and whether it has an alternative: the
//! way of XQF and CCBridge.
//!
//! ```text
//! a (followed, alternative) → b (followed) → c → d
//!
//! start ─ a ─ b ─ c        c ends its line; d is the alternative that a promised,
//!       └ d                the latest promise first
//! ```

use xiangqi::Move;

use crate::error::{FaultKind, GameFault, Place, ReadGame, shown};
use crate::line::Line;
use crate::tree::{GameTree, NodeId};

/// One move as its file has it.
pub(crate) struct Step {
    /// The byte where it stands.
    pub(crate) at: usize,
    /// The move, if its squares are on the board and differ.
    pub(crate) mv: Option<Move>,
    /// Its squares as the file numbers them.
    pub(crate) written: [u8; 2],
    /// A move follows in the same line.
    pub(crate) followed: bool,
    /// Another move in its place comes later.
    pub(crate) alternative: bool,
    /// The comment behind it.
    pub(crate) comment: String,
}

/// Where and how a file ends too early.
pub(crate) struct Cut {
    /// The byte where it was read last.
    pub(crate) at: usize,
    /// What is left there.
    pub(crate) found: String,
    /// What was promised.
    pub(crate) why: &'static str,
    /// The move (not the start) before its comment, where it is the comment that is cut.
    pub(crate) step: Option<Step>,
}

/// A tree that grows by one [`Step`] after the other, without recursion.
pub(crate) struct Growth {
    game: usize,
    read: ReadGame,
    line: Line,
    /// Where the promised alternatives go: how many plies stand before each, or `None` behind a move that
    /// was not read, where nothing can stand.
    promised: Vec<Option<usize>>,
    /// The line that is read stands in the tree so far.
    alive: bool,
    variation: usize,
}

impl Growth {
    /// A game (numbered from 1 in its file) that begins with this tree, which has no moves yet.
    pub(crate) fn new(game: usize, tree: GameTree) -> Growth {
        let line = Line::new(tree.start().clone());
        Growth { game, read: ReadGame::new(tree), line, promised: Vec::new(), alive: true, variation: 0 }
    }

    /// What is said before the first move.
    pub(crate) fn comment_on_start(&mut self, comment: &str) {
        self.read.tree.add_comment(GameTree::ROOT, comment);
    }

    /// Takes the next move; says whether another one must come.
    pub(crate) fn take(&mut self, step: &Step) -> bool {
        let depth = self.alive.then(|| self.line.depth());
        let node = self.play(step);
        if step.alternative {
            // In place of a move that the main line lacks nothing can stand: it would become the main line.
            let kept = node.is_some() || self.variation > 0;
            self.promised.push(depth.filter(|_| kept));
        }
        if let Some(node) = node {
            self.read.tree.add_comment(node, &step.comment);
        }
        step.followed || self.next_line()
    }

    fn play(&mut self, step: &Step) -> Option<NodeId> {
        if !self.alive {
            return None;
        }
        let Some(mv) = step.mv else {
            self.alive = false;
            let [from, to] = step.written;
            let found = format!("{from}-{to}");
            self.fault(FaultKind::Unreadable, step.at, &found, "these are no two squares of the board");
            return None;
        };
        let played = self.line.play(&mut self.read.tree, mv);
        if let Err(why) = played {
            self.alive = false;
            self.fault(FaultKind::Illegal, step.at, &mv.to_string(), why);
        }
        played.ok()
    }

    /// Goes back to the latest promise; `false` when all are kept.
    fn next_line(&mut self) -> bool {
        let Some(depth) = self.promised.pop() else { return false };
        self.variation += 1;
        self.alive = depth.is_some();
        if let Some(depth) = depth {
            self.line.back_to(depth);
        }
        true
    }

    /// Are alternatives still to come?
    pub(crate) fn has_promises(&self) -> bool {
        !self.promised.is_empty()
    }

    /// The file ends where something was promised.
    pub(crate) fn cut(&mut self, cut: &Cut) {
        if let Some(step) = &cut.step {
            self.take(step);
        }
        if self.alive {
            self.fault(FaultKind::Cut, cut.at, &cut.found, cut.why);
        }
    }

    fn fault(&mut self, kind: FaultKind, at: usize, found: &str, why: &str) {
        self.read.add_fault(GameFault {
            kind,
            game: self.game,
            variation: self.variation,
            ply: self.line.depth() + 1,
            place: Place::Byte(at),
            found: shown(found),
            why: why.to_owned(),
        });
    }

    /// What was read.
    pub(crate) fn finish(self) -> ReadGame {
        self.read
    }
}
