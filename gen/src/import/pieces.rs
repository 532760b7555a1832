//! Large texts piece by piece: PGN divided where games begin, lists of positions where lines end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use game_files::text::{self, Charset};
use game_files::{Format, ReadGame, fen_list, pgn};

use super::{ImportError, Imported};

/// Files up to this length are read whole: their charset is judged by all of it.
const WHOLE: u64 = 1 << 20;

/// So much is read at a time, and then to the end of the line.
const PIECE: u64 = 1 << 18;

/// The mark of a format that may be anywhere in a text.
const DHTMLXQ: &[u8] = b"[dhtmlxq";

/// The games of a file. Memory: a piece of its text and that piece's games, or more where no game begins in a piece with
/// two lines of tags.
pub(super) struct Pieces {
    path: PathBuf,
    format: Format,
    charset: Charset,
    source: BufReader<File>,
    bytes: Vec<u8>,
    /// Decoded, not yet read as games.
    text: String,
    /// The line of the file with which the text begins.
    line: usize,
    /// Games read.
    games: usize,
    ready: std::vec::IntoIter<ReadGame>,
    /// Games given.
    given: usize,
    judged: fen_list::Judged,
    ended: bool,
}

impl Pieces {
    /// Opens a file; `None` if it is small, or of a format or in a charset that is to be read whole.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(path: &Path, format: Option<Format>) -> Result<Option<Pieces>, ImportError> {
        Pieces::try_open(path, format).map_err(|source| ImportError::Read { path: path.to_owned(), source })
    }

    fn try_open(path: &Path, format: Option<Format>) -> io::Result<Option<Pieces>> {
        let data = path.metadata()?;
        if !data.is_file() || data.len() <= WHOLE {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        read_lines(&mut BufReader::new(File::open(path)?), &mut bytes)?;
        let found = game_files::detect(&bytes).filter(|found| format.is_none_or(|wanted| wanted == *found));
        let Some(found @ (Format::Pgn | Format::FenList)) = found else { return Ok(None) };
        let charset = text::guess(&bytes);
        if !is_uniform(path, charset)? {
            return Ok(None);
        }
        Ok(Some(Pieces {
            path: path.to_owned(),
            format: found,
            charset,
            source: BufReader::new(File::open(path)?),
            bytes,
            text: String::new(),
            line: 1,
            games: 0,
            ready: Vec::new().into_iter(),
            given: 0,
            judged: fen_list::Judged::default(),
            ended: false,
        }))
    }

    /// Reads a piece more, and the games that are whole in the text by then.
    fn read_on(&mut self) -> Result<(), String> {
        let searched = self.text.trim_end_matches('\n').rfind('\n').unwrap_or(0);
        read_lines(&mut self.source, &mut self.bytes).map_err(|error| format!("cannot read: {error}"))?;
        self.ended = self.bytes.is_empty();
        self.text.push_str(&text::decode_lines(&self.bytes, self.charset));
        let end = match self.format {
            _ if self.ended => self.text.trim_end_matches(['\0', '\u{1a}']).len(),
            Format::Pgn => pgn::last_beginning(&self.text, searched).unwrap_or(0),
            _ => self.text.len(),
        };
        let piece = self.text[..end].trim_start_matches('\u{feff}');
        let games: Vec<ReadGame> = match self.format {
            Format::Pgn => pgn::games_at(piece, self.games, self.line).collect(),
            _ => fen_list::lines_at(piece, self.games, self.line).collect(),
        };
        if self.format == Format::FenList {
            games.iter().for_each(|game| self.judged.add(game));
            if let Some(error) = self.judged.error() {
                return Err(error.to_string());
            }
        }
        self.line += piece.bytes().filter(|&byte| byte == b'\n').count();
        self.games += games.len();
        self.text.drain(..end);
        self.ready = games.into_iter();
        Ok(())
    }
}

impl Iterator for Pieces {
    type Item = Result<Imported, String>;

    /// The next game; after an error nothing more comes.
    fn next(&mut self) -> Option<Result<Imported, String>> {
        loop {
            if let Some(game) = self.ready.next() {
                self.given += 1;
                let (file, format, number) = (self.path.clone(), self.format, self.given);
                return Some(Ok(Imported { file, format, number, game }));
            }
            if self.ended {
                return None;
            }
            if let Err(why) = self.read_on() {
                self.ended = true;
                return Some(Err(format!("{}: {why}", self.path.display())));
            }
        }
    }
}

/// Reads whole lines, [`PIECE`] bytes or a line more; nothing at the end of the file.
fn read_lines(source: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    source.take(PIECE).read_to_end(bytes)?;
    if bytes.last().is_some_and(|&last| last != b'\n') {
        source.read_until(b'\n', bytes)?;
    }
    Ok(())
}

/// Can the whole file be read in this charset, which its beginning has, and as this format? UTF-16 has line ends within
/// characters; what begins in ASCII may go on in another charset; a page may have games of another format further down.
fn is_uniform(path: &Path, charset: Charset) -> io::Result<bool> {
    if matches!(charset, Charset::Utf16Le | Charset::Utf16Be) {
        return Ok(false);
    }
    let (mut source, mut bytes) = (BufReader::new(File::open(path)?), Vec::new());
    loop {
        read_lines(&mut source, &mut bytes)?;
        let is_mark = |bytes: &[u8]| bytes.eq_ignore_ascii_case(DHTMLXQ);
        let is_readable = charset != Charset::Utf8 || std::str::from_utf8(&bytes).is_ok();
        if !is_readable || bytes.windows(DHTMLXQ.len()).any(is_mark) {
            return Ok(false);
        }
        if bytes.is_empty() {
            return Ok(true);
        }
    }
}
