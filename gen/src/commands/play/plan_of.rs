//! The command line of `play` as a plan.

use arena::openings::Book;
use xiangqi::judge::RuleSet;

use crate::cli::PlayArgs;
use crate::openings::{Starts, StartsError};
use crate::plan::{
    Adjudication, BookPlan, Count, OpeningPlan, PLAN_VERSION, Plan, PlanError, SearchLimit, Variety,
};

/// Random plies where there is no book.
const RANDOM_PLIES: (u32, u32) = (6, 9);
/// The hard limit of nodes is so many times the soft one, where none is given.
const HARD_TIMES_SOFT: u64 = 8;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum NoPlan {
    /// A setting is out of its range.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The book cannot be used.
    #[error(transparent)]
    Starts(#[from] StartsError),
}

/// The plan, checked, and its starts. `net` is the net's id, zeros for none.
pub fn plan_of(args: &PlayArgs, net: [u8; 32]) -> Result<(Plan, Starts), NoPlan> {
    let mut plan = Plan {
        version: PLAN_VERSION,
        count: count(args),
        limit: limit(args),
        seed: args.seed,
        net,
        engine_signature: engine::signature(),
        hash_mib: args.hash,
        opening: opening(args),
        variety: variety(args),
        adjudication: adjudication(args),
        rules: args.rules.clone(),
    };
    let book = book(args, plan.rule_set()?)?;
    plan.opening.book = book.as_ref().map(|book| BookPlan {
        sha256: book.sha256(),
        openings: book.len() as u64,
        plies: args.book_plies,
        wrap: args.book_wrap,
    });
    plan.check()?;
    let starts = Starts::new(&plan, book)?;
    Ok((plan, starts))
}

fn book(args: &PlayArgs, rules: RuleSet) -> Result<Option<Book>, StartsError> {
    let plies = args.book_plies.map(|plies| plies as usize);
    let read = |path: &std::path::PathBuf| Book::open(path, rules, plies);
    Ok(args.book.as_ref().map(read).transpose()?)
}

fn count(args: &PlayArgs) -> Count {
    match (args.games, args.positions) {
        _ if args.whole_book => Count::WholeBook,
        (Some(games), _) => Count::Games(games),
        (None, positions) => Count::Positions(positions.unwrap_or_default()),
    }
}

fn limit(args: &PlayArgs) -> SearchLimit {
    let hard = args.soft_nodes.map(|soft| soft.saturating_mul(HARD_TIMES_SOFT));
    SearchLimit {
        nodes: args.nodes.or(hard),
        soft_nodes: args.soft_nodes,
        depth: args.depth,
        movetime_ms: args.movetime,
    }
}

/// All but the book.
fn opening(args: &PlayArgs) -> OpeningPlan {
    let without = if args.book.is_some() { (0, 0) } else { RANDOM_PLIES };
    let (min_plies, max_plies) = args.random_plies.unwrap_or(without);
    OpeningPlan { book: None, min_plies, max_plies, balance: args.balance, balance_nodes: args.balance_nodes }
}

/// What is not used is left at its default, so that plans of the same games are the same.
fn variety(args: &PlayArgs) -> Variety {
    let mut variety = Variety::default();
    if args.multi_pv > 1 {
        variety.lines = args.multi_pv;
        (variety.margin, variety.plies) = (args.multi_pv_margin, args.multi_pv_plies);
    }
    if args.random_moves > 0 {
        (variety.random_per_mille, variety.random_plies) = (args.random_moves, args.random_moves_plies);
    }
    variety
}

const fn adjudication(args: &PlayArgs) -> Adjudication {
    Adjudication {
        resign_score: args.resign_score,
        resign_plies: args.resign_plies,
        resign_mate: args.resign_mate,
        draw_score: args.draw_score,
        draw_plies: args.draw_plies,
        draw_from: args.draw_from,
        max_plies: args.max_plies,
    }
}
