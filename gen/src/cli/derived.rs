//! The arguments that verbs share which make record files from record files.

use std::path::PathBuf;

use clap::Args;

use super::RunArgs;

/// What is read, and how.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// The record files; all of one rule set.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Leave damaged parts of the inputs out (a block each at the most) and count them; without it they are refused.
    #[arg(long)]
    pub skip_damaged: bool,
    /// Replace output files that are there.
    #[arg(long)]
    pub force: bool,
    /// How it runs and reports.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Reads a share: a decimal number from 0 to 1 of at most six places, or a percentage; in millionths.
pub fn parse_share(text: &str) -> Result<u32, String> {
    let (number, places) = text.strip_suffix('%').map_or((text, 6), |number| (number.trim_end(), 4));
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let bad = || format!("{text:?} is no share: expected 0 to 1 (six places at most), or 0% to 100%");
    let digits = format!("{whole}{rest:0<places$}");
    if rest.len() > places
        || whole.len() + rest.len() == 0
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(bad());
    }
    digits.parse().ok().filter(|&share| share <= MILLION).ok_or_else(bad)
}

/// A whole, in millionths.
pub const MILLION: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        for (text, share) in [
            ("0", 0),
            ("1", MILLION),
            ("0.02", 20_000),
            (".5", 500_000),
            ("2%", 20_000),
            ("0.5 %", 5000),
            ("0.000001", 1),
            ("100%", MILLION),
        ] {
            assert_eq!(parse_share(text), Ok(share), "{text}");
        }
        for text in ["", ".", "%", "-1", "1.1", "2", "0.0000001", "101%", "x", "1e-3", "0.1.2"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
