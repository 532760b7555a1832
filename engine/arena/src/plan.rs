//! A match as it was asked for, and made ready: nets and books read, players known.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::eval::{EvalSource, SourceError, backend_named, load_net};
use engine::search::{Limits, Searcher};
use serde_json::{Value, json};
use xiangqi::Game;
use xiangqi::judge::RuleSet;

use crate::external::{EngineSpec, ExternalPlayer, Waits};
use crate::game::GameSettings;
use crate::in_process::InProcessPlayer;
use crate::openings::{Balance, Book, BookError, BookOrder, Openings, RandomOpenings};
use crate::player::Player;
use crate::stats::Sprt;

/// Table of the searcher that looks whether an opening is balanced, in MiB.
const BALANCE_HASH_MIB: usize = 4;

/// Who plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerSpec {
    /// Our searcher with the hand-crafted evaluation, in this process.
    Hce,
    /// Our searcher with a net, in this process.
    Net(PathBuf),
    /// Another program.
    Engine(EngineSpec),
}

/// Where openings come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpeningPlan {
    /// A book.
    Book {
        /// The file.
        path: PathBuf,
        /// Its order.
        order: BookOrder,
        /// Lines of moves are cut to so many plies.
        plies: Option<usize>,
        /// Begin again at its end.
        wrap: bool,
    },
    /// Random plies.
    Random {
        /// How many.
        plies: u32,
        /// Nodes of the search for balance; 0 for none.
        balance_nodes: u64,
        /// The greatest score of a balanced opening, in centipawns.
        balance_cp: i32,
    },
}

impl OpeningPlan {
    /// What has to stay the same for the same openings.
    pub(crate) fn describe(&self, openings: &Openings) -> Value {
        match (self, openings) {
            (OpeningPlan::Book { order, plies, .. }, Openings::Book(book)) => {
                json!({ "book_sha256": book.digest(), "order": format!("{order:?}"), "plies": plies })
            }
            (OpeningPlan::Random { plies, balance_nodes, balance_cp }, _) => {
                json!({ "random_plies": plies, "balance_nodes": balance_nodes, "balance_cp": balance_cp })
            }
            _ => Value::Null,
        }
    }
}

/// A match as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// A and B.
    pub players: [PlayerSpec; 2],
    /// Tables of players in this process, in MiB.
    pub hash_mib: usize,
    /// Pairs to play at most.
    pub pairs: u64,
    /// Seed of all chance.
    pub seed: u64,
    /// Where games begin.
    pub openings: OpeningPlan,
    /// By what they are played.
    pub settings: GameSettings,
    /// How long we wait for engines.
    pub waits: Waits,
    /// A test that may end the match early.
    pub sprt: Option<Sprt>,
    /// Pairs played at once.
    pub concurrency: usize,
}

/// Why a match cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A command that is none.
    #[error("player {found:?}: {what}; expected hce, net:FILE or the command of an engine")]
    Player {
        /// The text.
        found: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A net that cannot be used.
    #[error("net {path}: {what}")]
    Net {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// A net that cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A book that cannot be used.
    #[error(transparent)]
    Book(#[from] BookError),
}

impl PlayerSpec {
    /// Reads `hce`, `net:FILE` (`net:embedded` for the net in the program) or a command. A command is split into words as a shell does, unless
    /// the whole of it names a file (a path with blanks needs no quotes then).
    ///
    /// # Errors
    /// When it is empty or its quotes do not close.
    pub fn parse(text: &str) -> Result<PlayerSpec, PlanError> {
        let wrong = |what| PlanError::Player { found: text.to_owned(), what };
        if text == "hce" {
            return Ok(PlayerSpec::Hce);
        }
        if let Some(path) = text.strip_prefix("net:") {
            return if path.is_empty() { Err(wrong("no file")) } else { Ok(PlayerSpec::Net(path.into())) };
        }
        let words = if Path::new(text).is_file() {
            vec![text.to_owned()]
        } else {
            shlex::split(text).ok_or_else(|| wrong("its quotes do not close"))?
        };
        if words.is_empty() {
            return Err(wrong("it is empty"));
        }
        Ok(PlayerSpec::Engine(EngineSpec { words, options: Vec::new(), protocol: None, rank_base: None }))
    }

    /// For people.
    pub fn name(&self) -> String {
        match self {
            PlayerSpec::Hce => "hce".to_owned(),
            PlayerSpec::Net(path) => {
                path.file_name().map_or_else(|| "net".to_owned(), |name| name.to_string_lossy().into_owned())
            }
            PlayerSpec::Engine(spec) => spec.words.join(" "),
        }
    }
}

/// A player made ready: its net is read once and shared.
enum Ready {
    InProcess { name: String, source: EvalSource, digest: Option<String> },
    Engine(EngineSpec),
}

/// A match made ready to be played.
pub struct Match {
    plan: Plan,
    ready: [Ready; 2],
    openings: Mutex<Openings>,
}

impl Match {
    /// Reads nets and books.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn prepare(plan: Plan) -> Result<Match, PlanError> {
        let ready = [make_ready(&plan.players[0])?, make_ready(&plan.players[1])?];
        let openings = Mutex::new(open_openings(&plan.openings, plan.settings.rules, plan.seed, plan.pairs)?);
        Ok(Match { plan, ready, openings })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What has to stay the same for a run to continue another one: all that can change a game or
    /// the result, and nothing else (not threads, not waits, not where files lie).
    pub fn description(&self) -> Value {
        let plan = &self.plan;
        let settings = &plan.settings;
        let sprt = plan.sprt.as_ref().map(|sprt| {
            let (lower, upper) = sprt.bounds();
            json!({ "elo0": sprt.elo0(), "elo1": sprt.elo1(), "lower": lower, "upper": upper,
                    "model": sprt.model().to_string() })
        });
        json!({
            "a": self.describe_player(0),
            "b": self.describe_player(1),
            "pairs": plan.pairs,
            "limit": settings.limit.to_string(),
            "margin_ms": settings.limit.is_timed().then_some(settings.margin_ms),
            "rules": settings.rules.to_string(),
            "seed": plan.seed,
            "openings": plan.openings.describe(&self.openings()),
            "adjudication": format!("{:?}", settings.adjudication),
            "sprt": sprt,
            "program": env!("CARGO_PKG_VERSION"),
        })
    }

    fn describe_player(&self, side: usize) -> Value {
        match &self.ready[side] {
            Ready::InProcess { digest: None, .. } => {
                json!({ "in_process": "hce", "hash_mib": self.plan.hash_mib })
            }
            Ready::InProcess { digest, .. } => {
                json!({ "in_process": "net", "sha256": digest, "hash_mib": self.plan.hash_mib })
            }
            Ready::Engine(spec) => json!({
                "command": spec.words,
                "options": spec.options,
                "protocol": spec.protocol.map(|protocol| protocol.name()),
                "rank_base": spec.rank_base,
            }),
        }
    }

    /// A player for one thread.
    pub(crate) fn player(&self, side: usize, halt: Arc<AtomicBool>) -> Box<dyn Player> {
        match &self.ready[side] {
            Ready::InProcess { name, source, .. } => Box::new(InProcessPlayer::new(
                name.clone(),
                source.clone(),
                self.plan.hash_mib,
                self.plan.settings.rules,
                halt,
            )),
            Ready::Engine(spec) => Box::new(ExternalPlayer::new(spec.clone(), self.plan.waits, halt)),
        }
    }

    /// The openings, shared by threads.
    pub(crate) fn openings(&self) -> MutexGuard<'_, Openings> {
        self.openings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_ready(spec: &PlayerSpec) -> Result<Ready, PlanError> {
    match spec {
        PlayerSpec::Hce => Ok(Ready::InProcess { name: spec.name(), source: EvalSource::Hce, digest: None }),
        PlayerSpec::Engine(engine) => Ok(Ready::Engine(engine.clone())),
        PlayerSpec::Net(path) => {
            let wrong = |what: String| PlanError::Net { path: path.display().to_string(), what };
            let text = path.to_str().ok_or_else(|| wrong("its path is not UTF-8".to_owned()))?;
            let loaded = load_net(text, backend_named("auto").map_err(SourceError::from)?)?;
            let loaded = loaded.ok_or_else(|| {
                wrong("it stands for no net; expected a file, or the player hce".to_owned())
            })?;
            let (source, digest) = (EvalSource::Net(loaded.net), Some(loaded.id.to_string()));
            Ok(Ready::InProcess { name: spec.name(), source, digest })
        }
    }
}

/// Opens the book, or begins with random plies.
pub(crate) fn open_openings(
    plan: &OpeningPlan,
    rules: RuleSet,
    seed: u64,
    pairs: u64,
) -> Result<Openings, PlanError> {
    match plan {
        OpeningPlan::Book { path, order, plies, wrap } => {
            let book = Book::read(path, rules, *plies, (*order, seed), (pairs, *wrap))?;
            Ok(Openings::Book(book))
        }
        &OpeningPlan::Random { plies, balance_nodes, balance_cp } => {
            let balance: Balance = match balance_nodes {
                0 => Box::new(|_| true),
                nodes => {
                    let mut searcher = Searcher::new(BALANCE_HASH_MIB, EvalSource::Hce);
                    searcher.set_rules(rules);
                    Box::new(move |game: &Game| {
                        searcher.new_game();
                        let found = searcher.search(game, &Limits::nodes(nodes), &mut |_| {});
                        found.score.0.abs() <= balance_cp
                    })
                }
            };
            Ok(Openings::Random(RandomOpenings::new(seed, plies, rules, balance)))
        }
    }
}
