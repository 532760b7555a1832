//! Game trees into PGN.

use std::fmt::Write as _;

use xiangqi::{Color, Move, Position, notation};

use super::lexer::begins_tags;
use crate::tree::{GameTree, NodeId};
use crate::walk::Walker;

/// Columns of the moves; a Chinese character takes two.
const COLUMNS: usize = 80;

/// Tags that the writer makes from the game itself.
const OWN_TAGS: [&str; 5] = ["Game", "Result", "FEN", "SetUp", "Format"];

/// How moves are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Notation {
    /// 炮二平五, 炮2平5.
    #[default]
    Chinese,
    /// H2-E2.
    Iccs,
    /// C2=5.
    Wxf,
}

impl Notation {
    /// The value of the `Format` tag.
    pub const fn format_tag(self) -> &'static str {
        match self {
            Notation::Chinese => "Chinese",
            Notation::Iccs => "ICCS",
            Notation::Wxf => "WXF",
        }
    }

    fn text(self, position: &Position, mv: Move) -> String {
        match self {
            Notation::Chinese => notation::chinese(position, mv),
            Notation::Iccs => notation::iccs(mv),
            Notation::Wxf => notation::wxf(position, mv),
        }
    }
}

/// Writes games one after another, with an empty line behind each.
pub fn write<'a>(games: impl IntoIterator<Item = &'a GameTree>, notation: Notation) -> String {
    games.into_iter().map(|game| write_game(game, notation)).collect()
}

/// Writes a game: tags, the main line with its variations, comments and glyphs, the result. What is written
/// is read as the same tree; only a `}` in a comment becomes `｝`, since PGN cannot have it there.
pub fn write_game(game: &GameTree, notation: Notation) -> String {
    let mut out = tags(game, notation);
    let mut moves = MoveText::new(game, notation);
    moves.all();
    moves.word(game.outcome.text());
    out.push_str(&moves.text);
    out.push_str("\n\n");
    out
}

fn tags(game: &GameTree, notation: Notation) -> String {
    let mut out = String::new();
    let mut tag = |name: &str, value: &str| {
        let _ = writeln!(out, "[{name} \"{}\"]", escaped(value));
    };
    tag("Game", game.tag("Game").unwrap_or("Chinese Chess"));
    for (name, value) in &game.tags {
        let is_own = OWN_TAGS.iter().any(|own| own.eq_ignore_ascii_case(name));
        let is_name =
            name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !is_own {
            tag(name, value);
        }
    }
    tag("Result", game.outcome.text());
    let fen = game.start().fen();
    if fen != xiangqi::fen::START {
        tag("FEN", &fen);
    }
    tag("Format", notation.format_tag());
    out.push('\n');
    out
}

/// On one line, quotes and backslashes escaped.
fn escaped(value: &str) -> String {
    let mut out = String::new();
    for c in value.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A comment as the reader takes it for one: without its end, and without what looks like the next game's tags.
fn readable(comment: &str) -> String {
    let mut out = String::new();
    let mut rest = comment;
    while let Some(at) = rest.find(['}', '\n']) {
        out.push_str(&rest[..at]);
        let is_end = rest[at..].starts_with('}');
        rest = &rest[at + 1..];
        out.push_str(match (is_end, begins_tags(rest)) {
            (true, _) => "｝",
            (false, true) => "\n ",
            (false, false) => "\n",
        });
    }
    out + rest
}

/// What is still to be written.
enum Task {
    /// The line behind a node.
    Behind(NodeId),
    /// A variation that begins with a node.
    Variation(NodeId),
    Close,
}

/// The moves, broken into lines.
struct MoveText<'a> {
    game: &'a GameTree,
    notation: Notation,
    walker: Walker,
    text: String,
    column: usize,
    /// No blank before the next word.
    joined: bool,
    /// Black's next move needs its number.
    number_due: bool,
}

impl<'a> MoveText<'a> {
    fn new(game: &'a GameTree, notation: Notation) -> MoveText<'a> {
        let walker = Walker::new(game.start());
        MoveText { game, notation, walker, text: String::new(), column: 0, joined: true, number_due: true }
    }

    fn all(&mut self) {
        self.comment(GameTree::ROOT);
        let mut tasks = vec![Task::Behind(GameTree::ROOT)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Behind(node) => {
                    let children = self.game.children(node);
                    let Some((&main, others)) = children.split_first() else { continue };
                    self.node(main);
                    tasks.push(Task::Behind(main));
                    tasks.extend(others.iter().rev().map(|&other| Task::Variation(other)));
                }
                Task::Variation(node) => {
                    self.word("(");
                    (self.joined, self.number_due) = (true, true);
                    self.node(node);
                    tasks.extend([Task::Close, Task::Behind(node)]);
                }
                Task::Close => {
                    self.joined = true;
                    self.word(")");
                    self.number_due = true;
                }
            }
        }
    }

    /// A node's move with its number, glyphs and comment.
    fn node(&mut self, node: NodeId) {
        let Some(mv) = self.game.mv(node) else { return };
        let position = self.walker.go(self.game, self.game.parent(node));
        let (number, text) = (position.move_number(), self.notation.text(position, mv));
        match position.side_to_move() {
            Color::Red => self.word(&format!("{number}.")),
            Color::Black if self.number_due => self.word(&format!("{number}...")),
            Color::Black => {}
        }
        self.number_due = false;
        self.word(&text);
        for nag in self.game.nags(node) {
            self.word(&format!("${nag}"));
        }
        self.comment(node);
    }

    fn comment(&mut self, node: NodeId) {
        let comment = self.game.comment(node);
        if !comment.is_empty() {
            let text = readable(comment);
            self.word(&format!("{{{text}}}"));
            self.number_due = true;
        }
    }

    /// A word, on a new line where this one is full.
    fn word(&mut self, word: &str) {
        let first_line = word.split('\n').next().unwrap_or(word);
        let blank = usize::from(!self.joined);
        if self.column > 0 && self.column + blank + width(first_line) > COLUMNS {
            self.text.push('\n');
            self.column = 0;
        } else if !self.joined {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(word);
        self.column = match word.rsplit_once('\n') {
            Some((_, last)) => width(last),
            None => self.column + width(word),
        };
        self.joined = false;
    }
}

/// Columns that a text takes: Chinese characters and full-width forms take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if (c as u32) < 0x1100 { 1 } else { 2 }).sum()
}
