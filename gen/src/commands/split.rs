//! `chuhe-gen split`: record files into several.

use std::path::Path;
use std::process::ExitCode;

use nnue_format::record::GameRecord;

use crate::cli::SplitArgs;
use crate::derived::{
    BlockPlace, Counters, DerivedError, DerivedPlan, DerivedWriter, Job, Opened, Report, Sources, WriteMode,
};
use crate::split::{by_games, by_parts, is_validation, part_name};

use super::derive::{self, settings};

/// Runs the verb.
pub fn run(args: &SplitArgs) -> anyhow::Result<ExitCode> {
    derive::run("split", &args.input, |job, report| {
        let all = job.sources.totals().games;
        match (args.games, args.parts, args.validation, &args.validation_out) {
            (Some(games), ..) => in_order(args, job, report, ("games", games), &by_games(all, games)?),
            (_, Some(parts), ..) => in_order(args, job, report, ("parts", parts), &by_parts(all, parts)?),
            (_, _, Some(share), Some(out)) => validation(args, (share, out), job, report),
            // The command line asks for one of them.
            _ => Ok(()),
        }
    })
}

/// A file being written, or one that was there already.
type Open = Option<Box<DerivedWriter>>;

fn open(
    out: &Path,
    force: bool,
    (plan, seed): (&DerivedPlan, u64),
    sources: &Sources,
    report: &mut Report,
) -> Result<Open, DerivedError> {
    let mode = WriteMode { resume: false, force };
    match DerivedWriter::open(out, plan, sources, seed, mode)? {
        Opened::Run(writer) => Ok(Some(writer)),
        Opened::Complete(totals) => report.output(out, totals, true).map(|()| None),
    }
}

fn close(open: Open, out: &Path, sources: &Sources, report: &mut Report) -> Result<(), DerivedError> {
    let Some(writer) = open else { return Ok(()) };
    let totals = writer.publish(&Counters::default().json(), &sources.json())?;
    report.output(out, totals, false)
}

/// Files one after the other, each with its number of games. Each is published as soon as it is whole.
fn in_order(
    args: &SplitArgs,
    job: &mut Job<'_>,
    report: &mut Report,
    (name, value): (&str, u64),
    sizes: &[u64],
) -> Result<(), DerivedError> {
    let sources = job.sources;
    let name_of = |part: usize| part_name(&args.out, part as u64);
    let begin = |part: usize, report: &mut Report| {
        let of_all = format!("{} of {}", part + 1, sizes.len());
        let plan = DerivedPlan::new("split", settings(&[(name, &value), ("part", &of_all)]), sources);
        open(&name_of(part), args.input.force, (&plan, 0), sources, report)
    };
    let (mut part, mut games) = (0, 0);
    let mut writer = begin(part, report)?;
    job.each_game(|game| {
        if games == sizes[part] && part + 1 < sizes.len() {
            close(writer.take(), &name_of(part), sources, report)?;
            (part, games) = (part + 1, 0);
            writer = begin(part, report)?;
        }
        games += 1;
        writer.as_mut().map_or(Ok(()), |writer| writer.push(game))
    })?;
    close(writer, &name_of(part), sources, report)?;
    report.count(Counters(vec![("blocks_that_do_not_decode", job.lost)]));
    Ok(())
}

/// Two files at once.
fn validation(
    args: &SplitArgs,
    (share, validation_out): (u32, &Path),
    job: &mut Job<'_>,
    report: &mut Report,
) -> Result<(), DerivedError> {
    let plan = |side: &str| {
        let all = settings(&[("validation_millionths", &share), ("seed", &args.seed), ("side", &side)]);
        DerivedPlan::new("split", all, job.sources)
    };
    let (training_plan, validation_plan) = (plan("training"), plan("validation"));
    let (force, sources) = (args.input.force, job.sources);
    let mut training = open(&args.out, force, (&training_plan, args.seed), sources, report)?;
    let mut validation = open(validation_out, force, (&validation_plan, args.seed), sources, report)?;
    if training.is_none() && validation.is_none() {
        return Ok(());
    }
    let decide = |place: &BlockPlace, games: Vec<GameRecord>| {
        let one = |game: GameRecord| match is_validation(&game, args.seed, share) {
            Ok(side) => Ok((side, game)),
            Err(source) => Err(DerivedError::Game {
                path: sources.files()[place.file].path.clone(),
                offset: place.offset,
                number: game.number,
                source,
            }),
        };
        games.into_iter().map(one).collect::<Result<Vec<_>, _>>()
    };
    job.pass(decide, |games| {
        games.into_iter().try_for_each(|(is_validation, game)| {
            let side = if is_validation { &mut validation } else { &mut training };
            side.as_mut().map_or(Ok(()), |writer| writer.push(game))
        })
    })?;
    close(training, &args.out, sources, report)?;
    close(validation, validation_out, sources, report)?;
    report.count(Counters(vec![("blocks_that_do_not_decode", job.lost)]));
    Ok(())
}
