//! Do the machines of a test agree? A χ² test of their pairs (fishtest's `get_chi2`).
//!
//! Each machine is a row `[WW+WD, LL+LD, DD+WL]`. Under homogeneity the table's χ² has two degrees of
//! freedom for each row beyond the first; a row's *residual* is the normal quantile of the χ² of
//! that row against all others together, not below 0.

use super::estimate::{normal_quantile, normal_quantile_above};

/// Rows with a smaller expected cell than this say nothing and are left out.
const LEAST_EXPECTED: f64 = 5.0;

/// A table less likely than this has a bad row.
const BAD_TABLE: f64 = 1e-3;

/// A row with a greater residual is bad.
const BAD_RESIDUAL: f64 = 7.0;

/// Columns less one.
const FREEDOM_OF_ROW: usize = 2;

/// The test of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerTest {
    /// The table's χ².
    pub chi2: f64,
    /// Its degrees of freedom.
    pub freedom: usize,
    /// The probability of such a table or a worse one, if all machines are alike.
    pub p: f64,
    /// The greatest residual to expect among as many rows in 95 of 100 tests.
    pub z_95: f64,
    /// … in 99 of 100.
    pub z_99: f64,
    /// Index among the machines given, and residual, of each row that took part.
    pub residuals: Vec<(usize, f64)>,
}

impl WorkerTest {
    /// Tests machines by their pentanomial counts. `None` where fewer than two rows say anything.
    pub fn of(workers: &[[u64; 5]]) -> Option<WorkerTest> {
        let all: Vec<[f64; 3]> = workers.iter().map(row).collect();
        let total = sum(&all);
        let whole: f64 = total.iter().sum();
        let speaks = |row: &[f64; 3]| {
            let size: f64 = row.iter().sum();
            total.iter().all(|column| size * column / whole > LEAST_EXPECTED)
        };
        let kept: Vec<(usize, [f64; 3])> =
            all.iter().copied().enumerate().filter(|(_, row)| speaks(row)).collect();
        if kept.len() < 2 {
            return None;
        }
        let rows: Vec<[f64; 3]> = kept.iter().map(|(_, row)| *row).collect();
        let total = sum(&rows);
        let chi2 = chi_square(&rows);
        let freedom = FREEDOM_OF_ROW * (rows.len() - 1);
        let residual = |row: &[f64; 3]| {
            let others = [total[0] - row[0], total[1] - row[1], total[2] - row[2]];
            let p = chi_square_above(chi_square(&[*row, others]), FREEDOM_OF_ROW);
            // Kept above 0, so that no residual is infinite (38 at most).
            normal_quantile_above(p.max(f64::MIN_POSITIVE)).max(0.0)
        };
        let share = |error: f64| normal_quantile(1.0 - error / rows.len() as f64);
        Some(WorkerTest {
            chi2,
            freedom,
            p: chi_square_above(chi2, freedom),
            z_95: share(0.05),
            z_99: share(0.01),
            residuals: kept.iter().map(|(i, row)| (*i, residual(row))).collect(),
        })
    }

    /// The machine to leave out, if any: the one of the greatest residual where that is beyond 7 or
    /// the table is less likely than one in a thousand. One at a time: its pairs disturb the others'.
    pub fn worst(&self) -> Option<usize> {
        let &(worker, residual) = self.residuals.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (self.p < BAD_TABLE || residual > BAD_RESIDUAL).then_some(worker)
    }
}

/// Pairs won, lost and even.
fn row(pairs: &[u64; 5]) -> [f64; 3] {
    let [ll, ld, even, wd, ww] = pairs.map(|n| n as f64);
    [ww + wd, ll + ld, even]
}

fn sum(rows: &[[f64; 3]]) -> [f64; 3] {
    rows.iter().fold([0.0; 3], |sum, row| [sum[0] + row[0], sum[1] + row[1], sum[2] + row[2]])
}

/// Pearson's χ² of a table whose expected cells are all above 0.
fn chi_square(rows: &[[f64; 3]]) -> f64 {
    let total = sum(rows);
    let whole: f64 = total.iter().sum();
    rows.iter()
        .map(|row| {
            let size: f64 = row.iter().sum();
            let cells = row.iter().zip(&total);
            cells
                .map(|(found, column)| (found - size * column / whole).powi(2) * whole / (size * column))
                .sum::<f64>()
        })
        .sum()
}

/// The probability of a χ² above `x`, for an even number of degrees of freedom: `e^-h Σ h^k / k!` over
/// `k` below half of them, `h = x/2`.
fn chi_square_above(x: f64, freedom: usize) -> f64 {
    let half = 0.5 * x;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..freedom / 2 {
        term *= half / k as f64;
        sum += term;
    }
    (-half).exp() * sum
}
