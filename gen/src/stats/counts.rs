//! Everything that is counted exactly, in tables of fixed size: about 300 KB, whatever the files hold.

use engine::score_display::{FULL_BOARD, material_of};
use nnue_format::record::{GameError, GameRecord, Outcome, Ply, Reason, Start};
use xiangqi::judge::RuleSet;
use xiangqi::{Color, PieceKind, Position, Score, Square};

use super::Keep;
use super::histogram::{Histogram, add_all};

/// Wins, draws and losses of the side to move.
pub type Results = [u64; 3];

/// Scores are counted in bins of so many centipawns …
pub const SCORE_BIN: i32 = 10;
/// … up to this, on both sides of 0.
pub const FARTHEST_SCORE: i32 = 2000;
/// How many bins that makes; each is centred on a multiple of [`SCORE_BIN`].
pub const SCORE_BINS: usize = (2 * FARTHEST_SCORE / SCORE_BIN + 1) as usize;
/// Games are spread over so many groups by their moves, for the errors of fits: positions of one game are
/// no independent witnesses.
pub const GROUPS: usize = 16;
/// The greatest difference of material in counts of [`Counts::balance`].
pub const MOST_BALANCE: i64 = FULL_BOARD as i64 / 2;

/// What is counted exactly. "Positions" are the scored plies that the caller keeps; everything from
/// [`Counts::position_plies`] on is of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Games.
    pub games: u64,
    /// Plies, openings included.
    pub plies: u64,
    /// Scored plies, those left out included.
    pub scored: u64,
    /// Scored plies that are marked as not for training.
    pub skips: u64,
    /// Games by rule set, in the order of [`RuleSet::ALL`].
    pub rules: [u64; RuleSet::ALL.len()],
    /// Games by outcome and reason, in the order of their codes.
    pub ends: [[u64; Reason::ALL.len()]; Outcome::ALL.len()],
    /// Games from the start position, and from a FEN.
    pub starts: [u64; 2],
    /// Plies of games.
    pub lengths: Histogram,
    /// Plies of openings.
    pub openings: Histogram,
    /// The ply of its game at which a position stands.
    pub position_plies: Histogram,
    /// Scores that decide nothing, within the bins: by group of games, bin and result.
    pub by_score: Vec<[Results; SCORE_BINS]>,
    /// All scores that decide nothing.
    pub scores: Histogram,
    /// How positions with a mate score ended: the side to move mates, is mated.
    pub mates: [Results; 2],
    /// Plies to the mate.
    pub mate_plies: Histogram,
    /// How positions with a win by rule ended: the side to move wins, loses.
    pub rule_wins: [Results; 2],
    /// Positions with Red to move.
    pub red_to_move: u64,
    /// Pieces on the board.
    pub pieces: Histogram,
    /// By colour, kind and number of pieces: in how many positions a side has so many.
    pub kinds: [[[u64; 6]; 7]; 2],
    /// Results by the side to move's surplus of material, from -[`MOST_BALANCE`] on.
    pub balance: Vec<Results>,
    /// Where Red's and Black's king stand, by square.
    pub kings: [[u64; Square::COUNT]; 2],
    /// Where moves come from, by square.
    pub origins: [u64; Square::COUNT],
    /// Where they go.
    pub destinations: [u64; Square::COUNT],
    /// Which kind moves.
    pub moved: [u64; 7],
    /// Which kind is captured.
    pub captured: [u64; 7],
    /// Positions by "in check" and "the move captures".
    pub checks_captures: [[u64; 2]; 2],
    /// Moves that are not the search's best.
    pub not_best: u64,
    /// Moves by rank among the pseudo-legal moves.
    pub ranks: Histogram,
    /// Positions by their number of pseudo-legal moves.
    pub choices: Histogram,
    /// Plies without a capture, as the natural limit counts them.
    pub no_capture: Histogram,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            games: 0,
            plies: 0,
            scored: 0,
            skips: 0,
            rules: [0; RuleSet::ALL.len()],
            ends: [[0; Reason::ALL.len()]; Outcome::ALL.len()],
            starts: [0; 2],
            lengths: Histogram::new(0, 10, 410),
            openings: Histogram::new(0, 1, 129),
            position_plies: Histogram::new(0, 10, 410),
            by_score: vec![[[0; 3]; SCORE_BINS]; GROUPS],
            scores: Histogram::new(i64::from(-FARTHEST_SCORE - SCORE_BIN / 2), SCORE_BIN.into(), SCORE_BINS),
            mates: [[0; 3]; 2],
            mate_plies: Histogram::new(0, 1, 128),
            rule_wins: [[0; 3]; 2],
            red_to_move: 0,
            pieces: Histogram::new(0, 1, 33),
            kinds: [[[0; 6]; 7]; 2],
            balance: vec![[0; 3]; 2 * MOST_BALANCE as usize + 1],
            kings: [[0; Square::COUNT]; 2],
            origins: [0; Square::COUNT],
            destinations: [0; Square::COUNT],
            moved: [0; 7],
            captured: [0; 7],
            checks_captures: [[0; 2]; 2],
            not_best: 0,
            ranks: Histogram::new(0, 1, 120),
            choices: Histogram::new(0, 1, 120),
            no_capture: Histogram::new(0, 5, 61),
        }
    }
}

impl Counts {
    /// Counts a game. `group` below [`GROUPS`]; `position` is called with every position that is kept.
    ///
    /// # Errors
    /// A game whose moves cannot be made; it may have been counted in part.
    pub fn game(
        &mut self,
        game: &GameRecord,
        group: usize,
        keep: Keep,
        mut position_seen: impl FnMut(&Position, &Ply),
    ) -> Result<(), GameError> {
        self.games += 1;
        self.plies += game.len() as u64;
        self.rules[RuleSet::ALL.iter().position(|&rules| rules == game.rules).unwrap_or(0)] += 1;
        self.ends[usize::from(game.outcome.code())][usize::from(game.reason.code())] += 1;
        self.starts[usize::from(matches!(game.start, Start::Fen(_)))] += 1;
        self.lengths.add(game.len() as i64);
        self.openings.add(game.opening.len() as i64);
        let mut walk = game.positions()?;
        while let Some(step) = walk.next() {
            let (position, ply) = step?;
            position_seen(position, &ply);
            let Some((score, flags)) = ply.scored else { continue };
            self.scored += 1;
            self.skips += u64::from(flags.is_skipped());
            if keep == Keep::All || !flags.is_skipped() {
                let result = 2 - usize::from(game.outcome.half_points(position.side_to_move()));
                self.score(score, result, group);
                self.board(position, result);
                self.played(position, &ply);
                self.not_best += u64::from(flags.is_not_best());
            }
        }
        Ok(())
    }

    /// Positions that were kept.
    pub const fn positions(&self) -> u64 {
        self.position_plies.count()
    }

    fn score(&mut self, score: Score, result: usize, group: usize) {
        let side = usize::from(score.0 < 0);
        if let Some(plies) = score.mate_plies() {
            self.mates[side][result] += 1;
            self.mate_plies.add(i64::from(plies.abs()));
        } else if score.is_rule_win() {
            self.rule_wins[side][result] += 1;
        } else {
            self.scores.add(score.0.into());
            if let Some(bin) = score_bin(score.0) {
                self.by_score[group % GROUPS][bin][result] += 1;
            }
        }
    }

    fn board(&mut self, position: &Position, result: usize) {
        let side = position.side_to_move();
        self.red_to_move += u64::from(side == Color::Red);
        self.pieces.add(position.occupied().count().into());
        for color in Color::ALL {
            self.kings[color.index()][position.king(color).index()] += 1;
            for kind in PieceKind::ALL {
                let count = position.pieces(color, kind).count() as usize;
                self.kinds[color.index()][kind.index()][count.min(5)] += 1;
            }
        }
        let balance = i64::from(material_of(position, side)) - i64::from(material_of(position, !side));
        let place = (balance.clamp(-MOST_BALANCE, MOST_BALANCE) + MOST_BALANCE) as usize;
        self.balance[place][result] += 1;
        self.no_capture.add(position.no_capture_plies().into());
    }

    fn played(&mut self, position: &Position, ply: &Ply) {
        self.position_plies.add(ply.number as i64);
        self.origins[ply.mv.from().index()] += 1;
        self.destinations[ply.mv.to().index()] += 1;
        if let Some(piece) = position.piece_on(ply.mv.from()) {
            self.moved[piece.kind().index()] += 1;
        }
        let captured = position.piece_on(ply.mv.to());
        if let Some(piece) = captured {
            self.captured[piece.kind().index()] += 1;
        }
        self.checks_captures[usize::from(position.in_check())][usize::from(captured.is_some())] += 1;
        if let Some(rank) = position.move_rank(ply.mv) {
            self.ranks.add(rank.into());
        }
        self.choices.add(position.pseudo_legal_count().into());
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Counts) {
        for (to, from) in [
            (&mut self.games, other.games),
            (&mut self.plies, other.plies),
            (&mut self.scored, other.scored),
            (&mut self.skips, other.skips),
            (&mut self.red_to_move, other.red_to_move),
            (&mut self.not_best, other.not_best),
        ] {
            *to += from;
        }
        for (to, from) in [
            (&mut self.lengths, &other.lengths),
            (&mut self.openings, &other.openings),
            (&mut self.position_plies, &other.position_plies),
            (&mut self.scores, &other.scores),
            (&mut self.mate_plies, &other.mate_plies),
            (&mut self.pieces, &other.pieces),
            (&mut self.ranks, &other.ranks),
            (&mut self.choices, &other.choices),
            (&mut self.no_capture, &other.no_capture),
        ] {
            to.merge(from);
        }
        add_all(&mut self.rules, &other.rules);
        add_all(&mut self.starts, &other.starts);
        add_all(&mut self.origins, &other.origins);
        add_all(&mut self.destinations, &other.destinations);
        add_all(&mut self.moved, &other.moved);
        add_all(&mut self.captured, &other.captured);
        add_all(self.ends.as_flattened_mut(), other.ends.as_flattened());
        add_all(self.mates.as_flattened_mut(), other.mates.as_flattened());
        add_all(self.rule_wins.as_flattened_mut(), other.rule_wins.as_flattened());
        add_all(self.kings.as_flattened_mut(), other.kings.as_flattened());
        add_all(self.checks_captures.as_flattened_mut(), other.checks_captures.as_flattened());
        add_all(self.balance.as_flattened_mut(), other.balance.as_flattened());
        add_all(self.kinds.as_flattened_mut().as_flattened_mut(), other.kinds.as_flattened().as_flattened());
        let from = other.by_score.as_flattened().as_flattened();
        add_all(self.by_score.as_flattened_mut().as_flattened_mut(), from);
    }
}

/// The bin of a score; `None` beyond [`FARTHEST_SCORE`].
const fn score_bin(score: i32) -> Option<usize> {
    let bin = (score + FARTHEST_SCORE + SCORE_BIN / 2).div_euclid(SCORE_BIN);
    if bin >= 0 && (bin as usize) < SCORE_BINS { Some(bin as usize) } else { None }
}

/// The score in the middle of a bin, in centipawns.
pub const fn bin_middle(bin: usize) -> i32 {
    bin as i32 * SCORE_BIN - FARTHEST_SCORE
}
