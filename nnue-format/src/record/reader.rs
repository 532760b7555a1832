//! Reading a record file: blocks in order, damage reported between them.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use super::block::{BLOCK_HEAD_LEN, BLOCK_MARKER, BlockHead, RawBlock};
use super::error::{Part, ReadError};
use super::footer::{END_MARKER, FOOTER_MARKER, Footer, IndexEntry, MIN_FOOTER_LEN, TAIL_LEN, Totals};
use super::game::GameRecord;
use super::header::{HEADER_LEN, Header};

/// The longest footer that is read: an index of 40 million blocks.
const MAX_FOOTER_LEN: u64 = 1 << 30;

/// How much is read at a time while looking for a marker.
const SCAN_CHUNK: usize = 1 << 16;

/// Reads a record file.
///
/// [`Reader::next_block`] gives block after block. Damage comes as an error in between, and reading goes on
/// behind it; `None` is the end. A file without its footer ends with [`ReadError::Cut`].
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    /// Length of the file.
    end: u64,
    /// Where the next part is expected.
    next: u64,
    /// The header, from the start of the file or else from its footer.
    header: Option<Header>,
    header_damaged: bool,
    plan: Vec<u8>,
    /// Damage found but not yet reported.
    pending: Vec<ReadError>,
    /// Whole blocks met so far.
    index: Vec<IndexEntry>,
    totals: Totals,
    footer: Option<Footer>,
    /// Was a block lost?
    damaged: bool,
    done: bool,
}

impl Reader<File> {
    /// Opens a file for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader<File>, ReadError> {
        let file = File::open(path).map_err(|source| ReadError::Io { offset: 0, source })?;
        Reader::new(file)
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Reads header and plan. Fails only where the source cannot be read: a damaged header is reported by
    /// the first call of [`Reader::next_block`], and its copy in the footer is used if there is one.
    pub fn new(mut source: R) -> Result<Reader<R>, ReadError> {
        let end = source.seek(SeekFrom::End(0)).map_err(|source| ReadError::Io { offset: 0, source })?;
        let mut reader = Reader {
            source,
            end,
            next: 0,
            header: None,
            header_damaged: false,
            plan: Vec::new(),
            pending: Vec::new(),
            index: Vec::new(),
            totals: Totals::default(),
            footer: None,
            damaged: false,
            done: false,
        };
        match reader.read_header() {
            Ok(()) => {}
            Err(error @ ReadError::Io { .. }) => return Err(error),
            Err(error @ (ReadError::Cut { .. } | ReadError::Version { .. })) => {
                reader.pending.push(error);
                reader.done = true;
            }
            Err(error) => {
                reader.pending.push(error);
                reader.header_damaged = true;
                reader.header = reader.footer_at_end().ok().map(|footer| footer.header);
                reader.next = reader.next_marker(1)?;
            }
        }
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), ReadError> {
        let cut = |part, offset, end| ReadError::Cut { offset, part, end };
        let mut bytes = [0; HEADER_LEN];
        let found = self.read_at(0, &mut bytes)?;
        if found < HEADER_LEN {
            let begin = &bytes[..found.min(8)];
            return Err(if super::MAGIC.starts_with(begin) {
                cut(Part::Header, 0, self.end)
            } else {
                ReadError::Magic { found: begin.to_vec(), expected: super::MAGIC }
            });
        }
        let header = Header::from_bytes(&bytes, 0)?;
        let offset = HEADER_LEN as u64;
        let length = u64::from(header.plan_len);
        let stored = header.plan_crc;
        self.header = Some(header);
        self.next = offset + length;
        if self.end < self.next {
            return Err(cut(Part::Plan, offset, self.end));
        }
        let mut plan = vec![0; length as usize];
        self.read_whole(offset, Part::Plan, &mut plan)?;
        let computed = crc32c::crc32c(&plan);
        if computed != stored {
            self.pending.push(ReadError::Checksum { offset, part: Part::Plan, length, computed, stored });
        } else {
            self.plan = plan;
        }
        Ok(())
    }

    /// The header; `None` if it is damaged and there is no footer with its copy.
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Is the header at the start of the file damaged (so that [`Reader::header`] is its copy, if anything)?
    pub const fn header_damaged(&self) -> bool {
        self.header_damaged
    }

    /// The plan's bytes; empty if they are damaged.
    pub fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// Length of the file, in bytes.
    pub const fn file_len(&self) -> u64 {
        self.end
    }

    /// The footer, once [`Reader::next_block`] has come to it. To have it at once: [`Reader::footer_at_end`].
    pub const fn footer(&self) -> Option<&Footer> {
        self.footer.as_ref()
    }

    /// What the blocks read so far hold (by their heads).
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// The whole blocks read so far.
    pub fn index(&self) -> &[IndexEntry] {
        &self.index
    }

    /// Where the next part is expected: after `None` or the error of a cut, the place behind the last whole
    /// block or the footer.
    pub const fn offset(&self) -> u64 {
        self.next
    }

    /// The next whole block, or damage found on the way to it; `None` at the end. After an
    /// [`ReadError::Io`] nothing more comes.
    pub fn next_block(&mut self) -> Option<Result<RawBlock, ReadError>> {
        if !self.pending.is_empty() {
            return Some(Err(self.pending.remove(0)));
        }
        if self.done {
            return None;
        }
        match self.step() {
            Ok(Some(block)) => Some(Ok(block)),
            Ok(None) => {
                self.done = true;
                if self.pending.is_empty() { None } else { Some(Err(self.pending.remove(0))) }
            }
            Err(error) => {
                self.done |= matches!(error, ReadError::Io { .. } | ReadError::Cut { .. });
                self.damaged = true;
                Some(Err(error))
            }
        }
    }

    /// All games in order; damage comes in between as errors.
    pub const fn games(self) -> Games<R> {
        Games { reader: self, block: Vec::new() }
    }

    /// The block that begins at byte `offset` (from the footer's index).
    pub fn block_at(&mut self, offset: u64) -> Result<RawBlock, ReadError> {
        let mut marker = [0; 8];
        let found = self.read_at(offset, &mut marker)?;
        if marker != BLOCK_MARKER {
            return Err(ReadError::Marker { offset, found: marker[..found].to_vec() });
        }
        let head = self.head_at(offset)?;
        self.payload_at(offset, head)
    }

    /// The footer of a finished file, found from its end.
    pub fn footer_at_end(&mut self) -> Result<Footer, ReadError> {
        let end = self.end;
        let cut = ReadError::Cut { offset: end, part: Part::Footer, end };
        if end < (HEADER_LEN + MIN_FOOTER_LEN) as u64 {
            return Err(cut);
        }
        let mut tail = [0; TAIL_LEN];
        self.read_whole(end - TAIL_LEN as u64, Part::Footer, &mut tail)?;
        let [_, _, _, _, a, b, c, d, ref marker @ ..] = tail;
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        if *marker != END_MARKER || length > end || length > MAX_FOOTER_LEN {
            return Err(cut);
        }
        let mut bytes = vec![0; length as usize];
        self.read_whole(end - length, Part::Footer, &mut bytes)?;
        if !bytes.starts_with(&FOOTER_MARKER) {
            return Err(ReadError::Marker {
                offset: end - length,
                found: bytes.into_iter().take(8).collect(),
            });
        }
        Footer::from_bytes(&bytes, end - length).map(|(footer, _)| footer)
    }

    /// Reads the part at `self.next`: a block, the footer (`None`), or damage, behind which `self.next` stands
    /// then.
    fn step(&mut self) -> Result<Option<RawBlock>, ReadError> {
        let offset = self.next;
        let mut marker = [0; 8];
        let found = self.read_at(offset, &mut marker)?;
        let begin = &marker[..found];
        if found < 8 && (BLOCK_MARKER.starts_with(begin) || FOOTER_MARKER.starts_with(begin)) {
            let part =
                if found > 0 && BLOCK_MARKER.starts_with(begin) { Part::BlockHead } else { Part::Footer };
            return Err(ReadError::Cut { offset, part, end: self.end });
        }
        if marker == FOOTER_MARKER {
            return self.read_footer(offset).map(|()| None);
        }
        if marker != BLOCK_MARKER {
            let found = begin.to_vec();
            self.next = self.next_marker(offset + 1)?;
            return Err(ReadError::Marker { offset, found });
        }
        let head = match self.head_at(offset) {
            Err(error @ (ReadError::Cut { .. } | ReadError::Io { .. })) => return Err(error),
            Err(error) => {
                self.next = self.next_marker(offset + 8)?;
                return Err(error);
            }
            Ok(head) => head,
        };
        let (block_len, run_tag) = (head.block_len(), head.run_tag);
        let block = match self.payload_at(offset, head) {
            Err(error @ (ReadError::Cut { .. } | ReadError::Io { .. })) => return Err(error),
            other => other,
        };
        self.next = offset + block_len;
        let block = block?;
        if let Some(expected) = self.header.as_ref().map(Header::run_tag)
            && expected != run_tag
        {
            return Err(ReadError::Foreign { offset, found: run_tag, expected });
        }
        self.totals.add(&block.head);
        self.index.push(block.index_entry());
        Ok(Some(block))
    }

    fn head_at(&mut self, offset: u64) -> Result<BlockHead, ReadError> {
        let mut bytes = [0; BLOCK_HEAD_LEN];
        self.read_whole(offset, Part::BlockHead, &mut bytes)?;
        BlockHead::from_bytes(&bytes, offset)
    }

    fn payload_at(&mut self, offset: u64, head: BlockHead) -> Result<RawBlock, ReadError> {
        let begin = offset + BLOCK_HEAD_LEN as u64;
        if self.end < offset + head.block_len() {
            return Err(ReadError::Cut { offset, part: Part::BlockPayload, end: self.end });
        }
        // Bounded twice: by the head's limit, and by the file having that many bytes.
        let mut payload = vec![0; head.payload_len as usize + 4];
        self.read_whole(begin, Part::BlockPayload, &mut payload)?;
        let crc = payload.split_off(head.payload_len as usize);
        let stored = crc.try_into().map_or(0, u32::from_le_bytes);
        let computed = crc32c::crc32c(&payload);
        if computed != stored {
            let (part, length) = (Part::BlockPayload, payload.len() as u64);
            return Err(ReadError::Checksum { offset: begin, part, length, computed, stored });
        }
        Ok(RawBlock { offset, head, payload })
    }

    /// Reads the footer and holds it against the blocks read; what is wrong besides goes to `pending`.
    fn read_footer(&mut self, offset: u64) -> Result<(), ReadError> {
        let length = (self.end - offset).min(MAX_FOOTER_LEN);
        let mut bytes = vec![0; length as usize];
        self.read_whole(offset, Part::Footer, &mut bytes)?;
        let (footer, length) = match Footer::from_bytes(&bytes, offset) {
            Ok(good) => good,
            Err(error) => {
                // Blocks may follow where two files were put together or a marker was made up.
                self.next = if matches!(error, ReadError::Cut { .. }) {
                    offset
                } else {
                    self.next_marker(offset + 8)?
                };
                self.done |= self.next == self.end;
                return Err(error);
            }
        };
        self.next = offset + length as u64;
        let pairs = [
            ("blocks", footer.index.len() as u64, self.index.len() as u64),
            ("games", footer.totals.games, self.totals.games),
            ("plies", footer.totals.plies, self.totals.plies),
            ("positions", footer.totals.positions, self.totals.positions),
        ];
        // After reported damage the difference is what was lost, not news.
        if !self.damaged
            && let Some(&(what, stored, counted)) = pairs.iter().find(|(_, a, b)| a != b)
        {
            self.pending.push(ReadError::Totals { offset, what, stored, counted });
        } else if !self.damaged && footer.index != self.index {
            let (what, stored, counted) = ("an index of", footer.index.len() as u64, self.index.len() as u64);
            self.pending.push(ReadError::Totals { offset, what, stored, counted });
        }
        if self.next < self.end {
            self.pending.push(ReadError::Trailing { offset: self.next, length: self.end - self.next });
        }
        self.footer = Some(footer);
        Ok(())
    }

    /// The first place from `from` on where a block or footer marker stands; the end if there is none.
    fn next_marker(&mut self, from: u64) -> Result<u64, ReadError> {
        let mut chunk = vec![0; SCAN_CHUNK];
        let mut at = from;
        while at + 8 <= self.end {
            let found = self.read_at(at, &mut chunk)?;
            let place = chunk[..found].windows(8).position(|w| w == BLOCK_MARKER || w == FOOTER_MARKER);
            match place {
                Some(place) => return Ok(at + place as u64),
                None if found < 8 => break,
                None => at += found as u64 - 7,
            }
        }
        Ok(self.end)
    }

    /// Fills as much of `buffer` as the file has from `offset` on; gives how much.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let io = |source| ReadError::Io { offset, source };
        self.source.seek(SeekFrom::Start(offset)).map_err(io)?;
        let mut found = 0;
        while found < buffer.len() {
            match self.source.read(&mut buffer[found..]) {
                Ok(0) => break,
                Ok(n) => found += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(io(error)),
            }
        }
        Ok(found)
    }

    fn read_whole(&mut self, offset: u64, part: Part, buffer: &mut [u8]) -> Result<(), ReadError> {
        let found = self.read_at(offset, buffer)?;
        if found == buffer.len() { Ok(()) } else { Err(ReadError::Cut { offset, part, end: self.end }) }
    }
}

/// Iterator over the games of a file; damage comes as errors in between.
#[derive(Debug)]
pub struct Games<R> {
    reader: Reader<R>,
    /// Games of the current block, last first.
    block: Vec<GameRecord>,
}

impl<R> Games<R> {
    /// The reader, for header, totals and footer.
    pub const fn reader(&self) -> &Reader<R> {
        &self.reader
    }
}

impl<R: Read + Seek> Iterator for Games<R> {
    type Item = Result<GameRecord, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(game) = self.block.pop() {
                return Some(Ok(game));
            }
            match self.reader.next_block()?.and_then(|block| block.games()) {
                Ok(mut games) => {
                    games.reverse();
                    self.block = games;
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
