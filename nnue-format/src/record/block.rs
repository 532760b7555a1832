//! A block: some hundred games, columns compressed one by one, with everything needed to read it alone.
//!
//! ```text
//!  0  8  marker            24  8  number of the first game    44  C × (4 raw length, 4 packed length)
//!  8  4  payload length    32  8  run tag                     ..  4  CRC32C of all bytes before it
//! 12  4  games             40  1  rule set                        payload: one zstd frame per column
//! 16  4  plies             41  1  number of columns C         ..  4  CRC32C of the payload
//! 20  4  positions         42  2  zero
//! ```

use xiangqi::Position;
use xiangqi::judge::RuleSet;

use super::bytes::Cursor;
use super::columns::{COLUMN_COUNT, COLUMN_NAMES, ColumnReader, ColumnWriter, MAX_COLUMN_LEN, record_of};
use super::error::{ColumnError, GameError, Part, ReadError};
use super::footer::IndexEntry;
use super::game::{GameHead, GameRecord, MAX_GAME_PLIES, Ply};
use super::header::{rule_set_code, rule_set_from_code};

/// The first eight bytes of a block.
pub const BLOCK_MARKER: [u8; 8] = *b"\xb7CHUBLK\n";

/// The length of a block's head with its checksum, in bytes.
pub const BLOCK_HEAD_LEN: usize = FIELDS_LEN + 8 * COLUMN_COUNT + 4;

const FIELDS_LEN: usize = 44;

/// A writer ends a block when it holds this many plies. Greater blocks are denser and cost more when damaged.
pub const BLOCK_PLIES: usize = 1 << 15;

/// The most games in a block.
pub const MAX_BLOCK_GAMES: usize = 1 << 14;

/// The most plies in a block.
pub const MAX_BLOCK_PLIES: usize = 1 << 18;

/// zstd's level. Columns are entropy-coded more than matched, so the level costs little time here.
const ZSTD_LEVEL: i32 = 19;

/// The longest payload: every column at its greatest, stored as it is.
const MAX_PAYLOAD_LEN: usize = 1 << 24;

/// The head of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockHead {
    /// Length of the compressed columns together, in bytes.
    pub payload_len: u32,
    /// Games in the block.
    pub games: u32,
    /// Plies in the block, openings included.
    pub plies: u32,
    /// Scored plies in the block.
    pub positions: u32,
    /// The number of the first game.
    pub first_number: u64,
    /// The run the block belongs to ([`super::Header::run_tag`]).
    pub run_tag: u64,
    /// The rules of the games.
    pub rules: RuleSet,
    /// For each column of [`COLUMN_NAMES`] its length before and after compression, in bytes.
    pub columns: [(u32, u32); COLUMN_COUNT],
}

impl BlockHead {
    /// The length of the whole block, in bytes.
    pub const fn block_len(&self) -> u64 {
        BLOCK_HEAD_LEN as u64 + self.payload_len as u64 + 4
    }

    /// The block's entry in the index, if it begins at byte `offset`.
    pub(crate) const fn index_entry(&self, offset: u64) -> IndexEntry {
        let BlockHead { games, positions, first_number, .. } = *self;
        IndexEntry { offset, first_number, games, positions }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(BLOCK_HEAD_LEN);
        out.extend_from_slice(&BLOCK_MARKER);
        for field in [self.payload_len, self.games, self.plies, self.positions] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&self.first_number.to_le_bytes());
        out.extend_from_slice(&self.run_tag.to_le_bytes());
        out.extend_from_slice(&[rule_set_code(self.rules), COLUMN_COUNT as u8, 0, 0]);
        for (raw, packed) in self.columns {
            out.extend_from_slice(&raw.to_le_bytes());
            out.extend_from_slice(&packed.to_le_bytes());
        }
        let crc = crc32c::crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// Reads a head that begins at byte `offset` of the file.
    pub(crate) fn from_bytes(bytes: &[u8; BLOCK_HEAD_LEN], offset: u64) -> Result<BlockHead, ReadError> {
        let (body, stored) = bytes.split_at(BLOCK_HEAD_LEN - 4);
        let computed = crc32c::crc32c(body);
        let stored = Cursor::new(stored).u32().unwrap_or_default();
        if computed != stored {
            let (part, length) = (Part::BlockHead, BLOCK_HEAD_LEN as u64);
            return Err(ReadError::Checksum { offset, part, length, computed, stored });
        }
        let field = |(field, found, limit): (&'static str, u64, u64)| ReadError::Field {
            offset,
            part: Part::BlockHead,
            field,
            found,
            limit,
        };
        BlockHead::fields(&body[8..]).map_err(field)
    }

    fn fields(body: &[u8]) -> Result<BlockHead, (&'static str, u64, u64)> {
        let mut cursor = Cursor::new(body);
        let short = ("length", body.len() as u64, BLOCK_HEAD_LEN as u64);
        let mut limited = |name, limit: usize| match cursor.u32() {
            None => Err(short),
            Some(found) if found as usize > limit => Err((name, u64::from(found), limit as u64)),
            Some(found) => Ok(found),
        };
        let payload_len = limited("payload length", MAX_PAYLOAD_LEN)?;
        let games = limited("games", MAX_BLOCK_GAMES)?;
        let plies = limited("plies", MAX_BLOCK_PLIES)?;
        let positions = limited("positions", plies as usize)?;
        let first_number = cursor.u64().ok_or(short)?;
        let run_tag = cursor.u64().ok_or(short)?;
        let [code, count, zeros @ ..] = cursor.array::<4>().ok_or(short)?;
        let rules = rule_set_from_code(code).map_err(|_| ("rule set", u64::from(code), 0))?;
        if usize::from(count) != COLUMN_COUNT {
            return Err(("number of columns", u64::from(count), COLUMN_COUNT as u64));
        }
        if zeros != [0, 0] {
            return Err(("reserved bytes", u64::from(u16::from_le_bytes(zeros)), 0));
        }
        let mut columns = [(0, 0); COLUMN_COUNT];
        let mut total = 0u64;
        for column in &mut columns {
            let (raw, packed) = cursor.u32().zip(cursor.u32()).ok_or(short)?;
            if raw as usize > MAX_COLUMN_LEN {
                return Err(("raw length of a column", u64::from(raw), MAX_COLUMN_LEN as u64));
            }
            total += u64::from(packed);
            *column = (raw, packed);
        }
        if total != u64::from(payload_len) {
            return Err(("sum of packed lengths", total, u64::from(payload_len)));
        }
        Ok(BlockHead { payload_len, games, plies, positions, first_number, run_tag, rules, columns })
    }
}

/// Games being gathered for a block.
#[derive(Debug)]
pub(crate) struct BlockBuilder {
    columns: ColumnWriter,
    head: BlockHead,
}

impl BlockBuilder {
    pub(crate) fn new(run_tag: u64, rules: RuleSet) -> BlockBuilder {
        let head = BlockHead {
            payload_len: 0,
            games: 0,
            plies: 0,
            positions: 0,
            first_number: 0,
            run_tag,
            rules,
            columns: [(0, 0); COLUMN_COUNT],
        };
        BlockBuilder { columns: ColumnWriter::new(0), head }
    }

    pub(crate) const fn head(&self) -> &BlockHead {
        &self.head
    }

    /// Adds a game; on an error nothing is added.
    pub(crate) fn push(&mut self, game: &GameRecord) -> Result<(), GameError> {
        if self.head.games == 0 {
            self.columns = ColumnWriter::new(game.number);
            self.head.first_number = game.number;
        }
        self.columns.push(game)?;
        self.head.games += 1;
        self.head.plies += game.len() as u32;
        self.head.positions += game.plies.len() as u32;
        Ok(())
    }

    /// Must the block end here?
    pub(crate) const fn is_full(&self) -> bool {
        super::writer::ends_block(self.head.games as usize, self.head.plies as usize)
    }

    /// The bytes of the block; the builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> std::io::Result<Vec<u8>> {
        let fresh = BlockBuilder::new(self.head.run_tag, self.head.rules);
        let BlockBuilder { columns, mut head, .. } = std::mem::replace(self, fresh);
        let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        let mut payload = Vec::new();
        for (column, lengths) in columns.columns().iter().zip(&mut head.columns) {
            let packed = if column.is_empty() { Vec::new() } else { compressor.compress(column)? };
            *lengths = (column.len() as u32, packed.len() as u32);
            payload.extend_from_slice(&packed);
        }
        head.payload_len = payload.len() as u32;
        let mut out = head.to_bytes();
        let crc = crc32c::crc32c(&payload);
        out.extend_from_slice(&payload);
        out.extend_from_slice(&crc.to_le_bytes());
        Ok(out)
    }
}

/// A block as it lies in the file, checksums verified, not decompressed: cheap to read in order and
/// to hand to another thread for decoding.
#[derive(Clone, Debug)]
pub struct RawBlock {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its head.
    pub head: BlockHead,
    pub(crate) payload: Vec<u8>,
}

impl RawBlock {
    /// The block that begins at byte `offset` of its file; `bytes` are those of the file from there on, at least to the
    /// block's end.
    ///
    /// # Errors
    /// As of [`super::Reader::block_at`].
    pub fn from_bytes(bytes: &[u8], offset: u64) -> Result<RawBlock, ReadError> {
        if !bytes.starts_with(&BLOCK_MARKER) {
            let found = bytes.iter().copied().take(BLOCK_MARKER.len()).collect();
            return Err(ReadError::Marker { offset, found });
        }
        let cut = |part| ReadError::Cut { offset, part, end: offset + bytes.len() as u64 };
        let (head, rest) = bytes.split_first_chunk().ok_or_else(|| cut(Part::BlockHead))?;
        let head = BlockHead::from_bytes(head, offset)?;
        let (payload, rest) =
            rest.split_at_checked(head.payload_len as usize).ok_or_else(|| cut(Part::BlockPayload))?;
        let stored = rest.first_chunk().ok_or_else(|| cut(Part::BlockPayload))?;
        let (stored, computed) = (u32::from_le_bytes(*stored), crc32c::crc32c(payload));
        if computed != stored {
            let (part, length) = (Part::BlockPayload, payload.len() as u64);
            let offset = offset + BLOCK_HEAD_LEN as u64;
            return Err(ReadError::Checksum { offset, part, length, computed, stored });
        }
        Ok(RawBlock { offset, head, payload: payload.to_vec() })
    }

    /// Its entry in the index.
    pub const fn index_entry(&self) -> IndexEntry {
        self.head.index_entry(self.offset)
    }

    /// All games of the block. Whatever is wrong in it costs the whole block.
    pub fn games(&self) -> Result<Vec<GameRecord>, ReadError> {
        let mut games = Vec::with_capacity(self.head.games as usize);
        self.decode(|reader| {
            games.push(record_of(reader)?);
            Ok(())
        })?;
        Ok(games)
    }

    /// Visits every ply of every game of the block, openings included: `visit(game, position before the
    /// ply, ply)`. Builds no records; the position is lent. Games without plies are not visited. A block
    /// whose checksums hold and that still does not decode (written by another program) may have been
    /// visited in part when the error comes.
    pub fn walk(&self, mut visit: impl FnMut(&GameHead, &Position, &Ply)) -> Result<(), ReadError> {
        self.decode(|reader| {
            let head = reader.head()?;
            reader.walk(&head, &mut visit)
        })
    }

    fn decode(
        &self,
        mut game: impl FnMut(&mut ColumnReader<'_>) -> Result<(), GameError>,
    ) -> Result<(), ReadError> {
        let offset = self.offset;
        let columns = self.column_bytes()?;
        let mut reader = ColumnReader::new(&columns, self.head.first_number, self.head.rules);
        for index in 0..self.head.games {
            let number = reader.next_number();
            game(&mut reader).map_err(|source| ReadError::Game { offset, index, number, source })?;
        }
        match reader.left_over() {
            None => Ok(()),
            Some((column, left)) => {
                Err(ReadError::Column { offset, column, source: ColumnError::LeftOver(left) })
            }
        }
    }

    /// The columns' bytes, decompressed, in the order of [`COLUMN_NAMES`].
    pub fn column_bytes(&self) -> Result<[Vec<u8>; COLUMN_COUNT], ReadError> {
        let mut columns = std::array::from_fn(|_| Vec::new());
        let mut payload = Cursor::new(&self.payload);
        for (i, (raw, packed)) in self.head.columns.into_iter().enumerate() {
            let error = |source| ReadError::Column { offset: self.offset, column: COLUMN_NAMES[i], source };
            let frame = payload.take(packed as usize).unwrap_or_default();
            if !frame.is_empty() {
                // The format wants the size in the frame too: a frame without it was not written by us, or is damaged.
                if !matches!(zstd::zstd_safe::get_frame_content_size(frame), Ok(Some(_))) {
                    let what = format!("the frame does not tell its content size, expected {raw}");
                    return Err(error(ColumnError::Zstd(what)));
                }
                columns[i] = zstd::bulk::decompress(frame, raw as usize)
                    .map_err(|source| error(ColumnError::Zstd(source.to_string())))?;
            }
            if columns[i].len() != raw as usize {
                let found = columns[i].len();
                return Err(error(ColumnError::Length { found, expected: raw as usize }));
            }
        }
        Ok(columns)
    }
}

// A block ended by the first game that fills it never passes the limits that readers enforce.
const _: () = assert!(BLOCK_PLIES + MAX_GAME_PLIES <= MAX_BLOCK_PLIES);
// Starts: kind, length and text of a FEN per game; escapes: up to three bytes a ply.
const _: () = assert!(MAX_BLOCK_GAMES * (super::game::MAX_FEN_LEN + 3) <= MAX_COLUMN_LEN);
const _: () = assert!((BLOCK_PLIES + MAX_GAME_PLIES) * 3 <= MAX_COLUMN_LEN);
