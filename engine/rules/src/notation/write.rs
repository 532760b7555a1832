//! Moves to texts. Chinese and WXF texts have four characters each.

use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;
use crate::position::Position;

use super::named::{Direction, Named, motion};

/// A text in Chinese or WXF.
pub(super) type Characters = [char; 4];

const CHINESE_DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];

pub(super) fn chinese_letter(color: Color, kind: PieceKind) -> char {
    let letters = match color {
        Color::Red => ['帅', '仕', '相', '马', '车', '炮', '兵'],
        Color::Black => ['将', '士', '象', '马', '车', '炮', '卒'],
    };
    letters[kind.index()]
}

fn wxf_letter(kind: PieceKind) -> char {
    match kind {
        PieceKind::Knight => 'H',
        PieceKind::Bishop => 'E',
        kind => kind.letter(),
    }
}

fn arabic(n: u8) -> char {
    (b'0' + n.min(9)) as char
}

fn digit(color: Color, n: u8) -> char {
    match color {
        Color::Red => CHINESE_DIGITS[usize::from(n.min(9))],
        Color::Black => arabic(n),
    }
}

/// 前, 后, or what lies between: 中 of three, 二 三 四 of more.
fn order(place: usize, likes: usize) -> char {
    match place {
        0 => '前',
        _ if place + 1 == likes => '后',
        _ if likes == 3 => '中',
        _ => CHINESE_DIGITS[(place + 1).min(9)],
    }
}

/// The last two characters, which need no look at other pieces.
fn chinese_motion(color: Color, kind: PieceKind, mv: Move) -> [char; 2] {
    let (direction, number) = motion(color, kind, mv);
    let sign = match direction {
        Direction::Forward => '进',
        Direction::Back => '退',
        Direction::Sideways => '平',
    };
    [sign, digit(color, number)]
}

fn wxf_motion(color: Color, kind: PieceKind, mv: Move) -> [char; 2] {
    let (direction, number) = motion(color, kind, mv);
    let sign = match direction {
        Direction::Forward => '+',
        Direction::Back => '-',
        Direction::Sideways => '=',
    };
    [sign, arabic(number)]
}

fn chinese_piece(named: &Named) -> [char; 2] {
    let letter = chinese_letter(named.color, named.kind);
    if !named.is_tandem() {
        [letter, digit(named.color, named.file)]
    } else if named.crowded {
        [order(named.place, named.likes), digit(named.color, named.file)]
    } else {
        [order(named.place, named.likes), letter]
    }
}

fn wxf_piece(named: &Named) -> [char; 2] {
    let letter = wxf_letter(named.kind);
    if !named.is_tandem() {
        [letter, arabic(named.file)]
    } else if named.crowded || named.likes > 2 {
        [arabic(named.place as u8 + 1), arabic(named.file)]
    } else {
        [letter, if named.place == 0 { '+' } else { '-' }]
    }
}

fn write(
    position: &Position,
    mv: Move,
    piece: fn(&Named) -> [char; 2],
    motion: fn(Color, PieceKind, Move) -> [char; 2],
) -> String {
    let Some(named) = Named::new(position, mv.from()) else { return String::new() };
    piece(&named).into_iter().chain(motion(named.color, named.kind, mv)).collect()
}

/// Is this the text of the move? The end of the text is compared first: it rules most moves out
/// without a look at the other pieces.
fn is_text_of(
    position: &Position,
    mv: Move,
    [a, b, end @ ..]: Characters,
    piece: fn(&Named) -> [char; 2],
    motion: fn(Color, PieceKind, Move) -> [char; 2],
) -> bool {
    let moves_so = |p: crate::Piece| motion(p.color(), p.kind(), mv) == end;
    position.piece_on(mv.from()).is_some_and(moves_so)
        && Named::new(position, mv.from()).is_some_and(|named| piece(&named) == [a, b])
}

pub(super) fn is_chinese_of(position: &Position, mv: Move, text: Characters) -> bool {
    is_text_of(position, mv, text, chinese_piece, chinese_motion)
}

pub(super) fn is_wxf_of(position: &Position, mv: Move, text: Characters) -> bool {
    is_text_of(position, mv, text, wxf_piece, wxf_motion)
}

/// `h2e2`.
pub fn uci(mv: Move) -> String {
    mv.to_string()
}

/// `H2-E2`.
pub fn iccs(mv: Move) -> String {
    format!("{}-{}", mv.from(), mv.to()).to_uppercase()
}

/// 炮二平五 for Red, 炮2平5 for Black. Empty if nothing stands on the move's origin.
pub fn chinese(position: &Position, mv: Move) -> String {
    write(position, mv, chinese_piece, chinese_motion)
}

/// `C2=5`; front and back as `R++2` and `R-=9`, pawns three deep or on two crowded files as
/// place and file, `14=5`. Empty if nothing stands on the move's origin.
pub fn wxf(position: &Position, mv: Move) -> String {
    write(position, mv, wxf_piece, wxf_motion)
}
