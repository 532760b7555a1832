//! The columns of a block: games taken apart into streams of like things, and put together again.

use xiangqi::judge::RuleSet;
use xiangqi::{Move, Position, Score};

use super::bytes::{Cursor, VarintError, push_varint, unzigzag, zigzag};
use super::error::GameError;
use super::game::{GameHead, GameRecord, MAX_FEN_LEN, MAX_GAME_PLIES, Outcome, Ply, PlyFlags, Reason, Start};
use super::score_code::{CONTEXTS, ESCAPE, ScoreModel};

const NUMBERS: usize = 0;
const STARTS: usize = 1;
const OPENINGS: usize = 2;
const LENGTHS: usize = 3;
const OUTCOMES: usize = 4;
const OPENING_MOVES: usize = 5;
const MOVES: usize = 6; // MOVE_CONTEXTS of them
const NOT_BEST: usize = MOVES + MOVE_CONTEXTS;
const SKIPS: usize = NOT_BEST + 1;
const SCORE_ESCAPES: usize = SKIPS + 1;
const SCORES: usize = SCORE_ESCAPES + 1; // CONTEXTS of them

/// Ranks are spread over columns by how many pieces the side to move has, four to a column: fewer pieces,
/// smaller ranks. (Measured on 30,000 positions: 5.01 bits a move by order-0 entropy; in one column 5.16, by side
/// 5.16, one column for each number of pieces 4.98.)
const MOVE_CONTEXTS: usize = 4;
const PIECES_PER_CONTEXT: u32 = 4;

/// The column of the next move's rank.
#[inline]
fn move_column(position: &Position) -> usize {
    let pieces = position.color(position.side_to_move()).count();
    MOVES + (pieces.saturating_sub(1) / PIECES_PER_CONTEXT).min(MOVE_CONTEXTS as u32 - 1) as usize
}

/// How many columns a block has.
pub const COLUMN_COUNT: usize = SCORES + CONTEXTS;

/// Their names, in the order of the file.
pub const COLUMN_NAMES: [&str; COLUMN_COUNT] = [
    "numbers",
    "starts",
    "opening_lengths",
    "lengths",
    "outcomes",
    "opening_moves",
    "moves_0",
    "moves_1",
    "moves_2",
    "moves_3",
    "not_best",
    "skips",
    "score_escapes",
    "scores_0",
    "scores_1",
    "scores_2",
    "scores_3",
    "scores_4",
    "scores_5",
    "scores_6",
    "scores_7",
];

/// The greatest length of a column before compression, in bytes.
pub(crate) const MAX_COLUMN_LEN: usize = 1 << 22;

const START_STANDARD: u8 = 0;
const START_FEN: u8 = 1;

/// Columns being filled.
#[derive(Clone, Debug)]
pub(crate) struct ColumnWriter {
    columns: [Vec<u8>; COLUMN_COUNT],
    next_number: u64,
    positions: usize,
}

impl ColumnWriter {
    /// Empty columns of a block whose first game has this number.
    pub(crate) fn new(first_number: u64) -> ColumnWriter {
        ColumnWriter { columns: std::array::from_fn(|_| Vec::new()), next_number: first_number, positions: 0 }
    }

    /// The columns' bytes.
    pub(crate) fn columns(&self) -> &[Vec<u8>; COLUMN_COUNT] {
        &self.columns
    }

    /// Adds a game. On an error nothing is added.
    pub(crate) fn push(&mut self, game: &GameRecord) -> Result<(), GameError> {
        let ranks = check_game(game)?;
        let columns = &mut self.columns;
        push_varint(&mut columns[NUMBERS], zigzag(game.number.wrapping_sub(self.next_number) as i64));
        self.next_number = game.number.wrapping_add(1);
        push_start(&mut columns[STARTS], &game.start);
        push_varint(&mut columns[OPENINGS], game.opening.len() as u64);
        push_varint(&mut columns[LENGTHS], game.plies.len() as u64);
        columns[OUTCOMES].push(game.outcome.code() | game.reason.code() << 2);
        let (opening, scored) = ranks.split_at(game.opening.len());
        columns[OPENING_MOVES].extend(opening.iter().map(|&(_, rank)| rank));
        let mut model = ScoreModel::new();
        for (ply, &(column, rank)) in game.plies.iter().zip(scored) {
            columns[column].push(rank);
            let zigzagged = model.residual(ply.score);
            let context = SCORES + model.context();
            if zigzagged < u64::from(ESCAPE) {
                columns[context].push(zigzagged as u8);
            } else {
                columns[context].push(ESCAPE);
                push_varint(&mut columns[SCORE_ESCAPES], zigzagged - u64::from(ESCAPE));
            }
            model.update(ply.score);
            push_bit(&mut columns[NOT_BEST], self.positions, ply.flags.is_not_best());
            push_bit(&mut columns[SKIPS], self.positions, ply.flags.is_skipped());
            self.positions += 1;
        }
        Ok(())
    }
}

/// Checks that a game can be coded and gives for each of its moves the column (were it scored) and the rank.
fn check_game(game: &GameRecord) -> Result<Vec<(usize, u8)>, GameError> {
    if game.len() > MAX_GAME_PLIES {
        return Err(GameError::Plies { found: game.len() as u64, limit: MAX_GAME_PLIES });
    }
    let mut ranks = Vec::with_capacity(game.len());
    let mut walk = game.positions()?;
    while let Some(step) = walk.next() {
        let (position, ply) = step?;
        if let Some((score, _)) = ply.scored
            && score.0.unsigned_abs() > Score::MATE as u32
        {
            return Err(GameError::Score { ply: ply.number, found: score.0.into(), limit: Score::MATE });
        }
        let rank = position.move_rank(ply.mv).and_then(|rank| u8::try_from(rank).ok());
        let rank = rank.ok_or_else(|| {
            let (ply, mv, fen) = (ply.number, ply.mv, position.fen());
            GameError::Move { ply, mv, fen }
        })?;
        ranks.push((move_column(position), rank));
    }
    Ok(ranks)
}

fn push_start(out: &mut Vec<u8>, start: &Start) {
    match start {
        Start::Standard => out.push(START_STANDARD),
        Start::Fen(text) => {
            out.push(START_FEN);
            push_varint(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Sets bit number `index` of a column of bits, low bits of a byte first. The column ends with its last bit
/// that is set: one without any costs nothing.
fn push_bit(out: &mut Vec<u8>, index: usize, bit: bool) {
    if bit {
        out.resize(index / 8 + 1, 0);
        out[index / 8] |= 1 << (index % 8);
    }
}

/// Columns being read.
#[derive(Clone, Debug)]
pub(crate) struct ColumnReader<'a> {
    columns: [Cursor<'a>; COLUMN_COUNT],
    next_number: u64,
    rules: RuleSet,
    /// The next bits of the columns `not_best` and `skips`, and how many there are of each.
    not_best: u8,
    skips: u8,
    bits_left: u8,
}

impl<'a> ColumnReader<'a> {
    /// At the first game of a block.
    pub(crate) fn new(
        columns: &'a [Vec<u8>; COLUMN_COUNT],
        first_number: u64,
        rules: RuleSet,
    ) -> ColumnReader<'a> {
        ColumnReader {
            columns: std::array::from_fn(|i| Cursor::new(&columns[i])),
            next_number: first_number,
            rules,
            not_best: 0,
            skips: 0,
            bits_left: 0,
        }
    }

    /// The first column that has bytes left, and how many.
    pub(crate) fn left_over(&self) -> Option<(&'static str, usize)> {
        self.columns
            .iter()
            .zip(COLUMN_NAMES)
            .find(|(column, _)| column.left() > 0)
            .map(|(c, name)| (name, c.left()))
    }

    /// The number the next game has, if it is the one expected.
    pub(crate) const fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Reads the next game's head; its moves must be walked before the next one.
    pub(crate) fn head(&mut self) -> Result<GameHead, GameError> {
        let number = self.next_number.wrapping_add(unzigzag(self.varint(NUMBERS)?) as u64);
        self.next_number = number.wrapping_add(1);
        let start = self.start()?;
        let opening_plies = self.varint(OPENINGS)?;
        let scored_plies = self.varint(LENGTHS)?;
        let found = opening_plies.saturating_add(scored_plies);
        if found > MAX_GAME_PLIES as u64 {
            return Err(GameError::Plies { found, limit: MAX_GAME_PLIES });
        }
        let code = self.byte(OUTCOMES)?;
        Ok(GameHead {
            number,
            start,
            opening_plies: opening_plies as usize,
            scored_plies: scored_plies as usize,
            outcome: Outcome::from_code(code & 3)?,
            reason: Reason::from_code(code >> 2)?,
            rules: self.rules,
        })
    }

    /// Walks the moves of the game whose head was read: `visit` gets each position with its ply.
    pub(crate) fn walk(
        &mut self,
        head: &GameHead,
        visit: &mut impl FnMut(&GameHead, &Position, &Ply),
    ) -> Result<(), GameError> {
        let mut position = head.start.position()?;
        for number in 0..head.opening_plies {
            let rank = self.byte(OPENING_MOVES)?;
            let mv = move_of(&position, number, rank)?;
            visit(head, &position, &Ply { number, mv, scored: None });
            position.make(mv);
        }
        let mut model = ScoreModel::new();
        for number in head.opening_plies..head.opening_plies + head.scored_plies {
            let rank = self.byte(move_column(&position))?;
            let mv = move_of(&position, number, rank)?;
            let score = self.score(&model, number)?;
            model.update(score);
            let flags = self.flags();
            visit(head, &position, &Ply { number, mv, scored: Some((score, flags)) });
            position.make(mv);
        }
        Ok(())
    }

    #[inline]
    fn score(&mut self, model: &ScoreModel, ply: usize) -> Result<Score, GameError> {
        let mut zigzagged = u64::from(self.byte(SCORES + model.context())?);
        if zigzagged == u64::from(ESCAPE) {
            zigzagged = zigzagged.saturating_add(self.varint(SCORE_ESCAPES)?);
        }
        model.score(zigzagged).map_err(|found| GameError::Score { ply, found, limit: Score::MATE })
    }

    #[inline]
    fn flags(&mut self) -> PlyFlags {
        if self.bits_left == 0 {
            // Bits behind the end of a column are 0.
            self.not_best = self.columns[NOT_BEST].byte().unwrap_or_default();
            self.skips = self.columns[SKIPS].byte().unwrap_or_default();
            self.bits_left = 8;
        }
        let flags = PlyFlags::from_bits(self.not_best & 1 != 0, self.skips & 1 != 0);
        self.not_best >>= 1;
        self.skips >>= 1;
        self.bits_left -= 1;
        flags
    }

    fn start(&mut self) -> Result<Start, GameError> {
        match self.byte(STARTS)? {
            START_STANDARD => Ok(Start::Standard),
            START_FEN => {
                let length = self.varint(STARTS)?;
                if length > MAX_FEN_LEN as u64 {
                    return Err(GameError::Start {
                        text: String::new(),
                        reason: format!("{length} bytes, at most {MAX_FEN_LEN} are possible"),
                    });
                }
                let bytes = self.columns[STARTS].take(length as usize);
                let bytes = bytes.ok_or(GameError::Short(COLUMN_NAMES[STARTS]))?;
                let text = std::str::from_utf8(bytes).map_err(|error| GameError::Start {
                    text: String::from_utf8_lossy(bytes).into_owned(),
                    reason: error.to_string(),
                })?;
                Ok(Start::Fen(text.to_owned()))
            }
            found => Err(GameError::Code { what: "start", found: u64::from(found) }),
        }
    }

    #[inline]
    fn byte(&mut self, column: usize) -> Result<u8, GameError> {
        self.columns[column].byte().ok_or(GameError::Short(COLUMN_NAMES[column]))
    }

    fn varint(&mut self, column: usize) -> Result<u64, GameError> {
        self.columns[column].varint().map_err(|error| match error {
            VarintError::Short => GameError::Short(COLUMN_NAMES[column]),
            VarintError::TooLong => GameError::Number(COLUMN_NAMES[column]),
        })
    }
}

/// The move with this rank, if it can be made.
#[inline]
fn move_of(position: &Position, ply: usize, rank: u8) -> Result<Move, GameError> {
    let rank = u32::from(rank);
    let Some(mv) = position.move_at_rank(rank) else {
        let count = position.pseudo_legal_count();
        return Err(GameError::Rank { ply, rank, count, fen: position.fen() });
    };
    debug_assert!(position.is_pseudo_legal(mv));
    if mv.to() == position.king(!position.side_to_move()) {
        return Err(GameError::Move { ply, mv, fen: position.fen() });
    }
    Ok(mv)
}

/// Decodes all games of a block into records.
pub(crate) fn record_of(reader: &mut ColumnReader<'_>) -> Result<GameRecord, GameError> {
    let head = reader.head()?;
    let mut opening = Vec::with_capacity(head.opening_plies);
    let mut plies = Vec::with_capacity(head.scored_plies);
    reader.walk(&head, &mut |_, _, ply| match ply.scored {
        None => opening.push(ply.mv),
        Some((score, flags)) => plies.push(super::game::PlyRecord { mv: ply.mv, score, flags }),
    })?;
    let GameHead { number, start, outcome, reason, rules, .. } = head;
    Ok(GameRecord { number, start, opening, plies, outcome, reason, rules })
}
