//! Board, side to move, result and names: the fields that are no moves.

use xiangqi::{Color, Move, Position, Setup, Square};

use crate::start::{setup_of, start_position};
use crate::tree::Outcome;

use super::block::Block;
use super::scan::Field;

/// Names of fields and the tags they are kept as. Others keep their own name.
pub(super) const TAGS: [(&str, &str); 18] = [
    ("title", "Title"),
    ("event", "Event"),
    ("date", "Date"),
    ("place", "Site"),
    ("round", "Round"),
    ("table", "Board"),
    ("red", "Red"),
    ("redteam", "RedTeam"),
    ("redrating", "RedElo"),
    ("redtime", "RedTime"),
    ("black", "Black"),
    ("blackteam", "BlackTeam"),
    ("blackrating", "BlackElo"),
    ("blacktime", "BlackTime"),
    ("timerule", "TimeControl"),
    ("open", "Opening"),
    ("author", "Annotator"),
    ("result", "Result"),
];

/// The tags of a game; the result is an [`Outcome`] and is left out.
pub(super) fn tags(block: &Block<'_>) -> Vec<(String, String)> {
    let named = block.others.iter().map(|(name, text)| {
        let known = TAGS.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        (known.map_or(*name, |&(_, tag)| tag).to_owned(), text.clone())
    });
    let mut tags: Vec<(String, String)> = named.filter(|(tag, _)| tag != "Result").collect();
    // `red` is team and name on the site, `redname` the name alone, which some programs write without the other.
    for (field, tag) in [("redname", "Red"), ("blackname", "Black")] {
        if tags.iter().any(|(known, _)| known == tag) {
            continue;
        }
        if let Some((name, _)) = tags.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(field)) {
            tag.clone_into(name);
        }
    }
    tags
}

/// What the result says: words and figures as sites have them.
pub(super) fn outcome(block: &Block<'_>) -> Outcome {
    let result = block.others.iter().find(|(name, _)| name.eq_ignore_ascii_case("result"));
    let Some((_, text)) = result else { return Outcome::Unknown };
    match text.as_str() {
        "红胜" | "紅勝" | "红先胜" | "紅先勝" | "先胜" | "先勝" | "胜" | "勝" | "黑负" | "黑負" | "W"
        | "1-0" => Outcome::RedWins,
        "黑胜" | "黑勝" | "红负" | "紅負" | "红先负" | "紅先負" | "先负" | "先負" | "负" | "負" | "L"
        | "0-1" => Outcome::BlackWins,
        "和" | "和局" | "和棋" | "红先和" | "紅先和" | "先和" | "红和" | "紅和" | "D" | "1/2-1/2" | "1/2" => {
            Outcome::Draw
        }
        _ => Outcome::Unknown,
    }
}

/// The start: `fen` before `binit`, none of both for the start position. The side to move is that of the
/// first move.
///
/// # Errors
/// The field that is no position, and what is wrong with it.
pub(super) fn start<'a>(block: &Block<'a>) -> Result<Position, (Field<'a>, String)> {
    let first = block.main.and_then(|main| moves(main).next()).and_then(|written| written.mv);
    let board = block.board.filter(|board| !board.is_blank());
    let fen = block.fen.filter(|fen| !fen.is_blank());
    let by_fen = fen.map(|field| (field, setup_of_fen(field.value)));
    let by_board = board.map(|field| (field, setup_of_board(field.value)));
    let mut error = None;
    for (field, setup) in by_fen.into_iter().chain(by_board) {
        let position = setup.and_then(|setup| {
            let hint = setup.side_to_move;
            start_position(setup, first, hint).map_err(|error| error.to_string())
        });
        match position {
            Ok(position) => return Ok(position),
            Err(why) => error = error.or(Some((field, why))),
        }
    }
    match error {
        Some(error) => Err(error),
        None => start_position(Position::start().to_setup(), first, Color::Red).or(Ok(Position::start())),
    }
}

fn setup_of_fen(text: &str) -> Result<Setup, String> {
    let text = text.trim();
    // Some pages give the board alone.
    let whole = if text.contains(char::is_whitespace) { text.to_owned() } else { format!("{text} w") };
    Setup::from_fen(&whole).map_err(|error| error.to_string())
}

/// Two digits for each of the 32 pieces: file, and row from Black's back rank; a ninth file is no square.
fn setup_of_board(text: &str) -> Result<Setup, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).take(65).collect();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_digit) {
        return Err("the board has not 64 digits, two for each of the 32 pieces".to_owned());
    }
    let mut squares = [None; 32];
    for (square, pair) in squares.iter_mut().zip(digits.chunks_exact(2)) {
        *square = square_of(pair[0] - b'0', pair[1] - b'0');
    }
    Ok(setup_of(&squares))
}

fn square_of(file: u8, row: u8) -> Option<Square> {
    Square::at(file, 9u8.checked_sub(row)?)
}

/// Four digits as they stand in a list.
pub(super) struct Written<'a> {
    /// The byte of the text where they begin.
    pub(super) at: usize,
    /// The digits, or what stands there instead.
    pub(super) found: &'a str,
    /// The move, if there are two squares.
    pub(super) mv: Option<Move>,
}

/// The moves of a list. Blanks between them do not count; anything else is a move that cannot be read.
pub(super) fn moves<'a>(field: Field<'a>) -> impl Iterator<Item = Written<'a>> {
    let text = field.value;
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(|c: char| !c.is_whitespace())?;
        let start = at;
        let end = text[start..].char_indices().nth(4).map_or(text.len(), |(end, _)| start + end);
        let found = text[start..end].trim_end();
        at = end;
        Some(Written { at: field.at + start, found, mv: move_of(found) })
    })
}

fn move_of(text: &str) -> Option<Move> {
    let digits: [u8; 4] = text.as_bytes().try_into().ok()?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let [from_file, from_row, to_file, to_row] = digits.map(|digit| digit - b'0');
    let (from, to) = (square_of(from_file, from_row)?, square_of(to_file, to_row)?);
    (from != to).then(|| Move::new(from, to))
}
