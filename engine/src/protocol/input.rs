//! Lines of input, of bounded length.

use std::io::{BufRead, Read};

/// No sender means a longer line (a game of 100,000 plies fits); it is passed over whole.
pub(super) const LONGEST_LINE: usize = 1 << 20;

pub(super) enum Line {
    /// A line, without its end. What is not UTF-8 is replaced.
    Text(String),
    /// A line of more than [`LONGEST_LINE`] bytes: passed over.
    TooLong,
    /// There is no more.
    End,
}

pub(super) struct Lines<R> {
    input: R,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input, bytes: Vec::new() }
    }

    pub(super) fn next_line(&mut self) -> std::io::Result<Line> {
        self.bytes.clear();
        let most = LONGEST_LINE as u64 + 1;
        if self.input.by_ref().take(most).read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(Line::End);
        }
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        } else if self.bytes.len() > LONGEST_LINE {
            self.skip_line()?;
            return Ok(Line::TooLong);
        }
        Ok(Line::Text(String::from_utf8_lossy(&self.bytes).trim_end_matches('\r').to_owned()))
    }

    /// Passes over the rest of a line without keeping it.
    fn skip_line(&mut self) -> std::io::Result<()> {
        loop {
            let chunk = self.input.fill_buf()?;
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let used = end.map_or(chunk.len(), |at| at + 1);
            if used == 0 {
                return Ok(());
            }
            self.input.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(std::io::BufReader::with_capacity(7, bytes));
        let mut found = Vec::new();
        loop {
            match lines.next_line().expect("bytes in memory") {
                Line::Text(text) => found.push(text),
                Line::TooLong => found.push("too long".to_owned()),
                Line::End => return found,
            }
        }
    }

    #[test]
    fn lines_end_in_many_ways() {
        assert_eq!(read(b"a\r\nb\n\nc"), ["a", "b", "", "c"]);
        assert_eq!(read(b""), [""; 0]);
        assert_eq!(read(b"\xff\xfe\n"), ["\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn long_lines_are_passed_over_whole() {
        let long = vec![b'x'; LONGEST_LINE];
        let fits = read(&[&long[..], b"\nnext\n"].concat());
        assert_eq!((fits[0].len(), fits[1].as_str()), (LONGEST_LINE, "next"));
        assert_eq!(read(&[&long[..], b"y\nnext\n"].concat()), ["too long", "next"]);
        assert_eq!(read(&[&long[..], b"yz"].concat()), ["too long"]);
    }
}
