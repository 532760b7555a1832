//! Just enough of Rust's lexical rules to look at code without its comments and texts.

/// The same text with comments, string and character literals blanked out. Lines stay where they are.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => line_end(&chars, at),
            ('/', Some('*')) => block_comment_end(&chars, at),
            ('"', _) => string_end(&chars, at + 1),
            ('r', Some('"' | '#')) if !follows_word(&chars, at) => raw_string_end(&chars, at).unwrap_or(at),
            ('\'', _) => char_end(&chars, at).unwrap_or(at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            let end = end.min(chars.len());
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

fn follows_word(chars: &[char], at: usize) -> bool {
    // The `b` of a byte string is no word of its own.
    at > 0 && is_word(chars[at - 1]) && !(chars[at - 1] == 'b' && !(at > 1 && is_word(chars[at - 2])))
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|&c| c == '\n').map_or(chars.len(), |length| at + length)
}

/// Block comments nest.
fn block_comment_end(chars: &[char], at: usize) -> usize {
    let (mut depth, mut here) = (1, at + 2);
    while here < chars.len() && depth > 0 {
        match (chars[here], chars.get(here + 1)) {
            ('/', Some('*')) => (depth, here) = (depth + 1, here + 2),
            ('*', Some('/')) => (depth, here) = (depth - 1, here + 2),
            _ => here += 1,
        }
    }
    here
}

fn string_end(chars: &[char], mut here: usize) -> usize {
    while here < chars.len() {
        match chars[here] {
            '\\' => here += 2,
            '"' => return here + 1,
            _ => here += 1,
        }
    }
    chars.len()
}

/// `r"…"`, `r#"…"#` and so on; `None` for a raw identifier such as `r#gen`.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes = |here: usize| {
        chars[here] == '"' && chars[here + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
    };
    let close = (open + 1..chars.len()).find(|&here| closes(here));
    Some(close.map_or(chars.len(), |here| here + 1 + hashes))
}

/// A character literal; `None` for a lifetime.
fn char_end(chars: &[char], at: usize) -> Option<usize> {
    if chars.get(at + 1) == Some(&'\\') {
        let close = chars.get(at + 3..)?.iter().position(|&c| c == '\'')?;
        return Some(at + 3 + close + 1);
    }
    (chars.get(at + 2) == Some(&'\'')).then_some(at + 3)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// One word of the code with what stands directly before and after it.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Word<'a> {
    /// Line number, from 1.
    pub line: usize,
    /// The word: an identifier, a keyword or a number with its suffix.
    pub text: &'a str,
    /// The rest of the line before it.
    pub before: &'a str,
    /// The rest of the line after it.
    pub after: &'a str,
}

/// The words of the code (as `code_only` leaves it).
pub fn words(code: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut start = None;
        for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
            match (start, is_word(c)) {
                (None, true) => start = Some(at),
                (Some(from), false) => {
                    let (before, after) = (&line[..from], &line[at..]);
                    found.push(Word { line: index + 1, text: &line[from..at], before, after });
                    start = None;
                }
                _ => {}
            }
        }
    }
    found
}

/// What stands before the tests inside a file (`#[cfg(test)]` on a module); the whole file where there are none.
pub fn without_tests(code: &str) -> &str {
    match code.find("#[cfg(test)]\nmod ") {
        Some(at) => &code[..at],
        None => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_blanked() {
        let cases = [
            ("a // unsafe\nb", "a          \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            (r#"let s = "unsafe \" x"; c"#, r#"let s =              ; c"#),
            (r##"let s = r#"un"safe"#; c"##, "let s =             ; c"),
            ("let s = br\"x\"; c", "let s = b    ; c"),
            ("let c = '\\''; d", "let c =     ; d"),
            ("let c = '\"'; d", "let c =    ; d"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("r#gen::f()", "r#gen::f()"),
        ];
        for (text, expected) in cases {
            assert_eq!(code_only(text), expected, "{text}");
        }
    }

    #[test]
    fn an_unfinished_text_ends_with_the_file() {
        for text in ["\"abc", "r#\"abc", "/* abc", "'\\", "'", "\"\\"] {
            assert_eq!(code_only(text).trim_matches(['\'', '\\', ' ']), "", "{text}");
        }
    }

    #[test]
    fn words_know_their_surroundings() {
        let code = "use a::b_1;\nx.0.5";
        let found: Vec<_> = words(code).iter().map(|word| (word.line, word.text)).collect();
        assert_eq!(found, [(1, "use"), (1, "a"), (1, "b_1"), (2, "x"), (2, "0"), (2, "5")]);
        assert_eq!(words(code)[1].after, "::b_1;");
        assert_eq!(words(code)[4].before, "x.");
    }
}
