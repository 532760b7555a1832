//! `chuhe fen`, `chuhe notation`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use xiangqi::{Move, Position, notation};

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
