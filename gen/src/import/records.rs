//! Games of others as records.
//!
//! The outcome is the rules' where the game is over by them, and else the file's, for the reason `stated`. Where the file says nothing, [`Unfinished`] decides. Moves behind
//! the end by the rules are left out: a record ends where the game does.

use std::sync::atomic::{AtomicBool, Ordering};

use game_files::Outcome as Said;
use nnue_format::record::{GameRecord, MAX_GAME_PLIES, Outcome, PlyFlags, PlyRecord, Reason, Start};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Color, Game, Move, Position};

use crate::plan::SearchLimit;
use crate::player::Player;

/// What becomes of a game whose end neither the rules nor the file tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It is left out.
    Skip,
    /// It is a draw.
    Draw,
    /// The search of its last position decides: won from [`WON_SCORE`] on, drawn within ± [`DRAWN_SCORE`],
    /// left out between.
    Search,
}

impl Unfinished {
    /// The value of this name.
    pub fn named(name: &str) -> Option<Unfinished> {
        match name {
            "skip" => Some(Unfinished::Skip),
            "draw" => Some(Unfinished::Draw),
            "search" => Some(Unfinished::Search),
            _ => None,
        }
    }
}

/// A side so far ahead has won an unfinished game: about a rook.
pub const WON_SCORE: i32 = 600;

/// An unfinished game within ± this is drawn: less than a pawn.
pub const DRAWN_SCORE: i32 = 60;

/// A line to be recorded.
#[derive(Clone, Debug)]
pub struct Line {
    /// Where it begins.
    pub start: Position,
    /// Its moves, all legal.
    pub moves: Vec<Move>,
    /// What its file says of the end.
    pub said: Said,
}

/// How lines become records.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The rules that end games.
    pub rules: RuleSet,
    /// Search each position for its score; without it a record has moves alone.
    pub limit: Option<SearchLimit>,
    /// See there.
    pub unfinished: Unfinished,
}

/// Why a line gave no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeftOut {
    /// It has no move.
    NoMoves,
    /// It is over before its first move.
    OverAtStart,
    /// It has more plies than a record can have.
    TooLong,
    /// Nothing tells how it ended.
    NoOutcome,
    /// An earlier line has the same start and moves.
    Duplicate,
    /// It has fewer plies than were asked for.
    TooShort,
    /// It begins elsewhere than at the start position.
    OtherStart,
    /// The run was stopped.
    Stopped,
}

impl LeftOut {
    /// The word for it in summaries and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            LeftOut::NoMoves => "no_moves",
            LeftOut::OverAtStart => "over_at_start",
            LeftOut::TooLong => "too_long",
            LeftOut::NoOutcome => "no_outcome",
            LeftOut::Duplicate => "duplicate",
            LeftOut::TooShort => "too_short",
            LeftOut::OtherStart => "other_start",
            LeftOut::Stopped => "stopped",
        }
    }
}

/// A record and what was decided for it.
#[derive(Clone, Debug)]
pub struct Made {
    /// The record; its number is the caller's to set.
    pub record: GameRecord,
    /// Plies behind the end by the rules, which were left out.
    pub cut_plies: usize,
    /// The rules and the file name different winners.
    pub contradicts: bool,
    /// Nodes searched.
    pub nodes: u64,
}

/// Makes the record of a line.
///
/// # Errors
/// Why there is none.
pub fn record<'a>(
    line: &Line,
    settings: &Settings,
    player: Option<&'a mut dyn Player>,
    stop: &'a AtomicBool,
) -> Result<Made, LeftOut> {
    let (game, ruled) = played(line, settings.rules)?;
    let mut scorer = Scorer { player, limit: settings.limit, nodes: 0, stop };
    let moves: Vec<Move> = game.moves().collect();
    let plies = scorer.plies(&line.start, &moves)?;
    let said = said_outcome(line.said);
    let (outcome, reason) = match ruled.or(said) {
        Some(end) => end,
        None => unfinished(&game, settings.unfinished, &mut scorer)?,
    };
    let contradicts = matches!((ruled, said), (Some((ruled, _)), Some((said, _))) if ruled != said);
    let start = match line.start == Position::start() {
        true => Start::Standard,
        false => Start::Fen(line.start.fen()),
    };
    let opening = if plies.is_empty() { moves } else { Vec::new() };
    let cut_plies = line.moves.len() - game.len();
    let nodes = scorer.nodes;
    let record = GameRecord { number: 0, start, opening, plies, outcome, reason, rules: settings.rules };
    Ok(Made { record, cut_plies, contradicts, nodes })
}

type End = (Outcome, Reason);

/// The game up to its end by the rules, and that end.
fn played(line: &Line, rules: RuleSet) -> Result<(Game, Option<End>), LeftOut> {
    let mut game = Game::new(line.start.clone());
    if judge::status(&game, rules).is_over() {
        return Err(LeftOut::OverAtStart);
    }
    for &mv in &line.moves {
        game.play(mv);
        let status = judge::status(&game, rules);
        if let (Some(outcome), Some(reason)) = (Outcome::from_result(status.result), status.reason) {
            return Ok((game, Some((outcome, Reason::from(reason)))));
        }
        if game.len() > MAX_GAME_PLIES {
            return Err(LeftOut::TooLong);
        }
    }
    if game.is_empty() { Err(LeftOut::NoMoves) } else { Ok((game, None)) }
}

fn said_outcome(said: Said) -> Option<End> {
    match said {
        Said::Unknown => None,
        Said::RedWins => Some((Outcome::BlackLoses, Reason::Stated)),
        Said::BlackWins => Some((Outcome::RedLoses, Reason::Stated)),
        Said::Draw => Some((Outcome::Draw, Reason::Stated)),
    }
}

fn unfinished(game: &Game, how: Unfinished, scorer: &mut Scorer<'_>) -> Result<End, LeftOut> {
    match how {
        Unfinished::Skip => Err(LeftOut::NoOutcome),
        Unfinished::Draw => Ok((Outcome::Draw, Reason::DrawAdjudication)),
        Unfinished::Search => {
            let (_, score) = scorer.search(game)?.ok_or(LeftOut::NoOutcome)?;
            let side: Color = game.position().side_to_move();
            match score.0 {
                won if won >= WON_SCORE => Ok((Outcome::loss_of(!side), Reason::Resignation)),
                lost if lost <= -WON_SCORE => Ok((Outcome::loss_of(side), Reason::Resignation)),
                even if even.abs() <= DRAWN_SCORE => Ok((Outcome::Draw, Reason::DrawAdjudication)),
                _ => Err(LeftOut::NoOutcome),
            }
        }
    }
}

/// Gives positions their scores.
struct Scorer<'a> {
    player: Option<&'a mut dyn Player>,
    limit: Option<SearchLimit>,
    nodes: u64,
    stop: &'a AtomicBool,
}

impl Scorer<'_> {
    /// Best move and score; `None` without a player.
    fn search(&mut self, game: &Game) -> Result<Option<(Option<Move>, xiangqi::Score)>, LeftOut> {
        let (Some(player), Some(limit)) = (&mut self.player, self.limit) else { return Ok(None) };
        let choice = player.search(game, limit);
        self.nodes += choice.nodes;
        match self.stop.load(Ordering::Relaxed) {
            true => Err(LeftOut::Stopped),
            false => Ok(Some((choice.best, choice.score))),
        }
    }

    /// Every ply with the score of the position before it; none without a player.
    fn plies(&mut self, start: &Position, moves: &[Move]) -> Result<Vec<PlyRecord>, LeftOut> {
        if let Some(player) = &mut self.player {
            player.new_game();
        }
        let mut game = Game::new(start.clone());
        let mut plies = Vec::new();
        for &mv in moves {
            let Some((best, score)) = self.search(&game)? else { break };
            let flags = if best == Some(mv) { PlyFlags::NONE } else { PlyFlags::NOT_BEST };
            plies.push(PlyRecord { mv, score, flags });
            game.play(mv);
        }
        Ok(plies)
    }
}
