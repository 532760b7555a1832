//! The `.bin` of variant-nnue-tools (`PackedSfenValue`): positions of one length each, without a header.
//!
//! ```text
//! bits   1 side to move · 7 Red's king · 7 Black's king · board · hands · 4 castling · 1 en passant
//!        6 plies without capture, low bits · 8 + 8 move number · 1 plies without capture, high bit · zeros
//! bytes  64 (or 128) of these bits · i16 score · u16 move · u16 ply · i8 result · 1 unused
//! ```
//!
//! Bits are counted from the low end of each byte. The board is read from rank 9 down, file a first, kings left out: `0`
//! for an empty square, else `1`, four bits of the kind and one of the colour. Kinds are numbered as Fairy-Stockfish
//! orders its pieces: rook, advisor, cannon, pawn, knight, bishop. Hands (two sides, seven kinds, five or seven bits
//! each), castling and en passant are there for other games; in xiangqi they are zero, and so is everything behind the
//! last bit: that is how files of other variants and sizes are told.
//!
//! A move is `from << 7 | to` with squares of `rank * 12 + file`. Scores and results are the side to move's. Learnt from
//! variant-nnue-tools, `src/tools/sfen_packer.cpp`; the code is our own.

use std::io::{self, BufRead, Read};

use game_files::Place;
use xiangqi::setup::Setup;
use xiangqi::{Color, Move, Piece, PieceKind, Square};

use super::{Conventions, ExchangeError, FirstRank, RawSample, SampleFault, View};

/// The kinds of pieces by their numbers.
const KINDS: [PieceKind; 6] = [
    PieceKind::Rook,
    PieceKind::Advisor,
    PieceKind::Cannon,
    PieceKind::Pawn,
    PieceKind::Knight,
    PieceKind::Bishop,
];

/// Files of a rank in the numbers of a move's squares.
const MOVE_FILES: u16 = 12;

/// Score, move, ply, result and the unused byte.
const TAIL_BYTES: usize = 8;

/// Two sides' hands of seven kinds.
const HANDS: usize = 14;

/// So many positions must be right for a file to be taken for one of this layout.
const SEEN: usize = 64;

/// How long positions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// 72 bytes, the ordinary build.
    Normal,
    /// 136 bytes, a build with `largedata=yes`.
    Large,
}

impl Layout {
    /// Both.
    pub const ALL: [Layout; 2] = [Layout::Normal, Layout::Large];

    const fn board_bytes(self) -> usize {
        match self {
            Layout::Normal => 64,
            Layout::Large => 128,
        }
    }

    const fn hand_bits(self) -> u32 {
        match self {
            Layout::Normal => 5,
            Layout::Large => 7,
        }
    }

    /// Bytes of a position.
    pub const fn len(self) -> usize {
        self.board_bytes() + TAIL_BYTES
    }

    /// Never: a position has bytes.
    pub const fn is_empty(self) -> bool {
        false
    }

    /// The layout of a file of `length` bytes that begins like this.
    ///
    /// # Errors
    /// Says why it is none.
    pub fn detect(begin: &[u8], length: u64) -> Result<Layout, String> {
        let mut why = Vec::new();
        for layout in Layout::ALL {
            let len = layout.len() as u64;
            if length == 0 || !length.is_multiple_of(len) {
                why.push(format!("{length} bytes are no multiple of {len}"));
                continue;
            }
            let records = begin.chunks_exact(layout.len()).take(SEEN);
            match records.enumerate().find_map(|(i, bytes)| Some((i, check(bytes, layout).err()?))) {
                None => return Ok(layout),
                Some((i, fault)) => why.push(format!("as {len} bytes a position, position {i}: {fault}")),
            }
        }
        Err(format!(
            "no positions of xiangqi in the layout of variant-nnue-tools ({}); 40 bytes a position are chess, and other \
             variants have other pieces",
            why.join("; ")
        ))
    }
}

/// How its samples are to be understood.
pub const CONVENTIONS: Conventions =
    Conventions { first_rank: FirstRank::Zero, scores: View::SideToMove, results: View::SideToMove };

fn check(bytes: &[u8], layout: Layout) -> Result<(), String> {
    let raw = decode(bytes, layout, Place::Byte(0))?;
    raw.check(&CONVENTIONS).map(|_| ()).map_err(|error| error.to_string())
}

/// Reads positions.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    layout: Layout,
    at: usize,
    done: bool,
}

impl<R: BufRead> Reader<R> {
    /// The positions of a file of this layout.
    pub const fn new(source: R, layout: Layout) -> Reader<R> {
        Reader { source, layout, at: 0, done: false }
    }

    /// The next position's bytes; fewer at the end.
    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.layout.len());
        (&mut self.source).take(self.layout.len() as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<RawSample, ExchangeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let place = Place::Byte(self.at);
        let bytes = match self.bytes() {
            Ok(bytes) => bytes,
            Err(source) => {
                self.done = true;
                return Some(Err(ExchangeError::Io { place, source }));
            }
        };
        self.done = bytes.len() < self.layout.len();
        if bytes.is_empty() {
            return None;
        }
        self.at += bytes.len();
        let found: String = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Some(if self.done {
            let why = format!("the file ends inside a position of {} bytes", self.layout.len());
            Err(ExchangeError::new(SampleFault::Cut, place, &found, why))
        } else {
            decode(&bytes, self.layout, place)
                .map_err(|why| ExchangeError::new(SampleFault::Unreadable, place, &found, why))
        })
    }
}

/// Bits from the low end of each byte on. What is behind the last byte is zero.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> u32 {
        let mut value = 0;
        for i in 0..count {
            let byte = self.bytes.get(self.at / 8).copied().unwrap_or_default();
            value |= u32::from(byte >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        value
    }

    fn rest_is_zero(mut self) -> bool {
        while self.at < self.bytes.len() * 8 {
            if self.take(8) != 0 {
                return false;
            }
        }
        true
    }
}

/// A position out of its bytes.
///
/// # Errors
/// Says what cannot be in xiangqi.
fn decode(bytes: &[u8], layout: Layout, place: Place) -> Result<RawSample, String> {
    let (board, tail) = bytes.split_at_checked(layout.board_bytes()).ok_or("too few bytes")?;
    let &[score_low, score_high, move_low, move_high, ply_low, ply_high, result, _] = tail else {
        return Err(format!("{} bytes; expected {}", bytes.len(), layout.len()));
    };
    let setup = setup(board, layout)?;
    let result = i32::from(result as i8);
    if result.abs() > 1 {
        return Err(format!("result {result}; expected 1, 0 or -1"));
    }
    let mv = u16::from_le_bytes([move_low, move_high]);
    let mv =
        unpack_move(mv).ok_or_else(|| format!("move {mv:#06x} is none between two squares of the board"))?;
    Ok(RawSample {
        place,
        fen: setup.fen(),
        mv: mv.to_string(),
        score: i16::from_le_bytes([score_low, score_high]).into(),
        ply: Some(u16::from_le_bytes([ply_low, ply_high]).into()),
        result,
    })
}

fn unpack_move(bits: u16) -> Option<Move> {
    let square = |bits: u16| {
        let number = bits & 127;
        Square::at((number % MOVE_FILES) as u8, (number / MOVE_FILES) as u8)
    };
    let (from, to) = (square(bits >> 7)?, square(bits)?);
    (bits >> 14 == 0 && from != to).then(|| Move::new(from, to))
}

fn setup(bytes: &[u8], layout: Layout) -> Result<Setup, String> {
    let mut bits = Bits { bytes, at: 0 };
    let mut setup = Setup::empty();
    setup.side_to_move = if bits.take(1) == 0 { Color::Red } else { Color::Black };
    for color in Color::ALL {
        let number = bits.take(7) as usize;
        let square =
            Square::from_index(number).ok_or_else(|| format!("{color}'s king on square {number} of 90"))?;
        setup.board[square.index()] = Some(Piece::new(color, PieceKind::King));
    }
    for rank in (0..Square::RANKS).rev() {
        for square in (0..Square::FILES).filter_map(|file| Square::at(file, rank)) {
            let is_king = setup.board[square.index()].is_some();
            if is_king || bits.take(1) == 0 {
                continue;
            }
            let kind = bits.take(4) as usize;
            let color = if bits.take(1) == 0 { Color::Red } else { Color::Black };
            let kind = KINDS
                .get(kind)
                .ok_or_else(|| format!("piece number {} on {square}; xiangqi has six", kind + 1))?;
            setup.board[square.index()] = Some(Piece::new(color, *kind));
        }
    }
    if (0..HANDS).any(|_| bits.take(layout.hand_bits()) != 0) {
        return Err("pieces in hand: another game, or another length of positions".to_owned());
    }
    if bits.take(5) != 0 {
        return Err("castling or en passant: another game".to_owned());
    }
    let quiet_low = bits.take(6);
    setup.move_number = bits.take(16).max(1);
    setup.no_capture_plies = (quiet_low | bits.take(1) << 6) as u16;
    if !bits.rest_is_zero() {
        return Err(
            "bits behind the end of the position: another game, or another length of positions".to_owned()
        );
    }
    Ok(setup)
}

/// Positions as bytes, for the tests: written from the format's description, apart from the reader.
#[cfg(test)]
pub(crate) fn pack(sample: &super::OutSample<'_>, layout: Layout) -> Vec<u8> {
    let setup = sample.position.to_setup();
    let mut bits: Vec<bool> = Vec::new();
    let mut push = |value: u32, count: u32| bits.extend((0..count).map(|i| value >> i & 1 == 1));
    push(u32::from(setup.side_to_move == Color::Black), 1);
    push(sample.position.king(Color::Red).index() as u32, 7);
    push(sample.position.king(Color::Black).index() as u32, 7);
    for square in (0..10).rev().flat_map(|rank| (0..9).filter_map(move |file| Square::at(file, rank))) {
        match setup.board[square.index()] {
            None => push(0, 1),
            Some(piece) if piece.kind() == PieceKind::King => {}
            Some(piece) => {
                let number = KINDS.iter().position(|&kind| kind == piece.kind()).unwrap_or_default() as u32;
                push(number << 1 | 1 | u32::from(piece.color() == Color::Black) << 5, 6);
            }
        }
    }
    push(0, 5);
    (0..HANDS).for_each(|_| push(0, layout.hand_bits()));
    push(u32::from(setup.no_capture_plies) & 63, 6);
    push(setup.move_number & 0xffff, 16);
    push(u32::from(setup.no_capture_plies) >> 6, 1);
    let mut bytes = vec![0u8; layout.board_bytes()];
    for (i, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
        bytes[i / 8] |= 1 << (i % 8);
    }
    let square = |square: Square| u16::from(square.rank()) * MOVE_FILES + u16::from(square.file());
    let mv = square(sample.mv.from()) << 7 | square(sample.mv.to());
    bytes.extend((sample.score.0 as i16).to_le_bytes());
    bytes.extend(mv.to_le_bytes());
    bytes.extend((sample.ply as u16).to_le_bytes());
    bytes.extend([sample.result as i8 as u8, 0]);
    bytes
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use xiangqi::{Position, Score};

    use super::super::OutSample;
    use super::*;

    /// 351 bits are in use at the start position, as counted from the original.
    #[test]
    fn the_start_position_by_hand() {
        let position = Position::start();
        let mv: Move = "h2e2".parse().expect("a move");
        let bytes = pack(
            &OutSample { position: &position, mv, score: Score(-2), ply: 0, result: -1 },
            Layout::Normal,
        );
        // Red to move; king on 4, black king on 85; then r n b a, the king left out.
        let mut bits = Bits { bytes: &bytes, at: 0 };
        assert_eq!((bits.take(1), bits.take(7), bits.take(7)), (0, 4, 85));
        let pieces: Vec<u32> = (0..4).map(|_| bits.take(6)).collect();
        assert_eq!(pieces, [0b100001, 0b101001, 0b101011, 0b100011], "r n b a: black, number, 1");
        assert_eq!(bytes[64..], [0xfe, 0xff, (2 * 12 + 4) | 0x80, (2 * 12 + 7) >> 1, 0, 0, 0xff, 0]);
        let raw = decode(&bytes, Layout::Normal, Place::Byte(0)).expect("a position");
        assert_eq!((raw.fen.as_str(), raw.mv.as_str()), (xiangqi::fen::START, "h2e2"));
        assert_eq!((raw.score, raw.ply, raw.result), (-2, Some(0), -1));
    }

    #[test]
    fn other_files_are_told() {
        let position = Position::start();
        let mv: Move = "h2e2".parse().expect("a move");
        let sample = OutSample { position: &position, mv, score: Score(5), ply: 0, result: 0 };
        for layout in Layout::ALL {
            let bytes = pack(&sample, layout).repeat(17);
            assert_eq!(Layout::detect(&bytes, bytes.len() as u64), Ok(layout));
            let cut = Layout::detect(&bytes[..100], 100).expect_err("cut");
            assert!(cut.contains("no multiple of 72"), "{cut}");
            let mut other = bytes.clone();
            other[layout.board_bytes() - 1] = 1;
            assert!(
                Layout::detect(&other, other.len() as u64).expect_err("bits behind").contains("position 0")
            );
        }
        assert!(Layout::detect(&[], 0).is_err());
        // Random bytes are no positions.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..1000 {
            let bytes: Vec<u8> = (0..72).map(|_| rng.next_u64() as u8).collect();
            assert!(Layout::detect(&bytes, 72).is_err());
        }
    }
}
