//! A board that follows a tree from node to node.

use xiangqi::{Position, Undo};

use crate::tree::{GameTree, NodeId};

/// A board that stands at a node of a tree. Going to another node takes back and plays only what lies
/// between the two, so that a walk over a whole tree costs a few moves for each node.
pub(crate) struct Walker {
    position: Position,
    /// What takes back the moves from the root to the node where it stands.
    undo: Vec<Undo>,
    /// The nodes on that way, the root first.
    path: Vec<NodeId>,
}

impl Walker {
    /// At the root.
    pub(crate) fn new(start: &Position) -> Walker {
        Walker { position: start.clone(), undo: Vec::new(), path: vec![GameTree::ROOT] }
    }

    fn is_on_path(&self, tree: &GameTree, node: NodeId) -> bool {
        self.path.get(tree.ply(node) as usize) == Some(&node)
    }

    /// Goes to a node and gives the position there.
    pub(crate) fn go(&mut self, tree: &GameTree, node: NodeId) -> &Position {
        let mut ahead = Vec::new();
        let mut meeting = node;
        while !self.is_on_path(tree, meeting) {
            ahead.push(meeting);
            meeting = tree.parent(meeting);
        }
        while self.path.len() > tree.ply(meeting) as usize + 1 {
            self.path.pop();
            if let Some(undo) = self.undo.pop() {
                self.position.unmake(&undo);
            }
        }
        for &next in ahead.iter().rev() {
            if let Some(mv) = tree.mv(next) {
                self.undo.push(self.position.make(mv));
                self.path.push(next);
            }
        }
        &self.position
    }
}
