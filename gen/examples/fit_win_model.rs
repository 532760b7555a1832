//! Fits the win model (`engine::score_display`) to recorded games and prints its constants and a table of
//! calibration.
//!
//! ```text
//! chuhe-gen play --out games.rec --games 2000 --nodes 2000 --seed 20261 --draw-plies 0
//! cargo run --release -p datagen --example fit_win_model -- games.rec
//! ```

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Context;
use engine::score_display::{FULL_BOARD, material};
use nnue_format::record::{Outcome, Reader};
use xiangqi::{Color, Score};

/// Scores are counted in bins of so many centipawns …
const BIN: i32 = 20;
/// … up to this; what is further out tells nothing of `a` and `b`.
const FARTHEST: i32 = 2000;
/// Bins of material, for the fit.
const MATERIAL_BIN: u32 = 7;
/// The fit ends when no step of this part of the first ones makes it better.
const FINEST: f64 = 1e-4;
/// Rows of the calibration table, in centipawns.
const ROWS: [i32; 12] = [-2000, -800, -400, -200, -100, -40, 40, 100, 200, 400, 800, 2000];

/// Wins, draws and losses of the side to move.
type Counts = [f64; 3];
type Bins = BTreeMap<(u32, i32), Counts>;

fn main() -> anyhow::Result<()> {
    let mut bins = Bins::new();
    let mut games = 0;
    for path in std::env::args().skip(1) {
        games += count(&path, &mut bins).with_context(|| path.clone())?;
    }
    anyhow::ensure!(games > 0, "no game: name record files of `chuhe-gen play`");
    let positions: f64 = bins.values().flatten().sum();
    let fitted = fit(&bins);
    println!("{games} games, {positions} positions, {:.5} nats a position", loss(&fitted, &bins) / positions);
    println!("{fitted}");
    calibration(&fitted, &bins);
    Ok(())
}

/// Counts the scored, undecided positions of a file.
fn count(path: &str, bins: &mut Bins) -> anyhow::Result<u64> {
    let mut reader = Reader::open(path)?;
    let mut games = 0;
    while let Some(block) = reader.next_block() {
        for game in block?.games()? {
            games += 1;
            let mut walk = game.positions()?;
            while let Some(step) = walk.next() {
                let (position, ply) = step?;
                let Some((score, _)) = ply.scored.filter(|(score, _)| !is_out(*score)) else { continue };
                let winner = match game.outcome {
                    Outcome::RedLoses => Some(Color::Black),
                    Outcome::BlackLoses => Some(Color::Red),
                    _ => None,
                };
                let index = match winner {
                    None => 1,
                    Some(winner) if winner == position.side_to_move() => 0,
                    Some(_) => 2,
                };
                let key = (material(position) / MATERIAL_BIN, score.0.div_euclid(BIN));
                bins.entry(key).or_default()[index] += 1.0;
            }
        }
    }
    Ok(games)
}

fn is_out(score: Score) -> bool {
    score.0.abs() > FARTHEST
}

/// Both polynomials of the model: constant, linear and square term by material / full board.
#[derive(Clone, Copy)]
struct Fitted {
    terms: [f64; 6],
}

impl Fitted {
    fn at(&self, material_bin: u32) -> (f64, f64) {
        let middle = (f64::from(material_bin) + 0.5) * f64::from(MATERIAL_BIN);
        let x = (middle / f64::from(FULL_BOARD)).min(1.0);
        let value = |t: &[f64]| t[0] + x * (t[1] + x * t[2]);
        (value(&self.terms[..3]).max(1.0), value(&self.terms[3..]).max(10.0))
    }

    /// Chances of win, draw and loss.
    fn chances(&self, material_bin: u32, score: f64) -> Counts {
        let (a, b) = self.at(material_bin);
        let win = 1.0 / (1.0 + ((a - score) / b).exp());
        let loss = 1.0 / (1.0 + ((a + score) / b).exp());
        [win, (1.0 - win - loss).max(1e-9), loss]
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a0, a1, a2, b0, b1, b2] = self.terms;
        writeln!(f, "HALF_WON = [{a0:.1}, {a1:.1}, {a2:.1}]")?;
        write!(f, "SPREAD = [{b0:.1}, {b1:.1}, {b2:.1}]")
    }
}

fn middle(bin: i32) -> f64 {
    (f64::from(bin) + 0.5) * f64::from(BIN)
}

/// The negative logarithm of the games' likelihood.
fn loss(model: &Fitted, bins: &Bins) -> f64 {
    let of = |(&(material, bin), counts): (&(u32, i32), &Counts)| {
        let chances = model.chances(material, middle(bin));
        -counts.iter().zip(chances).map(|(count, chance)| count * chance.max(1e-12).ln()).sum::<f64>()
    };
    bins.iter().map(of).sum()
}

/// The most likely model, by steps along each term, halved while none helps. Six terms need no more.
fn fit(bins: &Bins) -> Fitted {
    let mut best = Fitted { terms: [300.0, 0.0, 0.0, 120.0, 0.0, 0.0] };
    let mut lowest = loss(&best, bins);
    let mut size = 1.0;
    while size > FINEST {
        let mut helped = false;
        for i in 0..6 {
            for step in [64.0 * size, -64.0 * size] {
                // Along a term alone, and against the next one, with which it is correlated.
                for j in [None, Some((i + 1) % 6)] {
                    let mut next = best;
                    next.terms[i] += step;
                    if let Some(j) = j {
                        next.terms[j] -= step;
                    }
                    let found = loss(&next, bins);
                    if found < lowest {
                        (best, lowest, helped) = (next, found, true);
                    }
                }
            }
        }
        if !helped {
            size /= 2.0;
        }
    }
    best
}

/// What the model says and what there was, by score.
fn calibration(model: &Fitted, bins: &Bins) {
    println!("| score | positions | win | model | draw | model | loss | model |");
    println!("|---|---|---|---|---|---|---|---|");
    for pair in ROWS.windows(2) {
        let (mut seen, mut said) = ([0.0; 3], [0.0; 3]);
        for (&(material, bin), counts) in bins {
            let score = middle(bin);
            if score < f64::from(pair[0]) || score >= f64::from(pair[1]) {
                continue;
            }
            let total: f64 = counts.iter().sum();
            for (i, chance) in model.chances(material, score).into_iter().enumerate() {
                seen[i] += counts[i];
                said[i] += chance * total;
            }
        }
        let total: f64 = seen.iter().sum();
        let part = |value: f64| format!("{:.3}", value / total.max(1.0));
        let cells: Vec<String> = (0..3).map(|i| format!("{} | {}", part(seen[i]), part(said[i]))).collect();
        println!("| {} to {} | {total} | {} |", pair[0], pair[1], cells.join(" | "));
    }
}
