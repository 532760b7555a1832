//! Tags in a text: where they stand and what they hold.

/// What every mark begins with, behind the bracket and perhaps a slash.
const NAME: &str = "DhtmlXQ";

/// A mark of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark<'a> {
    /// `[DhtmlXQ]`, `[DhtmlXQiFrame]`, `[DhtmlXQHTML]`: a game begins.
    Begin,
    /// The same with a slash: it ends.
    End,
    /// `[DhtmlXQ_name]` and the text up to the next mark of any kind.
    Field(Field<'a>),
    /// `[/DhtmlXQ_name]`, whatever the name: some programs close with another one.
    Close,
}

/// A field of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// What stands behind `DhtmlXQ_`.
    pub(super) name: &'a str,
    /// What stands between this mark and the next.
    pub(super) value: &'a str,
    /// The byte at which the value begins.
    pub(super) at: usize,
    /// A mark stands behind it. If not, the text was cut.
    pub(super) closed: bool,
}

impl Field<'_> {
    /// Is nothing in it?
    pub(super) fn is_blank(&self) -> bool {
        self.value.trim().is_empty()
    }
}

/// All marks of a text, in order.
pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (_, kind, value_at) = next_mark(text, at)?;
        at = value_at;
        Some(match kind {
            Kind::Begin => Mark::Begin,
            Kind::End => Mark::End,
            Kind::Close => Mark::Close,
            Kind::Open(name) => {
                let next = next_mark(text, value_at);
                let end = next.map_or(text.len(), |(start, ..)| start);
                at = end;
                let value = &text[value_at..end];
                Mark::Field(Field { name, value, at: value_at, closed: next.is_some() })
            }
        })
    })
}

#[derive(Clone, Copy)]
enum Kind<'a> {
    Begin,
    End,
    Open(&'a str),
    Close,
}

/// Names are short: a bracket that is closed only much later is none of the format's.
const LONGEST_NAME: usize = 64;

/// The next mark: where it begins, what it is, and where its value begins.
fn next_mark(text: &str, from: usize) -> Option<(usize, Kind<'_>, usize)> {
    let mut at = from;
    loop {
        let start = at + text[at..].find('[')?;
        at = start + 1;
        let reach = &text.as_bytes()[at..text.len().min(at + LONGEST_NAME)];
        // Names are ASCII: they end between characters.
        let len = reach.iter().position(|&byte| !(byte.is_ascii_alphanumeric() || b"_/".contains(&byte)));
        let Some(len) = len.filter(|&len| reach[len] == b']') else { continue };
        if let Some(kind) = kind(&text[at..at + len]) {
            return Some((start, kind, at + len + 1));
        }
    }
}

fn kind(inner: &str) -> Option<Kind<'_>> {
    let (closes, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    if is_place_of_moves(inner) {
        return Some(if closes { Kind::Close } else { Kind::Open(inner) });
    }
    let head = inner.get(..NAME.len()).filter(|head| head.eq_ignore_ascii_case(NAME))?;
    Some(match (inner[head.len()..].strip_prefix('_'), closes) {
        (Some(_), true) => Kind::Close,
        (Some(name), false) => Kind::Open(name),
        (None, true) => Kind::End,
        (None, false) => Kind::Begin,
    })
}

/// `[0_5_1]` is short for `[DhtmlXQ_move_0_5_1]` in the scripts of dpxq.com.
fn is_place_of_moves(name: &str) -> bool {
    let mut parts = name.split('_');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.by_ref().take(3).filter(|part| is_number(part)).count() == 3 && parts.next().is_none()
}

/// Scripts of dpxq.com cut strings, tags included, into pieces: `'[DhtmlXQ_move'+'list]'`.
pub(super) fn join_strings(text: String) -> String {
    if text.contains("[DhtmlXQ_move'+'") { text.replace("'+'", "") } else { text }
}

/// Where the lines of a text begin, to name a place by its line.
pub(super) struct Lines {
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect();
        Lines { ends }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.ends.partition_point(|&end| end < at)
    }
}

/// A value as text: `\u4e2d` is a character, `||` the end of a line.
pub(super) fn unescape(value: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while !rest.is_empty() {
        if let Some(unit) = escaped(rest) {
            units.push(unit);
            rest = &rest[6..];
            continue;
        }
        flush(&mut units, &mut text);
        if let Some(behind) = rest.strip_prefix("||") {
            text.push('\n');
            rest = behind;
        } else {
            // Up to what may be an escape, one character at least.
            let first = rest.chars().next().map_or(1, char::len_utf8);
            let len = rest[first..].find(['\\', '|']).map_or(rest.len(), |at| first + at);
            text.push_str(&rest[..len]);
            rest = &rest[len..];
        }
    }
    flush(&mut units, &mut text);
    text
}

/// UTF-16 units may be halves of a character, so that they are collected first.
fn flush(units: &mut Vec<u16>, text: &mut String) {
    text.push_str(&String::from_utf16_lossy(units));
    units.clear();
}

fn escaped(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        u16::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

/// The opposite of [`unescape`]: what would end a value, a line or a page's text becomes an escape.
pub(super) fn escape(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => value.push_str("||"),
            '[' | ']' | '|' | '\\' | '<' | '>' | '&' => value.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c.is_ascii_control() => value.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => value.push(c),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_come_back() {
        for text in ["", "a||b", "红|\\u0041\\", "[/DhtmlXQ]\n\n<b>&", "𠮷\u{1}x"] {
            assert_eq!(unescape(&escape(text)), text);
        }
        assert_eq!(unescape("\\ud842\\udfb7|\\u4e2d\\u12"), "𠮷|中\\u12");
        assert_eq!(unescape("\\ud842x"), "\u{fffd}x");
    }

    #[test]
    fn marks_are_found_in_anything() {
        let text = "x[[DhtmlXQ][DhtmlXQ_a]1[b][/DhtmlXQ_c]y[dhtmlxq_d]\n2[/DhtmlXQ";
        assert_eq!(marks("[0_1_0]7747[/0_1_0]").count(), 2);
        assert_eq!(marks("[0_1][0_1_0_2][0_1_x][DhtmlXQ_a'][DhtmlX]").count(), 0);
        assert_eq!(join_strings("'[DhtmlXQ_move'+'list]77'+'47'".to_owned()), "'[DhtmlXQ_movelist]7747'");
        let found: Vec<Mark<'_>> = marks(text).collect();
        let a = Field { name: "a", value: "1[b]", at: 22, closed: true };
        let d = Field { name: "d", value: "\n2[/DhtmlXQ", at: 50, closed: false };
        assert_eq!(found, [Mark::Begin, Mark::Field(a), Mark::Close, Mark::Field(d)]);
        assert_eq!(Lines::new(text).line(50), 1);
        assert_eq!(Lines::new(text).line(51), 2);
    }
}
