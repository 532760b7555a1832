//! One spelling for the many of a text.

use crate::color::Color;
use crate::mv::Move;
use crate::piece::PieceKind;

use super::write::{Characters, chinese_letter};

/// A full-width form as the ASCII character it stands for; other characters as they are.
fn half_width(c: char) -> char {
    match c {
        // They lie at a fixed distance from ASCII.
        '！'..='～' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn dash(c: char) -> char {
    match c {
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        _ => c,
    }
}

/// Traditional and variant forms of a Chinese character, and what the other side calls a piece.
fn simplified(color: Color, c: char) -> char {
    match c {
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

/// `h2e2` or `H2-E2`, of whatever width; `None` for anything else.
pub(super) fn coordinates(text: &str) -> Option<Move> {
    let mut bytes = [0u8; 5];
    let mut len = 0;
    for c in text.chars().map(|c| dash(half_width(c))) {
        *bytes.get_mut(len)? = u8::try_from(c).ok().filter(u8::is_ascii)?;
        len += 1;
    }
    let plain = match bytes[..len] {
        [a, b, b'-', c, d] => [a, b, c, d],
        [a, b, c, d] => [a, b, c, d],
        _ => return None,
    };
    std::str::from_utf8(&plain).ok()?.parse().ok()
}

/// Four characters in one spelling, as the side to move writes them; `None` for fewer or more.
pub(super) fn characters(color: Color, text: &str) -> Option<Characters> {
    let mut chars = text.chars().map(|c| simplified(color, dash(half_width(c))));
    let four = [chars.next()?, chars.next()?, chars.next()?, chars.next()?];
    chars.next().is_none().then_some(four)
}

/// Are these WXF rather than Chinese? The third character is the direction in both.
pub(super) fn is_wxf(text: Characters) -> bool {
    matches!(text[2], '+' | '-' | '=' | '.')
}

/// The one dialect of WXF that is written: see [`wxf`](super::wxf).
pub(super) fn wxf(text: Characters) -> Characters {
    let [a, b, sign, number] = text.map(|c| match c.to_ascii_uppercase() {
        'N' => 'H',
        'B' => 'E',
        c => c,
    });
    let sign = if sign == '.' { '=' } else { sign };
    // `+P=5` is `P+=5`.
    match a {
        '+' | '-' if b.is_ascii_alphabetic() => [b, a, sign, number],
        _ => [a, b, sign, number],
    }
}
