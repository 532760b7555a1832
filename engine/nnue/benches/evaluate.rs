//! What an evaluation costs, in nanoseconds of CPU time, for every backend of this CPU:
//! `cargo bench -p nnue-infer [-- FILTER]`. What the figures mean and how near they are to the bound of
//! the hardware is in `docs/speed.md`, section Inference.
//!
//! - `forward`: both accumulators to a score; sums and weights are in the nearest caches.
//! - `update`: a move is pushed, both accumulators are brought up to date, the move is taken back. The moves
//!   are all legal ones of a middlegame position in turn, so feature rows come from the second cache.
//! - `refresh`: both accumulators from the refresh cache, two moves of difference from the board there.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nnue_format::{Architecture, QuantisedNet};
use nnue_infer::{Backend, EngineNet, Evaluator};
use rustix::time::{ClockId, clock_gettime};
use xiangqi::{PieceChange, Position};

/// Name and text of each architecture.
const ARCHITECTURES: [(&str, &str); 3] = [
    ("classic", "classic"),
    ("default", "default"),
    ("1024", "half-ka-hm-ab 2x1024-16-32-1 pairwise 16-stacks psqt"),
];

/// A middlegame with 44 legal moves, 26 pieces.
const POSITION: &str = "r1bakab1r/9/1cn3nc1/p1p1p1p1p/9/2P3P2/P3P3P/1CN3NC1/9/R1BAKAB1R b - - 0 5";

/// This thread's CPU time: what other programs on the machine take is not counted.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    fn end(&self, start: Duration) -> Duration {
        self.start() - start
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn benches(criterion: &mut Criterion<CpuTime>) {
    for (name, text) in ARCHITECTURES {
        let Ok(arch) = text.parse::<Architecture>() else { continue };
        let net = QuantisedNet::random(&arch, 1);
        for backend in Backend::available() {
            let Ok(net) = EngineNet::new(&net, backend) else { continue };
            let mut evaluator = Evaluator::new(Arc::new(net));
            one_backend(criterion, name, backend, &mut evaluator);
        }
    }
}

fn one_backend(criterion: &mut Criterion<CpuTime>, name: &str, backend: Backend, evaluator: &mut Evaluator) {
    let Ok(position) = Position::from_fen(POSITION) else { return };
    let moves = moves_of(&position);
    evaluator.reset(&position);
    evaluator.evaluate(&position);

    let mut group = criterion.benchmark_group(format!("forward/{name}"));
    group.bench_function(BenchmarkId::from_parameter(backend), |bencher| {
        bencher.iter(|| black_box(evaluator.evaluate(black_box(&position))));
    });
    group.finish();

    let mut group = criterion.benchmark_group(format!("update/{name}"));
    group.bench_function(BenchmarkId::from_parameter(backend), |bencher| {
        let mut each = moves.iter().cycle();
        bencher.iter(|| {
            if let Some((after, change)) = each.next() {
                evaluator.push(change);
                evaluator.update(black_box(after));
                evaluator.pop();
            }
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group(format!("refresh/{name}"));
    group.bench_function(BenchmarkId::from_parameter(backend), |bencher| {
        let mut each = moves.iter().cycle();
        bencher.iter(|| {
            if let Some((after, _)) = each.next() {
                evaluator.reset(after);
                evaluator.update(black_box(after));
            }
        });
    });
    group.finish();
}

/// Every legal move: the position after it, and what it changed.
fn moves_of(position: &Position) -> Vec<(Position, PieceChange)> {
    let mut found = Vec::new();
    for &mv in position.legal_moves().iter() {
        let mut after = position.clone();
        found.extend(after.make(mv).change.map(|change| (after, change)));
    }
    found
}

criterion_group! {
    name = all;
    config = Criterion::default().with_measurement(CpuTime);
    targets = benches
}
criterion_main!(all);
