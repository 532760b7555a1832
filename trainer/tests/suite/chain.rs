//! The whole chain learns what is there to learn: a batch by heart, and the function of another net from its scores.

use crate::support::{arch, batch, conduct, file_of_games};
use nnue_format::net::Overwrite;
use nnue_format::record::{GameRecord, Outcome, PlyFlags, PlyRecord, Reason, Start};
use nnue_format::{FloatNet, QuantisedNet, reference};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trainer::backend::cpu::kernel::{AdamStep, KernelKind};
use trainer::chance::below;
use trainer::export::{BOUND, export};
use trainer::loss::Loss;
use trainer::model::Model;
use trainer::run;
use xiangqi::judge::RuleSet;
use xiangqi::{Position, Score};

#[test]
fn one_batch_is_learnt_to_nothing() {
    let arch = arch("half-ka-hm 2x128-16-16-1 pairwise 8-stacks psqt");
    let batch = batch(&arch, 31, 96);
    let mut model = Model::new(&arch, true, 5, KernelKind::best());
    let mut last = f64::INFINITY;
    for step in 1..=400 {
        let rate = 2e-3 * (1.0 - (step as f64 / 410.0));
        last = model.gradients(&batch, &Loss::default(), batch.len()).unwrap() / batch.len() as f64;
        model.update(&AdamStep::at(step, rate, (0.9, 0.99), 1e-8, 0.0, f32::INFINITY).into()).unwrap();
    }
    assert!(last < 1e-6, "a loss of {last} is left");
}

/// Opening plies of a game, which have no score.
const OPENING: usize = 4;
/// Score and games are cut here.
const HIGHEST: i32 = 2500;

/// A net of random weights whose sums and hidden layers lie inside their clips for most positions, and whose evaluations
/// differ by some hundred centipawns: what a trained net is like, and not what [`QuantisedNet::random`] gives, whose weights
/// are as large as weights can be.
fn teacher(text: &str) -> QuantisedNet {
    let arch = arch(text);
    let mut net = FloatNet::zeros(&arch);
    let layers = &mut net.layers;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut fill = |values: &mut dyn Iterator<Item = &mut f32>, middle: f32, size: f32| {
        for value in values {
            *value = middle + size * (below(&mut rng, 2001) as f32 / 1000.0 - 1.0);
        }
    };
    fill(&mut layers.ft_weights.iter_mut(), 0.0, 0.06);
    fill(&mut layers.ft_biases.iter_mut(), 0.4, 0.2);
    let inputs = (arch.dense_inputs() as f32).sqrt();
    fill(&mut layers.dense1_weights.iter_mut(), 0.0, 4.0 / inputs);
    fill(&mut layers.dense1_biases.iter_mut(), 0.4, 0.2);
    fill(&mut layers.dense2_weights.iter_mut(), 0.0, 0.7);
    fill(&mut layers.dense2_biases.iter_mut(), 0.4, 0.2);
    fill(&mut layers.out_weights.iter_mut(), 0.0, 1.0);
    net.merge().unwrap().quantise().unwrap()
}

/// A game of random moves in which every score is the teacher's evaluation.
fn game(number: u64, teacher: &QuantisedNet) -> GameRecord {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7_000_000 + number);
    let mut position = Position::start();
    let (mut opening, mut plies) = (Vec::new(), Vec::new());
    for ply in 0..OPENING as u64 + 20 + below(&mut rng, 40) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let mv = moves[below(&mut rng, moves.len() as u64) as usize];
        if ply < OPENING as u64 {
            opening.push(mv);
        } else {
            let score = Score(reference::evaluate(teacher, &position).cp.clamp(-HIGHEST, HIGHEST));
            plies.push(PlyRecord { mv, score, flags: PlyFlags::from_bits(false, false) });
        }
        position.make(mv);
    }
    let (start, reason, rules) = (Start::Standard, Reason::PlyLimit, RuleSet::Competition);
    GameRecord { number, start, opening, plies, outcome: Outcome::Draw, reason, rules }
}

/// Pearson's correlation.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (a, b) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / n, sum.1 + pair.1 / n));
    let mut sums = [0.0; 3];
    for (x, y) in pairs {
        sums[0] += (x - a) * (y - b);
        sums[1] += (x - a) * (x - a);
        sums[2] += (y - b) * (y - b);
    }
    sums[0] / (sums[1] * sums[2]).sqrt()
}

/// The least correlation that is taken.
const WANTED: f64 = 0.8;

/// Records whose scores are those of a net of random weights; a net trained on them from nothing, exported, gives the
/// scores of games that it never saw. Wrong features, sides, scales, gradients or shuffles would show, and hidden layers
/// that die in the first steps: there is no PSQT to hide behind. Seen: 0.90.
#[test]
fn a_random_net_is_found_again_from_its_scores() {
    let full = std::env::var_os("CHUHE_FULL").is_some();
    let (games, steps) = if full { (3000, 2700) } else { (1000, 900) };
    let held_out = games..games + 40;
    const ARCHITECTURE: &str = "half-kp-hm 2x128-8-8-1 crelu";
    let teacher = teacher(ARCHITECTURE);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, games: std::ops::Range<u64>| {
        file_of_games(&folder.path().join(name), games.map(|number| game(number, &teacher)), 20)
    };
    let (training, validation) = (file("training.rec", 0..games), file("validation.rec", held_out.clone()));
    let config = format!(
        "[net]\narchitecture = '{ARCHITECTURE}'\n[training]\nbatch_size = 256\nsteps = {steps}\n\
         [learning_rate]\nstart = 1e-3\nend = 1e-5\n[loss]\nlambda_start = 1\nlambda_end = 1\n\
         [filters]\nin_check = false\ncaptures = false\n[loader]\nmirror = false\n\
         [validation]\ndata = ['{}']\nevery_steps = 200\n",
        validation.display()
    );
    let out = folder.path().join("run");
    let outcome = run::start(&config, &[training], &out, conduct(None)).unwrap();
    let net = folder.path().join("net.nnue");
    export(&outcome.best.unwrap().checkpoint, &net, BOUND, Overwrite::No).unwrap();
    let net = nnue_format::net::read(&net).unwrap().0.net;
    let mut pairs = Vec::new();
    for game in held_out.map(|number| game(number, &teacher)) {
        let mut walk = game.positions().unwrap();
        while let Some(next) = walk.next() {
            let (position, ply) = next.unwrap();
            if let Some((score, _)) = ply.scored {
                let found = reference::evaluate(&net, position).cp;
                pairs.push((f64::from(score.0), f64::from(found)));
            }
        }
    }
    let found = correlation(&pairs);
    assert!(
        pairs.len() > 500 && found > WANTED,
        "a correlation of {found} over {} held-out positions, expected {WANTED}; loss {}, {:?} on them",
        pairs.len(),
        outcome.loss,
        outcome.validation_loss
    );
}
