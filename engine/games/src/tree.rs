//! A game with its variations: what every format is read into and written from.

use std::str::FromStr;

use xiangqi::{Game, Move, Position};

/// A node of a [`GameTree`]; 0 is the start, before any move.
pub type NodeId = u32;

/// How a game is said to have ended. Files are often wrong or silent about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Outcome {
    /// Unknown, unfinished or not said.
    #[default]
    Unknown,
    /// Red has won.
    RedWins,
    /// Black has won.
    BlackWins,
    /// Drawn.
    Draw,
}

impl Outcome {
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub const fn text(self) -> &'static str {
        match self {
            Outcome::Unknown => "*",
            Outcome::RedWins => "1-0",
            Outcome::BlackWins => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }

    /// The number of binary formats (XQF, CCBridge): 1 Red has won, 2 Black has won, 3 drawn, 0 unknown.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Outcome::Unknown => 0,
            Outcome::RedWins => 1,
            Outcome::BlackWins => 2,
            Outcome::Draw => 3,
        }
    }

    /// The opposite of [`code`](Outcome::code). Other numbers say nothing of who has won.
    pub(crate) const fn from_code(code: u8) -> Outcome {
        match code {
            1 => Outcome::RedWins,
            2 => Outcome::BlackWins,
            3 => Outcome::Draw,
            _ => Outcome::Unknown,
        }
    }
}

impl FromStr for Outcome {
    type Err = UnknownOutcome;

    /// Reads `1-0`, `0-1`, `1/2-1/2`, `*` and the usual Chinese words, full-width or not.
    fn from_str(text: &str) -> Result<Outcome, UnknownOutcome> {
        let half: String = text.trim().chars().take(12).map(half_width).collect();
        match half.as_str() {
            "*" | "?" | "" | "未知" | "未完" | "不明" => Ok(Outcome::Unknown),
            "1-0" | "红胜" | "紅勝" | "红方胜" | "紅方勝" | "红先胜" | "紅先勝" | "先胜" | "先勝"
            | "黑负" | "黑負" | "红方胜利" | "红胜利" | "红棋胜" => Ok(Outcome::RedWins),
            "0-1" | "黑胜" | "黑勝" | "黑方胜" | "黑方勝" | "红先负" | "紅先負" | "先负" | "先負"
            | "红负" | "紅負" | "黑方胜利" | "黑胜利" | "黑棋胜" => Ok(Outcome::BlackWins),
            "1/2-1/2" | "1/2" | "½-½" | "½" | "0.5-0.5" | "和" | "和棋" | "和局" | "平局" | "先和"
            | "红先和" | "紅先和" | "双方和棋" | "雙方和棋" => Ok(Outcome::Draw),
            _ => Err(UnknownOutcome { found: crate::error::shown(text) }),
        }
    }
}

/// A text that names no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no result; expected 1-0, 0-1, 1/2-1/2, * or 红胜, 黑胜, 和棋")]
pub struct UnknownOutcome {
    /// The text, cut to 40 characters.
    pub found: String,
}

/// A full-width form of ASCII as ASCII, and the full-width blank as a blank.
pub(crate) fn half_width(c: char) -> char {
    match c {
        '\u{3000}' => ' ',
        '！'..='～' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// A node: the move that leads to it, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    parent: NodeId,
    /// Plies from the start.
    ply: u32,
    mv: Option<Move>,
    comment: String,
    nags: Vec<u8>,
    children: Vec<NodeId>,
}

impl Node {
    fn new(parent: NodeId, ply: u32, mv: Option<Move>) -> Node {
        Node { parent, ply, mv, comment: String::new(), nags: Vec::new(), children: Vec::new() }
    }
}

/// Tags, a start position and a tree of legal moves with comments. The first child of a node goes on with
/// its line, the others are variations.
///
/// Nodes are numbered in the order in which they were added, so no walk needs recursion: collections
/// have lines hundreds of plies deep and trees of a hundred thousand moves.
#[derive(Clone, Debug)]
pub struct GameTree {
    /// Names and values in the order of the file, as PGN has them (`Event`, `Red`, `Black`, …).
    pub tags: Vec<(String, String)>,
    /// What the file says of the outcome.
    pub outcome: Outcome,
    start: Position,
    nodes: Vec<Node>,
}

impl GameTree {
    /// The node before any move.
    pub const ROOT: NodeId = 0;

    /// A game without moves.
    pub fn new(start: Position) -> GameTree {
        let nodes = vec![Node::new(GameTree::ROOT, 0, None)];
        GameTree { tags: Vec::new(), outcome: Outcome::Unknown, start, nodes }
    }

    /// Where the game begins.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The first tag of this name (case does not matter).
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// How many moves the tree has, variations included.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Has it no move?
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Adds a move behind `parent`, which the caller knows to be legal there; the same move twice is one node.
    /// An unknown parent counts as the root.
    pub fn add(&mut self, parent: NodeId, mv: Move) -> NodeId {
        self.child_by(parent, mv).unwrap_or_else(|| self.append(parent, mv))
    }

    /// Like [`add`](GameTree::add), but the same move twice is two nodes: for formats that tell a line from a
    /// variation that begins like it.
    pub fn append(&mut self, parent: NodeId, mv: Move) -> NodeId {
        let parent = if (parent as usize) < self.nodes.len() { parent } else { GameTree::ROOT };
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node::new(parent, self.ply(parent) + 1, Some(mv)));
        self.nodes[parent as usize].children.push(id);
        id
    }

    fn child_by(&self, parent: NodeId, mv: Move) -> Option<NodeId> {
        self.children(parent).iter().copied().find(|&child| self.mv(child) == Some(mv))
    }

    /// The move that leads to a node; `None` for the root and for a number that is no node's.
    pub fn mv(&self, node: NodeId) -> Option<Move> {
        self.nodes.get(node as usize).and_then(|node| node.mv)
    }

    /// The node before; the root's is the root.
    pub fn parent(&self, node: NodeId) -> NodeId {
        self.nodes.get(node as usize).map_or(GameTree::ROOT, |node| node.parent)
    }

    /// How many plies lie between the start and a node.
    pub fn ply(&self, node: NodeId) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.ply)
    }

    /// The nodes that follow; the first goes on with the line.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        self.nodes.get(node as usize).map_or(&[], |node| &node.children)
    }

    /// The comment behind a node's move (the root's: before the first move); may be empty.
    pub fn comment(&self, node: NodeId) -> &str {
        self.nodes.get(node as usize).map_or("", |node| &node.comment)
    }

    /// Adds to the comment of a node; a second one goes on a line of its own.
    pub fn add_comment(&mut self, node: NodeId, text: &str) {
        let text = text.trim();
        if let Some(node) = self.nodes.get_mut(node as usize).filter(|_| !text.is_empty()) {
            if !node.comment.is_empty() {
                node.comment.push('\n');
            }
            node.comment.push_str(text);
        }
    }

    /// The numeric annotation glyphs of a node's move, PGN's `$1` (good) to `$255`.
    pub fn nags(&self, node: NodeId) -> &[u8] {
        self.nodes.get(node as usize).map_or(&[], |node| &node.nags)
    }

    /// Adds a glyph to a node; each is kept once.
    pub fn add_nag(&mut self, node: NodeId, nag: u8) {
        if let Some(node) = self.nodes.get_mut(node as usize).filter(|node| !node.nags.contains(&nag)) {
            node.nags.push(nag);
        }
    }

    /// The moves from the start to a node.
    pub fn line_to(&self, mut node: NodeId) -> Vec<Move> {
        let mut moves = Vec::new();
        while let Some(mv) = self.mv(node) {
            moves.push(mv);
            node = self.parent(node);
        }
        moves.reverse();
        moves
    }

    /// The main line: always the first child.
    pub fn main_line(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut node = GameTree::ROOT;
        while let Some(&next) = self.children(node).first() {
            moves.extend(self.mv(next));
            node = next;
        }
        moves
    }

    /// How many variations branch off: nodes that are not their parent's first child.
    pub fn variations(&self) -> usize {
        self.nodes.iter().map(|node| node.children.len().saturating_sub(1)).sum()
    }

    /// FEN of the position after the main line. Its counter counts every ply since the last capture, as other
    /// programs write it; [`Position::fen`] leaves out the checks that the natural limit does not count.
    pub fn final_fen(&self) -> String {
        let mut position = self.start.clone();
        let mut quiet_plies = self.start.no_capture_plies();
        for mv in self.main_line() {
            let change = position.make(mv).change;
            let is_capture = change.is_some_and(|change| change.captured.is_some());
            quiet_plies = if is_capture { 0 } else { quiet_plies.saturating_add(1) };
        }
        xiangqi::Setup { no_capture_plies: quiet_plies, ..position.to_setup() }.fen()
    }

    /// The game along the main line.
    pub fn main_game(&self) -> Game {
        let mut game = Game::new(self.start.clone());
        for mv in self.main_line() {
            game.play(mv);
        }
        game
    }
}
