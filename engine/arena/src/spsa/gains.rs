//! The arithmetic: where the two sides stand in an iteration, and how its result moves the middle.
//!
//! With `N` pairs in all, of which `k` is the first of this iteration (from 1), and for each parameter:
//!
//! ```text
//! c_k = c_end (N / k)^γ                          how far the sides are from the middle
//! R_k = r_end c_end² ((A + N) / (A + k))^α / c_k²   learning rate
//! θ± = θ ± c_k δ,   δ = +1 or −1, even chances, by the seed
//! θ ← θ + R_k c_k δ (wins − losses of θ+)
//! ```
//! So `c_end` and `r_end` hold at the end whatever the length of the run, as on the field's servers (J. C. Spall's
//! algorithm with α = 0.602, γ = 0.101, A = N/10).

use rand_core::Rng;

use super::parameter::Parameter;
use crate::openings::stream;

/// What sets the streams of signs and of rounding apart from each other and from that of openings.
const SIGNS: u64 = 0x7369_676e_7369_676e;
const ROUNDING: u64 = 0x726f_756e_6469_6e67;
/// Fractions of 53 bits, as many as a float holds.
const FRACTION_BITS: u32 = 53;

/// A run as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What is tuned; checked.
    pub parameters: Vec<Parameter>,
    /// How often the middle moves.
    pub iterations: u64,
    /// Pairs of games in each iteration.
    pub batch: u64,
    /// So many iterations begin before the result of one is needed: an iteration's middle has the results of
    /// all but so many before it.
    pub ahead: u64,
    /// Seed of all chance.
    pub seed: u64,
    /// By what power learning slows down.
    pub alpha: f64,
    /// By what power the sides come nearer.
    pub gamma: f64,
    /// A, as a part of all pairs.
    pub stability: f64,
}

impl Settings {
    /// Pairs of the whole run.
    pub fn pairs(&self) -> u64 {
        self.iterations.saturating_mul(self.batch)
    }

    /// The number of an iteration's first pair, from 1.
    fn k(&self, iteration: u64) -> f64 {
        (iteration * self.batch + 1) as f64
    }

    fn c(&self, parameter: &Parameter, iteration: u64) -> f64 {
        parameter.c_end * (self.pairs() as f64 / self.k(iteration)).powf(self.gamma)
    }

    /// The step for one point of result.
    fn step(&self, parameter: &Parameter, iteration: u64) -> f64 {
        let (all, c) = (self.pairs() as f64, self.c(parameter, iteration));
        let a = self.stability * all;
        let slowing = ((a + all) / (a + self.k(iteration))).powf(self.alpha);
        parameter.r_end * parameter.c_end * parameter.c_end * slowing / c
    }

    /// +1 or −1 for each parameter.
    fn signs(&self, iteration: u64) -> Vec<f64> {
        let mut rng = stream(self.seed ^ SIGNS, iteration);
        self.parameters.iter().map(|_| if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }).collect()
    }

    /// The values of both sides in a pair, about a middle. They are rounded by chance, so that a fraction counts
    /// on average; by the same chance for both sides.
    pub fn sides(&self, middle: &[f64], pair: u64) -> [Vec<i32>; 2] {
        let iteration = pair / self.batch.max(1);
        let mut rng = stream(self.seed ^ ROUNDING, pair);
        let mut sides = [Vec::new(), Vec::new()];
        for ((parameter, sign), theta) in self.parameters.iter().zip(self.signs(iteration)).zip(middle) {
            let chance =
                (rng.next_u64() >> (u64::BITS - FRACTION_BITS)) as f64 / (1u64 << FRACTION_BITS) as f64;
            let delta = sign * self.c(parameter, iteration);
            for (side, value) in sides.iter_mut().zip([theta + delta, theta - delta]) {
                // In range, so the conversion is exact.
                let whole = (value + chance).floor().clamp(parameter.min.into(), parameter.max.into());
                side.push(whole as i32);
            }
        }
        sides
    }
}

/// The middle after each iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// `states[n]`: after n iterations; the first is where the run began.
    states: Vec<Vec<f64>>,
    /// Wins less losses of θ+ in each iteration.
    results: Vec<i64>,
}

impl Trajectory {
    /// A run's beginning.
    pub fn new(settings: &Settings) -> Trajectory {
        let start = settings.parameters.iter().map(|parameter| parameter.value).collect();
        Trajectory { states: vec![start], results: Vec::new() }
    }

    /// Iterations taken in.
    pub fn iterations(&self) -> u64 {
        self.results.len() as u64
    }

    /// The middle after every iteration, the start first.
    pub fn states(&self) -> &[Vec<f64>] {
        &self.states
    }

    /// Wins less losses of θ+, by iteration.
    pub fn results(&self) -> &[i64] {
        &self.results
    }

    /// The middle now.
    pub fn now(&self) -> &[f64] {
        self.states.last().map_or(&[], Vec::as_slice)
    }

    /// The middle that an iteration's sides stand about; `None` while results for it are missing.
    pub fn middle(&self, settings: &Settings, iteration: u64) -> Option<&[f64]> {
        let known = iteration.saturating_sub(settings.ahead);
        self.states.get(usize::try_from(known).ok()?).map(Vec::as_slice)
    }

    /// Takes in the next iteration's result.
    pub fn add(&mut self, settings: &Settings, result: i64) {
        let iteration = self.iterations();
        let moved = self.now().iter().zip(settings.parameters.iter().zip(settings.signs(iteration)));
        let next = moved.map(|(theta, (parameter, sign))| {
            let value = theta + settings.step(parameter, iteration) * sign * result as f64;
            value.clamp(parameter.min.into(), parameter.max.into())
        });
        let next = next.collect();
        self.states.push(next);
        self.results.push(result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(lines: &[&str]) -> Settings {
        let parameters = lines.iter().map(|line| Parameter::parse(line).expect(line)).collect();
        Settings {
            parameters,
            iterations: 500,
            batch: 2,
            ahead: 1,
            seed: 4,
            alpha: 0.602,
            gamma: 0.101,
            stability: 0.1,
        }
    }

    #[test]
    fn the_end_is_as_it_was_asked_for() {
        let settings = settings(&["x,50,0,100,3,0.004"]);
        let x = &settings.parameters[0];
        // The last iteration begins at pair 999 of 1000.
        assert!((settings.c(x, 499) - 3.0).abs() < 0.001);
        assert!((settings.step(x, 499) - 0.004 * 3.0).abs() < 0.0001);
        // A hundredth of the way in, by hand: c = 3 (1000/11)^0.101, a = 0.004·9·(1100/111)^0.602.
        let c = 3.0 * (1000f64 / 11.0).powf(0.101);
        assert!((settings.c(x, 5) - c).abs() < 1e-9);
        let step = 0.036 * (1100f64 / 111.0).powf(0.602) / c;
        assert!((settings.step(x, 5) - step).abs() < 1e-9);
    }

    #[test]
    fn sides_are_in_range_and_rounded_fairly() {
        let settings = settings(&["x,50,0,100,3,0.002", "y,0,0,4,1,0.002"]);
        let (mut sum, mut ups) = (0, 0);
        let pairs = settings.pairs();
        for pair in 0..pairs {
            let [plus, minus] = settings.sides(&[50.25, 0.0], pair);
            assert_eq!([&plus, &minus], settings.sides(&[50.25, 0.0], pair).each_ref());
            assert!((0..=4).contains(&plus[1]) && (0..=4).contains(&minus[1]));
            sum += plus[0] + minus[0];
            ups += usize::from(plus[0] > minus[0]);
        }
        let mean = f64::from(sum) / (2 * pairs) as f64;
        assert!((mean - 50.25).abs() < 0.1, "{mean}");
        assert!((400..600).contains(&ups), "{ups} of {pairs}");
    }

    #[test]
    fn results_move_the_middle_and_ranges_hold_it() {
        let settings = settings(&["x,50,0,100,3,0.2", "y,1,0,2,1,0.2"]);
        let mut way = Trajectory::new(&settings);
        assert_eq!(way.middle(&settings, 0), Some(&[50.0, 1.0][..]));
        assert!(way.middle(&settings, 1).is_some() && way.middle(&settings, 2).is_none());
        let signs = settings.signs(0);
        way.add(&settings, 3);
        let moved = way.now()[0] - 50.0;
        assert!(
            (moved - 3.0 * signs[0] * settings.step(&settings.parameters[0], 0)).abs() < 1e-9 && moved != 0.0
        );
        assert_eq!(way.middle(&settings, 2), Some(way.now()));
        for _ in 1..settings.iterations {
            way.add(&settings, 4);
            assert!((0.0..=2.0).contains(&way.now()[1]));
        }
        assert_eq!((way.iterations(), way.states().len(), way.results()[0]), (500, 501, 3));
    }
}
