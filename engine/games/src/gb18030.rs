//! Writing GB18030 into fields of a fixed number of bytes.

use encoding_rs::GB18030;

/// Writes text. The one character of Unicode that GB18030 lacks (U+E5E5, private use) becomes `?`.
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
