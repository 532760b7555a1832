//! What can be wrong with a record file, and where.

use xiangqi::Move;

/// A part of a record file, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The fixed header.
    Header,
    /// The plan behind the header.
    Plan,
    /// A block's head: marker, counts, lengths.
    BlockHead,
    /// A block's compressed columns.
    BlockPayload,
    /// The footer.
    Footer,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Part::Header => "header",
            Part::Plan => "plan",
            Part::BlockHead => "block head",
            Part::BlockPayload => "block payload",
            Part::Footer => "footer",
        })
    }
}

/// Damage found while reading; every variant says at which byte of the file. After any of them but
/// [`ReadError::Io`] and [`ReadError::Version`] the reader goes on at the next marker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system could not read.
    #[error("cannot read at byte {offset}: {source}")]
    Io {
        /// Where reading was tried.
        offset: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file does not begin as a record file.
    #[error(
        "the file begins with {found:02x?}, not with the magic of a record file {expected:02x?}: another kind of file, or its first bytes are damaged"
    )]
    Magic {
        /// The first bytes found.
        found: Vec<u8>,
        /// The magic.
        expected: [u8; 8],
    },
    /// Another version of the format. Nothing of the file is read.
    #[error(
        "record format version {found} at byte 8; this program reads version {expected}: {}", advice(*.found, *.expected)
    )]
    Version {
        /// The version found.
        found: u16,
        /// The version this code reads.
        expected: u16,
    },
    /// A checksum does not fit: bytes were changed.
    #[error(
        "{part} at byte {offset} ({length} bytes) has CRC32C {computed:08x}, but {stored:08x} is stored with it: damaged"
    )]
    Checksum {
        /// Where the part begins.
        offset: u64,
        /// The part.
        part: Part,
        /// How long it is, in bytes.
        length: u64,
        /// The checksum of the bytes found.
        computed: u32,
        /// The checksum stored in the file.
        stored: u32,
    },
    /// Neither a block nor the footer begins where one must.
    #[error(
        "byte {offset} begins with {found:02x?}, where a block or the footer must begin; skipped to the next marker"
    )]
    Marker {
        /// Where the marker should be.
        offset: u64,
        /// What stands there.
        found: Vec<u8>,
    },
    /// The file ends inside a part, or before its footer.
    #[error(
        "the file ends at byte {end}, inside the {part} that begins at byte {offset}: cut off; whole blocks before it are good"
    )]
    Cut {
        /// Where the part begins.
        offset: u64,
        /// The part.
        part: Part,
        /// The length of the file.
        end: u64,
    },
    /// A field with an intact checksum holds what it cannot hold.
    #[error(
        "{part} at byte {offset}: {field} is {found}, at most {limit} is possible: not written by this program"
    )]
    Field {
        /// Where the part begins.
        offset: u64,
        /// The part.
        part: Part,
        /// The field's name.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The greatest allowed value.
        limit: u64,
    },
    /// A block belongs to another run.
    #[error(
        "block at byte {offset} is of run {found:016x}, the file is of run {expected:016x}: pieces of two files were put together"
    )]
    Foreign {
        /// Where the block begins.
        offset: u64,
        /// The run tag in the block.
        found: u64,
        /// The run tag of the file.
        expected: u64,
    },
    /// A column does not decode.
    #[error("block at byte {offset}, column {column}: {source}")]
    Column {
        /// Where the block begins.
        offset: u64,
        /// The column's name.
        column: &'static str,
        /// What is wrong with it.
        source: ColumnError,
    },
    /// A game in a block with intact checksums is not possible.
    #[error("block at byte {offset}, game {index} in it (number {number}): {source}")]
    Game {
        /// Where the block begins.
        offset: u64,
        /// Which game of the block, from 0.
        index: u32,
        /// The game's number.
        number: u64,
        /// What is wrong with it.
        source: GameError,
    },
    /// The footer contradicts the blocks.
    #[error("footer at byte {offset} says {what} {stored}, counted {counted}: blocks were lost or added")]
    Totals {
        /// Where the footer begins.
        offset: u64,
        /// What is counted.
        what: &'static str,
        /// The footer's figure.
        stored: u64,
        /// The figure of the blocks read.
        counted: u64,
    },
    /// Something follows the footer.
    #[error("{length} bytes follow the end of the footer at byte {offset}")]
    Trailing {
        /// Where the file should end.
        offset: u64,
        /// How many bytes follow.
        length: u64,
    },
}

/// What to do with a file of version `found`.
const fn advice(found: u16, expected: u16) -> &'static str {
    if found > expected {
        "use a newer chuhe-gen"
    } else {
        "make the file anew with the command in its manifest (earlier versions were never released), or read it with the \
         chuhe-gen that wrote it"
    }
}

impl ReadError {
    /// The byte of the file where the damaged part begins.
    pub fn offset(&self) -> u64 {
        match *self {
            ReadError::Magic { .. } => 0,
            ReadError::Version { .. } => 8,
            ReadError::Io { offset, .. }
            | ReadError::Checksum { offset, .. }
            | ReadError::Marker { offset, .. }
            | ReadError::Cut { offset, .. }
            | ReadError::Field { offset, .. }
            | ReadError::Foreign { offset, .. }
            | ReadError::Column { offset, .. }
            | ReadError::Game { offset, .. }
            | ReadError::Totals { offset, .. }
            | ReadError::Trailing { offset, .. } => offset,
        }
    }
}

/// What is wrong with one column of a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// zstd refuses it.
    #[error("zstd: {0}")]
    Zstd(String),
    /// Its length is not what the head says.
    #[error("{found} bytes decoded, the head says {expected}")]
    Length {
        /// Bytes decoded.
        found: usize,
        /// Bytes promised.
        expected: usize,
    },
    /// It is longer than the games it describes need.
    #[error("{0} bytes left over after the last game")]
    LeftOver(usize),
}

/// What is wrong with one game, read or about to be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// A column ends before the game does.
    #[error("column {0} ends inside the game")]
    Short(&'static str),
    /// A number is coded in a way no writer uses.
    #[error("a number in column {0} is coded in more than 64 bits")]
    Number(&'static str),
    /// A code stands for nothing.
    #[error("{what} has the unknown code {found}")]
    Code {
        /// What is coded.
        what: &'static str,
        /// The code found.
        found: u64,
    },
    /// The start is no position.
    #[error("the start {text:?} is no position: {reason}")]
    Start {
        /// The text, or what there is of it.
        text: String,
        /// Why it is refused.
        reason: String,
    },
    /// The rank of a move is beyond the position's pseudo-legal moves.
    #[error("ply {ply}: move rank {rank} of {count} pseudo-legal moves in {fen}")]
    Rank {
        /// Ply of the game, from 0.
        ply: usize,
        /// The rank found.
        rank: u32,
        /// How many pseudo-legal moves there are.
        count: u32,
        /// The position.
        fen: String,
    },
    /// The move is not pseudo-legal, or it takes a king.
    #[error("ply {ply}: {mv} is no possible move in {fen}")]
    Move {
        /// Ply of the game, from 0.
        ply: usize,
        /// The move.
        mv: Move,
        /// The position.
        fen: String,
    },
    /// A score beyond ±[`xiangqi::Score::MATE`].
    #[error("ply {ply}: score {found} is beyond ±{limit}")]
    Score {
        /// Ply of the game, from 0.
        ply: usize,
        /// The score found.
        found: i64,
        /// The greatest size of a score.
        limit: i32,
    },
    /// More plies than a game may have.
    #[error("{found} plies, at most {limit} are possible")]
    Plies {
        /// The number found.
        found: u64,
        /// The limit.
        limit: usize,
    },
}

/// A game or file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system could not write.
    #[error("cannot write the record file: {0}")]
    Io(#[from] std::io::Error),
    /// The game cannot be coded; nothing of it was written.
    #[error("game {number} cannot be recorded: {source}")]
    Game {
        /// The game's number.
        number: u64,
        /// What is wrong with it.
        source: GameError,
    },
    /// The game is judged by other rules than the file's.
    #[error("game {number} is judged by {found}, the file holds games of {expected}")]
    Rules {
        /// The game's number.
        number: u64,
        /// The game's rule set.
        found: String,
        /// The file's rule set.
        expected: String,
    },
    /// More games than a block holds.
    #[error("{games} games are more than one block")]
    Block {
        /// How many there are.
        games: usize,
    },
    /// The plan is too long.
    #[error("the plan has {found} bytes, at most {limit} are possible")]
    Plan {
        /// Its length.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The file to be continued is not one that can be.
    #[error("the file cannot be continued: {0}")]
    Continue(ReadError),
}
