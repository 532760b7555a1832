//! Games, batches and configurations for the tests.

use nnue_format::Architecture;
use nnue_format::record::{self, GameRecord, Header, PlyFlags, PlyRecord, Reason, Start, Writer};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trainer::backend::cpu::kernel::KernelKind;
use trainer::chance::below;
use trainer::data::samples::{Encoder, MATERIAL_KINDS};
use trainer::data::synthetic::random_play;
use trainer::data::{Batch, Samples};
use trainer::model::Model;
use trainer::ranks::Ranks;
use trainer::run::{self, Conduct, Outcome, RunError};
use xiangqi::judge::RuleSet;
use xiangqi::{Position, Score};

/// Opening plies of every game.
pub(crate) const OPENING: usize = 4;

pub(crate) fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

pub(crate) fn arch(text: &str) -> Architecture {
    text.parse().expect("an architecture")
}

/// Positions of random games, shuffled.
pub(crate) fn samples(arch: &Architecture, seed: u64, count: usize) -> Samples {
    random_play(&Encoder::new(arch).expect("an encoder"), seed, count)
}

pub(crate) fn batch(arch: &Architecture, seed: u64, count: usize) -> Batch {
    Batch::all(&samples(arch, seed, count))
}

/// Game number `number`: random moves, the score the material difference with some noise. Every seventh ply is marked as
/// not the best, every eleventh as not for training, every thirteenth score is a mate.
pub(crate) fn game(number: u64) -> GameRecord {
    let mut rng = rng(1000 + number);
    let mut position = Position::start();
    let (mut opening, mut plies) = (Vec::new(), Vec::new());
    for ply in 0..40 + below(&mut rng, 40) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let mv = moves[below(&mut rng, moves.len() as u64) as usize];
        if opening.len() < OPENING {
            opening.push(mv);
        } else {
            let material = material(&position) + below(&mut rng, 41) as i32 - 20;
            let score = Score(if ply % 13 == 12 { 31_990 } else { material });
            let flags = PlyFlags::from_bits(ply % 7 == 6, ply % 11 == 10);
            plies.push(PlyRecord { mv, score, flags });
        }
        position.make(mv);
    }
    let outcome = match material(&position).signum() {
        0 => record::Outcome::Draw,
        1 => record::Outcome::loss_of(position.side_to_move().flip()),
        _ => record::Outcome::loss_of(position.side_to_move()),
    };
    let (start, reason, rules) = (Start::Standard, Reason::PlyLimit, RuleSet::Competition);
    GameRecord { number, start, opening, plies, outcome, reason, rules }
}

fn material(position: &Position) -> i32 {
    let us = position.side_to_move();
    let values = [600, 300, 280, 120, 120, 60];
    MATERIAL_KINDS
        .iter()
        .zip(values)
        .map(|(&kind, value)| {
            let own = position.pieces(us, kind).count() as i32;
            value * (own - position.pieces(us.flip(), kind).count() as i32)
        })
        .sum()
}

/// A folder for the runs of a test, with a record file that they train on.
pub(crate) struct Runs {
    folder: tempfile::TempDir,
    pub(crate) data: Vec<PathBuf>,
}

impl Runs {
    /// With so many [`game`]s, five a block.
    pub(crate) fn of(games: u64) -> Runs {
        let folder = tempfile::tempdir().unwrap();
        let data = vec![record_file(&folder.path().join("games.rec"), 0..games, 5)];
        Runs { folder, data }
    }

    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The run of this name, from the start or from where it stopped.
    pub(crate) fn start(
        &self,
        name: &str,
        config: &str,
        stop_after: Option<u64>,
    ) -> Result<Outcome, RunError> {
        run::start(config, &self.data, &self.out(name), conduct(stop_after))
    }
}

/// A record file of these games, a block every `block` games.
pub(crate) fn record_file(path: &Path, games: impl IntoIterator<Item = u64>, block: usize) -> PathBuf {
    file_of_games(path, games.into_iter().map(game), block)
}

/// A record file of these games, a block every `block` games. It can be read only.
pub(crate) fn file_of_games(
    path: &Path,
    games: impl IntoIterator<Item = GameRecord>,
    block: usize,
) -> PathBuf {
    let header = Header {
        rules: RuleSet::Competition,
        seed: 1,
        engine_signature: 0,
        run_id: [7; 16],
        net_id: [0; 32],
        plan_len: 0,
        plan_crc: 0,
    };
    let mut writer = Writer::create(Vec::new(), header, b"").expect("a writer");
    for (i, game) in games.into_iter().enumerate() {
        writer.push(&game).expect("a game");
        if i % block == block - 1 {
            writer.end_block().expect("a block");
        }
    }
    let (bytes, _) = writer.finish().expect("a file");
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).expect("written");
    let mut permissions = std::fs::metadata(path).expect("its metadata").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(path, permissions).expect("set");
    path.to_path_buf()
}

/// Floats drawn evenly from ±`size`.
pub(crate) fn floats(seed: u64, len: usize, size: f32) -> Vec<f32> {
    let mut rng = rng(seed);
    (0..len).map(|_| ((rng.next_u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * size).collect()
}

/// The greatest difference, relative to the greatest size of `b`.
pub(crate) fn relative(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let difference = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
    difference / b.iter().map(|b| b.abs()).fold(1e-30, f32::max)
}

/// The files of a run's newest checkpoint that training changes.
pub(crate) fn trained(run: &Path) -> Vec<Vec<u8>> {
    let folder = trainer::checkpoint::locate(run).unwrap();
    ["weights.safetensors", "optimiser.safetensors", "state.bin"]
        .map(|name| std::fs::read(folder.join(name)).unwrap())
        .to_vec()
}

/// The same, the positions beside them, and what the run wrote to be watched, without times.
pub(crate) fn numbers(run: &Path) -> Vec<Vec<u8>> {
    let mut files = trained(run);
    files.push(std::fs::read(trainer::checkpoint::locate(run).unwrap().join("positions.fen")).unwrap());
    let mut rows = trainer::watch::read_curve(run).unwrap();
    for row in &mut rows {
        (row.positions_per_second, row.waiting, row.seconds) = (None, None, 0.0);
    }
    files.push(format!("{rows:?}").into_bytes());
    files.push(format!("{:?}", events(run)).into_bytes());
    files
}

/// The steps and values of a run's event files, in their order, without speeds.
pub(crate) fn events(run: &Path) -> Vec<(i64, Vec<trainer::watch::proto::Value>)> {
    use trainer::watch::event_file::{files, read};
    use trainer::watch::proto::What;
    let mut found = Vec::new();
    for path in files(&run.join(trainer::watch::EVENTS)).unwrap() {
        let (events, error) = read(&std::fs::read(path).unwrap());
        assert_eq!(error, None);
        for (event, _) in events {
            if let Some(What::Summary(mut summary)) = event.what {
                summary.value.retain(|value| !value.tag.starts_with("speed/"));
                found.push((event.step, summary.value));
            }
        }
    }
    found
}

/// A run by the best kernel, without progress.
pub(crate) fn conduct(stop_after: Option<u64>) -> Conduct {
    Conduct {
        net: Arc::new(|arch, factorised, seed| {
            Ok(Box::new(Model::new(arch, factorised, seed, KernelKind::best())))
        }),
        interrupted: Arc::new(AtomicBool::new(false)),
        stop_after,
        commit: "test".to_owned(),
        quiet: true,
        ranks: Arc::new(Ranks::alone()),
    }
}

/// Begins a run, or goes on with it.
pub(crate) fn start_config(
    config: &str,
    data: &[PathBuf],
    out: &Path,
    stop_after: Option<u64>,
) -> Result<trainer::run::Outcome, trainer::run::RunError> {
    trainer::run::start(config, data, out, conduct(stop_after))
}
