//! What other programs and people write: everything that leaves one legal move to be meant.
//!
//! Dialects of pawns in tandem differ and are told apart by their letters:
//!
//! | who moves | 竞赛规则 | numbered | WXF (ours) | AXF, WXF 1980–97 |
//! |---|---|---|---|---|
//! | middle of three on file 5 | 中兵 | 二兵 | `25` | `P5` |
//! | 1st, 2nd of four | 前兵, 二兵 | 一兵, 二兵 | `15`, `25` | `++`, `P+` |
//! | front on file 4, two files crowded | 前四 | counted from the right, front first | `14` | `4+` |

use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;
use crate::position::Position;

use super::named::{Direction, Named, motion};
use super::write::Characters;
use super::{NotationError, Unread, normal, read};

/// Which of the likes on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Front,
    Middle,
    Back,
    /// From 1.
    Number(u8),
}

/// What the first two characters say about the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Who {
    kind: PieceKind,
    /// Counted by its side from the right.
    file: Option<u8>,
    order: Option<Order>,
    /// In AXF's dialect `P+` is the second of four or five pawns, `++` the first.
    axf: bool,
}

fn digit(c: char) -> Option<u8> {
    let n = match c {
        '1'..='9' => c as u8 - b'0',
        '一' => 1,
        '二' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        _ => return None,
    };
    Some(n)
}

fn direction(c: char) -> Option<Direction> {
    match c {
        '进' | '+' => Some(Direction::Forward),
        '退' | '-' => Some(Direction::Back),
        '平' | '=' | '.' => Some(Direction::Sideways),
        _ => None,
    }
}

fn order(c: char) -> Option<Order> {
    match c {
        '前' | '+' => Some(Order::Front),
        '中' | '.' => Some(Order::Middle),
        '后' | '-' => Some(Order::Back),
        _ => None,
    }
}

/// A piece's letter: 车 or, of either case, R; after `simplified` each has one form a side.
fn letter(c: char) -> Option<PieceKind> {
    match c {
        '帅' | '将' => Some(PieceKind::King),
        '仕' | '士' => Some(PieceKind::Advisor),
        '相' | '象' => Some(PieceKind::Bishop),
        '马' => Some(PieceKind::Knight),
        '车' => Some(PieceKind::Rook),
        '炮' => Some(PieceKind::Cannon),
        '兵' | '卒' => Some(PieceKind::Pawn),
        _ => PieceKind::from_letter(c),
    }
}

impl Who {
    fn read(a: char, b: char) -> Option<Who> {
        let who = |kind, file, order, axf| Some(Who { kind, file, order, axf });
        if let Some(kind) = letter(a) {
            let axf = kind == PieceKind::Pawn && a.is_ascii();
            return match (digit(b), order(b)) {
                (Some(file), _) => who(kind, Some(file), None, axf),
                (_, Some(order)) => who(kind, None, Some(order), axf),
                // Pa to Pe: pawns numbered by letters.
                _ if axf && matches!(b, 'a'..='e') => {
                    who(kind, None, Some(Order::Number(b as u8 - b'a' + 1)), false)
                }
                _ => None,
            };
        }
        if let Some(kind) = letter(b) {
            let order = order(a).or(digit(a).map(Order::Number))?;
            return who(kind, None, Some(order), kind == PieceKind::Pawn && b.is_ascii());
        }
        match (order(a), digit(a), order(b), digit(b)) {
            (Some(order), _, _, Some(file)) | (_, Some(file), Some(order), _) => {
                who(PieceKind::Pawn, Some(file), Some(order), false)
            }
            (Some(order), _, Some(again), _) if order == again => {
                who(PieceKind::Pawn, None, Some(order), false)
            }
            (_, Some(place), _, Some(file)) => {
                who(PieceKind::Pawn, Some(file), Some(Order::Number(place)), false)
            }
            _ => None,
        }
    }

    fn fits(&self, position: &Position, named: &Named) -> bool {
        if named.kind != self.kind || self.file.is_some_and(|file| file != named.file) {
            return false;
        }
        let (place, likes) = (named.place, named.likes);
        // AXF counts a middle pawn as one without a sign.
        let deep = self.axf && likes >= 4;
        match self.order {
            None if self.axf && likes >= 3 => likes % 2 == 1 && place == likes / 2,
            None => true,
            Some(_) if likes < 2 => false,
            Some(Order::Front) => place == usize::from(deep),
            Some(Order::Back) => place + 1 + usize::from(deep) == likes,
            Some(Order::Middle) => likes % 2 == 1 && place == likes / 2,
            Some(Order::Number(n)) if named.crowded && self.file.is_none() => {
                number_of_crowded(position, named) == usize::from(n)
            }
            Some(Order::Number(n)) => place + 1 == usize::from(n),
        }
    }
}

/// The number of a pawn among all that stand in tandem: files from the right, each from the front.
fn number_of_crowded(position: &Position, named: &Named) -> usize {
    let pawns = position.pieces(named.color, PieceKind::Pawn);
    let on_file = |number: u8| {
        let file = if named.color == Color::Red { 9 - number } else { number - 1 };
        (pawns & crate::Bitboard::file(file)).count() as usize
    };
    (1..named.file).map(on_file).filter(|&count| count >= 2).sum::<usize>() + named.place + 1
}

/// The legal move that a text of a game file means.
///
/// Beyond what [`parse`](super::parse) reads: blanks inside; digits of either script for either
/// side; the short form where only one of the pieces in tandem can go there; 前 and 后 of advisors
/// and bishops; the dialects of pawns in tandem (see the module's table).
///
/// # Errors
/// Where no legal move or more than one has such a text; what `parse` reads is never ambiguous.
pub fn parse_lenient(position: &Position, text: &str) -> Result<Move, NotationError> {
    let strict = match read(position, text) {
        Ok(mv) => return Ok(mv),
        Err(why) => why,
    };
    let fail = |why| NotationError::new(position, text, why);
    if strict != Unread::NoMove {
        return Err(fail(strict));
    }
    // Four characters and what blanks people put between them.
    let joined: String = text.split_whitespace().take(4).collect();
    if let Ok(mv) = read(position, &joined) {
        return Ok(mv);
    }
    let written = normal::characters(position.side_to_move(), &joined);
    let found = written.ok_or(Unread::NoMove).and_then(|written| the_one(position, written));
    found.map_err(fail)
}

fn the_one(position: &Position, [a, b, sign, number]: Characters) -> Result<Move, Unread> {
    let end = direction(sign).zip(digit(number)).ok_or(Unread::NoMove)?;
    let who = Who::read(a, b).ok_or(Unread::NoMove)?;
    let color = position.side_to_move();
    let mut found = None;
    for &mv in position.legal_moves().iter() {
        let kind = position.piece_on(mv.from()).map(crate::Piece::kind);
        if kind != Some(who.kind) || motion(color, who.kind, mv) != end {
            continue;
        }
        if !Named::new(position, mv.from()).is_some_and(|named| who.fits(position, &named)) {
            continue;
        }
        match found {
            None => found = Some(mv),
            Some(first) => return Err(Unread::Ambiguous(first, mv)),
        }
    }
    found.ok_or(Unread::NoMove)
}
