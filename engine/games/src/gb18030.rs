//! Writing GB18030 into fields of a fixed number of bytes.

use encoding_rs::GB18030;

/// Writes text. The one character of Unicode that GB18030 lacks (U+E5E5, private use) becomes `?`, and 18 others of
/// private use become what GB18030-2022 made of them; the rest comes back as it was.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    let text = text.replace('\u{e5e5}', "?");
    GB18030.encode(&text).0.into_owned()
}

/// Writes as many whole characters as fit in so many bytes.
pub(crate) fn encode_cut(text: &str, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for c in text.chars() {
        let more = encode(c.encode_utf8(&mut [0; 4]));
        if bytes.len() + more.len() > most {
            break;
        }
        bytes.extend(more);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Charset, decode_field};

    #[test]
    fn every_character_comes_back() {
        let mut lost = Vec::new();
        for c in ('\u{20}'..=char::MAX).filter(|c| !c.is_whitespace() && !c.is_control()) {
            let bytes = encode(c.encode_utf8(&mut [0; 4]));
            if decode_field(&bytes, Charset::Gb18030).chars().ne([c]) {
                lost.push(c);
            }
        }
        // At a text's end U+FFFD is half a character.
        let private = lost.iter().filter(|c| ('\u{e000}'..'\u{f8ff}').contains(*c)).count();
        assert_eq!((private, lost.len(), lost.last()), (19, 20, Some(&'\u{fffd}')));
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!(encode_cut("中a国", 4), b"\xd6\xd0a");
        assert_eq!(encode_cut("𠮷", 3), b"");
        assert_eq!(encode_cut("中", 2).len(), 2);
    }
}
