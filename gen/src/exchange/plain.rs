//! The `.plain` text of Stockfish's tools branch and of variant-nnue-tools: one position in six lines.
//!
//! ```text
//! fen rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2
//! move h1g3
//! score 35
//! ply 2
//! result 0
//! e
//! ```

use std::io::{self, BufRead, Write};

use game_files::Place;

use super::{ExchangeError, FirstRank, LineError, Lines, OutSample, RawSample, SampleFault, move_text};

/// No line of the format is as long.
const LONGEST_LINE: usize = 1000;

/// Writes one position.
///
/// # Errors
/// When the system refuses.
pub fn write(out: &mut impl Write, sample: &OutSample<'_>, first: FirstRank) -> io::Result<()> {
    let OutSample { position, mv, score, ply, result } = sample;
    let (fen, mv) = (position.fen(), move_text(*mv, first));
    write!(out, "fen {fen}\nmove {mv}\nscore {}\nply {ply}\nresult {result}\ne\n", score.0)
}

/// Reads positions.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    /// Is a position begun and not yet ended by its `e`?
    inside: bool,
    done: bool,
}

impl<R: BufRead> Reader<R> {
    /// The positions of a text.
    pub fn new(source: R) -> Reader<R> {
        Reader { lines: Lines::new(source, LONGEST_LINE), inside: false, done: false }
    }

    /// Reads on to the `e` that ends a faulty position.
    fn pass_over(&mut self) {
        self.inside = false;
        while let Some(line) = self.lines.next() {
            match line {
                Ok("e") => return,
                Err(LineError::Io(_)) => break,
                _ => {}
            }
        }
        self.done = true;
    }

    fn sample(&mut self) -> Result<Option<RawSample>, ExchangeError> {
        let mut parts = Parts::default();
        while let Some(line) = self.lines.next() {
            self.inside = !matches!(line, Ok("e"));
            let line = line?.to_owned();
            let place = Place::Line(self.lines.number());
            if line == "e" {
                return parts.whole(place).map(Some);
            }
            if !line.is_empty() {
                parts.add(&line, place)?;
            }
        }
        (self.done, self.inside) = (true, false);
        match parts.place {
            None => Ok(None),
            Some(place) => {
                let why = "the text ends before the \"e\" that ends the position";
                Err(ExchangeError::new(
                    SampleFault::Cut,
                    place,
                    parts.fen.as_deref().unwrap_or_default(),
                    why,
                ))
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<RawSample, ExchangeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        match self.sample() {
            Ok(sample) => sample.map(Ok),
            Err(error) => {
                if matches!(error, ExchangeError::Io { .. }) {
                    self.done = true;
                } else if self.inside {
                    self.pass_over();
                }
                Some(Err(error))
            }
        }
    }
}

/// The lines of one position so far.
#[derive(Default)]
struct Parts {
    place: Option<Place>,
    fen: Option<String>,
    mv: Option<String>,
    score: Option<i32>,
    ply: Option<u32>,
    result: Option<i32>,
}

impl Parts {
    fn add(&mut self, line: &str, place: Place) -> Result<(), ExchangeError> {
        let fault = |why: &str| Err(ExchangeError::new(SampleFault::Unreadable, place, line, why));
        let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let value = value.trim();
        self.place.get_or_insert(place);
        let number = || value.parse::<i32>().ok();
        let second = match key {
            "fen" => self.fen.replace(value.to_owned()).is_some(),
            "move" => self.mv.replace(value.to_owned()).is_some(),
            "score" => match number() {
                Some(score) => self.score.replace(score).is_some(),
                None => return fault("expected a whole number of centipawns behind \"score\""),
            },
            "ply" => match number().and_then(|ply| u32::try_from(ply).ok()) {
                Some(ply) => self.ply.replace(ply).is_some(),
                None => return fault("expected a number of plies behind \"ply\""),
            },
            "result" => match number().filter(|result| (-1..=1).contains(result)) {
                Some(result) => self.result.replace(result).is_some(),
                None => return fault("expected 1, 0 or -1 behind \"result\""),
            },
            _ => {
                return fault(
                    "expected a line that begins with fen, move, score, ply or result, or \"e\" alone",
                );
            }
        };
        if second {
            fault("a second line of this kind in one position; an \"e\" is missing before it")
        } else {
            Ok(())
        }
    }

    fn whole(self, end: Place) -> Result<RawSample, ExchangeError> {
        let missing = |what: &str| {
            let why = format!("the position ends without its line {what:?}");
            ExchangeError::new(SampleFault::Unreadable, end, "e", why)
        };
        Ok(RawSample {
            place: self.place.unwrap_or(end),
            fen: self.fen.ok_or_else(|| missing("fen"))?,
            mv: self.mv.ok_or_else(|| missing("move"))?,
            score: self.score.ok_or_else(|| missing("score"))?,
            ply: self.ply,
            result: self.result.ok_or_else(|| missing("result"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<RawSample, String>> {
        Reader::new(text.as_bytes()).map(|sample| sample.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn faults_cost_one_position_and_name_their_line() {
        let good = "fen a b\nmove h2e2\nscore -5\nresult 1\ne\n";
        let text = format!(
            "{good}fen x\nmove y\nscore 1.5\nply 1\nresult 0\ne\n\nfen x\nfen x\ne\nfen x\ne\nresult 2\ne\nnonsense\ne\n{good}fen x\n"
        );
        let found = read(&text);
        let whole = |line| RawSample {
            place: Place::Line(line),
            fen: "a b".into(),
            mv: "h2e2".into(),
            score: -5,
            ply: None,
            result: 1,
        };
        assert_eq!(found[0], Ok(whole(1)));
        let lines: Vec<String> = found
            .iter()
            .filter_map(|item| Some(item.as_ref().err()?.split(':').next()?.to_owned()))
            .collect();
        assert_eq!(lines, ["line 8", "line 14", "line 17", "line 18", "line 20", "line 27"]);
        assert_eq!(found[6], Ok(whole(22)));
        assert_eq!(found.len(), 8);
        assert_eq!(read(""), []);
    }
}
