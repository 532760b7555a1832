//! Writing a record file, and finding where an interrupted one can be continued.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use xiangqi::judge::RuleSet;

use super::block::{BLOCK_PLIES, BlockBuilder, BlockHead, MAX_BLOCK_GAMES};
use super::error::{Part, ReadError, WriteError};
use super::footer::{Footer, IndexEntry, Totals};
use super::game::GameRecord;
use super::header::{HEADER_LEN, Header, MAX_PLAN_LEN};
use super::reader::Reader;

/// Writes a record file: header and plan at once, a block whenever enough plies are gathered, the footer at
/// the end. Which games share a block depends on the games alone, so the same games give the same bytes.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    header: Header,
    block: BlockBuilder,
    offset: u64,
    index: Vec<IndexEntry>,
    totals: Totals,
}

impl<W: Write> Writer<W> {
    /// Begins a file. `header.plan_len` and `header.plan_crc` are set here.
    pub fn create(mut out: W, mut header: Header, plan: &[u8]) -> Result<Writer<W>, WriteError> {
        if plan.len() > MAX_PLAN_LEN {
            return Err(WriteError::Plan { found: plan.len(), limit: MAX_PLAN_LEN });
        }
        header.plan_len = plan.len() as u32;
        header.plan_crc = crc32c::crc32c(plan);
        out.write_all(&header.to_bytes())?;
        out.write_all(plan)?;
        let block = BlockBuilder::new(header.run_tag(), header.rules);
        let offset = (HEADER_LEN + plan.len()) as u64;
        Ok(Writer { out, header, block, offset, index: Vec::new(), totals: Totals::default() })
    }

    /// Goes on behind the last whole block of an interrupted file. `out` must be cut off at
    /// `recovered.end` and stand there; [`Writer::reopen`] does so for files.
    pub fn resume(out: W, recovered: &Recovered) -> Writer<W> {
        let header = recovered.header.clone();
        Writer {
            out,
            block: BlockBuilder::new(header.run_tag(), header.rules),
            header,
            offset: recovered.end,
            index: recovered.index.clone(),
            totals: recovered.totals,
        }
    }

    /// Adds a game; true if that filled a block, which is then handed to the sink. On an error nothing of
    /// the game is written.
    pub fn push(&mut self, game: &GameRecord) -> Result<bool, WriteError> {
        check_rules(game, self.header.rules)?;
        self.block.push(game).map_err(|source| WriteError::Game { number: game.number, source })?;
        if self.block.is_full() {
            self.end_block()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Makes blocks of this file apart from it, on other threads say; [`Writer::push_packed`] takes them.
    pub fn packer(&self) -> Packer {
        Packer { run_tag: self.header.run_tag(), rules: self.header.rules }
    }

    /// Adds a block that [`Writer::packer`] has made, behind the block begun, which ends here.
    pub fn push_packed(&mut self, block: &PackedBlock) -> Result<(), WriteError> {
        self.end_block()?;
        self.put(&block.head, &block.bytes)
    }

    /// Ends the block begun, if there is one, though it may be short.
    pub fn end_block(&mut self) -> Result<(), WriteError> {
        if self.block.head().games == 0 {
            return Ok(());
        }
        let head = self.block.head().clone();
        let bytes = self.block.finish()?;
        self.put(&head, &bytes)
    }

    fn put(&mut self, head: &BlockHead, bytes: &[u8]) -> Result<(), WriteError> {
        self.out.write_all(bytes)?;
        self.index.push(head.index_entry(self.offset));
        self.offset += bytes.len() as u64;
        self.totals.add(head);
        Ok(())
    }

    /// Ends the file: last block, footer. Gives the sink back, flushed but not synced, and the totals.
    pub fn finish(mut self) -> Result<(W, Totals), WriteError> {
        self.end_block()?;
        let footer = Footer { totals: self.totals, index: self.index, header: self.header };
        self.out.write_all(&footer.to_bytes())?;
        self.out.flush()?;
        Ok((self.out, self.totals))
    }

    /// What the blocks written so far hold; games of the block begun are not in it.
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// Bytes written so far.
    pub const fn len(&self) -> u64 {
        self.offset
    }

    /// Is nothing written? Never: a writer begins with its header.
    pub const fn is_empty(&self) -> bool {
        self.offset == 0
    }

    /// The sink.
    pub const fn get_ref(&self) -> &W {
        &self.out
    }
}

/// Makes blocks of a file without the file: compression, the costly part, can go on several threads.
#[derive(Clone, Copy, Debug)]
pub struct Packer {
    run_tag: u64,
    rules: RuleSet,
}

/// A block ready to be written.
#[derive(Clone, Debug)]
pub struct PackedBlock {
    head: BlockHead,
    bytes: Vec<u8>,
}

impl Packer {
    /// The block of these games, at least one. They are a [`Writer`]'s own next block if [`ends_block`] holds for all
    /// of them and for no fewer.
    ///
    /// # Errors
    /// As [`Writer::push`]; and more games than a block can have.
    pub fn pack(&self, games: &[GameRecord]) -> Result<PackedBlock, WriteError> {
        let mut block = BlockBuilder::new(self.run_tag, self.rules);
        for game in games {
            check_rules(game, self.rules)?;
            if block.is_full() {
                return Err(WriteError::Block { games: games.len() });
            }
            block.push(game).map_err(|source| WriteError::Game { number: game.number, source })?;
        }
        let head = block.head().clone();
        Ok(PackedBlock { head, bytes: block.finish()? })
    }
}

/// Does a block end here that holds so many games with so many plies together?
pub const fn ends_block(games: usize, plies: usize) -> bool {
    plies >= BLOCK_PLIES || games >= MAX_BLOCK_GAMES
}

fn check_rules(game: &GameRecord, expected: RuleSet) -> Result<(), WriteError> {
    if game.rules == expected {
        return Ok(());
    }
    let (found, expected) = (game.rules.to_string(), expected.to_string());
    Err(WriteError::Rules { number: game.number, found, expected })
}

impl Writer<File> {
    /// Opens an interrupted (or finished) file for more games: cuts everything behind its last whole block.
    /// The file must be open for reading and writing.
    pub fn reopen(mut file: File) -> Result<(Writer<File>, Recovered), WriteError> {
        let recovered = recover(&mut file).map_err(WriteError::Continue)?;
        file.set_len(recovered.end)?;
        file.seek(SeekFrom::Start(recovered.end))?;
        let writer = Writer::resume(file, &recovered);
        Ok((writer, recovered))
    }
}

/// What is whole in an interrupted file.
#[derive(Debug)]
pub struct Recovered {
    /// The header.
    pub header: Header,
    /// The plan's bytes.
    pub plan: Vec<u8>,
    /// The whole blocks before the first damage.
    pub index: Vec<IndexEntry>,
    /// What they hold.
    pub totals: Totals,
    /// Where the last of them ends: new blocks go here.
    pub end: u64,
    /// Is the file finished, undamaged and with its footer?
    pub finished: bool,
    /// What ended the reading, if the file is not finished.
    pub damage: Option<ReadError>,
}

/// Reads a file up to the first damage. Fails if header or plan are not whole, for then it is not known
/// what the file is a piece of.
pub fn recover<R: Read + Seek>(source: R) -> Result<Recovered, ReadError> {
    let mut reader = Reader::new(source)?;
    let mut end = reader.offset();
    let mut index = Vec::new();
    let mut totals = Totals::default();
    let damage = loop {
        let block = match reader.next_block() {
            Some(Ok(block)) => block,
            Some(Err(error)) => break Some(error),
            None => break None,
        };
        if let Err(error) = block.games() {
            break Some(error);
        }
        index.push(block.index_entry());
        totals.add(&block.head);
        end = reader.offset();
    };
    let plan_whole = |header: &Header| header.plan_len as usize == reader.plan().len();
    match reader.header() {
        Some(header) if plan_whole(header) && !reader.header_damaged() => {
            let (header, plan) = (header.clone(), reader.plan().to_vec());
            let finished = damage.is_none() && reader.footer().is_some();
            Ok(Recovered { header, plan, index, totals, end, finished, damage })
        }
        _ => {
            let end = reader.file_len();
            Err(damage.unwrap_or(ReadError::Cut { offset: 0, part: Part::Header, end }))
        }
    }
}
