//! `chuhe-gen filter`: marks positions as not for training and leaves out games.

use std::process::ExitCode;

use nnue_format::record::PositionFilter;

use crate::cli::FilterArgs;
use crate::derived::DerivedPlan;
use crate::filter::{self, Filter};

use super::derive;

/// Runs the verb.
pub fn run(args: &FilterArgs) -> anyhow::Result<ExitCode> {
    let filter = filter_of(args);
    derive::run("filter", &args.input, |job, report| {
        let plan = DerivedPlan::new("filter", settings(args), job.sources);
        let out = (args.out.as_path(), args.input.force);
        derive::one_file(job, report, out, (&plan, args.seed), |job, writer| {
            filter::run(job, &filter, writer)
        })
    })
}

fn filter_of(args: &FilterArgs) -> Filter {
    Filter {
        conditions: PositionFilter {
            marked: true,
            early_plies: args.early_plies,
            mates: args.mates,
            max_score: args.max_score.unwrap_or_default(),
            not_best: args.not_best,
            captures: args.captures,
            in_check: args.in_check,
        },
        drop_marks: args.drop_marks,
        repetitions: args.repetitions,
        keep: args.keep,
        seed: args.seed,
        drop_outcomes: args.drop_outcomes.clone(),
        drop_reasons: args.drop_reasons.clone(),
        min_plies: args.min_plies,
        max_plies: args.max_plies.unwrap_or(usize::MAX),
        drop_empty: args.drop_empty,
    }
}

/// The settings that are not at their default, in the order of the help.
fn settings(args: &FilterArgs) -> Vec<(String, String)> {
    let words = |words: Vec<&'static str>| words.join(",");
    let all = [
        ("drop_marks", args.drop_marks.to_string(), "false"),
        ("early_plies", args.early_plies.to_string(), "0"),
        ("mates", args.mates.to_string(), "false"),
        ("max_score", args.max_score.unwrap_or_default().to_string(), "0"),
        ("not_best", args.not_best.to_string(), "false"),
        ("captures", args.captures.to_string(), "false"),
        ("in_check", args.in_check.to_string(), "false"),
        ("repetitions", args.repetitions.to_string(), "false"),
        ("keep_millionths", args.keep.map_or(String::new(), |share| share.to_string()), ""),
        ("seed", args.keep.map_or(String::new(), |_| args.seed.to_string()), ""),
        ("drop_outcomes", words(args.drop_outcomes.iter().map(|outcome| outcome.word()).collect()), ""),
        ("drop_reasons", words(args.drop_reasons.iter().map(|reason| reason.word()).collect()), ""),
        ("min_plies", args.min_plies.to_string(), "0"),
        ("max_plies", args.max_plies.map_or(String::new(), |plies| plies.to_string()), ""),
        ("drop_empty", args.drop_empty.to_string(), "false"),
    ];
    let changed = all.into_iter().filter(|(_, value, default)| value != default);
    changed.map(|(name, value, _)| (name.to_owned(), value)).collect()
}
