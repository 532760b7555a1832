//! Bytes to text, as game collections need it: UTF-8, UTF-16, GB18030 (with GBK and GB2312) or Big5, and
//! any line ends.
//!
//! No file says which encoding it has. UTF-8 and UTF-16 can be told from their bytes; GB18030 and Big5 are
//! told apart by what they decode to: characters of moves and tags, or else common characters.

use std::fmt;

use encoding_rs::{BIG5, Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE};

/// How a text was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// UTF-8, ASCII included.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// GB18030, which contains GBK and GB2312: simplified Chinese.
    Gb18030,
    /// Big5: traditional Chinese.
    Big5,
}

impl Charset {
    fn encoding(self) -> &'static Encoding {
        match self {
            Charset::Utf8 => UTF_8,
            Charset::Utf16Le => UTF_16LE,
            Charset::Utf16Be => UTF_16BE,
            Charset::Gb18030 => GB18030,
            Charset::Big5 => BIG5,
        }
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.encoding().name())
    }
}

/// A decoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text: no byte order mark, lines end in `\n`, padding with zeros cut off. What could not be
    /// decoded is U+FFFD.
    pub text: String,
    /// What it was decoded from.
    pub charset: Charset,
}

/// Decodes a whole file. Never fails: what cannot be decoded becomes U+FFFD, as does half a character at
/// the end of a cut file.
pub fn decode(bytes: &[u8]) -> Text {
    let (bytes, charset) = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => (rest, Charset::Utf8),
        [0xff, 0xfe, rest @ ..] => (rest, Charset::Utf16Le),
        [0xfe, 0xff, rest @ ..] => (rest, Charset::Utf16Be),
        _ => (bytes, guess(bytes)),
    };
    let (text, _) = charset.encoding().decode_without_bom_handling(bytes);
    Text { text: unix_lines(text.trim_end_matches(['\0', '\u{1a}'])), charset }
}

/// Decodes whole lines of a file whose charset is known; the file's end may be padded with zeros still. In none of the charsets
/// but UTF-16 is a byte of another character that of a line's end, so that a file may be divided behind any line.
pub fn decode_lines(bytes: &[u8], charset: Charset) -> String {
    unix_lines(&charset.encoding().decode_without_bom_handling(bytes).0)
}

/// Decodes a field of fixed width as binary formats have it: it ends at the first zero, and half a
/// character at its end, where a longer text was cut, is left out.
pub fn decode_field(bytes: &[u8], charset: Charset) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (text, _) = charset.encoding().decode_without_bom_handling(&bytes[..end]);
    let whole = text.strip_suffix('\u{fffd}').unwrap_or(&text);
    unix_lines(whole.trim())
}

/// `\r\n` and `\r` become `\n`.
fn unix_lines(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    let mut lines = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\r') {
        lines.push_str(&rest[..at]);
        lines.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    lines.push_str(rest);
    lines
}

/// The charset of bytes without a byte order mark.
pub fn guess(bytes: &[u8]) -> Charset {
    if let Some(utf16) = utf16_by_zeros(bytes) {
        return utf16;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => return Charset::Utf8,
        // Cut inside the last character.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            let has_wide = bytes[..error.valid_up_to()].iter().any(|byte| !byte.is_ascii());
            if has_wide {
                return Charset::Utf8;
            }
        }
        Err(_) => {}
    }
    // Ties go to the first: simplified Chinese is the most usual.
    let mut best = (Charset::Gb18030, score(bytes, Charset::Gb18030));
    for charset in [Charset::Big5, Charset::Utf8] {
        let score = score(bytes, charset);
        if score > best.1 {
            best = (charset, score);
        }
    }
    best.0
}

/// Bytes that are looked at for zeros.
const ZEROS_SAMPLE: usize = 4096;

/// ASCII in UTF-16 has a zero in every second byte; blanks, digits and line ends are ASCII in every language.
fn utf16_by_zeros(bytes: &[u8]) -> Option<Charset> {
    let pairs = bytes[..bytes.len().min(ZEROS_SAMPLE)].chunks_exact(2);
    let count = pairs.len();
    let (mut first, mut second) = (0, 0);
    for pair in pairs {
        first += usize::from(pair[0] == 0 && pair[1] != 0);
        second += usize::from(pair[1] == 0 && pair[0] != 0);
    }
    let many = |zeros: usize| zeros >= 2 && zeros * 8 >= count;
    match (many(first), many(second)) {
        (true, _) if first > 8 * second => Some(Charset::Utf16Be),
        (_, true) if second > 8 * first => Some(Charset::Utf16Le),
        _ => None,
    }
}

/// Characters of moves, results and players' sides, simplified and traditional.
const KNOWN: &str = "车車俥马馬傌炮砲兵卒仕士相象帅帥将將进進退平前后後中一二三四五六七八九红紅黑胜勝负負和先１２３４５６７８９";

/// How much a decoding looks like a game file: a known character counts 4, a common one 1, one that cannot
/// be decoded −8.
fn score(bytes: &[u8], charset: Charset) -> i64 {
    let (text, _) = charset.encoding().decode_without_bom_handling(bytes);
    let known: Vec<char> = KNOWN.chars().collect();
    let of_char = |c: char| match c {
        '\u{fffd}' => -8,
        c if c.is_ascii() => 0,
        c if known.contains(&c) => 4,
        _ => 0,
    };
    text.chars().map(of_char).sum::<i64>() + common(bytes, charset)
}

/// How many two-byte characters lie where a charset has its common ones: GB2312's punctuation and level 1,
/// Big5's punctuation and level 1.
fn common(bytes: &[u8], charset: Charset) -> i64 {
    let is_common = |lead: u8, trail: u8| match charset {
        Charset::Gb18030 => matches!(lead, 0xa1..=0xa3 | 0xb0..=0xd7) && trail >= 0xa1,
        Charset::Big5 => matches!(lead, 0xa1..=0xc6) && matches!(trail, 0x40..=0x7e | 0xa1..=0xfe),
        _ => false,
    };
    let (mut found, mut rest) = (0, bytes);
    while let Some((&lead, tail)) = rest.split_first() {
        rest = match tail.split_first() {
            Some((&trail, tail)) if lead >= 0x81 => {
                found += i64::from(is_common(lead, trail));
                tail
            }
            _ => tail,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMPLIFIED: &str = "[Red \"王天一\"]\n1. 炮二平五 马8进7\n";
    const TRADITIONAL: &str = "[Red \"許銀川\"]\n1. 炮二平五 馬8進7\n";

    fn encoded(text: &str, charset: Charset) -> Vec<u8> {
        match charset {
            Charset::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Charset::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            _ => charset.encoding().encode(text).0.into_owned(),
        }
    }

    #[test]
    fn every_charset_is_found() {
        use Charset::*;
        let cases = [
            (SIMPLIFIED, Utf8),
            (SIMPLIFIED, Gb18030),
            (SIMPLIFIED, Utf16Le),
            (SIMPLIFIED, Utf16Be),
            (TRADITIONAL, Big5),
            (TRADITIONAL, Gb18030),
            ("1. h2e2 h9g7\n", Utf8),
            ("1. h2e2 h9g7\n", Utf16Le),
            ("[Red \"胡荣华\"][Site \"上海体育馆\"]", Gb18030),
            ("[Red \"黃海林\"][Site \"廣東體育館\"]", Big5),
        ];
        for (text, charset) in cases {
            let found = decode(&encoded(text, charset));
            assert_eq!(found, Text { text: text.to_owned(), charset }, "{text} in {charset}");
        }
    }

    #[test]
    fn marks_and_line_ends() {
        let check = |bytes: &[u8], text: &str| assert_eq!(decode(bytes).text, text);
        check(b"\xef\xbb\xbfa\r\nb\rc\n", "a\nb\nc\n");
        check(b"\xff\xfeA\0\r\0\n\0", "A\n");
        check(b"\xfe\xff\0A\0\r", "A\n");
        check(b"", "");
        check(b"a\0\0\0", "a");
        check(b"\xff\xfe", "");
    }

    #[test]
    fn a_cut_character_costs_itself() {
        let bytes = SIMPLIFIED.as_bytes();
        let cut = &bytes[..bytes.len() - 3];
        assert_eq!(decode(cut).charset, Charset::Utf8);
        let gbk = encoded("中国象棋大师网", Charset::Gb18030);
        assert_eq!(decode_field(&gbk[..5], Charset::Gb18030), "中国");
        let mut padded = gbk[..5].to_vec();
        padded.extend([0, 0, 0xbf]);
        assert_eq!(decode_field(&padded, Charset::Gb18030), "中国");
        assert_eq!(decode_field(b" a\0b", Charset::Gb18030), "a");
    }
}
