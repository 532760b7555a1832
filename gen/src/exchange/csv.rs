//! CSV: one position a line, its columns named in the first line.
//!
//! ```text
//! fen,score,result,ply,move
//! rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2,35,0.5,2,h0g2
//! ```
//!
//! `result` is 1 for a win, 0.5 for a draw and 0 for a loss.

use std::io::{self, BufRead};

use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use game_files::Place;

use super::{ExchangeError, FirstRank, Lines, OutSample, RawSample, SampleFault, move_text};

/// The columns in the order in which they are written.
pub const COLUMNS: [&str; 5] = ["fen", "score", "result", "ply", "move"];

/// No line of the format is as long, unless it has many columns more.
const LONGEST_LINE: usize = 4000;

/// The first line, with its end.
pub fn head() -> String {
    COLUMNS.join(",") + "\n"
}

/// Writes positions, without the first line.
#[derive(Debug)]
pub struct Writer {
    lines: csv::Writer<Vec<u8>>,
}

impl Default for Writer {
    fn default() -> Writer {
        Writer { lines: WriterBuilder::new().has_headers(false).from_writer(Vec::new()) }
    }
}

impl Writer {
    /// Adds a position; its score and result are written as they are here.
    ///
    /// # Errors
    /// When the writer refuses, which memory does not.
    pub fn push(&mut self, sample: &OutSample<'_>, first: FirstRank) -> io::Result<()> {
        let OutSample { position, mv, score, ply, result } = *sample;
        let result = ["0", "0.5", "1"][(result + 1).clamp(0, 2) as usize];
        let (score, ply, mv) = (score.0.to_string(), ply.to_string(), move_text(mv, first));
        self.lines.write_record([position.fen().as_str(), &score, result, &ply, &mv])?;
        Ok(())
    }

    /// The lines.
    ///
    /// # Errors
    /// When the writer refuses, which memory does not.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        self.lines.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// The fields of a line. A reader of the csv crate takes 30 µs to be made, so only quotation marks get one.
fn split(line: &str) -> csv::Result<StringRecord> {
    if !line.contains('"') {
        return Ok(line.split(',').collect());
    }
    let mut reader =
        ReaderBuilder::new().has_headers(false).buffer_capacity(512).from_reader(line.as_bytes());
    let mut record = StringRecord::new();
    reader.read_record(&mut record).map(|_| record)
}

/// Reads positions. A field in quotation marks ends in the line in which it begins.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    /// Where each of [`COLUMNS`] stands; `None` for a `ply` that is not there. Empty before the first line is read.
    places: Vec<Option<usize>>,
    done: bool,
}

impl<R: BufRead> Reader<R> {
    /// The positions of a text.
    pub fn new(source: R) -> Reader<R> {
        Reader { lines: Lines::new(source, LONGEST_LINE), places: Vec::new(), done: false }
    }

    /// The next line that is not empty, its fields and its place.
    fn fields(&mut self) -> Option<Result<(StringRecord, Place, String), ExchangeError>> {
        loop {
            let line = match self.lines.next()? {
                Ok("") => continue,
                Ok(line) => line.to_owned(),
                Err(error) => return Some(Err(error.into())),
            };
            let place = Place::Line(self.lines.number());
            return Some(match split(&line) {
                Ok(record) => Ok((record, place, line)),
                Err(error) => {
                    Err(ExchangeError::new(SampleFault::Unreadable, place, &line, error.to_string()))
                }
            });
        }
    }

    fn head(&mut self) -> Result<bool, ExchangeError> {
        let Some(head) = self.fields() else { return Ok(false) };
        let (record, place, line) = head?;
        let place_of = |name: &str| record.iter().position(|field| field.trim().eq_ignore_ascii_case(name));
        let places: Vec<Option<usize>> = COLUMNS.iter().map(|name| place_of(name)).collect();
        match COLUMNS.iter().zip(&places).find(|(name, place)| **name != "ply" && place.is_none()) {
            None => {
                self.places = places;
                Ok(true)
            }
            Some((name, _)) => {
                let why =
                    format!("the first line names no column {name:?}; expected fen,score,result,ply,move");
                Err(ExchangeError::new(SampleFault::Unreadable, place, &line, why))
            }
        }
    }

    fn sample(&self, record: &StringRecord, place: Place, line: &str) -> Result<RawSample, ExchangeError> {
        let fault = |why: String| ExchangeError::new(SampleFault::Unreadable, place, line, why);
        let field = |column: usize| {
            let found = self.places[column].and_then(|at| record.get(at)).map(str::trim);
            found.ok_or_else(|| fault(format!("the line has no column {:?}", COLUMNS[column])))
        };
        let score = field(1)?;
        let score =
            score.parse().map_err(|_| fault(format!("score {score:?}; expected whole centipawns")))?;
        let result = match field(2)? {
            "1" | "1.0" => 1,
            "0.5" | ".5" => 0,
            "0" | "0.0" => -1,
            other => return Err(fault(format!("result {other:?}; expected 1 (won), 0.5 or 0 (lost)"))),
        };
        let ply = match self.places[3] {
            None => None,
            Some(_) => match field(3)? {
                "" => None,
                ply => {
                    Some(ply.parse().map_err(|_| fault(format!("ply {ply:?}; expected a number of plies")))?)
                }
            },
        };
        Ok(RawSample { place, fen: field(0)?.to_owned(), mv: field(4)?.to_owned(), score, ply, result })
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<RawSample, ExchangeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        if self.places.is_empty() {
            match self.head() {
                Ok(true) => {}
                Ok(false) => self.done = true,
                Err(error) => {
                    // Without names of columns no line can be read.
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        let found = self.fields()?;
        self.done |= matches!(found, Err(ExchangeError::Io { .. }));
        Some(found.and_then(|(record, place, line)| self.sample(&record, place, &line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_faults_cost_one_line() {
        let text = "\u{feff}Move,FEN,depth,result,score\nh2e2,\"a b\",7,0.5,-3\n\nh2e2,a b\nh2e2,a b,7,-1,5\n\
                    h2e2,a b,7,1,x\nh2e2,a b,7,0,4\n";
        let found: Vec<_> = Reader::new(text.as_bytes()).collect();
        let good: Vec<(Place, i32, i32)> =
            found.iter().flatten().map(|sample| (sample.place, sample.score, sample.result)).collect();
        assert_eq!(good, [(Place::Line(2), -3, 0), (Place::Line(7), 4, -1)]);
        let errors: Vec<String> =
            found.iter().filter_map(|item| Some(item.as_ref().err()?.to_string())).collect();
        assert_eq!(errors.len(), 3);
        assert!(errors[1].starts_with("line 5: ") && errors[1].contains("expected 1 (won)"), "{errors:?}");
        let error = Reader::new(&b"fen,score\nx,1\n"[..]).next().expect("an item").expect_err("no columns");
        assert!(error.to_string().contains("\"result\""), "{error}");
        assert!(Reader::new(&b""[..]).next().is_none());
    }
}
