//! A line being read or walked: a position that moves along a tree, forward and back.

use xiangqi::{Move, Position, Undo};

use crate::tree::{GameTree, NodeId};

/// A place in a tree with its position, and the way back to the start.
///
/// Going back to a branch takes moves back instead of playing the game again, so that a tree read in
/// depth-first order costs one move made and one taken back for each of its moves.
pub(crate) struct Line {
    position: Position,
    path: Vec<(NodeId, Undo)>,
}

impl Line {
    /// At the start of a game.
    pub(crate) fn new(start: Position) -> Line {
        Line { position: start, path: Vec::new() }
    }

    /// The node that is stood on.
    pub(crate) fn node(&self) -> NodeId {
        self.path.last().map_or(GameTree::ROOT, |&(node, _)| node)
    }

    /// Plies from the start.
    pub(crate) fn depth(&self) -> usize {
        self.path.len()
    }

    /// Takes moves back until so many plies are left.
    pub(crate) fn back_to(&mut self, depth: usize) {
        while self.path.len() > depth {
            if let Some((_, undo)) = self.path.pop() {
                self.position.unmake(&undo);
            }
        }
    }

    /// Plays a move and adds it to the tree, behind the moves that stand there already: these formats tell a
    /// line from a variation that begins like it.
    ///
    /// # Errors
    /// Why the move is not legal; line and tree are as before then.
    pub(crate) fn play(&mut self, tree: &mut GameTree, mv: Move) -> Result<NodeId, &'static str> {
        if let Some(why) = self.position.why_illegal(mv) {
            return Err(why);
        }
        let node = tree.append(self.node(), mv);
        self.path.push((node, self.position.make(mv)));
        Ok(node)
    }
}
