//! `chuhe-gen verify`: every byte by its checksum, every move by the rules, every outcome by the judge.

use std::collections::HashSet;
use std::process::ExitCode;

use anyhow::Context;
use nnue_format::record::{GameRecord, Outcome, RawBlock, ReadError, Reader, Reason};
use serde_json::json;
use xiangqi::Game;
use xiangqi::judge::{self, GameResult};

use crate::cli::FileArgs;

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

/// Why a game is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameFault {
    /// The start is no position.
    #[error("{0}")]
    Start(nnue_format::record::GameError),
    /// A move is illegal.
    #[error("ply {ply}: {why}")]
    Illegal {
        /// The ply, from 0.
        ply: usize,
        /// What is wrong with the move.
        why: String,
    },
    /// The game was over before its last move.
    #[error("ply {ply}: {result} by {reason} already, and the game goes on")]
    Over {
        /// Plies played when it was over.
        ply: usize,
        /// The judge's result.
        result: GameResult,
        /// The judge's reason.
        reason: String,
    },
    /// The end is another than recorded.
    #[error("recorded as {outcome} by {reason}, the judge says {found}")]
    End {
        /// The recorded outcome.
        outcome: Outcome,
        /// The recorded reason.
        reason: Reason,
        /// The judge's verdict.
        found: String,
    },
}

/// Runs the verb.
pub fn run(args: &FileArgs) -> anyhow::Result<ExitCode> {
    let mut reader = Reader::open(&args.file).with_context(|| args.file.display().to_string())?;
    let verdict = check(&mut reader);
    let ok = verdict.damage.is_empty();
    if args.json {
        let damage: Vec<_> = verdict
            .damage
            .iter()
            .map(|Damage { offset, what }| json!({ "offset": offset, "what": what }))
            .collect();
        let (games, positions) = (verdict.games, verdict.positions);
        println!("{}", json!({ "ok": ok, "games": games, "positions": positions, "damage": damage }));
    } else {
        for Damage { offset, what } in &verdict.damage {
            println!("byte {offset}: {what}");
        }
        let state = if ok { "good" } else { "DAMAGED" };
        println!(
            "{}: {state}, {} games, {} positions",
            args.file.display(),
            verdict.games,
            verdict.positions
        );
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Checks a file to its end.
pub fn check<R: std::io::Read + std::io::Seek>(reader: &mut Reader<R>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut numbers = HashSet::new();
    while let Some(block) = reader.next_block() {
        if let Err(error) = block.and_then(|block| check_block(&block, &mut numbers, &mut verdict)) {
            verdict.damage.push(Damage { offset: error.offset(), what: error.to_string() });
        }
    }
    verdict
}

fn check_block(block: &RawBlock, numbers: &mut HashSet<u64>, verdict: &mut Verdict) -> Result<(), ReadError> {
    let games = block.games()?;
    let sum = |count: fn(&GameRecord) -> usize| games.iter().map(|game| count(game) as u64).sum::<u64>();
    let stored = (block.head.plies, block.head.positions);
    let counted = (sum(GameRecord::len), sum(|game| game.plies.len()));
    let offset = block.offset;
    if counted != (u64::from(stored.0), u64::from(stored.1)) {
        let what = format!("the block's head says {stored:?} plies and positions, counted {counted:?}");
        verdict.damage.push(Damage { offset, what });
    }
    for game in &games {
        verdict.games += 1;
        verdict.positions += game.plies.len() as u64;
        if !numbers.insert(game.number) {
            let what = format!("game number {} is in the file a second time", game.number);
            verdict.damage.push(Damage { offset, what });
        }
        if let Err(fault) = check_game(game) {
            verdict.damage.push(Damage { offset, what: format!("game {}: {fault}", game.number) });
        }
    }
    Ok(())
}

/// Checks a game: every move legal, none after the end, and the end as recorded. Where the generator ended the
/// game, the judge must let it go on.
pub fn check_game(record: &GameRecord) -> Result<(), GameFault> {
    let mut game = Game::new(record.start.position().map_err(GameFault::Start)?);
    let mut status = judge::status(&game, record.rules);
    for (ply, mv) in record.moves().enumerate() {
        if let Some(reason) = status.reason {
            return Err(GameFault::Over { ply, result: status.result, reason: reason.to_string() });
        }
        game.try_play(mv).map_err(|error| GameFault::Illegal { ply, why: error.to_string() })?;
        status = judge::status(&game, record.rules);
    }
    let found = Outcome::from_result(status.result).zip(status.reason.map(Reason::from));
    let expected = (!record.reason.is_adjudicated()).then_some((record.outcome, record.reason));
    if found == expected {
        return Ok(());
    }
    let found = match found {
        None => "the game goes on".to_owned(),
        Some((outcome, reason)) => format!("{outcome} by {reason}"),
    };
    Err(GameFault::End { outcome: record.outcome, reason: record.reason, found })
}
