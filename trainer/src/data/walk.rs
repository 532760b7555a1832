//! A walk through the games of a block: what becomes of each position.
//!
//! Which side of the validation split a game is of is known at its end, when its moves are. Until then its positions are
//! taken as trained on; if they are not, all that the game brought is taken back.

use super::filter::{Filter, FilterCounts};
use super::packed::{Mark, Packed};
use super::samples::Encoder;
use super::skip::RandomSkip;
use super::split::{Side, Split};
use crate::chance::{Purpose, hash};
use nnue_format::record::{GameHead, Ply, Start};
use xiangqi::{Move, Position};

/// What does not change from block to block.
pub(super) struct Rules {
    pub(super) split: Split,
    pub(super) filter: Filter,
    pub(super) encoder: Encoder,
    pub(super) seed: u64,
    pub(super) mirror: bool,
}

/// Lists of the game in progress; their memory is kept from game to game.
#[derive(Default)]
pub(super) struct Memory {
    moves: Vec<Move>,
    keys: Vec<u64>,
}

/// What has come of the games so far.
#[derive(Clone, Copy)]
struct State {
    counts: FilterCounts,
    skip: RandomSkip,
    /// Positions that passed all filters but the random skip.
    passed: u32,
    /// Where the packed positions end.
    mark: Mark,
}

/// The walk. With `out` the positions are packed, without only counted.
pub(super) struct Walk<'a> {
    rules: &'a Rules,
    memory: &'a mut Memory,
    out: Option<&'a mut Packed>,
    pass: u64,
    now: State,
    /// As it was before the game in progress.
    before: State,
    /// Where the game in progress began; `None` before the first.
    start: Option<Start>,
    plies: u64,
    needs_moves: bool,
    needs_keys: bool,
}

/// Is this position seen in a mirror in this pass? Half of them are, and the other half in the next pass.
fn is_mirrored(seed: u64, pass: u64, game: u64, ply: usize) -> bool {
    (hash(seed, Purpose::Mirror, game, ply as u64) ^ pass) & 1 == 1
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        memory: &'a mut Memory,
        out: Option<&'a mut Packed>,
        pass: u64,
        skip: RandomSkip,
    ) -> Walk<'a> {
        let mark = out.as_ref().map_or(Mark::default(), |out| out.mark());
        let state = State { counts: FilterCounts::default(), skip, passed: 0, mark };
        let (needs_moves, needs_keys) = (!rules.split.is_trivial(), rules.filter.wants_keys());
        Walk {
            rules,
            memory,
            out,
            pass,
            now: state,
            before: state,
            start: None,
            plies: 0,
            needs_moves,
            needs_keys,
        }
    }

    #[inline]
    pub(super) fn visit(&mut self, game: &GameHead, position: &Position, ply: &Ply) {
        if ply.number == 0 {
            self.end_game();
            self.begin_game(game);
        }
        self.plies += 1;
        if self.needs_moves {
            self.memory.moves.push(ply.mv);
        }
        let rules = self.rules;
        if rules.filter.passes(game, position, ply, &self.memory.keys, &mut self.now.counts) {
            self.take(game, position, ply);
        }
        if self.needs_keys {
            self.memory.keys.push(position.key());
        }
    }

    /// A position that passed the filters.
    #[inline]
    fn take(&mut self, game: &GameHead, position: &Position, ply: &Ply) {
        let rules = self.rules;
        // What has no score does not pass.
        let Some((score, _)) = ply.scored else { return };
        self.now.passed += 1;
        if self.now.skip.takes_next() {
            self.now.counts.random += 1;
            return;
        }
        self.now.counts.kept += 1;
        let Some(out) = &mut self.out else { return };
        rules.encoder.pack(out, position, score.0, game.outcome.half_points(position.side_to_move()));
        if rules.mirror && is_mirrored(rules.seed, self.pass, game.number, ply.number) {
            rules.encoder.mirror_last(out);
        }
    }

    fn begin_game(&mut self, game: &GameHead) {
        self.now.mark = self.out.as_ref().map_or(Mark::default(), |out| out.mark());
        self.before = self.now;
        self.start = Some(game.start.clone());
        self.plies = 0;
        self.memory.moves.clear();
        self.memory.keys.clear();
    }

    fn end_game(&mut self) {
        let Some(start) = &self.start else { return };
        // The game was walked from this start, so it is a position.
        let side = self.rules.split.side(start, &self.memory.moves).unwrap_or(Side::Training);
        if side == Side::Training {
            return;
        }
        let plies = self.plies;
        self.take_back();
        match side {
            Side::InValidationFiles => self.now.counts.in_validation_files += plies,
            Side::Validation | Side::Training => self.now.counts.other_split += plies,
        }
    }

    fn take_back(&mut self) {
        self.now = self.before;
        if let Some(out) = &mut self.out {
            out.truncate(self.before.mark);
        }
    }

    /// The end of the block: what became of its plies, and how many positions passed all filters but the random skip. A game
    /// that damage cut in two is of no known side and left out.
    pub(super) fn finish(mut self, whole: bool) -> (FilterCounts, u32) {
        if whole {
            self.end_game();
        } else if self.start.is_some() {
            self.take_back();
        }
        (self.now.counts, self.now.passed)
    }
}
