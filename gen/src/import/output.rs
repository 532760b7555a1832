//! Where an import goes: made beside its place, put there whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::sink::{SinkError, sync_folder_of};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A record file.
    Record,
    /// PGN.
    Pgn,
    /// Positions, one a line.
    Fen,
    /// Lines of moves from the start position.
    Lines,
    /// An XQF file of one game.
    Xqf,
    /// DhtmlXQ blocks.
    DhtmlXq,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::Record, Kind::Pgn, Kind::Fen, Kind::Lines, Kind::Xqf, Kind::DhtmlXq];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Record => "record",
            Kind::Pgn => "pgn",
            Kind::Fen => "fen",
            Kind::Lines => "lines",
            Kind::Xqf => "xqf",
            Kind::DhtmlXq => "dhtmlxq",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind that the end of a file's name says.
    pub fn by_extension(path: &Path) -> Option<Kind> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "rec" | "chr" => Some(Kind::Record),
            "pgn" | "pgns" => Some(Kind::Pgn),
            "fen" | "epd" => Some(Kind::Fen),
            "xqf" => Some(Kind::Xqf),
            "ubb" | "dhtmlxq" => Some(Kind::DhtmlXq),
            _ => None,
        }
    }
}

/// A file that is being made as `FILE.partial`. Dropped before it is published, it leaves nothing.
pub struct WholeFile {
    path: PathBuf,
    partial: PathBuf,
    published: bool,
}

impl WholeFile {
    /// Begins a file; one that is there already is refused unless `force` allows to replace it.
    ///
    /// # Errors
    /// When it is there, or the system refuses.
    pub fn create(path: &Path, force: bool) -> Result<(WholeFile, File), SinkError> {
        if !force && path.exists() {
            let source = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is there already; give another --out, or --force to replace it",
            );
            return Err(SinkError::Io { path: path.to_owned(), verb: "write", source });
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(|source| SinkError::Io {
            path: partial.clone(),
            verb: "create",
            source,
        })?;
        Ok((WholeFile { path: path.to_owned(), partial, published: false }, file))
    }

    /// Where the bytes are until they are published.
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Syncs the bytes and gives them their name.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn publish(mut self, file: &File) -> Result<(), SinkError> {
        let failed = |verb| {
            let path = self.path.clone();
            move |source| SinkError::Io { path, verb, source }
        };
        file.sync_all().map_err(failed("sync"))?;
        std::fs::rename(&self.partial, &self.path).map_err(failed("rename the unfinished file to"))?;
        self.published = true;
        sync_folder_of(&self.path)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.published {
            // Nothing more can be done about a file that cannot be removed; its name says that it is unfinished.
            _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// Writes texts into a file just begun, one after the other as they come.
///
/// # Errors
/// The first of the texts that is an error, or when the system refuses.
pub fn write_all<E: From<SinkError>>(
    whole: &WholeFile,
    file: &mut File,
    texts: impl Iterator<Item = Result<Vec<u8>, E>>,
) -> Result<(), E> {
    let failed = |source| SinkError::Io { path: whole.partial.clone(), verb: "write", source };
    let mut out = BufWriter::with_capacity(1 << 16, file);
    for text in texts {
        out.write_all(&text?).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    Ok(())
}
