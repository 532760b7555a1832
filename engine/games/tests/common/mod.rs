//! Shared by the tests of formats: where the data lie, and what the index says of them.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this")]

use std::path::PathBuf;

use game_files::{GameTree, NodeId, ReadGame};
use serde_json::Value;

/// Public game files beside the checkout, read in place.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is not here", path.display());
    None
}

/// A file that is kept with the tests.
pub fn own(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/data/games/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).expect(&path)
}

/// The entries of the public index whose files lie in a folder; none where the data are not here.
pub fn index(folder: &str) -> Vec<Value> {
    let Some(path) = shared("index.json") else { return Vec::new() };
    let text = std::fs::read_to_string(path).expect("a readable index");
    let all: Vec<Value> = serde_json::from_str(&text).expect("an index");
    let here = |entry: &Value| entry["file"].as_str().is_some_and(|file| file.starts_with(folder));
    all.into_iter().filter(here).collect()
}

/// How many nodes have a comment.
pub fn comments(tree: &GameTree) -> usize {
    (0..=tree.len() as NodeId).filter(|&node| !tree.comment(node).is_empty()).count()
}

/// The final position of the main line.
pub fn final_fen(game: &ReadGame) -> String {
    game.tree.main_game().position().fen()
}

/// Are these the same start, moves, variations in order, and comments? Nodes may be numbered otherwise.
pub fn same(a: &GameTree, b: &GameTree) -> bool {
    let mut left = vec![(GameTree::ROOT, GameTree::ROOT)];
    while let Some((x, y)) = left.pop() {
        let (next, other) = (a.children(x), b.children(y));
        if a.mv(x) != b.mv(y) || a.comment(x) != b.comment(y) || next.len() != other.len() {
            return false;
        }
        left.extend(next.iter().copied().zip(other.iter().copied()));
    }
    let board = |tree: &GameTree| tree.start().to_setup().board;
    board(a) == board(b) && a.start().side_to_move() == b.start().side_to_move()
}

/// SplitMix64: enough chance for tests, the same everywhere.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// How much to test: `CHUHE_FULL=1` (set by `scripts/test.sh --full`) runs the whole amount, the
/// ordinary run a tenth of it.
pub fn amount(full: usize) -> usize {
    if std::env::var("CHUHE_FULL").is_ok_and(|v| v == "1") { full } else { full / 10 }
}

/// A tree of legal moves made by chance, with comments.
pub fn random_tree(chance: &mut Chance, start: xiangqi::Position, moves: usize) -> GameTree {
    const WORDS: [&str; 6] = ["好棋", "a [b] c", "红方\n优势", "𠮷 || \\u0041", "…", "1-0"];
    let mut tree = GameTree::new(start);
    for _ in 0..moves {
        // Mostly go on, now and then branch off.
        let last = tree.len() as NodeId;
        let node = if chance.below(4) > 0 { last } else { chance.below(last as usize + 1) as NodeId };
        let mut position = tree.start().clone();
        for mv in tree.line_to(node) {
            position.make(mv);
        }
        let legal = position.legal_moves();
        if legal.is_empty() {
            continue;
        }
        let node = tree.add(node, legal[chance.below(legal.len())]);
        if chance.below(5) == 0 {
            tree.add_comment(node, WORDS[chance.below(WORDS.len())]);
        }
    }
    if chance.below(2) == 0 {
        tree.add_comment(GameTree::ROOT, WORDS[chance.below(WORDS.len())]);
    }
    tree
}
