//! Solves endgames of few pieces and takes cases for `tests/data/endgames.json` from them.
//!
//! ```text
//! cargo run --release -p engine --example endgames -- KR-KAABB KPP-KAA … [--cases 6] [--seed 1]
//! ```
//! With `--search NODES` nothing is solved: random positions are searched by so many nodes, and those in which a mate is found are
//! won cases; for materials whose tables would not fit.
//!
//! For each material a line on stderr: positions, how many of the quiet ones with Red to move are won, the longest mate; and as
//! many won and drawn cases as asked for on stdout, one JSON object a line. A quiet position has no check and no capture for
//! either side. A won case is at least `--least` plies from mate, so that it is not found by looking ahead a little.

#[path = "../tests/endgame_tables/mod.rs"]
mod endgame_tables;

use std::process::ExitCode;
use std::rc::Rc;

use endgame_tables::{Material, Solver, Table, is_quiet, random_position, swapped};
use engine::eval::EvalSource;
use engine::examine::mates::ends_in_mate;
use engine::search::{Limits, Searcher};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use xiangqi::Game;

/// A verdict with a smaller share of a material's quiet positions than this is an exception, not a case.
const LEAST_SHARE: f64 = 0.02;
/// So many positions are searched for each case that is wanted, at most.
const SEARCHES_PER_CASE: usize = 20;
/// Size of the searches' table, in MiB.
const HASH_MIB: usize = 64;

struct Plan {
    materials: Vec<String>,
    cases: usize,
    least: u8,
    seed: u64,
    /// Nodes of a search; `None` where materials are solved.
    search: Option<u64>,
}

fn main() -> ExitCode {
    match plan().and_then(|plan| run(&plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("endgames: {error}");
            ExitCode::from(2)
        }
    }
}

fn plan() -> Result<Plan, String> {
    let mut plan = Plan { materials: Vec::new(), cases: 6, least: 9, seed: 1, search: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: a value is missing"));
        match word.as_str() {
            "--cases" => plan.cases = value()?.parse().map_err(|error| format!("--cases: {error}"))?,
            "--least" => plan.least = value()?.parse().map_err(|error| format!("--least: {error}"))?,
            "--seed" => plan.seed = value()?.parse().map_err(|error| format!("--seed: {error}"))?,
            "--search" => plan.search = Some(value()?.parse().map_err(|error| format!("--search: {error}"))?),
            _ => plan.materials.push(word),
        }
    }
    Ok(plan)
}

fn run(plan: &Plan) -> Result<(), String> {
    let mut solver = Solver::default();
    for name in &plan.materials {
        let (red, black) = name.split_once('-').ok_or(format!("{name:?}: expected as in KPP-KAA"))?;
        let material = Material::parse(red, black)?;
        if let Some(nodes) = plan.search {
            by_search(name, &material, nodes, plan);
            continue;
        }
        let table = solver.solve(&material);
        // Where Black has what wins, too, a drawn position must not be Black's.
        let other = material.swapped().red_attacks().then(|| solver.solve(&material.swapped()));
        report(name, &table, other.as_ref(), plan);
    }
    Ok(())
}

fn report(name: &str, table: &Rc<Table>, other: Option<&Rc<Table>>, plan: &Plan) {
    let (mut won, mut drawn) = (Vec::new(), Vec::new());
    let mut lost = 0_usize;
    for number in (0..table.len()).step_by(2) {
        let Some(pos) = table.position(number).filter(is_quiet) else { continue };
        if table.plies_to_mate(&pos).is_some() {
            won.push(number);
        } else if other.is_some_and(|other| other.plies_to_mate(&swapped(&pos)).is_some()) {
            lost += 1;
        } else {
            drawn.push(number);
        }
    }
    let quiet = won.len() + drawn.len() + lost;
    let share = |count: usize| count as f64 / quiet.max(1) as f64;
    eprintln!(
        "{name}: {quiet} quiet positions with Red to move: {:.2} % won, {:.2} % lost; longest mate {} plies",
        100.0 * share(won.len()),
        100.0 * share(lost),
        table.longest()
    );
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    for (verdict, numbers) in [("win", &won), ("draw", &drawn)] {
        if share(numbers.len()) < LEAST_SHARE {
            continue;
        }
        let (mut taken, mut tries) = (0, 0);
        while taken < plan.cases && tries < 10_000 {
            tries += 1;
            let number = numbers[(rng.next_u64() % numbers.len() as u64) as usize];
            let Some(pos) = table.position(number) else { continue };
            let plies = table.plies_to_mate(&pos);
            if plies.is_some_and(|plies| plies < plan.least) {
                continue;
            }
            taken += 1;
            let id = format!("{name}-{verdict}-{taken}");
            let case = json!({
                "id": id, "material": name, "fen": pos.fen(), "verdict": verdict, "plies": plies, "proof": "table",
            });
            println!("{case}");
        }
    }
}

/// Random quiet positions in which a search finds a mate whose line can be played to its end.
fn by_search(name: &str, material: &Material, nodes: u64, plan: &Plan) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let mut searcher = Searcher::new(HASH_MIB, EvalSource::Hce);
    let (mut taken, mut searched) = (0, 0);
    while taken < plan.cases && searched < SEARCHES_PER_CASE * plan.cases {
        let Some(pos) = random_position(material, || rng.next_u64()).filter(is_quiet) else { continue };
        searched += 1;
        searcher.new_game();
        let game = Game::new(pos.clone());
        let limits = Limits { stop_at_mate: true, ..Limits::nodes(nodes) };
        let found = searcher.search(&game, &limits, &mut |_| {});
        let plies = found.score.mate_plies().filter(|&plies| plies >= i32::from(plan.least));
        let Some(plies) = plies.filter(|_| ends_in_mate(&game, &found.pv, found.score)) else { continue };
        taken += 1;
        let id = format!("{name}-win-{taken}");
        let case = json!({
            "id": id, "material": name, "fen": pos.fen(), "verdict": "win", "plies": plies, "proof": "search",
        });
        println!("{case}");
    }
    eprintln!("{name}: {taken} mates in {searched} searches of {nodes} nodes");
}
