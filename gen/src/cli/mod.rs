//! The command line of `chuhe-gen`: the verbs here, each verb's arguments in a file of its own.

mod bench;
pub mod derived;
mod export;
mod file;
mod filter;
mod import;
mod loop_;
mod merge;
mod play;
mod rescore;
mod run;
mod shuffle;
mod stats;
mod validate;

use clap::{Parser, Subcommand};

pub use bench::BenchArgs;
pub use derived::InputArgs;
pub use export::ExportArgs;
pub use file::FileArgs;
pub use filter::FilterArgs;
pub use import::ImportArgs;
pub use loop_::LoopArgs;
pub use merge::{MergeArgs, SplitArgs};
pub use play::PlayArgs;
pub use rescore::RescoreArgs;
pub use run::RunArgs;
pub use shuffle::{DedupArgs, Once, ShuffleArgs};
pub use stats::StatsArgs;
pub use validate::ValidateArgs;

/// Self-play and record files for training xiangqi nets.
///
/// Exit codes: 0 done, 1 the check failed, 2 could not run.
#[derive(Debug, Parser)]
#[command(name = "chuhe-gen", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play games against oneself with full search and record them.
    ///
    /// The file is written as FILE.partial and renamed when it is complete. The same command goes on with an
    /// interrupted run, and says "already complete" for a finished one. Ctrl-C keeps all whole games.
    Play(PlayArgs),
    /// Measure how much of the time of self-play is search: some games as `play` has them, and their searches alone.
    Bench(BenchArgs),
    /// Write record files as JSON lines of games, or their positions as .plain, CSV or FENs.
    ///
    /// docs/exchange.md has the formats. Positions marked as not for training are left out. The output is published
    /// whole or not at all. Memory: a block of games for each core, whatever the files hold.
    Export(ExportArgs),
    /// Read game files that people have (PGN, XQF, DhtmlXQ, CCBridge, FEN and EPD lists) and write records, opening
    /// books or other game files; or data that programs exchange, and write records.
    ///
    /// Formats and encodings are found from the content. A broken game is read up to its break, and the exit code is
    /// 1 then. The output is published whole or not at all; Ctrl-C leaves nothing behind. Data are JSON lines by export,
    /// .plain text, CSV and the .bin of variant-nnue-tools (docs/exchange.md): read in bounded memory, positions that
    /// follow one another joined into games.
    Import(ImportArgs),
    /// Generations without a hand on them: self-play, training, export, a match against the net before, and so on.
    ///
    /// Everything of a loop is in the recipe's folder, with a journal and a page that shows the ladder. The same command
    /// goes on with a loop that was interrupted or killed. Exit code 1: a check failed, or a net did and the recipe
    /// says to stop then.
    Loop(LoopArgs),
    /// Give every scored position of recorded games a new score: by our own search, or by a UCI or UCCI engine.
    ///
    /// Games, moves and outcomes stay. The mark of moves that are not the search's best is set anew. With our own search at
    /// the settings of the games (limit, net, table) their scores come out again. An engine's centipawns are written
    /// as they are, within ±20000, and its mates in moves as mates in plies. The same command goes on with an
    /// interrupted run; the file is the same whatever the number of threads.
    Rescore(RescoreArgs),
    /// Show what a record file holds.
    Inspect(FileArgs),
    /// Check a record file: every byte, every move, every outcome.
    ///
    /// The quick form of `validate`, which also holds the scores, adjudications, counts and manifest against each other
    /// and can play games again.
    Verify(FileArgs),
    /// Check record files in every way there is.
    ///
    /// What `verify` does (every byte, every move legal, every outcome the judge's); scores within their ranges and not
    /// against the game's own end; adjudications as the plan's limits give them from the recorded scores; header, plan,
    /// footer, index and manifest against what is there; and on request games played again (--replay), which must come
    /// out the same, and positions searched again (--search), whose differences are told. Faults are listed with file,
    /// byte, game and ply, and the exit code is 1 then. Memory does not grow with the files but for 50 bytes a block.
    Validate(ValidateArgs),
    /// Put record files together, in order, into one.
    ///
    /// Like all verbs that make record files from record files: games are numbered anew from 0; every byte of the inputs is checked;
    /// the output is published whole with a manifest, or not at all; the same inputs and settings give the same bytes.
    Merge(MergeArgs),
    /// Split the games of record files into several, or keep a share of them apart for validation.
    Split(SplitArgs),
    /// Put the games of record files in random order.
    Shuffle(ShuffleArgs),
    /// Leave out games that are there already, and mark positions that are, as not for training.
    Dedup(DedupArgs),
    /// Mark positions as not for training, and leave out games.
    ///
    /// Marked positions stay in the file, for the moves behind them need them; the trainer leaves them out. A position is counted under
    /// the first condition that takes it, in the order of the options below.
    Filter(FilterArgs),
    /// Tell what record files hold, in numbers and plots.
    ///
    /// Sizes and entropies, outcomes, lengths, scores, material, kings, moves, how different the games are, and which
    /// score wins how often. One pass on all cores in under 150 MB, however large the files are: games and positions
    /// that come again are counted exactly up to a million different ones, beyond that estimated, and labelled so.
    /// Damaged blocks are left out and reported with their place, and the exit code is 1 then.
    Stats(StatsArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
