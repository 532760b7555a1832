//! Lines of a text, one at a time and none longer than a limit: a file without line ends costs no memory.

use std::io::{self, BufRead, Read};

use game_files::Place;

use super::{ExchangeError, SampleFault};

/// A text's lines with their numbers.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    number: usize,
    longest: usize,
    buffer: Vec<u8>,
}

/// A line that is none.
#[derive(Debug)]
pub enum LineError {
    /// It is longer than the limit, or no UTF-8; the lines behind it can be read.
    Line(ExchangeError),
    /// The text cannot be read on.
    Io(ExchangeError),
}

impl From<LineError> for ExchangeError {
    fn from(error: LineError) -> ExchangeError {
        match error {
            LineError::Line(error) | LineError::Io(error) => error,
        }
    }
}

impl<R: BufRead> Lines<R> {
    /// The lines of `source`, each of at most `longest` bytes.
    pub fn new(source: R, longest: usize) -> Lines<R> {
        Lines { source, number: 0, longest, buffer: Vec::new() }
    }

    /// The number of the line given last, from 1.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The next line without its end, a byte order mark or blanks around; `None` at the end of the text.
    #[expect(clippy::should_implement_trait, reason = "it lends the line")]
    pub fn next(&mut self) -> Option<Result<&str, LineError>> {
        self.number += 1;
        let place = Place::Line(self.number);
        self.buffer.clear();
        let limit = self.longest as u64 + 1;
        let failed = |source| Some(Err(LineError::Io(ExchangeError::Io { place, source })));
        match (&mut self.source).take(limit).read_until(b'\n', &mut self.buffer) {
            Err(source) => return failed(source),
            Ok(0) => return None,
            Ok(_) => {}
        }
        if self.buffer.len() > self.longest && self.buffer.last() != Some(&b'\n') {
            if let Err(source) = self.pass_over() {
                return failed(source);
            }
            return Some(Err(self.fault(format!("a line of more than {} bytes", self.longest))));
        }
        match std::str::from_utf8(&self.buffer) {
            Err(_) => Some(Err(self.fault("the line is no UTF-8".to_owned()))),
            Ok(text) => Some(Ok(text.trim_start_matches('\u{feff}').trim())),
        }
    }

    fn fault(&self, why: String) -> LineError {
        let begin = &self.buffer[..self.buffer.len().min(160)];
        let found = String::from_utf8_lossy(begin);
        let place = Place::Line(self.number);
        LineError::Line(ExchangeError::new(SampleFault::Unreadable, place, &found, why))
    }

    /// Reads to the end of the line without keeping it.
    fn pass_over(&mut self) -> io::Result<()> {
        loop {
            let chunk = match self.source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let length = end.map_or(chunk.len(), |end| end + 1);
            self.source.consume(length);
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_a_limit() {
        let text = b"\xef\xbb\xbfone\r\n\n  two \nfar too long for this\n\xff\nlast";
        // A buffer of three bytes: lines cross its ends.
        let mut lines = Lines::new(io::BufReader::with_capacity(3, &text[..]), 8);
        let mut found = Vec::new();
        while let Some(line) = lines.next() {
            found.push(line.map(str::to_owned).map_err(|error| ExchangeError::from(error).to_string()));
        }
        let why = |text: &str| Err(text.to_owned());
        let expected = [
            Ok("one".to_owned()),
            Ok(String::new()),
            Ok("two".to_owned()),
            why("line 4: \"far too l\": a line of more than 8 bytes"),
            why("line 5: \"\u{fffd}\\n\": the line is no UTF-8"),
            Ok("last".to_owned()),
        ];
        assert_eq!(found, expected);
    }
}
