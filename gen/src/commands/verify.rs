//! `chuhe-gen verify`: every byte by its checksum, every move by the rules, every outcome by the judge. The quick form
//! of `chuhe-gen validate`.

use std::process::ExitCode;

use anyhow::Context;
use nnue_format::record::{GameRecord, RawBlock, ReadError, Reader};
use rayon::prelude::*;
use serde_json::json;

use crate::cli::FileArgs;
use crate::validate::game::check_game;
use crate::validate::numbers::Numbers;

/// Damage found: where, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The byte of the file where the damaged part (for a game: its block) begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// What a check of a file found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whole games.
    pub games: u64,
    /// Their scored plies.
    pub positions: u64,
    /// Everything that is wrong.
    pub damage: Vec<Damage>,
}

/// Runs the verb.
pub fn run(args: &FileArgs) -> anyhow::Result<ExitCode> {
    let mut reader = Reader::open(&args.file).with_context(|| args.file.display().to_string())?;
    let verdict = check(&mut reader);
    let ok = verdict.damage.is_empty();
    let text = if args.json { json_of(&verdict) } else { text_of(args, &verdict) };
    super::print(&text)?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn json_of(verdict: &Verdict) -> String {
    let damage: Vec<_> = verdict
        .damage
        .iter()
        .map(|Damage { offset, what }| json!({ "offset": offset, "what": what }))
        .collect();
    let ok = damage.is_empty();
    let json = json!({ "ok": ok, "games": verdict.games, "positions": verdict.positions, "damage": damage });
    format!("{json}\n")
}

fn text_of(args: &FileArgs, verdict: &Verdict) -> String {
    let damage = verdict.damage.iter().map(|Damage { offset, what }| format!("byte {offset}: {what}\n"));
    let state = if verdict.damage.is_empty() { "good" } else { "DAMAGED" };
    let (file, games, positions) = (args.file.display(), verdict.games, verdict.positions);
    damage.collect::<String>() + &format!("{file}: {state}, {games} games, {positions} positions\n")
}

/// Checks a file to its end, some blocks at a time on all cores.
pub fn check<R: std::io::Read + std::io::Seek>(reader: &mut Reader<R>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut numbers = Numbers::default();
    loop {
        let batch: Vec<_> = std::iter::from_fn(|| reader.next_block()).take(BATCH).collect();
        if batch.is_empty() {
            return verdict;
        }
        let checked: Vec<_> =
            batch.into_par_iter().map(|block| block.and_then(|block| check_block(&block))).collect();
        for block in checked {
            match block {
                Ok(block) => verdict.add(block, &mut numbers),
                Err(error) => {
                    verdict.damage.push(Damage { offset: error.offset(), what: error.to_string() });
                }
            }
        }
    }
}

/// Blocks in memory at a time.
const BATCH: usize = 16;

/// What the check of one block found.
struct BlockVerdict {
    offset: u64,
    numbers: Vec<u64>,
    positions: u64,
    damage: Vec<Damage>,
}

impl Verdict {
    fn add(&mut self, block: BlockVerdict, numbers: &mut Numbers) {
        let BlockVerdict { offset, numbers: found, positions, damage } = block;
        self.games += found.len() as u64;
        self.positions += positions;
        self.damage.extend(damage);
        for number in found {
            if !numbers.insert(number) {
                let what = format!("game number {number} is in the file a second time");
                self.damage.push(Damage { offset, what });
            }
        }
    }
}

fn check_block(block: &RawBlock) -> Result<BlockVerdict, ReadError> {
    let games = block.games()?;
    let sum = |count: fn(&GameRecord) -> usize| games.iter().map(|game| count(game) as u64).sum::<u64>();
    let stored = (u64::from(block.head.plies), u64::from(block.head.positions));
    let counted = (sum(GameRecord::len), sum(|game| game.plies.len()));
    let offset = block.offset;
    let mut damage = Vec::new();
    if counted != stored {
        let what = format!("the block's head says {stored:?} plies and positions, counted {counted:?}");
        damage.push(Damage { offset, what });
    }
    for game in &games {
        if let Err(fault) = check_game(game) {
            damage.push(Damage { offset, what: format!("game {}: {fault}", game.number) });
        }
    }
    let numbers = games.iter().map(|game| game.number).collect();
    Ok(BlockVerdict { offset, numbers, positions: counted.1, damage })
}
