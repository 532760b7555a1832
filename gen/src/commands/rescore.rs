//! `chuhe-gen rescore`: every scored position gets a new score.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use arena::external::{EngineSpec, Waits};
use arena::limit::Limit;
use arena::plan::PlayerSpec;
use engine::eval::embedded::DEFAULT;
use engine::eval::{EvalSource, is_none};
use nnue_format::record::{Header, Totals};
use serde_json::{Value, json};

use super::play::{load_net, stop_flag, threads};
use crate::cli::RescoreArgs;
use crate::derived::{DerivedPlan, Sources};
use crate::manifest::{self, write_whole};
use crate::plan::{PlanError, SearchLimit, net_text};
use crate::progress::{LineProgress, note, per_second};
use crate::rescore::{
    Ended, EngineScorer, Games, NoScore, Opened, Output, OwnScorer, Scored, Scorer, run as rescore_games,
};
use crate::sink::SinkError;

/// How long an engine may take to start, and to stop.
const START_WAIT: Duration = Duration::from_secs(15);
const STOP_WAIT: Duration = Duration::from_secs(2);

/// Who scores, made ready.
enum Ready {
    Own(EvalSource, [u8; 32]),
    Engine(EngineSpec),
}

/// Either scorer.
enum AnyScorer {
    Own(Box<OwnScorer>),
    Engine(Box<EngineScorer>),
}

impl Scorer for AnyScorer {
    fn begin_game(&mut self) -> Result<(), NoScore> {
        match self {
            AnyScorer::Own(scorer) => scorer.begin_game(),
            AnyScorer::Engine(scorer) => scorer.begin_game(),
        }
    }

    fn score(&mut self, game: &xiangqi::Game) -> Result<Scored, NoScore> {
        match self {
            AnyScorer::Own(scorer) => scorer.score(game),
            AnyScorer::Engine(scorer) => scorer.score(game),
        }
    }

    fn tries(&self) -> u32 {
        match self {
            AnyScorer::Own(scorer) => scorer.tries(),
            AnyScorer::Engine(scorer) => scorer.tries(),
        }
    }
}

/// Runs the verb.
pub fn run(args: &RescoreArgs) -> anyhow::Result<ExitCode> {
    let ready = ready(args)?;
    let sources = Sources::open(&args.files, args.skip_damaged)?;
    sources.refuse_output(&args.out)?;
    let plan = DerivedPlan::new("rescore", settings(args, &ready), &sources);
    let header = header_of(&plan, &ready, &sources)?;
    let mut output = match Output::open(&args.out, &header, plan.to_bytes()?, args.force)? {
        Opened::Complete(totals) => {
            report(args, totals, "already complete", &sources, None)?;
            return Ok(ExitCode::SUCCESS);
        }
        Opened::Run(output) => *output,
    };
    let threads = threads(args.threads);
    let found = output.found();
    for file in sources.files() {
        let name = file.path.display();
        file.damage.iter().for_each(|damage| note(&format!("{name}: left out: {}", damage.what)));
    }
    if !args.quiet {
        say_plan(args, &sources, threads, found);
    }
    let stop = stop_flag()?;
    let begun = Instant::now();
    let mut progress = LineProgress::new("positions", args.quiet);
    let mut games = Games::new(&sources, args.skip_damaged);
    let scorer = || new_scorer(args, &ready, &sources, &stop);
    let all = sources.totals().positions.saturating_sub(found.positions);
    let mut show = |done: u64| progress.show(done.saturating_sub(found.positions), all);
    let ended = rescore_games(&mut games, &mut output, threads, args.blend, &stop, scorer, &mut show);
    progress.finish();
    let kept = output.paths().partial.display().to_string();
    let ended = ended.with_context(|| {
        format!("stopped; finished games are kept in {kept} and its journal, the same command goes on")
    })?;
    if !ended.complete {
        bail!("interrupted: finished games are kept in {kept} and its journal; the same command goes on");
    }
    let lost = games.lost;
    let totals = output.publish(|totals, paths| -> Result<(), SinkError> {
        let value = manifest_of(&plan, &sources, lost, totals, &paths.partial, &paths.out)?;
        write_whole(&paths.manifest, &format!("{value:#}\n"))
    })?;
    report(args, totals, "complete", &sources, Some((ended, begun.elapsed())))?;
    Ok(ExitCode::SUCCESS)
}

fn ready(args: &RescoreArgs) -> anyhow::Result<Ready> {
    let Some(command) = &args.engine else {
        let (source, id) = load_net(args.net.as_deref().unwrap_or(DEFAULT))?;
        return Ok(Ready::Own(source, id));
    };
    let PlayerSpec::Engine(spec) = PlayerSpec::parse(command)? else {
        bail!(
            "--engine {command}: the command of an engine is expected; for our own search give --net FILE or --net none"
        );
    };
    let option = |option: &String| match option.split_once('=') {
        Some((name, value)) => (name.trim().to_owned(), Some(value.to_owned())),
        None => (option.trim().to_owned(), None),
    };
    let options = args.option.iter().map(option).collect();
    Ok(Ready::Engine(EngineSpec { options, protocol: args.protocol, ..spec }))
}

/// Everything besides the inputs that the new scores depend on.
fn settings(args: &RescoreArgs, ready: &Ready) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut set = |name: &str, value: String| settings.push((name.to_owned(), value));
    match ready {
        Ready::Own(_, net) => {
            set("net", net_text(net));
            set("engine signature", engine::signature().to_string());
            set("hash (MiB)", args.hash.to_string());
        }
        Ready::Engine(spec) => {
            set("engine", spec.words.join(" "));
            args.option.iter().for_each(|option| set("option", option.clone()));
        }
    }
    args.nodes.iter().for_each(|nodes| set("nodes", nodes.to_string()));
    args.depth.iter().for_each(|depth| set("depth", depth.to_string()));
    set("blend (%)", args.blend.to_string());
    settings
}

/// The header: net id and engine signature are those of who scored.
fn header_of(plan: &DerivedPlan, ready: &Ready, sources: &Sources) -> Result<Header, PlanError> {
    let mut header = plan.header(sources, 0)?;
    (header.net_id, header.engine_signature) = match ready {
        Ready::Own(_, net) => (*net, engine::signature()),
        Ready::Engine(_) => ([0; 32], 0),
    };
    Ok(header)
}

fn new_scorer(args: &RescoreArgs, ready: &Ready, sources: &Sources, stop: &Arc<AtomicBool>) -> AnyScorer {
    let stop = Arc::clone(stop);
    match ready {
        Ready::Own(source, _) => {
            let depth = args.depth.and_then(|depth| i32::try_from(depth).ok());
            let limit = SearchLimit { nodes: args.nodes, depth, ..SearchLimit::default() };
            let scorer = OwnScorer::new(args.hash, source.clone(), sources.rules(), limit, stop);
            AnyScorer::Own(Box::new(scorer))
        }
        Ready::Engine(spec) => {
            let limit = match (args.nodes, args.depth) {
                (Some(nodes), _) => Limit::Nodes(nodes),
                (None, depth) => Limit::Depth(depth.unwrap_or(1)),
            };
            let waits =
                Waits { start: START_WAIT, thought: Duration::from_secs(args.hang_timeout), stop: STOP_WAIT };
            AnyScorer::Engine(Box::new(EngineScorer::new(spec.clone(), limit, waits, stop)))
        }
    }
}

fn say_plan(args: &RescoreArgs, sources: &Sources, threads: usize, found: Totals) {
    let net = args.net.as_deref().unwrap_or(DEFAULT);
    let by = match &args.engine {
        Some(command) => command.clone(),
        None if is_none(net) => "the hand-crafted evaluation".to_owned(),
        None => net.to_owned(),
    };
    let limit = match (args.nodes, args.depth) {
        (Some(nodes), _) => format!("{nodes} nodes"),
        (None, depth) => format!("depth {}", depth.unwrap_or_default()),
    };
    let (files, positions) = (sources.files().len(), sources.totals().positions);
    note(&format!(
        "{}: {positions} positions of {files} files by {by} at {limit}, {} rules, {threads} threads",
        args.out.display(),
        sources.rules()
    ));
    if found.games > 0 {
        note(&format!("going on behind {} games, {} positions", found.games, found.positions));
    }
}

/// How the file was made, in JSON beside it.
fn manifest_of(
    plan: &DerivedPlan,
    sources: &Sources,
    lost: u64,
    totals: Totals,
    file: &Path,
    name: &Path,
) -> Result<Value, SinkError> {
    let mut manifest = manifest::of_file(totals, file, name)?;
    manifest["blocks_that_do_not_decode"] = json!(lost);
    manifest["inputs"] = sources.json();
    manifest["plan"] = plan.json();
    Ok(manifest)
}

/// The result on stdout.
fn report(
    args: &RescoreArgs,
    totals: Totals,
    state: &str,
    sources: &Sources,
    made: Option<(Ended, Duration)>,
) -> anyhow::Result<()> {
    let out = args.out.display();
    let bytes = std::fs::metadata(&args.out).with_context(|| format!("{out}"))?.len();
    if args.json {
        let json = json!({
            "file": args.out.to_string_lossy(),
            "state": state,
            "games": totals.games,
            "positions": totals.positions,
            "bytes": bytes,
            "seconds": made.map(|(_, time)| time.as_secs_f64()),
            "positions_per_second": made.map(|(ended, time)| per_second(ended.positions, time)),
            "nodes": made.map(|(ended, _)| ended.nodes),
            "damaged": sources.damaged(),
        });
        return super::print(&format!("{json}\n"));
    }
    let Totals { games, positions, .. } = totals;
    let mut text = format!("{out}: {state}, {games} games, {positions} positions, {bytes} bytes\n");
    if let Some((ended, time)) = made {
        let rate = per_second(ended.positions, time);
        text += &format!("{} s, {rate} positions/s, {} nodes\n", time.as_secs(), ended.nodes);
    }
    super::print(&text)
}
