//! The fields of one game.

use super::scan::{Field, Mark, marks, unescape};

/// The number of the main line.
pub(super) const MAIN: usize = 0;

/// A line of moves: `movelist`, or `move_P_N_K`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moves<'a> {
    /// Its number K; [`MAIN`] for the main line.
    pub(super) number: usize,
    /// The line P that it branches off.
    pub(super) parent: usize,
    /// The ply N of its first move, from 1.
    pub(super) ply: usize,
    /// Four digits for each move.
    pub(super) field: Field<'a>,
}

/// A comment: `commentN` for the main line, `commentP_N` for variation P.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'a> {
    pub(super) line: usize,
    pub(super) ply: usize,
    pub(super) value: &'a str,
}

/// One game as it stands in the text.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub(super) fen: Option<Field<'a>>,
    pub(super) board: Option<Field<'a>>,
    pub(super) main: Option<Field<'a>>,
    pub(super) variations: Vec<Moves<'a>>,
    /// By line and ply.
    pub(super) comments: Vec<Comment<'a>>,
    /// Anything else that has a text.
    pub(super) others: Vec<(&'a str, String)>,
    /// Fields that look like moves or a comment and cannot be.
    pub(super) odd: Vec<Field<'a>>,
}

impl<'a> Block<'a> {
    fn is_game(&self) -> bool {
        self.main.is_some() || self.board.is_some() || self.fen.is_some()
    }

    /// A second list of moves or a second board is another game.
    fn has(&self, name: &str) -> bool {
        match name {
            "movelist" => self.main.is_some(),
            "binit" => self.board.is_some(),
            "fen" => self.fen.is_some(),
            _ => false,
        }
    }

    fn add(&mut self, name: &str, field: Field<'a>) {
        match name {
            "movelist" => self.main = Some(field),
            "binit" => self.board = Some(field),
            "fen" => self.fen = Some(field),
            _ => {
                if let Some(place) = name.strip_prefix("move_") {
                    match numbers(place)[..] {
                        [Some(parent), Some(ply), Some(number)] if ply > 0 && number != MAIN => {
                            self.variations.push(Moves { number, parent, ply, field });
                        }
                        _ => self.odd.push(field),
                    }
                } else if let Some(place) = name.strip_prefix("comment").filter(|place| is_place(place)) {
                    let value = field.value;
                    match numbers(place.trim_start_matches('_'))[..] {
                        [Some(ply)] => self.comments.push(Comment { line: MAIN, ply, value }),
                        [Some(line), Some(ply)] => self.comments.push(Comment { line, ply, value }),
                        _ => self.odd.push(field),
                    }
                } else if !field.value.trim().is_empty() {
                    self.others.push((field.name, unescape(field.value.trim())));
                }
            }
        }
    }
}

/// `commentator` is no comment.
fn is_place(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_digit())
}

/// Numbers between underscores. No place needs more than three; a fourth is kept to be seen.
fn numbers(text: &str) -> Vec<Option<usize>> {
    text.split('_').take(4).map(|number| number.parse().ok()).collect()
}

/// The games of a text.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut block = Block::default();
    for mark in marks(text) {
        match mark {
            Mark::Begin | Mark::End => finish(&mut block, &mut blocks),
            Mark::Close => {}
            Mark::Field(field) => {
                let name = field.name.to_ascii_lowercase();
                if block.has(&name) {
                    finish(&mut block, &mut blocks);
                }
                block.add(&name, field);
            }
        }
    }
    finish(&mut block, &mut blocks);
    blocks
}

fn finish<'a>(block: &mut Block<'a>, blocks: &mut Vec<Block<'a>>) {
    let mut block = std::mem::take(block);
    if block.is_game() {
        block.comments.sort_by_key(|comment| (comment.line, comment.ply));
        blocks.push(block);
    }
}
