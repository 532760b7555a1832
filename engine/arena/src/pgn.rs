//! Games as PGN: one file for a match, in pair order, moves in ICCS coordinates (`H2-E2`).
//!
//! The file is made as `NAME.partial` and takes its name when the match is done. It is written anew
//! from the journal by a run that continues one.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use xiangqi::{Color, Position};

use crate::outcome::Outcome;
use crate::record::{GameRecord, PairRecord};

/// Columns of the movetext.
const COLUMNS: usize = 80;

/// Where PGN goes.
pub struct PgnWriter {
    file: BufWriter<File>,
    partial: PathBuf,
    path: PathBuf,
}

impl PgnWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: &Path) -> io::Result<PgnWriter> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file = BufWriter::new(File::create(&partial)?);
        Ok(PgnWriter { file, partial, path: path.to_owned() })
    }

    /// Adds the games of a pair.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&mut self, record: &PairRecord) -> io::Result<()> {
        for (i, game) in record.games.iter().enumerate() {
            self.file.write_all(game_text(record, i, game).as_bytes())?;
        }
        self.file.flush()
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.partial, &self.path)
    }
}

fn game_text(record: &PairRecord, number: usize, game: &GameRecord) -> String {
    let name = |color| tag_text(&record.players[game.player(color).index()]);
    let result = result_text(game.result);
    let mut text = String::new();
    let mut tag = |key: &str, value: &str| {
        let _ = writeln!(text, "[{key} \"{value}\"]");
    };
    tag("Game", "Chinese Chess");
    tag("Event", "chuhe-match");
    tag("Date", "????.??.??");
    tag("Round", &format!("{}.{}", record.pair + 1, number + 1));
    tag("Red", &name(Color::Red));
    tag("Black", &name(Color::Black));
    tag("Result", result);
    if record.start != xiangqi::fen::START {
        tag("FEN", &record.start);
    }
    tag("Format", "ICCS");
    tag("OpeningPlies", &record.opening_plies.to_string());
    tag("Termination", game.reason.name());
    text.push('\n');
    text.push_str(&movetext(record, game, result));
    text.push_str("\n\n");
    text
}

fn result_text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Draw => "1/2-1/2",
        Outcome::RedLoses => "0-1",
        Outcome::BlackLoses => "1-0",
    }
}

/// Text as it may stand in a tag: on one line, quotes and backslashes escaped.
fn tag_text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()).take(200) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn movetext(record: &PairRecord, game: &GameRecord, result: &str) -> String {
    let start = Position::from_fen(&record.start).ok();
    let black_begins = start.as_ref().is_some_and(|start| start.side_to_move() == Color::Black);
    let first_number = start.map_or(1, |start| start.move_number());
    let mut words = Vec::new();
    for (i, mv) in game.moves.split_ascii_whitespace().enumerate() {
        let ply = i + usize::from(black_begins);
        let number = first_number + (ply / 2) as u32;
        if ply % 2 == 0 {
            words.push(format!("{number}."));
        } else if i == 0 {
            words.push(format!("{number}..."));
        }
        words.push(iccs(mv));
    }
    words.push(result.to_owned());
    wrap(&words)
}

/// `h2e2` as `H2-E2`.
fn iccs(mv: &str) -> String {
    match (mv.get(..2), mv.get(2..)) {
        (Some(from), Some(to)) => format!("{}-{}", from.to_uppercase(), to.to_uppercase()),
        _ => mv.to_owned(),
    }
}

fn wrap(words: &[String]) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in words {
        if column > 0 && column + 1 + word.len() > COLUMNS {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text
}
