//! `chuhe-gen import`: game files of any kind into records, books and other game files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, anyhow, bail};
use engine::eval::embedded::DEFAULT;
use game_files::pgn::Notation;
use game_files::{Format, dhtmlxq, pgn, xqf};
use nnue_format::record::Header;
use serde_json::{Value, json};
use xiangqi::judge::RuleSet;

use crate::cli::ImportArgs;
use crate::import::{
    self, IMPORT_PLAN_VERSION, ImportLimit, ImportPlan, Imported, Intake, Kind, RecordRun, Settings, Summary,
    Tally, Unfinished, WholeFile,
};
use crate::manifest;
use crate::plan::{net_text, run_id};
use crate::player::EnginePlayer;
use crate::progress::LineProgress;

use super::play::{load_net, stop_flag};

/// Runs the verb.
pub fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    if let Some(kinds) = super::import_data::kinds(args)? {
        return super::import_data::run(args, &kinds);
    }
    let job = args.out.as_deref().filter(|_| !args.dry_run).map(|out| Job::new(args, out)).transpose()?;
    if job.is_none() && !args.dry_run {
        bail!("nothing to do: give --out FILE, or --dry-run to read and report only");
    }
    let format = args.format.as_deref().map(str::parse::<Format>).transpose()?;
    let mut intake = Intake::new(&args.files, format, args.game, args.quiet);
    let (report, text, summary) = match &job {
        Some(job) => {
            let tally = job.write(args, &mut intake)?;
            let summary = intake.finish();
            let text = format!("{}{}: {}", summary.text(), job.out.display(), tally.text());
            (job.report(&summary, &tally), text, summary)
        }
        // A value for every game is large: it is made where it is asked for alone.
        None if args.json => {
            let games = intake.by_ref().map(|game| import::game_json(&game)).collect();
            check_read(&intake)?;
            let summary = intake.finish();
            (import::report_json(games, &summary), summary.text(), summary)
        }
        None => {
            intake.by_ref().for_each(drop);
            check_read(&intake)?;
            let summary = intake.finish();
            (Value::Null, summary.text(), summary)
        }
    };
    super::print(&if args.json { format!("{report}\n") } else { text })?;
    Ok(if summary.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn check_read(intake: &Intake<'_>) -> anyhow::Result<()> {
    match intake.summary().files {
        0 => bail!("no file could be read as games: nothing done"),
        _ => Ok(()),
    }
}

fn interrupted() -> anyhow::Error {
    anyhow!("interrupted: nothing is published, and nothing is left behind; the same command begins anew")
}

/// What is to be written.
struct Job {
    out: PathBuf,
    kind: Kind,
    notation: Notation,
    rules: RuleSet,
    unfinished: Unfinished,
}

impl Job {
    fn new(args: &ImportArgs, out: &Path) -> anyhow::Result<Job> {
        let kind = match &args.to {
            Some(name) => Kind::named(name)
                .ok_or_else(|| anyhow!("--to {name:?}: expected one of record pgn fen lines xqf dhtmlxq"))?,
            None => Kind::by_extension(out).ok_or_else(|| {
                anyhow!(
                    "{}: the name does not say what to write; give --to record|pgn|fen|lines|xqf|dhtmlxq",
                    out.display()
                )
            })?,
        };
        let notation = match args.notation.as_str() {
            "chinese" => Notation::Chinese,
            "iccs" => Notation::Iccs,
            "wxf" => Notation::Wxf,
            other => bail!("--notation {other:?}: expected one of chinese iccs wxf"),
        };
        let default = if args.nodes.is_some() { "search" } else { "skip" };
        let unfinished = args.unfinished.as_deref().unwrap_or(default);
        let unfinished = Unfinished::named(unfinished)
            .ok_or_else(|| anyhow!("--unfinished {unfinished:?}: expected one of skip draw search"))?;
        if unfinished == Unfinished::Search && args.nodes.is_none() {
            bail!("--unfinished search needs --nodes N");
        }
        if args.nodes == Some(0) || !(1..=1 << 16).contains(&args.hash) {
            bail!("--nodes must be 1 or more, --hash 1 to 65536 (MiB)");
        }
        let rules = args.rules.parse().context("--rules")?;
        Ok(Job { out: out.to_owned(), kind, notation, rules, unfinished })
    }

    /// What was written, as JSON.
    fn report(&self, summary: &Summary, tally: &Tally) -> Value {
        let mut report = json!({ "file": self.out.to_string_lossy(), "kind": self.kind.name(), "summary": summary.json() });
        if let (Some(report), Value::Object(tally)) = (report.as_object_mut(), tally.json()) {
            report.extend(tally);
        }
        report
    }

    /// Writes the file and its manifest, whole or not at all.
    fn write(&self, args: &ImportArgs, intake: &mut Intake<'_>) -> anyhow::Result<Tally> {
        let stop = stop_flag()?;
        let (whole, mut file) = WholeFile::create(&self.out, args.force)?;
        let mut tally = Tally::default();
        let mut plan = Value::Null;
        if self.kind == Kind::Record {
            (file, plan) = self.records(args, intake, (&whole, file), &stop, &mut tally)?;
        } else {
            self.texts(args, intake, (&whole, &mut file), &stop, &mut tally)?;
        }
        check_read(intake)?;
        if intake.summary().games == 0 {
            bail!("no game was found: nothing is written");
        }
        if tally.written == 0 {
            bail!("nothing is left to be written: {}", tally.text().trim_end().replace('\n', "; "));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        self.manifest(args, &whole, intake.summary(), &tally, &plan)?;
        whole.publish(&file)?;
        Ok(tally)
    }

    /// Writes every kind but records, game by game.
    fn texts(
        &self,
        args: &ImportArgs,
        intake: &mut Intake<'_>,
        (whole, file): (&WholeFile, &mut File),
        stop: &AtomicBool,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let mut positions = import::Positions::new(args.plies, args.variations, self.rules);
        let mut move_lines = import::MoveLines::new(args.plies, args.variations);
        let mut games = 0u64;
        let mut text = |imported: Imported| {
            let tree = &imported.game.tree;
            games += 1;
            if stop.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            match self.kind {
                Kind::Fen => return Ok(positions.of(&imported, tally).into_bytes()),
                Kind::Lines => return Ok(move_lines.of(&imported, tally).into_bytes()),
                _ => tally.written += 1,
            }
            Ok(match self.kind {
                Kind::Xqf if games > 1 => Vec::new(),
                Kind::Xqf => xqf::write(tree),
                Kind::DhtmlXq if games > 1 => format!("\n{}", dhtmlxq::write(tree)).into_bytes(),
                Kind::DhtmlXq => dhtmlxq::write(tree).into_bytes(),
                _ => pgn::write_game(tree, self.notation).into_bytes(),
            })
        };
        import::write_all(whole, file, intake.map(&mut text))?;
        if self.kind == Kind::Xqf && games > 1 {
            bail!("an XQF file holds one game, {games} were read; choose one with --game N");
        }
        Ok(())
    }

    fn records(
        &self,
        args: &ImportArgs,
        intake: &mut Intake<'_>,
        output: (&WholeFile, File),
        stop: &Arc<AtomicBool>,
        tally: &mut Tally,
    ) -> anyhow::Result<(File, Value)> {
        let (source, net) = load_net(args.net.as_deref().unwrap_or(DEFAULT))?;
        let plan = self.plan(args, net)?;
        let bytes = plan.to_bytes()?;
        let run_id = run_id(&bytes);
        let engine_signature = plan.engine_signature;
        let header = Header {
            rules: self.rules,
            seed: 0,
            engine_signature,
            run_id,
            net_id: net,
            plan_len: 0,
            plan_crc: 0,
        };
        let settings =
            Settings { rules: self.rules, limit: plan.limit.map(Into::into), unfinished: self.unfinished };
        let run = RecordRun { settings, header, plan: bytes, variations: args.variations, stop };
        let player =
            || plan.limit.map(|_| EnginePlayer::new(args.hash, source.clone(), self.rules, Arc::clone(stop)));
        let mut progress = LineProgress::new("games", args.quiet);
        let written =
            import::write_records(intake, &run, output, player, tally, &mut |done| progress.count(done))?;
        progress.finish();
        let (file, _) = written.ok_or_else(interrupted)?;
        let mut value = serde_json::to_value(&plan)?;
        value["net"] = json!(net_text(&net));
        Ok((file, value))
    }

    fn plan(&self, args: &ImportArgs, net: [u8; 32]) -> anyhow::Result<ImportPlan> {
        let limit = args.nodes.map(|nodes| ImportLimit { nodes: Some(nodes), depth: None });
        Ok(ImportPlan {
            version: IMPORT_PLAN_VERSION,
            files: args.files.len() as u64,
            inputs: manifest::digest_of_all(&args.files)?,
            variations: args.variations,
            unfinished: format!("{:?}", self.unfinished).to_lowercase(),
            limit,
            net,
            engine_signature: if limit.is_some() { engine::signature() } else { 0 },
            hash_mib: args.hash,
            rules: args.rules.clone(),
        })
    }

    /// How the file was made, in JSON beside it.
    fn manifest(
        &self,
        args: &ImportArgs,
        whole: &WholeFile,
        summary: &Summary,
        tally: &Tally,
        plan: &Value,
    ) -> anyhow::Result<()> {
        let mut manifest = manifest::of_any(whole.partial(), &self.out)?;
        manifest["kind"] = json!(self.kind.name());
        manifest["inputs"] = json!(manifest::inputs(&args.files)?);
        manifest["plies"] = json!(args.plies);
        manifest["variations"] = json!(args.variations);
        manifest["notation"] = json!(self.notation.format_tag());
        manifest["plan"] = plan.clone();
        manifest["summary"] = summary.json();
        manifest["tally"] = tally.json();
        manifest::write_whole(&manifest::path_beside(&self.out), &format!("{manifest:#}\n"))?;
        Ok(())
    }
}
