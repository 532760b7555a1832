//! PGN into tokens. Linear in the text, whatever stands in it: nothing is looked at more than a few times.

use crate::tree::{Outcome, half_width};

/// A piece of PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `[Name "value"]` at the beginning of a line.
    Tag { name: &'a str, value: String, closed: bool },
    /// `{text}` or `;text`; not closed where the file or the game ends first.
    Comment { text: &'a str, closed: bool },
    /// `(`
    Open,
    /// `)`
    Close,
    /// `$n`, or `!` and `?`.
    Nag(u8),
    /// `n.`
    Number(u32),
    /// `1-0` and the like.
    Result(Outcome),
    /// A line of `=`: what follows, up to the next tag, is no part of the game.
    Separator,
    /// Anything else: a move, if it is one.
    Word(&'a str),
}

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed<'a> {
    pub(super) token: Token<'a>,
    /// The line, from 1.
    pub(super) line: usize,
    /// Bytes before it and before what follows it.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Is there an empty line between the token before and this?
    pub(super) after_blank: bool,
}

/// Words are cut to so many characters: no move is longer, and a file may be one word.
const MAX_WORD: usize = 64;

/// Names that a tag without quotes may have; elsewhere a bracket is as likely a remark.
const PLAIN_TAGS: [&str; 12] =
    ["Game", "Event", "Site", "Date", "Round", "Red", "White", "Black", "Result", "FEN", "Opening", "Format"];

/// Gives the tokens of a text whose lines end in `\n`.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Nothing but blanks and tags since the line began.
    at_line_start: bool,
    /// Line ends since the last token.
    line_ends: usize,
    /// Where the next closing brace stands, from the place where it was last looked for; the text's length if there
    /// is none. Kept, so that a text of forgotten braces is not searched to its end for each of them.
    brace: usize,
}

impl<'a> Lexer<'a> {
    /// The tokens of a text whose first line has this number.
    pub(super) fn new(text: &'a str, line: usize) -> Lexer<'a> {
        Lexer { text, at: 0, line, at_line_start: true, line_ends: 0, brace: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn newline(&mut self) {
        self.line += 1;
        self.line_ends += 1;
        self.at_line_start = true;
    }

    /// To the first character that may begin a token.
    fn skip_blanks(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let begins_line = self.at == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b'\n');
            match c {
                '\n' => self.newline(),
                // A line that programs use for themselves.
                '%' if begins_line => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                    continue;
                }
                c if c.is_whitespace()
                    || matches!(c, '\u{feff}' | ',' | '，' | '；' | '、' | '。' | '}' | '\0') => {}
                _ => return,
            }
            self.at += c.len_utf8();
        }
    }

    /// A comment's text and whether it is closed. Where two lines of tags follow each other before the
    /// closing brace, the brace was forgotten: the next game is not swallowed.
    fn comment(&mut self) -> Token<'a> {
        let body = &self.rest()[1..];
        let start = self.at + 1;
        if self.brace < start {
            self.brace = body.find('}').map_or(self.text.len(), |at| start + at);
        }
        let end = (self.brace < self.text.len()).then(|| self.brace - start);
        // What stands behind the brace is no part of a tag in the comment.
        let inside = &body[..end.unwrap_or(body.len())];
        let mut ends = inside.match_indices('\n').map(|(at, _)| at);
        if let Some(at) = ends.find(|at| begins_tags(&inside[at + 1..])) {
            self.pass(at + 1);
            return Token::Comment { text: &body[..at], closed: false };
        }
        self.pass(inside.len() + 1 + usize::from(end.is_some()));
        Token::Comment { text: inside, closed: end.is_some() }
    }

    /// Goes on by so many bytes and counts the lines in them.
    fn pass(&mut self, bytes: usize) {
        self.line += self.rest()[..bytes].bytes().filter(|&byte| byte == b'\n').count();
        self.at += bytes;
    }

    fn nag(&mut self) -> Token<'a> {
        let digits = self.rest()[1..].bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[1..=digits].parse().unwrap_or(0);
        self.at += 1 + digits;
        Token::Nag(number)
    }

    /// `!`, `?` and their pairs as the standard numbers them.
    fn marks(&mut self) -> Token<'a> {
        let is_mark = |c: &char| matches!(half_width(*c), '!' | '?');
        let marks: Vec<char> = self.rest().chars().take_while(is_mark).take(2).collect();
        self.at += marks.iter().map(|c| c.len_utf8()).sum::<usize>();
        let half: String = marks.into_iter().map(half_width).collect();
        Token::Nag(match half.as_str() {
            "!" => 1,
            "?" => 2,
            "!!" => 3,
            "??" => 4,
            "!?" => 5,
            _ => 6,
        })
    }

    /// The next word, split where a move number, dots or another move hang on it; `None` for dots alone.
    fn word(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let end = rest.char_indices().take(MAX_WORD).find(|&(_, c)| ends_word(c)).map(|(at, _)| at);
        let longest = || rest.char_indices().nth(MAX_WORD).map_or(rest.len(), |(at, _)| at);
        let word = &rest[..end.unwrap_or_else(longest)];
        let (token, taken) = split(word);
        self.at += taken;
        token
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Placed<'a>;

    fn next(&mut self) -> Option<Placed<'a>> {
        loop {
            self.skip_blanks();
            let (begin, line, after_blank) = (self.at, self.line, self.line_ends >= 2);
            let token = match self.rest().chars().next()? {
                '[' if self.at_line_start => match tag(self.rest()) {
                    Some((token, length)) => {
                        self.at += length;
                        self.line_ends = 0;
                        return Some(Placed { token, line, begin, end: self.at, after_blank });
                    }
                    None => self.word(),
                },
                '{' => Some(self.comment()),
                ';' => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    let text = &self.rest()[1..length];
                    self.at += length;
                    Some(Token::Comment { text, closed: true })
                }
                c @ ('(' | '（') => {
                    self.at += c.len_utf8();
                    Some(Token::Open)
                }
                c @ (')' | '）') => {
                    self.at += c.len_utf8();
                    Some(Token::Close)
                }
                '$' => Some(self.nag()),
                '!' | '?' | '！' | '？' => Some(self.marks()),
                _ => self.word(),
            };
            self.at_line_start = false;
            if let Some(token) = token {
                self.line_ends = 0;
                return Some(Placed { token, line, begin, end: self.at, after_blank });
            }
        }
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "{}()（）;；,，、$!?！？".contains(c)
}

fn is_dot(c: char) -> bool {
    matches!(c, '.' | '．' | '。' | '…' | '·')
}

fn is_motion(c: char) -> bool {
    matches!(c, '进' | '進' | '退' | '平')
}

/// The first token of a word and its length in bytes.
fn split(word: &str) -> (Option<Token<'_>>, usize) {
    let whole = word.len();
    if word.starts_with("==") {
        return (Some(Token::Separator), whole);
    }
    if word.starts_with('*') {
        return (Some(Token::Result(Outcome::Unknown)), word.len() - word.trim_start_matches('*').len());
    }
    if word.chars().all(|c| matches!(c, '-' | '—' | '－' | '_')) {
        // Some write dashes where Red's move would stand.
        return (None, whole);
    }
    if let Ok(outcome) = word.parse() {
        return (Some(Token::Result(outcome)), whole);
    }
    if let Some((number, length)) = move_number(word) {
        return (Some(Token::Number(number)), length);
    }
    let dots = word.len() - word.trim_start_matches(is_dot).len();
    if dots > 0 {
        return (None, dots);
    }
    // Chinese moves without a blank between: 炮二平五马8进7.
    let mut chars = word.char_indices();
    let third = chars.nth(2).is_some_and(|(_, c)| is_motion(c));
    let fifth = chars.nth(1).map(|(at, _)| at);
    let seventh = chars.nth(1).is_some_and(|(_, c)| is_motion(c));
    match fifth {
        Some(at) if third && seventh => (Some(Token::Word(&word[..at])), at),
        _ => (Some(Token::Word(word)), whole),
    }
}

/// A move number with its dots: `12.`, `１２．`, `12...`, `12`. The pawn move `14.5` is none.
fn move_number(word: &str) -> Option<(u32, usize)> {
    let half: Vec<(usize, char)> = word.char_indices().map(|(at, c)| (at, half_width(c))).collect();
    let digits = half.iter().take_while(|(_, c)| c.is_ascii_digit()).count();
    let is_pawn_move = matches!(half[..], [_, _, (_, '.'), (_, last)] if last.is_ascii_digit());
    if digits == 0 || (digits == 2 && is_pawn_move) {
        return None;
    }
    let dots = half[digits..].iter().take_while(|&&(_, c)| is_dot(c) || c == ':').count();
    if dots == 0 && digits < half.len() {
        return None;
    }
    let value = half[..digits].iter().filter_map(|(_, c)| c.to_digit(10));
    let value = value.fold(0u32, |sum, digit| sum.saturating_mul(10).saturating_add(digit));
    let length = half.get(digits + dots).map_or(word.len(), |&(at, _)| at);
    Some((value, length))
}

/// Do two lines of tags begin here?
pub(super) fn begins_tags(text: &str) -> bool {
    let next_line = |(_, length): (Token<'_>, usize)| {
        let rest = text[length..].trim_start_matches([' ', '\t']);
        rest.strip_prefix('\n').filter(|rest| rest.starts_with('['))
    };
    text.starts_with('[') && tag(text).and_then(next_line).is_some_and(|rest| tag(rest).is_some())
}

/// A tag at the beginning of a text and its length in bytes. Does not look beyond the line.
fn tag(text: &str) -> Option<(Token<'_>, usize)> {
    let blank = [' ', '\t', '\u{3000}'];
    let inner = text.strip_prefix('[')?.trim_start_matches(blank);
    let name_length = inner.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inner.len());
    let (name, rest) = inner.split_at(name_length);
    if !name.starts_with(char::is_alphabetic) {
        return None;
    }
    let rest = rest.trim_start_matches(blank);
    let (value, after, closed) = match rest.strip_prefix(['"', '“', '”', '＂']) {
        Some(quoted) => quoted_value(quoted),
        None => {
            let known = PLAIN_TAGS.iter().any(|known| known.eq_ignore_ascii_case(name));
            let (value, after) = rest.split_once(['\n', ']']).filter(|_| known)?;
            let closed = rest.as_bytes().get(value.len()) == Some(&b']');
            (value.trim().to_owned(), after, closed.then_some(true)?)
        }
    };
    Some((Token::Tag { name, value, closed }, text.len() - after.len()))
}

/// The value behind an opening quote, what follows the tag, and whether the tag has its end. A quote ends
/// the value where a bracket follows it; where none does, the line ends it.
fn quoted_value(text: &str) -> (String, &str, bool) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\\' if rest.starts_with(['"', '\\']) => value.extend(chars.next().map(|(_, c)| c)),
            '"' | '”' | '“' | '＂' => {
                let behind = rest.trim_start_matches([' ', '\t', '\u{3000}']);
                match behind.strip_prefix(']') {
                    Some(after) => return (value, after, true),
                    None => value.push(c),
                }
            }
            '\n' => return (without_end(&value), &text[at..], false),
            c => value.push(c),
        }
    }
    (without_end(&value), "", value.ends_with(']'))
}

/// A value whose quote was forgotten, or taken for an escaped one.
fn without_end(value: &str) -> String {
    let value = value.trim_end();
    let value = value.strip_suffix(']').unwrap_or(value).trim_end();
    value.strip_suffix('"').unwrap_or(value).to_owned()
}
