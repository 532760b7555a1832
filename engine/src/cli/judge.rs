//! `chuhe judge`

mod explained;

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context;
use clap::Args;
use explained::Lang;
use serde_json::json;
use xiangqi::judge::explain::explain;
use xiangqi::judge::{self, DrawRule, RuleSet, Rules, Status};
use xiangqi::{Game, Move, Position};

use super::{FenOption, Show, position};

#[derive(Args)]
pub(super) struct Arguments {
    /// By which rules repetitions are judged: competition, asian, chinese, allow-chase, sky, yitian
    #[arg(long, default_value = "competition")]
    rules: String,
    /// Plies without capture that draw the game, 1 to 150, or none; the rule set's own (120) if not given
    #[arg(long, value_name = "PLIES")]
    natural_limit: Option<NaturalLimit>,
    /// What draws count as, for analysis: None, DrawAsBlackWin, DrawAsRedWin, DrawRepAsBlackWin,
    /// DrawRepAsRedWin
    #[arg(long, value_name = "RULE", default_value = "None")]
    draw_rule: DrawRule,
    /// Moves within which a threatened mate is seen, 0 to 10; only for the rules chinese
    #[arg(long, value_name = "MOVES", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..=10))]
    mate_threat_depth: u8,
    #[command(flatten)]
    fen: FenOption,
    /// The moves, in coordinates, with blanks between; may be empty
    #[arg(long, default_value = "")]
    moves: String,
    /// Say what each move did, and what that makes of each side
    #[arg(long)]
    explain: bool,
    /// The language of the explanation
    #[arg(long, value_enum, default_value_t = Lang::Both, requires = "explain")]
    lang: Lang,
    #[command(flatten)]
    show: Show,
}

/// A natural limit as it is given: a number of plies, or none.
#[derive(Clone, Copy)]
struct NaturalLimit(u16);

impl FromStr for NaturalLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<NaturalLimit, String> {
        if text == "none" {
            return Ok(NaturalLimit(Rules::NO_LIMIT));
        }
        let plies = text.parse().ok().filter(|plies| Rules::LIMITS.contains(plies));
        let (low, high) = (Rules::LIMITS.start(), Rules::LIMITS.end());
        plies.map(NaturalLimit).ok_or_else(|| format!("expected {low} to {high} plies, or none"))
    }
}

/// Plays the moves until one ends the game; the game so far and its status.
fn judged(start: Position, moves: &[Move], rules: Rules) -> anyhow::Result<(Game, Status)> {
    let mut game = Game::new(start);
    let mut status = judge::status(&game, rules);
    for (i, &mv) in moves.iter().enumerate() {
        if status.is_over() {
            break;
        }
        game.try_play(mv).with_context(|| format!("--moves: move {} of the list", i + 1))?;
        status = judge::status(&game, rules);
    }
    Ok((game, status))
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let set: RuleSet = arguments.rules.parse().context("--rules")?;
    let own: Rules = set.into();
    let rules = Rules {
        natural_limit: arguments.natural_limit.map_or(own.natural_limit, |limit| limit.0),
        draws: arguments.draw_rule,
        mate_threat_depth: arguments.mate_threat_depth,
        ..own
    };
    let start = position(&arguments.fen.fen)?;
    let mut moves = Vec::new();
    for (i, text) in arguments.moves.split_whitespace().enumerate() {
        moves.push(text.parse().with_context(|| format!("--moves: move {} of the list", i + 1))?);
    }
    let (game, status) = judged(start, &moves, rules)?;
    let conduct = |side: fn(&judge::Repetition) -> judge::Conduct| {
        status.repetition.as_ref().map(|verdict| side(verdict).to_string())
    };
    let (red, black) = (conduct(|verdict| verdict.red), conduct(|verdict| verdict.black));
    let (result, reason) = (status.result.to_string(), status.reason.map(|reason| reason.to_string()));
    let mut json =
        json!({ "result": result, "reason": reason, "red": red, "black": black, "ply": game.len() });
    let explanation = arguments.explain.then(|| explain(&game, rules));
    if let Some(explanation) = &explanation {
        json["explanation"] = explained::value(explanation, arguments.lang);
    }
    if let Some(caution) = set.caution() {
        json["definition"] = explained::switches_value(set);
        eprintln!("chuhe: {caution}");
    }
    arguments.show.print(&json, || {
        let mut text = format!("{result} after {} plies", game.len());
        if let Some(reason) = &reason {
            text += &format!(", by {reason}");
        }
        if let (Some(red), Some(black)) = (&red, &black) {
            text += &format!(" (red: {red}, black: {black})");
        }
        if let Some(explanation) = &explanation {
            text += "\n";
            text += &explained::lines(explanation, arguments.lang);
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}
