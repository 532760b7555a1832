//! `chuhe fen`, `chuhe notation`, `chuhe judge`

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde_json::json;
use xiangqi::judge::{self, RuleSet, Status};
use xiangqi::{Game, Move, Position, notation};

use super::{CHECK_FAILED, FenOption, Show, position};

#[derive(Args)]
pub(super) struct FenArguments {
    /// The FEN, or startpos
    #[arg(allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    show: Show,
}

pub(super) fn fen(arguments: &FenArguments) -> anyhow::Result<ExitCode> {
    let parsed = match arguments.text.trim() {
        "startpos" => Ok(Position::start()),
        text => Position::from_fen(text),
    };
    let (canonical, error) = match &parsed {
        Ok(pos) => (Some(pos.fen()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let result = json!({ "ok": parsed.is_ok(), "canonical": canonical, "error": error });
    arguments.show.print(&result, || match &parsed {
        Ok(pos) => pos.to_string(),
        Err(error) => format!("no position: {error}"),
    })?;
    Ok(if parsed.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

#[derive(Args)]
pub(super) struct NotationArguments {
    #[command(flatten)]
    fen: FenOption,
    /// The move in coordinates, such as h2e2
    #[arg(long = "move", value_name = "MOVE", required_unless_present = "text", conflicts_with = "text")]
    mv: Option<String>,
    /// The move in any notation: 炮二平五, C2.5, H2-E2
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    show: Show,
}

pub(super) fn notation(arguments: &NotationArguments) -> anyhow::Result<ExitCode> {
    let pos = position(&arguments.fen.fen)?;
    let mv = match (&arguments.mv, &arguments.text) {
        (Some(text), _) => {
            let mv: Move = text.parse()?;
            if let Some(why) = pos.why_illegal(mv) {
                anyhow::bail!("{mv} is not legal in {}: {why}", pos.fen());
            }
            mv
        }
        (None, Some(text)) => notation::parse(&pos, text)?,
        (None, None) => anyhow::bail!("expected --move or --text"),
    };
    let (uci, iccs) = (notation::uci(mv), notation::iccs(mv));
    let (chinese, wxf) = (notation::chinese(&pos, mv), notation::wxf(&pos, mv));
    let result = json!({ "uci": uci, "iccs": iccs, "chinese": chinese, "wxf": wxf });
    arguments.show.print(&result, || format!("{uci}  {iccs}  {chinese}  {wxf}"))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Args)]
pub(super) struct JudgeArguments {
    /// By which rules repetitions are judged
    #[arg(long, default_value = "competition")]
    rules: String,
    #[command(flatten)]
    fen: FenOption,
    /// The moves, in coordinates, with blanks between; may be empty
    #[arg(long, default_value = "")]
    moves: String,
    #[command(flatten)]
    show: Show,
}

/// Plays the moves until one ends the game; the verdict and the ply it fell at.
fn judged(start: Position, moves: &[Move], rules: RuleSet) -> anyhow::Result<(Status, usize)> {
    let mut game = Game::new(start);
    let mut status = judge::status(&game, rules);
    for (i, &mv) in moves.iter().enumerate() {
        if status.is_over() {
            break;
        }
        game.try_play(mv).with_context(|| format!("--moves: move {} of the list", i + 1))?;
        status = judge::status(&game, rules);
    }
    Ok((status, game.len()))
}

pub(super) fn judge(arguments: &JudgeArguments) -> anyhow::Result<ExitCode> {
    let rules: RuleSet = arguments.rules.parse().context("--rules")?;
    let start = position(&arguments.fen.fen)?;
    let mut moves = Vec::new();
    for (i, text) in arguments.moves.split_whitespace().enumerate() {
        moves.push(text.parse().with_context(|| format!("--moves: move {} of the list", i + 1))?);
    }
    let (status, ply) = judged(start, &moves, rules)?;
    let conduct = |side: fn(&judge::Repetition) -> judge::Conduct| {
        status.repetition.as_ref().map(|verdict| side(verdict).to_string())
    };
    let (red, black) = (conduct(|verdict| verdict.red), conduct(|verdict| verdict.black));
    let (result, reason) = (status.result.to_string(), status.reason.map(|reason| reason.to_string()));
    let json = json!({ "result": result, "reason": reason, "red": red, "black": black, "ply": ply });
    arguments.show.print(&json, || {
        let mut text = format!("{result} after {ply} plies");
        if let Some(reason) = &reason {
            text += &format!(", by {reason}");
        }
        if let (Some(red), Some(black)) = (&red, &black) {
            text += &format!(" (red: {red}, black: {black})");
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}
