//! Games as PGN: one file for a match, in pair order, moves in ICCS coordinates (`H2-E2`).
//!
//! The file is made as `NAME.partial` and takes its name when the match is done. It is written anew
//! from the journal by a run that continues one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use game_files::GameTree;
use game_files::pgn::{Notation, write_game};
use xiangqi::{Color, Position};

use crate::outcome::Outcome;
use crate::record::{GameRecord, PairRecord};

/// Characters of a player's name that are written.
const MAX_NAME: usize = 200;

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

/// A game as PGN. Its record is the journal's: what cannot be read there is left out.
fn game_text(record: &PairRecord, number: usize, game: &GameRecord) -> String {
    let start = Position::from_fen(&record.start).unwrap_or_else(|_| Position::start());
    let mut tree = GameTree::new(start);
    let name = |color| record.players[game.player(color).index()].chars().take(MAX_NAME).collect();
    let tags: [(&str, String); 7] = [
        ("Event", "chuhe-match".to_owned()),
        ("Date", "????.??.??".to_owned()),
        ("Round", format!("{}.{}", record.pair + 1, number + 1)),
        ("Red", name(Color::Red)),
        ("Black", name(Color::Black)),
        ("OpeningPlies", record.opening_plies.to_string()),
        ("Termination", game.reason.name().to_owned()),
    ];
    tree.tags = tags.map(|(name, value)| (name.to_owned(), value)).to_vec();
    tree.outcome = match game.result {
        Outcome::Draw => game_files::Outcome::Draw,
        Outcome::RedLoses => game_files::Outcome::BlackWins,
        Outcome::BlackLoses => game_files::Outcome::RedWins,
    };
    let mut node = GameTree::ROOT;
    for mv in game.moves.split_ascii_whitespace().map_while(|mv| mv.parse().ok()) {
        node = tree.append(node, mv);
    }
    write_game(&tree, Notation::Iccs)
}
