//! Which score wins how often: a model fitted to our own games.
//!
//! ```text
//! P(win) = 1 / (1 + exp((a - score) / b))      P(loss) = 1 / (1 + exp((a + score) / b))
//! ```
//! the rest are draws. `a` is the score at which every second game is won, `b` how fast chances rise about it;
//! both depend on the material on the board. Fitted by `cargo run --release -p datagen --example fit_win_model`
//! to games of the hand-crafted evaluation; the numbers' origin and how well they fit:
//! `docs/decisions/0009-win-model.md`.

use std::fmt;

use xiangqi::{Color, PieceKind, Position, Score};

/// What each piece adds to the material that the model looks at.
const WEIGHTS: [(PieceKind, u32); 6] = [
    (PieceKind::Rook, 10),
    (PieceKind::Knight, 5),
    (PieceKind::Cannon, 5),
    (PieceKind::Pawn, 1),
    (PieceKind::Advisor, 1),
    (PieceKind::Bishop, 1),
];
/// The material of the start position.
pub const FULL_BOARD: u32 = 98;
/// `a` by material as a part of the full board: constant, linear and square term, in centipawns.
const HALF_WON: [f64; 3] = [503.1, -1027.2, 619.5];
/// `b`, likewise.
const SPREAD: [f64; 3] = [41.9, 420.2, -258.5];
/// Shares are given in thousandths.
const WHOLE: f64 = 1000.0;
/// A difference of 400 Elo is ten to one.
const ELO_DECADE: f64 = 400.0;

/// Chances of a win, a draw and a loss for the side to move, in thousandths; they add up to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wdl {
    /// Wins.
    pub win: u16,
    /// Draws.
    pub draw: u16,
    /// Losses.
    pub loss: u16,
}

impl Wdl {
    /// A certain win.
    pub const WIN: Wdl = Wdl { win: 1000, draw: 0, loss: 0 };
    /// A certain loss.
    pub const LOSS: Wdl = Wdl { win: 0, draw: 0, loss: 1000 };
}

impl fmt::Display for Wdl {
    /// `wdl 412 500 88`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wdl {} {} {}", self.win, self.draw, self.loss)
    }
}

/// The model for one amount of material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WinModel {
    half_won: f64,
    spread: f64,
}

impl WinModel {
    /// The model for the material of a position.
    pub fn of(position: &Position) -> WinModel {
        WinModel::of_material(material(position))
    }

    fn of_material(material: u32) -> WinModel {
        let x = f64::from(material.min(FULL_BOARD)) / f64::from(FULL_BOARD);
        let value = |terms: [f64; 3]| terms[0] + x * (terms[1] + x * terms[2]);
        WinModel { half_won: value(HALF_WON), spread: value(SPREAD) }
    }

    /// Chances of winning and losing at a raw score, side to move.
    fn chances(self, score: i32) -> (f64, f64) {
        let score = f64::from(score);
        let logistic = |x: f64| 1.0 / (1.0 + x.exp());
        (logistic((self.half_won - score) / self.spread), logistic((self.half_won + score) / self.spread))
    }

    /// Chances at a raw score, side to move. Equal and opposite scores have equal and opposite chances.
    pub fn wdl(self, score: i32) -> Wdl {
        let (win, loss) = self.chances(score);
        let share = |chance: f64| (chance * WHOLE).round().clamp(0.0, WHOLE) as u16;
        let (mut win, mut loss) = (share(win), share(loss));
        // Both can be rounded up past the whole only where no draw is left.
        let surplus = (win + loss).saturating_sub(1000);
        *(if win > loss { &mut win } else { &mut loss }) -= surplus;
        Wdl { win, draw: 1000 - win - loss, loss }
    }

    /// The difference in rating that the expected result (wins and half of the draws) stands for, within
    /// ±[`Score::EVAL_LIMIT`].
    pub fn elo(self, score: i32) -> i32 {
        // The better side misses what is not won, and half again what is lost; 1 - result would cancel.
        let size = f64::from(score.abs());
        let not_won = 1.0 / (1.0 + ((size - self.half_won) / self.spread).exp());
        let lost = 1.0 / (1.0 + ((size + self.half_won) / self.spread).exp());
        let missed = f64::midpoint(not_won, lost);
        let elo = ELO_DECADE * ((1.0 - missed) / missed).log10();
        let limit = f64::from(Score::EVAL_LIMIT);
        let shown = elo.min(limit).round() as i32;
        if score < 0 { -shown } else { shown }
    }
}

/// A raw score in hundredths of the model's pawn: of the score that wins every second game from a full board.
pub(super) fn in_pawns(score: i32) -> i32 {
    let pawn = WinModel::of_material(FULL_BOARD).half_won;
    let limit = f64::from(Score::EVAL_LIMIT);
    (f64::from(score) * 100.0 / pawn).round().clamp(-limit, limit) as i32
}

/// The material that the model looks at: of both sides, 98 at the start.
pub fn material(position: &Position) -> u32 {
    Color::ALL.into_iter().map(|side| material_of(position, side)).sum()
}

/// The same of one side, 49 at the start.
pub fn material_of(position: &Position, side: Color) -> u32 {
    WEIGHTS.iter().map(|&(kind, weight)| weight * position.pieces(side, kind).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every material there can be, and more.
    fn models() -> impl Iterator<Item = WinModel> {
        (0..=FULL_BOARD + 20).map(WinModel::of_material)
    }

    #[test]
    fn the_start_position_is_a_full_board() {
        assert_eq!(material(&Position::start()), FULL_BOARD);
    }

    #[test]
    fn chances_add_up_and_rise() {
        for model in models() {
            let mut before = Wdl::LOSS;
            for score in (-20_000..=20_000).step_by(37) {
                let found = model.wdl(score);
                assert_eq!(found.win + found.draw + found.loss, 1000, "{model:?} {score}");
                assert!(found.win >= before.win && found.loss <= before.loss, "{model:?} {score}");
                let other = model.wdl(-score);
                assert_eq!((other.win, other.draw, other.loss), (found.loss, found.draw, found.win));
                before = found;
            }
        }
    }

    #[test]
    fn two_hundred_elo_are_a_score_of_76_percent() {
        for model in models() {
            let score = (0..20_000).find(|&score| model.elo(score) >= 200).expect("some score is 200 Elo");
            let chances = model.wdl(score);
            let percent = f64::from(2 * chances.win + chances.draw) / 20.0;
            assert!((percent - 76.0).abs() < 0.3, "{model:?}: {score} is {percent} %");
            assert_eq!((model.elo(0), model.elo(-score)), (0, -model.elo(score)));
        }
    }

    #[test]
    fn a_pawn_wins_every_second_game() {
        let raw = (0..2000).find(|&raw| in_pawns(raw) >= 100).expect("some score is a pawn");
        let win = WinModel::of(&Position::start()).wdl(raw).win;
        assert!(win.abs_diff(500) <= 5, "{raw}: {win}");
    }
}
