//! Where a derived file goes: `FILE.partial` block by block, then `FILE` by rename, with its manifest.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};

use nnue_format::record::{
    self, GameRecord, Header, PackedBlock, Packer, ReadError, Reader, Totals, Writer, ends_block,
};
use rayon::prelude::*;
use serde_json::Value;

use super::{DerivedError, DerivedPlan, Sources};
use crate::manifest;
use crate::sink::{Paths, open_locked, sync_folder_of};

/// What becomes of files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteMode {
    /// Go on behind the whole blocks of an unfinished file of the same plan, and keep the unfinished file when the run ends
    /// early. Otherwise a run begins anew and leaves nothing behind.
    pub resume: bool,
    /// Replace other files of the same name.
    pub force: bool,
}

/// What an output file turned out to be.
#[derive(Debug)]
pub enum Opened {
    /// Finished before, by the same plan.
    Complete(Totals),
    /// To be written. If it is resumed, [`DerivedWriter::found`] says how many games are there.
    Run(Box<DerivedWriter>),
}

/// Writes games, numbered from 0 in the order they come, and compresses their blocks on rayon's threads. Dropped before it is published, it
/// removes its unfinished file, unless that can be resumed.
#[derive(Debug)]
pub struct DerivedWriter {
    paths: Paths,
    plan: DerivedPlan,
    resume: bool,
    /// `None` once published.
    writer: Option<Writer<File>>,
    packer: Packer,
    found: Totals,
    pushed: Totals,
    /// Games of the block begun, and their plies.
    filling: Vec<GameRecord>,
    filling_plies: usize,
    /// Whole blocks that are not yet compressed.
    full: Vec<Vec<GameRecord>>,
    /// So many of them are compressed at a time.
    ahead: usize,
}

impl DerivedWriter {
    /// Opens the output of a plan, and refuses what is not its own.
    ///
    /// # Errors
    /// Files of that name that are something else, another process that writes it, the system.
    pub fn open(
        out: &Path,
        plan: &DerivedPlan,
        sources: &Sources,
        seed: u64,
        mode: WriteMode,
    ) -> Result<Opened, DerivedError> {
        sources.refuse_output(out)?;
        let paths = Paths::new(out);
        let (header, plan_bytes) = (plan.header(sources, seed)?, plan.to_bytes()?);
        let complete = || if mode.force { Ok(None) } else { finished(&paths.out, &header) };
        if let Some(totals) = complete()? {
            return Ok(Opened::Complete(totals));
        }
        let mut file = lock(&paths.partial)?;
        // Another process may have finished while we opened the file.
        if let Some(totals) = complete()? {
            return Ok(Opened::Complete(totals));
        }
        let resumed = may_write(&paths.partial, &mut file, plan, &header, mode)?;
        let failed = DerivedError::write(&paths.partial);
        let writer = if resumed {
            Writer::reopen(file).map_err(failed)?.0
        } else {
            file.set_len(0)
                .and_then(|()| file.rewind())
                .map_err(DerivedError::io(&paths.partial, "empty"))?;
            Writer::create(file, header, &plan_bytes).map_err(failed)?
        };
        let found = writer.totals();
        let ahead = if mode.resume { 1 } else { 2 * rayon::current_num_threads() };
        Ok(Opened::Run(Box::new(DerivedWriter {
            packer: writer.packer(),
            writer: Some(writer),
            plan: plan.clone(),
            resume: mode.resume,
            found,
            pushed: found,
            filling: Vec::new(),
            filling_plies: 0,
            full: Vec::new(),
            ahead,
            paths,
        })))
    }

    /// What an interrupted run had left: its whole blocks' games, which are the first that this plan gives.
    pub const fn found(&self) -> Totals {
        self.found
    }

    /// What was found and pushed, blocks unfinished included.
    pub const fn written(&self) -> Totals {
        self.pushed
    }

    /// The files.
    pub const fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Adds a game under the next number.
    ///
    /// # Errors
    /// When it cannot be coded or written.
    pub fn push(&mut self, mut game: GameRecord) -> Result<(), DerivedError> {
        game.number = self.pushed.games;
        self.pushed.games += 1;
        self.pushed.plies += game.len() as u64;
        self.pushed.positions += game.plies.len() as u64;
        self.filling_plies += game.len();
        self.filling.push(game);
        if ends_block(self.filling.len(), self.filling_plies) {
            self.filling_plies = 0;
            self.full.push(std::mem::take(&mut self.filling));
            if self.full.len() >= self.ahead {
                self.write_full()?;
            }
        }
        Ok(())
    }

    /// Compresses the whole blocks, side by side, and writes them in order.
    fn write_full(&mut self) -> Result<(), DerivedError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let failed = DerivedError::write(&self.paths.partial);
        let packer = self.packer;
        let packed: Vec<Result<PackedBlock, _>> =
            self.full.par_drain(..).map(|games| packer.pack(&games)).collect();
        for block in packed {
            writer.push_packed(&block.map_err(&failed)?).map_err(&failed)?;
        }
        if self.resume {
            writer.get_ref().sync_data().map_err(DerivedError::io(&self.paths.partial, "sync"))?;
        }
        Ok(())
    }

    /// Ends the file, writes its manifest beside it and gives it its name. `counts` and `inputs` go into the manifest.
    ///
    /// # Errors
    /// When the system refuses; the file is unfinished then.
    pub fn publish(mut self, counts: &Value, inputs: &Value) -> Result<Totals, DerivedError> {
        if !self.filling.is_empty() {
            self.full.push(std::mem::take(&mut self.filling));
        }
        self.write_full()?;
        let Some(writer) = self.writer.take() else { return Ok(self.pushed) };
        let published = self.finish(writer, counts, inputs);
        if published.is_err() && !self.resume {
            _ = std::fs::remove_file(&self.paths.partial);
        }
        published
    }

    fn finish(&self, writer: Writer<File>, counts: &Value, inputs: &Value) -> Result<Totals, DerivedError> {
        let Paths { out, partial, manifest, .. } = &self.paths;
        let (file, totals) = writer.finish().map_err(DerivedError::write(partial))?;
        file.sync_all().map_err(DerivedError::io(partial, "sync"))?;
        let mut text = manifest::of_file(totals, partial, out)?;
        text["counts"] = counts.clone();
        text["inputs"] = inputs.clone();
        text["plan"] = self.plan.json();
        manifest::write_whole(manifest, &format!("{text:#}\n"))?;
        std::fs::rename(partial, out).map_err(DerivedError::io(out, "rename the unfinished file to"))?;
        sync_folder_of(out)?;
        Ok(totals)
    }
}

impl Drop for DerivedWriter {
    fn drop(&mut self) {
        if self.writer.is_some() && !self.resume {
            // Nothing more can be done about a file that cannot be removed; its name says that it is unfinished.
            _ = std::fs::remove_file(&self.paths.partial);
        }
    }
}

/// Opens and locks the unfinished file. A file that was renamed or removed while we waited for it is another's.
fn lock(partial: &Path) -> Result<File, DerivedError> {
    loop {
        let file = open_locked(partial)?;
        if is_at(&file, partial) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().is_ok_and(|ours| std::fs::metadata(path).is_ok_and(|there| same(ours, there)))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The totals of a finished file of this plan; `None` if there is none, an error if there is something else.
fn finished(out: &Path, header: &Header) -> Result<Option<Totals>, DerivedError> {
    let there = |why: String| DerivedError::There { path: out.to_owned(), why };
    let file = match File::open(out) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(DerivedError::io(out, "open"))?,
    };
    let footer = Reader::new(file).and_then(|mut reader| reader.footer_at_end());
    let footer = footer.map_err(|error| there(format!("no finished record file: {error}")))?;
    if footer.header.run_id != header.run_id {
        return Err(there("a record file made with other settings or from other inputs".to_owned()));
    }
    Ok(Some(footer.totals))
}

/// May the unfinished file be written? True if it is to be gone on with, false if it is to be begun anew.
fn may_write(
    path: &Path,
    file: &mut File,
    plan: &DerivedPlan,
    header: &Header,
    mode: WriteMode,
) -> Result<bool, DerivedError> {
    let there = |why: String| DerivedError::There { path: PathBuf::from(path), why };
    let reader = match Reader::new(&mut *file) {
        Ok(reader) => reader,
        Err(error) => return Err(DerivedError::Input { path: path.to_owned(), source: error }),
    };
    let ours = reader.header().is_some_and(|found| found.run_id == header.run_id);
    let same_verb = DerivedPlan::from_bytes(reader.plan()).is_ok_and(|found| found.verb == plan.verb);
    if mode.resume && ours {
        return match record::recover(file) {
            Ok(_) => Ok(true),
            Err(ReadError::Cut { .. }) => Ok(false),
            Err(error) => Err(there(error.to_string())),
        };
    }
    // What a killed run left of a header is nobody's.
    let nobodys = reader.file_len() < (record::HEADER_LEN as u64);
    if mode.force || nobodys || ours || (same_verb && !mode.resume) {
        return Ok(false);
    }
    Err(there("an unfinished file of another command, which may still be gone on with".to_owned()))
}
