//! Moves as text: coordinates (UCI, ICCS), Chinese (炮二平五) and WXF (C2=5).
//!
//! Chinese and WXF name a piece by its file as its own side counts them (1 = rightmost) and, where
//! several stand on one file, by their order from the front; 《象棋程序竞赛规则》 chapter 2,
//! section 6. Reading is writing turned round: a text is normalised and looked for among the texts
//! of the legal moves, so that the two can never disagree.

use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;
use crate::position::Position;
use crate::square::Square;

/// A text that names no legal move of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} names no legal move; expected coordinates (h2e2, H2-E2), Chinese (炮二平五; Black 炮2平5) or WXF (C2=5) in {fen}"
)]
pub struct NotationError {
    /// The text, cut to 40 characters.
    pub found: String,
    /// The position.
    pub fen: String,
}

/// No move's text is longer, in characters.
const LONGEST: usize = 8;

const CHINESE_DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// Where a moving piece stands among its likes.
struct Named {
    color: Color,
    kind: PieceKind,
    /// The file as its own side counts, 1 = rightmost.
    file: u8,
    /// Place from the front among its likes on its file (0 = front), and how many there are.
    place: usize,
    likes: usize,
    /// Do pawns stand two or more deep on another file too?
    crowded: bool,
}

/// The file as `color` counts, 1–9 from its right.
fn file_number(color: Color, square: Square) -> u8 {
    match color {
        Color::Red => 9 - square.file(),
        Color::Black => square.file() + 1,
    }
}

/// The rank as `color` counts, 0 = its back rank.
fn forward(color: Color, square: Square) -> i32 {
    i32::from(square.relative_to(color).rank())
}

fn named(position: &Position, from: Square) -> Option<Named> {
    let piece = position.piece_on(from)?;
    let (color, kind) = (piece.color(), piece.kind());
    let all = position.pieces(color, kind);
    let on_file = |file| all & crate::Bitboard::file(file);
    let likes = on_file(from.file());
    let place = likes.filter(|&other| forward(color, other) > forward(color, from)).count();
    let deep_files = (0..Square::FILES).filter(|&file| on_file(file).count() >= 2).count();
    Some(Named {
        color,
        kind,
        file: file_number(color, from),
        place,
        likes: likes.count() as usize,
        crowded: kind == PieceKind::Pawn && deep_files >= 2,
    })
}

/// Advisors and bishops are never told apart by front and back: their direction does that.
fn is_tandem(named: &Named) -> bool {
    named.likes >= 2 && !matches!(named.kind, PieceKind::Advisor | PieceKind::Bishop)
}

/// The direction sign and the last number: `=` with the file gone to, or `+`/`-` with the file
/// for pieces that move slantwise and with the steps for the others.
fn motion(named: &Named, mv: Move) -> (char, u8) {
    let advance = forward(named.color, mv.to()) - forward(named.color, mv.from());
    let file = file_number(named.color, mv.to());
    let sign = match advance {
        0 => return ('=', file),
        1.. => '+',
        _ => '-',
    };
    match named.kind {
        PieceKind::Advisor | PieceKind::Bishop | PieceKind::Knight => (sign, file),
        _ => (sign, advance.unsigned_abs() as u8),
    }
}

fn chinese_letter(color: Color, kind: PieceKind) -> char {
    let letters = match color {
        Color::Red => ['帅', '仕', '相', '马', '车', '炮', '兵'],
        Color::Black => ['将', '士', '象', '马', '车', '炮', '卒'],
    };
    letters[kind.index()]
}

fn digit(color: Color, n: u8) -> char {
    match color {
        Color::Red => CHINESE_DIGITS[usize::from(n.min(9))],
        Color::Black => (b'0' + n.min(9)) as char,
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
    let Some(named) = named(position, mv.from()) else { return String::new() };
    let letter = chinese_letter(named.color, named.kind);
    let who = if !is_tandem(&named) {
        [letter, digit(named.color, named.file)]
    } else if named.crowded {
        [order(named.place, named.likes), digit(named.color, named.file)]
    } else {
        [order(named.place, named.likes), letter]
    };
    let (sign, number) = motion(&named, mv);
    let sign = match sign {
        '=' => '平',
        '+' => '进',
        _ => '退',
    };
    who.into_iter().chain([sign, digit(named.color, number)]).collect()
}

/// `C2=5`; front and back as `R++2` and `R-=9`, pawns three deep or on two crowded files as
/// place and file, `14=5`. Empty if nothing stands on the move's origin.
pub fn wxf(position: &Position, mv: Move) -> String {
    let Some(named) = named(position, mv.from()) else { return String::new() };
    let letter = match named.kind {
        PieceKind::Knight => 'H',
        PieceKind::Bishop => 'E',
        kind => kind.letter(),
    };
    let who = if !is_tandem(&named) {
        format!("{letter}{}", named.file)
    } else if named.crowded || named.likes > 2 {
        format!("{}{}", named.place + 1, named.file)
    } else {
        format!("{letter}{}", if named.place == 0 { '+' } else { '-' })
    };
    let (sign, number) = motion(&named, mv);
    format!("{who}{sign}{number}")
}

/// One spelling for the many of a character: traditional and variant forms, full width.
fn normal(color: Color, c: char) -> char {
    match c {
        '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '＋' | '－' | '＝' => {
            // Full-width forms lie at a fixed distance from ASCII.
            char::from_u32(c as u32 - 0xfee0).unwrap_or(c)
        }
        '車' | '俥' | '伡' => '车',
        '馬' | '傌' => '马',
        '砲' | '包' | '軳' => '炮',
        '進' => '进',
        '後' => '后',
        '将' | '將' | '帅' | '帥' => chinese_letter(color, PieceKind::King),
        '士' | '仕' => chinese_letter(color, PieceKind::Advisor),
        '象' | '相' => chinese_letter(color, PieceKind::Bishop),
        '兵' | '卒' => chinese_letter(color, PieceKind::Pawn),
        _ => c,
    }
}

fn normal_wxf(text: &str) -> String {
    let letter = |c: char| match c.to_ascii_uppercase() {
        'N' => 'H',
        'B' => 'E',
        '.' => '=',
        c => c,
    };
    text.chars().map(letter).collect()
}

fn parse_coordinates(text: &str) -> Option<Move> {
    let plain: String = match text.as_bytes() {
        [_, _, b'-', _, _] => text.chars().filter(|&c| c != '-').collect(),
        _ => text.to_owned(),
    };
    plain.parse().ok()
}

/// The legal move that a text names, in any of the notations.
///
/// # Errors
/// Where no legal move has this text. Red's Chinese moves take Chinese digits and Black's Arabic
/// ones; where pieces stand in tandem, the short form is refused.
pub fn parse(position: &Position, text: &str) -> Result<Move, NotationError> {
    let fail = || NotationError { found: text.chars().take(40).collect(), fen: position.fen() };
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.chars().count() > LONGEST {
        return Err(fail());
    }
    let normal: String = trimmed.chars().map(|c| normal(position.side_to_move(), c)).collect();
    let legal = position.legal_moves();
    if let Some(mv) = parse_coordinates(&normal) {
        return legal.contains(&mv).then_some(mv).ok_or_else(fail);
    }
    let as_wxf = normal_wxf(&normal);
    let named = |&&mv: &&Move| chinese(position, mv) == normal || wxf(position, mv) == as_wxf;
    legal.iter().find(named).copied().ok_or_else(fail)
}
