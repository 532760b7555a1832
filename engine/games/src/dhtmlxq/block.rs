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
    /// `[DhtmlXQ]` or the like stands before it.
    wrapped: bool,
}

/// What a field of this name holds.
enum Content {
    Fen,
    Board,
    Main,
    /// Parent, ply and number, or nothing that makes sense.
    Variation(Option<(usize, usize, usize)>),
    /// Line and ply, or nothing that makes sense.
    Comment(Option<(usize, usize)>),
    Other,
}

fn content(name: &str) -> Content {
    let name = name.to_ascii_lowercase();
    let place = name
        .strip_prefix("move_")
        .or_else(|| name.starts_with(|c: char| c.is_ascii_digit()).then_some(&name));
    if let Some(place) = place {
        return match numbers(place)[..] {
            [Some(0), Some(1), Some(MAIN)] => Content::Main,
            [Some(parent), Some(ply), Some(number)] if ply > 0 && number != MAIN => {
                Content::Variation(Some((parent, ply, number)))
            }
            _ => Content::Variation(None),
        };
    }
    if let Some(place) = name.strip_prefix("comment").filter(|place| is_place(place)) {
        return Content::Comment(match numbers(place.trim_start_matches('_'))[..] {
            [Some(ply)] => Some((MAIN, ply)),
            [Some(line), Some(ply)] => Some((line, ply)),
            _ => None,
        });
    }
    match name.as_str() {
        "movelist" => Content::Main,
        "binit" => Content::Board,
        "fen" => Content::Fen,
        _ => Content::Other,
    }
}

impl<'a> Block<'a> {
    fn is_game(&self) -> bool {
        let fields = [self.main, self.board, self.fen];
        fields.iter().flatten().any(|field| self.wrapped || !field.is_blank()) || self.has_moves()
    }

    fn has_moves(&self) -> bool {
        self.main.is_some_and(|main| !main.is_blank()) || !self.variations.is_empty()
    }

    /// Moves that no tag of a game stands around, with nothing else that makes a game.
    fn is_bare_moves(&self) -> bool {
        let rest =
            self.board.is_none() && self.fen.is_none() && self.others.is_empty() && self.comments.is_empty();
        !self.wrapped && rest && self.has_moves()
    }

    /// The place of a field of which a game has one.
    fn single(&mut self, content: &Content) -> Option<&mut Option<Field<'a>>> {
        match content {
            Content::Fen => Some(&mut self.fen),
            Content::Board => Some(&mut self.board),
            Content::Main => Some(&mut self.main),
            Content::Variation(_) | Content::Comment(_) | Content::Other => None,
        }
    }

    /// Takes a field that is there once at most; `false` where it is there already: another game begins.
    fn add(&mut self, field: Field<'a>) -> bool {
        let content = content(field.name);
        if let Some(place) = self.single(&content) {
            match place {
                Some(known) if !known.is_blank() => return field.is_blank(),
                _ => *place = Some(field),
            }
            return true;
        }
        match content {
            Content::Variation(Some((parent, ply, number))) => {
                self.variations.push(Moves { number, parent, ply, field });
            }
            Content::Comment(Some((line, ply))) => {
                self.comments.push(Comment { line, ply, value: field.value });
            }
            Content::Variation(None) | Content::Comment(None) => self.odd.push(field),
            _ if field.is_blank() => {}
            _ => self.others.push((field.name, unescape(field.value.trim()))),
        }
        true
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
            Mark::Begin => {
                finish(&mut block, &mut blocks);
                block.wrapped = true;
            }
            Mark::End => finish(&mut block, &mut blocks),
            Mark::Close => {}
            Mark::Field(field) => {
                if !block.add(field) {
                    finish(&mut block, &mut blocks);
                    block.add(field);
                }
            }
        }
    }
    finish(&mut block, &mut blocks);
    blocks
}

/// Pages of dpxq.com have a game's fields in the text and its moves in a script: they are put together.
fn finish<'a>(block: &mut Block<'a>, blocks: &mut Vec<Block<'a>>) {
    let mut block = std::mem::take(block);
    if !block.is_game() {
        return;
    }
    block.comments.sort_by_key(|comment| (comment.line, comment.ply));
    match blocks.last_mut() {
        Some(last) if block.is_bare_moves() && !last.has_moves() => {
            last.main = block.main;
            last.variations = block.variations;
        }
        Some(last) if last.is_bare_moves() && !block.has_moves() => {
            block.main = last.main;
            block.variations = std::mem::take(&mut last.variations);
            *last = block;
        }
        _ => blocks.push(block),
    }
}
