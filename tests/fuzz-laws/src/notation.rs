use xiangqi::{Position, notation};

use crate::check_message;

/// A first line with a FEN (else the start position), then a text a line: each names a legal move or is refused;
/// and every legal move has a text in each notation that names it and no other.
pub fn notation(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (first, rest) = text.split_once('\n').unwrap_or(("", &text));
    let position = Position::from_fen(first).unwrap_or_else(|_| Position::start());
    let legal = position.legal_moves();
    for line in rest.lines() {
        let (strict, lenient) = (notation::parse(&position, line), notation::parse_lenient(&position, line));
        if strict.is_ok() {
            assert_eq!(strict, lenient, "{line:?} in {position:?}");
        }
        for read in [strict, lenient] {
            match read {
                Ok(mv) => assert!(legal.contains(&mv), "{line:?} gave {mv} in {position:?}"),
                Err(error) => check_message(&error),
            }
        }
    }
    for &mv in legal.iter() {
        let texts = [
            notation::uci(mv),
            notation::iccs(mv),
            notation::chinese(&position, mv),
            notation::wxf(&position, mv),
        ];
        for text in texts {
            assert_eq!(notation::parse(&position, &text), Ok(mv), "{text} in {position:?}");
        }
    }
}
