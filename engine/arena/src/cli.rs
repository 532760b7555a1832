//! The command line of `chuhe-match`: words into a plan.

mod spsa;

use std::path::PathBuf;
use std::time::Duration;

use arena::adjudicate::{Adjudication, DrawRule, WinRule};
use arena::external::{EngineSpec, Waits};
use arena::game::GameSettings;
use arena::limit::{Limit, TimeControl};
use arena::openings::BookOrder;
use arena::plan::{OpeningPlan, Plan, PlayerSpec};
use arena::protocol::Protocol;
use arena::runner::Outputs;
use arena::stats::{Counts, Model, Sprt};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use xiangqi::judge::RuleSet;

pub(crate) use spsa::SpsaArgs;

/// Matches between engines or nets, and what their results say.
#[derive(Debug, Parser)]
#[command(name = "chuhe-match", version, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play pairs of games between A and B, colours swapped, judged by our own rules
    Run(Box<RunArgs>),
    /// Elo, nElo, LOS and SPRT of counts
    Stats(StatsArgs),
    /// Tune numbers of an engine by games against itself (SPSA)
    Spsa(Box<SpsaArgs>),
}

/// A sequential test.
#[derive(Debug, Args)]
pub(crate) struct SprtArgs {
    /// Elo under H0, in the model's unit
    #[arg(long, allow_negative_numbers = true, requires = "elo1")]
    elo0: Option<f64>,
    /// Elo under H1
    #[arg(long, allow_negative_numbers = true, requires = "elo0")]
    elo1: Option<f64>,
    /// Probability of accepting H1 where H0 is true
    #[arg(long, default_value_t = 0.05)]
    alpha: f64,
    /// Probability of accepting H0 where H1 is true
    #[arg(long, default_value_t = 0.05)]
    beta: f64,
    /// Unit of elo0 and elo1: normalized or logistic
    #[arg(long, default_value = "normalized")]
    model: Model,
}

impl SprtArgs {
    pub(crate) fn sprt(&self) -> anyhow::Result<Option<Sprt>> {
        match (self.elo0, self.elo1) {
            (Some(elo0), Some(elo1)) => Ok(Some(Sprt::new(elo0, elo1, self.alpha, self.beta, self.model)?)),
            _ => Ok(None),
        }
    }
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("counts").required(true)))]
pub(crate) struct StatsArgs {
    /// Pairs by score, seen from the new engine: LL,LD,DD_WL,WD,WW
    #[arg(long, group = "counts")]
    pentanomial: Option<String>,
    /// Games by score: L,D,W
    #[arg(long, group = "counts")]
    trinomial: Option<String>,
    #[command(flatten)]
    pub(crate) sprt: SprtArgs,
    /// JSON alone on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

impl StatsArgs {
    pub(crate) fn counts(&self) -> anyhow::Result<Counts> {
        Ok(match (&self.pentanomial, &self.trinomial) {
            (Some(text), _) => Counts::parse_pentanomial(text)?,
            (None, text) => Counts::parse_trinomial(text.as_deref().unwrap_or_default())?,
        })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    Random,
    Sequential,
}

/// By what games are played: the same for matches and for tuning.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("limit").required(true)))]
pub(crate) struct GameArgs {
    /// Nodes a move
    #[arg(long, group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth of each move, in plies
    #[arg(long, group = "limit", value_parser = clap::value_parser!(u32).range(1..=200))]
    depth: Option<u32>,
    /// Milliseconds a move
    #[arg(long, group = "limit", value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Clock: [MOVES/]BASE[+INCREMENT] in seconds, such as 10+0.1
    #[arg(long, group = "limit")]
    tc: Option<TimeControl>,
    /// How late a move may be before it loses, in ms
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    margin: u64,
    /// Rule set that judges
    #[arg(long, default_value = "competition")]
    rules: RuleSet,

    /// Openings: FEN or EPD lines, lines of moves, or a PGN, XQF, DhtmlXQ or CCBridge file
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Order of the book
    #[arg(long, value_enum, default_value = "random")]
    book_order: Order,
    /// Play so many plies of a book's games and lines of moves
    #[arg(long, default_value_t = 16)]
    book_plies: usize,
    /// Begin the book again at its end
    #[arg(long)]
    book_wrap: bool,
    /// Without a book: random plies from the start position
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100))]
    random_plies: u32,
    /// Random openings keep within this score, in centipawns
    #[arg(long, default_value_t = 150, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=32_000))]
    balance: i32,
    /// Nodes of the search that gives the score; 0 takes any opening
    #[arg(long, default_value_t = 1000)]
    balance_nodes: u64,
    /// Seed of openings and book order
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Adjudicate a win when both players say so, by this score in centipawns
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(i32).range(1..=32_000))]
    win_score: Option<i32>,
    /// … for so many moves of each
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    win_moves: u32,
    /// Adjudicate a draw when both players' scores are within this, in centipawns
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=32_000))]
    draw_score: Option<i32>,
    /// … for so many moves of each
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    draw_moves: u32,
    /// … and not before this ply
    #[arg(long, default_value_t = 80)]
    draw_from_ply: usize,

    /// Pairs played at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// Seconds for an engine to start, and for each readyok
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=3600))]
    start_timeout: u64,
    /// Seconds for a move under --nodes or --depth, after which an engine hangs
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    hang_timeout: u64,
    /// Seconds for an answer to stop
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    stop_timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The new player: hce, net:FILE, or the command of a UCI or UCCI engine
    #[arg(long, value_name = "PLAYER")]
    a: String,
    /// The old player
    #[arg(long, value_name = "PLAYER")]
    b: String,
    /// An option of A (a button without =); may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    option_a: Vec<String>,
    /// An option of B
    #[arg(long, value_name = "NAME=VALUE")]
    option_b: Vec<String>,
    /// Protocol of A, uci or ucci; both are tried otherwise
    #[arg(long)]
    protocol_a: Option<Protocol>,
    /// Protocol of B
    #[arg(long)]
    protocol_b: Option<Protocol>,
    /// Number of A's first rank in UCI moves; found out otherwise (by First Rank; else UCI_Variant means 1)
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=1))]
    rank_base_a: Option<u8>,
    /// Number of B's first rank
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=1))]
    rank_base_b: Option<u8>,
    /// Table of hce and net: players, in MiB
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65536))]
    hash: u32,

    /// Pairs to play at most
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pairs: u64,
    #[command(flatten)]
    games: GameArgs,
    #[command(flatten)]
    pub(crate) sprt: SprtArgs,
    /// Journal of finished pairs: the same command with it continues the match
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Games as PGN, when the match is done
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// JSON alone on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

impl RunArgs {
    pub(crate) fn outputs(&self) -> Outputs {
        Outputs { journal: self.journal.clone(), pgn: self.pgn.clone() }
    }

    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let a = player(&self.a, &self.option_a, self.protocol_a, self.rank_base_a)?;
        let b = player(&self.b, &self.option_b, self.protocol_b, self.rank_base_b)?;
        Ok(Plan {
            players: [a, b],
            hash_mib: self.hash as usize,
            pairs: self.pairs,
            seed: self.games.seed,
            openings: self.games.openings(),
            settings: self.games.settings()?,
            waits: self.games.waits(),
            sprt: self.sprt.sprt()?,
            concurrency: usize::from(self.games.concurrency),
        })
    }
}

impl GameArgs {
    fn settings(&self) -> anyhow::Result<GameSettings> {
        Ok(GameSettings {
            rules: self.rules,
            limit: self.limit()?,
            margin_ms: self.margin,
            adjudication: self.adjudication(),
        })
    }

    fn waits(&self) -> Waits {
        Waits {
            start: Duration::from_secs(self.start_timeout),
            thought: Duration::from_secs(self.hang_timeout),
            stop: Duration::from_secs(self.stop_timeout),
        }
    }

    fn limit(&self) -> anyhow::Result<Limit> {
        let limit = match (self.nodes, self.depth, self.movetime, self.tc) {
            (Some(nodes), ..) => Some(Limit::Nodes(nodes)),
            (_, Some(depth), ..) => Some(Limit::Depth(depth)),
            (_, _, Some(ms), _) => Some(Limit::MoveTime(ms)),
            (.., tc) => tc.map(Limit::Clock),
        };
        limit.ok_or_else(|| anyhow::anyhow!("one of --nodes, --depth, --movetime and --tc is needed"))
    }

    fn openings(&self) -> OpeningPlan {
        match &self.book {
            Some(path) => OpeningPlan::Book {
                path: path.clone(),
                order: match self.book_order {
                    Order::Random => BookOrder::Random,
                    Order::Sequential => BookOrder::Sequential,
                },
                plies: Some(self.book_plies),
                wrap: self.book_wrap,
            },
            None => OpeningPlan::Random {
                plies: self.random_plies,
                balance_nodes: self.balance_nodes,
                balance_cp: self.balance,
            },
        }
    }

    fn adjudication(&self) -> Adjudication {
        Adjudication {
            win: self.win_score.map(|score| WinRule { score, moves: self.win_moves as usize }),
            draw: self.draw_score.map(|score| DrawRule {
                score,
                moves: self.draw_moves as usize,
                from_ply: self.draw_from_ply,
            }),
        }
    }
}

fn player(
    text: &str,
    options: &[String],
    protocol: Option<Protocol>,
    rank_base: Option<u8>,
) -> anyhow::Result<PlayerSpec> {
    let spec = PlayerSpec::parse(text)?;
    let options: Vec<(String, Option<String>)> = options
        .iter()
        .map(|option| match option.split_once('=') {
            Some((name, value)) => (name.trim().to_owned(), Some(value.to_owned())),
            None => (option.trim().to_owned(), None),
        })
        .collect();
    match spec {
        PlayerSpec::Engine(engine) => {
            Ok(PlayerSpec::Engine(EngineSpec { options, protocol, rank_base, ..engine }))
        }
        _ if !options.is_empty() || protocol.is_some() || rank_base.is_some() => {
            anyhow::bail!(
                "player {text:?} plays in this process: it takes no options, protocol or rank base (but --hash)"
            )
        }
        spec => Ok(spec),
    }
}
