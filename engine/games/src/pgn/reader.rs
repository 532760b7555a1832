//! PGN into game trees. No recursion: open variations are a list.

use std::collections::HashSet;

use xiangqi::{FenError, Move, Position, notation};

use super::lexer::{Lexer, Placed, Token};
use crate::error::{FaultKind, FileError, GameFault, Place, ReadGame, shown};
use crate::text;
use crate::tree::{GameTree, NodeId, Outcome, half_width};
use crate::walk::Walker;

/// Reads a PGN file in any encoding.
///
/// # Errors
/// Where there is text but neither a tag nor a move in it. An empty file is no game and no error.
pub fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    read_text(&text::decode(bytes).text)
}

/// Reads PGN that is decoded already; lines end in `\n`.
///
/// # Errors
/// As [`read`].
pub fn read_text(text: &str) -> Result<Vec<ReadGame>, FileError> {
    let found: Vec<ReadGame> = games(text).collect();
    if found.is_empty() && !text.trim().is_empty() {
        let expected = "PGN: tags such as [Red \"…\"], or moves such as 1. 炮二平五 or 1. h2e2";
        return Err(FileError::new(Place::Line(1), expected, text.trim_start()));
    }
    Ok(found)
}

/// The games of a text one by one, so that a large collection need not be held whole.
pub fn games(text: &str) -> Games<'_> {
    games_at(text, 0, 1)
}

/// The games of a part of a file, behind so many games; its first line is `line` of the file, from 1.
pub fn games_at(text: &str, before: usize, line: usize) -> Games<'_> {
    Games { lexer: Lexer::new(text, line), text, held: None, number: before, start: Position::start() }
}

/// See [`games`].
pub struct Games<'a> {
    lexer: Lexer<'a>,
    text: &'a str,
    /// A token that belongs to the next game.
    held: Option<Placed<'a>>,
    /// Games of the file so far.
    number: usize,
    /// Where games without a FEN begin.
    start: Position,
}

impl<'a> Games<'a> {
    fn token(&mut self) -> Option<Placed<'a>> {
        self.held.take().or_else(|| self.lexer.next())
    }

    /// The beginning of the next game; what stands before it is passed over. Without tags, a game begins
    /// with a move number and a legal move, the first in a file with anything like a move.
    fn find(&mut self) -> Option<Builder<'a>> {
        let mut comments = Vec::new();
        let mut numbered = false;
        while let Some(placed) = self.token() {
            match &placed.token {
                Token::Tag { .. } => {
                    self.held = Some(placed);
                    return Some(self.tags());
                }
                Token::Comment { text, .. } if self.number == 0 => comments.push(*text),
                Token::Number(1) => numbered = true,
                Token::Word(word) => {
                    let first = self.number == 0 && is_move_like(word);
                    if first || (numbered && move_in(&self.start, word).is_some()) {
                        self.held = Some(placed);
                        let mut builder = Builder::new(self);
                        comments.iter().for_each(|text| builder.game.tree.add_comment(GameTree::ROOT, text));
                        return Some(builder);
                    }
                    numbered = false;
                }
                _ => numbered = false,
            }
        }
        None
    }

    /// The tags of a game. A name for the second time begins the next game, if it is the first name again
    /// or an empty line stands between.
    fn tags(&mut self) -> Builder<'a> {
        let mut builder = Builder::new(self);
        let mut names = HashSet::new();
        let mut cut = None;
        while let Some(placed) = self.token() {
            let Token::Tag { name, value, closed } = &placed.token else {
                self.held = Some(placed);
                break;
            };
            let tags = &mut builder.game.tree.tags;
            let is_first = tags.first().is_some_and(|(first, _)| first.eq_ignore_ascii_case(name));
            if !names.insert(name.to_lowercase()) && (is_first || placed.after_blank) {
                self.held = Some(placed);
                break;
            }
            if name.eq_ignore_ascii_case("FEN") {
                builder.fen_line = placed.line;
            }
            tags.push(((*name).to_owned(), value.clone()));
            cut = (!closed && placed.end == self.text.len()).then_some((placed.line, *name));
        }
        builder.begin();
        if let Some((line, name)) = cut {
            let why = "the file ends inside this tag".to_owned();
            builder.break_main(builder.fault(FaultKind::Cut, line, name, why));
        }
        builder
    }
}

impl Iterator for Games<'_> {
    type Item = ReadGame;

    fn next(&mut self) -> Option<ReadGame> {
        let mut builder = self.find()?;
        while let Some(placed) = self.token() {
            if builder.begins_another(&placed) {
                self.held = Some(placed);
                break;
            }
            if builder.take(placed, self.text) {
                break;
            }
        }
        self.number += 1;
        Some(builder.finish())
    }
}

/// A variation that is open, and what waits for its end.
struct Frame {
    /// Where the line around it stands.
    outer: NodeId,
    number: usize,
    line: usize,
}

/// Text in brackets that is not read as moves.
struct Skipped {
    /// Brackets open in it, its own included.
    depth: usize,
    /// Where it begins if it is a remark; `None` if it is a broken variation.
    remark: Option<usize>,
}

/// A game being read.
struct Builder<'a> {
    game: ReadGame,
    number: usize,
    text_length: usize,
    walker: Walker,
    fen_line: usize,
    /// The FEN does not say who is to move.
    side_unknown: bool,
    /// The last move of the line being read.
    node: NodeId,
    /// Has this line a move yet? If not, comments wait for it.
    line_begun: bool,
    waiting: Vec<&'a str>,
    frames: Vec<Frame>,
    skipped: Option<Skipped>,
    /// The main line is broken; brackets open since.
    broken: Option<usize>,
    variations: usize,
    /// A word of the main line that is no move: a fault if moves follow, else text after the game.
    odd_word: Option<GameFault>,
    token_outcome: Option<Outcome>,
}

impl<'a> Builder<'a> {
    fn new(games: &Games<'_>) -> Builder<'a> {
        Builder {
            walker: Walker::new(&games.start),
            game: ReadGame::new(GameTree::new(games.start.clone())),
            number: games.number + 1,
            text_length: games.text.len(),
            fen_line: 0,
            side_unknown: false,
            node: GameTree::ROOT,
            line_begun: false,
            waiting: Vec::new(),
            frames: Vec::new(),
            skipped: None,
            broken: None,
            variations: 0,
            odd_word: None,
            token_outcome: None,
        }
    }

    /// After the tags: the start position.
    fn begin(&mut self) {
        let Some(fen) = self.game.tree.tag("FEN").map(str::to_owned).filter(|fen| !fen.trim().is_empty())
        else {
            return;
        };
        match Position::from_fen(&fen) {
            Ok(position) => self.start_at(position),
            Err(FenError::NoSide) => match Position::from_fen(&format!("{fen} w")) {
                Ok(position) => {
                    self.side_unknown = true;
                    self.start_at(position);
                }
                Err(error) => self.bad_start(&fen, error.to_string()),
            },
            Err(error) => self.bad_start(&fen, error.to_string()),
        }
    }

    fn start_at(&mut self, position: Position) {
        let tags = std::mem::take(&mut self.game.tree.tags);
        self.walker = Walker::new(&position);
        self.game.tree = GameTree::new(position);
        self.game.tree.tags = tags;
    }

    fn bad_start(&mut self, fen: &str, why: String) {
        let mut fault = self.fault(FaultKind::Start, self.fen_line, fen, why);
        fault.ply = 0;
        self.break_main(fault);
    }

    fn fault(&self, kind: FaultKind, line: usize, found: &str, why: String) -> GameFault {
        GameFault {
            kind,
            game: self.number,
            variation: self.frames.last().map_or(0, |frame| frame.number),
            ply: self.game.tree.ply(self.node) as usize + 1,
            place: Place::Line(line),
            found: shown(found),
            why,
        }
    }

    fn break_main(&mut self, fault: GameFault) {
        self.game.add_fault(fault);
        self.broken = Some(0);
    }

    /// Does this token belong to the next game? Tags do, and the move number 1 behind an empty line and moves.
    fn begins_another(&self, placed: &Placed<'_>) -> bool {
        match placed.token {
            Token::Tag { .. } => true,
            Token::Number(1) => {
                let is_under_way = self.broken.is_some() || self.game.tree.ply(self.node) >= 2;
                placed.after_blank && is_under_way && self.frames.is_empty() && self.skipped.is_none()
            }
            _ => false,
        }
    }

    /// Takes a token of the moves; true where the game ends with it.
    fn take(&mut self, placed: Placed<'a>, text: &'a str) -> bool {
        if matches!(placed.token, Token::Separator) {
            return true;
        }
        if let Some(depth) = self.broken {
            return self.pass_broken(depth, &placed.token);
        }
        if let Some(skipped) = self.skipped.take() {
            self.pass_skipped(skipped, &placed, text);
            return false;
        }
        match placed.token {
            Token::Comment { text, closed } => self.comment(text, closed, placed.line),
            Token::Open => self.open(&placed),
            Token::Close => self.close(),
            Token::Nag(nag) if self.line_begun => self.game.tree.add_nag(self.node, nag),
            Token::Word(word) => self.word(word, &placed),
            Token::Number(_) => self.moves_go_on(),
            Token::Result(outcome) if self.frames.is_empty() => {
                self.token_outcome = Some(outcome);
                return true;
            }
            // A result inside a variation is a remark on it.
            _ => {}
        }
        false
    }

    /// After a break of the main line only the result is looked for.
    fn pass_broken(&mut self, depth: usize, token: &Token<'_>) -> bool {
        match token {
            Token::Open => self.broken = Some(depth + 1),
            Token::Close => self.broken = Some(depth.saturating_sub(1)),
            Token::Result(outcome) if depth == 0 => {
                self.token_outcome = Some(*outcome);
                return true;
            }
            _ => {}
        }
        false
    }

    fn pass_skipped(&mut self, mut skipped: Skipped, placed: &Placed<'a>, text: &'a str) {
        match placed.token {
            Token::Open => skipped.depth += 1,
            Token::Close => skipped.depth -= 1,
            _ => {}
        }
        if skipped.depth > 0 {
            self.skipped = Some(skipped);
            return;
        }
        self.close();
        if let Some(remark) = skipped.remark.and_then(|begin| text.get(begin..placed.begin)) {
            self.comment(remark, true, placed.line);
        }
    }

    fn comment(&mut self, text: &'a str, closed: bool, line: usize) {
        if self.line_begun || self.frames.is_empty() {
            self.game.tree.add_comment(self.node, text);
        } else {
            self.waiting.push(text);
        }
        if !closed {
            let why =
                "the comment that begins here is not closed; expected } before the next game".to_owned();
            let mut fault = self.fault(FaultKind::Cut, line, text.trim_end(), why);
            fault.variation = 0;
            self.break_main(fault);
        }
    }

    fn open(&mut self, placed: &Placed<'a>) {
        self.variations += 1;
        let frame = Frame { outer: self.node, number: self.variations, line: placed.line };
        let stray = !self.line_begun;
        self.frames.push(frame);
        if stray {
            // Brackets before a line's first move are remarks; whatever moves are in them branch off nowhere.
            self.skipped = Some(Skipped { depth: 1, remark: Some(placed.end) });
            return;
        }
        self.node = self.game.tree.parent(self.node);
        self.line_begun = false;
    }

    /// Ends the innermost variation; a bracket that closes nothing is passed over.
    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        // A remark before a line's first move leaves it without one.
        let was_stray = frame.outer == self.node && !self.line_begun;
        self.node = frame.outer;
        if !was_stray {
            self.line_begun = true;
            // Comments of a variation that has no move.
            self.take_waiting();
        }
    }

    /// Moves follow a word that was none: it was a fault.
    fn moves_go_on(&mut self) {
        if let Some(fault) = self.odd_word.take() {
            self.break_main(fault);
        }
    }

    fn word(&mut self, word: &'a str, placed: &Placed<'a>) {
        let move_like = is_move_like(word);
        if self.odd_word.is_some() && !move_like {
            return;
        }
        self.moves_go_on();
        if self.broken.is_some() {
            return;
        }
        match self.legal(word).filter(|_| move_like) {
            Some(mv) => self.play(mv),
            None => self.not_a_move(word, placed, move_like),
        }
    }

    fn legal(&mut self, word: &str) -> Option<Move> {
        let found = move_in(self.walker.go(&self.game.tree, self.node), word);
        if found.is_some() || !self.side_unknown || !self.game.tree.is_empty() {
            return found;
        }
        // The FEN names no side: whoever can play the first move.
        let setup =
            xiangqi::Setup { side_to_move: xiangqi::Color::Black, ..self.game.tree.start().to_setup() };
        let position = Position::try_from_setup(&setup).ok()?;
        let mv = move_in(&position, word)?;
        self.start_at(position);
        Some(mv)
    }

    fn play(&mut self, mv: Move) {
        self.node = self.game.tree.append(self.node, mv);
        self.line_begun = true;
        self.take_waiting();
    }

    fn take_waiting(&mut self) {
        for text in self.waiting.drain(..) {
            self.game.tree.add_comment(self.node, text);
        }
    }

    fn not_a_move(&mut self, word: &'a str, placed: &Placed<'a>, move_like: bool) {
        let fault = self.word_fault(word, placed, move_like);
        let in_main = self.frames.is_empty();
        if in_main && (move_like || fault.kind == FaultKind::Cut) {
            self.break_main(fault);
        } else if in_main {
            self.odd_word = Some(fault);
        } else {
            let is_remark = !move_like && !self.line_begun;
            if !is_remark {
                self.game.add_fault(fault);
            }
            self.skipped = Some(Skipped { depth: 1, remark: is_remark.then_some(placed.begin) });
        }
    }

    fn word_fault(&mut self, word: &str, placed: &Placed<'_>, move_like: bool) -> GameFault {
        let position = self.walker.go(&self.game.tree, self.node);
        let (illegal, why) = match notation::parse_lenient(position, word) {
            Err(error) => {
                let why = format!("{}; the position is {}", error.why, error.fen);
                (matches!(error.why, notation::Unread::Illegal(..)), why)
            }
            // A word that is not like a move, and yet one.
            Ok(mv) => (false, format!("{mv} is not written like this")),
        };
        let kind = match illegal {
            true => FaultKind::Illegal,
            false if placed.end == self.text_length && is_part_of_move(word) => {
                let why = "the file ends inside this move".to_owned();
                return self.fault(FaultKind::Cut, placed.line, word, why);
            }
            false if move_like => FaultKind::Illegal,
            false => FaultKind::Unreadable,
        };
        self.fault(kind, placed.line, word, why)
    }

    fn finish(mut self) -> ReadGame {
        if self.broken.is_none()
            && let Some(frame) = self.frames.first()
        {
            let why = format!("the variation that begins on line {} is not closed; expected )", frame.line);
            let mut fault = self.fault(FaultKind::Cut, frame.line, "(", why);
            (fault.variation, fault.ply) = (0, self.game.tree.ply(frame.outer) as usize + 1);
            self.game.add_fault(fault);
        }
        if let Some(fault) = &self.odd_word {
            let (line, word) = (fault.place, &fault.found);
            self.game
                .warnings
                .push(format!("{line}: text after the moves, from {word:?} on, was passed over"));
        }
        self.settle_outcome();
        self.game
    }

    /// The outcome that tag and text agree on; one that says nothing agrees with everything.
    fn settle_outcome(&mut self) {
        let tag = self.game.tree.tag("Result").and_then(|value| value.parse().ok()).unwrap_or_default();
        let token = self.token_outcome.unwrap_or_default();
        self.game.tree.outcome = match (tag, token) {
            (said, Outcome::Unknown) | (Outcome::Unknown, said) => said,
            (said, same) if said == same => said,
            _ => {
                self.game.contradiction = Some((tag, token));
                let (tag, token) = (tag.text(), token.text());
                self.game
                    .warnings
                    .push(format!("the tag says {tag}, the end of the moves {token}: neither is taken"));
                Outcome::Unknown
            }
        };
    }
}

/// The legal move that a word names; dots, a check sign or a mate sign may hang on it.
fn move_in(position: &Position, word: &str) -> Option<Move> {
    let parse = |word: &str| notation::parse_lenient(position, word).ok();
    parse(word).or_else(|| {
        let bare = word.trim_end_matches(['+', '#', '.', '。', '．', '…', ':', '：']);
        if bare.len() < word.len() { parse(bare) } else { None }
    })
}

/// Characters that Chinese moves are made of.
const MOVE_CHARACTERS: &str = "车車俥伡马馬傌炮砲包兵卒仕士相象帅帥将將进進退平前后後中一二三四五六七八九";

/// Is this a word that means to be a move, legal or not? Most of its characters are those of moves, with a
/// number or a direction among them.
fn is_move_like(word: &str) -> bool {
    let half: Vec<char> = word.chars().map(half_width).collect();
    if !(3..=8).contains(&half.len()) {
        return false;
    }
    let chinese = half.iter().filter(|&&c| MOVE_CHARACTERS.contains(c)).count();
    let digits = half.iter().filter(|c| c.is_ascii_digit()).count();
    if chinese > 0 {
        let says_how = half.iter().any(|&c| "进進退平一二三四五六七八九".contains(c)) || digits > 0;
        return says_how && (chinese + digits) * 2 > half.len();
    }
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '=' | '.' | '#');
    // Pawns may have a place and a file instead of a letter: 14=5, and ++=5 in one dialect.
    let has_piece =
        half.iter().any(char::is_ascii_alphabetic) || half.len() == 4 && !half[2].is_ascii_digit();
    digits > 0 && has_piece && half.len() <= 6 && half.iter().all(is_part)
}

/// Could this be the beginning of a move?
fn is_part_of_move(word: &str) -> bool {
    let is_part = |c: char| c == '\u{fffd}' || c.is_ascii_alphanumeric() || MOVE_CHARACTERS.contains(c);
    word.chars().count() < 4 && word.chars().map(half_width).all(is_part)
}
