//! The games of an import's files, one after the other: lines of JSON one at a time, large PGN and lists of positions
//! piece by piece, other files one whole.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use game_files::{Format, json_lines};

use super::pieces::Pieces;
use super::{ImportError, Imported, Summary, read_file};
use crate::exchange::{ExchangeError, Lines};
use crate::progress::note;

/// Faults shown one by one; the rest is counted.
const FAULTS_SHOWN: usize = 20;

/// What is read of a file to see whether it is lines of JSON.
const BEGIN: u64 = 1 << 16;

/// No line of JSON is longer: games of some ten thousand plies.
const LONGEST_LINE: usize = 1 << 20;

/// Gives the games of files in their order, counts them, and tells on stderr what is wrong. Memory: one game of JSON
/// lines, the games of a piece of a large PGN or list, or those of one file of another format; and 16 bytes a game to
/// tell which come again.
pub struct Intake<'a> {
    files: std::slice::Iter<'a, PathBuf>,
    format: Option<Format>,
    /// Only this game of each file.
    number: Option<usize>,
    quiet: bool,
    current: Current,
    summary: Summary,
    faults: usize,
}

/// The file being read.
enum Current {
    None,
    Whole(std::vec::IntoIter<Imported>),
    Lines(Box<JsonLines>),
    Pieces(Box<Pieces>),
}

struct JsonLines {
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    games: usize,
}

impl<'a> Intake<'a> {
    /// The games of `files`, read as `format` or as their content says; with `number` only that one of each.
    pub fn new(
        files: &'a [PathBuf],
        format: Option<Format>,
        number: Option<usize>,
        quiet: bool,
    ) -> Intake<'a> {
        let (current, summary) = (Current::None, Summary::default());
        Intake { files: files.iter(), format, number, quiet, current, summary, faults: 0 }
    }

    /// What was found so far.
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What was found; tells how many faults were not shown.
    pub fn finish(self) -> Summary {
        if !self.quiet && self.faults > FAULTS_SHOWN {
            let more = self.faults - FAULTS_SHOWN;
            note(&format!("… and {more} more; --dry-run --json has them all"));
        }
        self.summary
    }

    fn refuse(&mut self, error: &str) {
        note(error);
        self.summary.file_errors.push(error.to_owned());
    }

    /// Opens the next file; false behind the last.
    fn open_next(&mut self) -> bool {
        let Some(path) = self.files.next() else { return false };
        match self.open(path) {
            Ok(current) => {
                self.summary.files += 1;
                self.current = current;
            }
            Err(error) => self.refuse(&error.to_string()),
        }
        true
    }

    fn open(&self, path: &Path) -> Result<Current, ImportError> {
        if is_json_lines(path, self.format)? {
            let failed = |source| ImportError::Read { path: path.to_owned(), source };
            let lines = Lines::new(
                BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?),
                LONGEST_LINE,
            );
            return Ok(Current::Lines(Box::new(JsonLines { path: path.to_owned(), lines, games: 0 })));
        }
        if let Some(pieces) = Pieces::open(path, self.format)? {
            return Ok(Current::Pieces(Box::new(pieces)));
        }
        let games = read_file(path, self.format)?;
        if games.is_empty() {
            note(&format!("{}: no game in it", path.display()));
        }
        Ok(Current::Whole(games.into_iter()))
    }

    /// The next game of the file that is open, or what ends it.
    fn next_of_file(&mut self) -> Option<Result<Imported, String>> {
        match &mut self.current {
            Current::None => None,
            Current::Whole(games) => games.next().map(Ok),
            Current::Lines(lines) => lines.next(),
            Current::Pieces(pieces) => pieces.next(),
        }
    }

    fn show_faults(&mut self, imported: &Imported) {
        let game = &imported.game;
        let texts = game.faults.iter().map(ToString::to_string).chain(game.warnings.iter().cloned());
        for what in texts {
            self.faults += 1;
            if !self.quiet && self.faults <= FAULTS_SHOWN {
                note(&format!("{}: {what}", imported.file.display()));
            }
        }
    }
}

fn is_json_lines(path: &Path, format: Option<Format>) -> Result<bool, ImportError> {
    if let Some(format) = format {
        return Ok(format == Format::JsonLines);
    }
    let failed = |source| ImportError::Read { path: path.to_owned(), source };
    let mut begin = Vec::new();
    File::open(path).and_then(|file| file.take(BEGIN).read_to_end(&mut begin)).map_err(failed)?;
    Ok(game_files::detect(&begin) == Some(Format::JsonLines))
}

impl JsonLines {
    /// The next game. What is no game ends the file: a file of lines is a program's work and is not guessed at.
    fn next(&mut self) -> Option<Result<Imported, String>> {
        let told =
            |path: &Path, error: &dyn std::fmt::Display| Some(Err(format!("{}: {error}", path.display())));
        loop {
            let line = match self.lines.next()? {
                Ok("") => continue,
                Ok(line) => line.to_owned(),
                Err(error) => return told(&self.path, &ExchangeError::from(error)),
            };
            self.games += 1;
            return match json_lines::read_line(&line, self.games, self.lines.number()) {
                Err(error) => told(&self.path, &error),
                Ok(game) => {
                    let (file, number) = (self.path.clone(), self.games);
                    Some(Ok(Imported { file, format: Format::JsonLines, number, game }))
                }
            };
        }
    }
}

impl Iterator for Intake<'_> {
    type Item = Imported;

    fn next(&mut self) -> Option<Imported> {
        loop {
            match self.next_of_file() {
                None => {
                    self.current = Current::None;
                    if !self.open_next() {
                        return None;
                    }
                }
                Some(Err(error)) => {
                    self.current = Current::None;
                    self.refuse(&error);
                }
                Some(Ok(imported)) if self.number.is_some_and(|number| number != imported.number) => {}
                Some(Ok(imported)) => {
                    self.summary.add(&imported);
                    self.show_faults(&imported);
                    return Some(imported);
                }
            }
        }
    }
}
