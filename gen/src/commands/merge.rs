//! `chuhe-gen merge`: record files put together into one.

use std::process::ExitCode;

use crate::cli::MergeArgs;
use crate::derived::{Counters, DerivedPlan};

use super::derive;

/// Runs the verb.
pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    derive::run("merge", &args.input, |job, report| {
        let plan = DerivedPlan::new("merge", Vec::new(), job.sources);
        let out = (args.out.as_path(), args.input.force);
        derive::one_file(job, report, out, (&plan, 0), |job, writer| {
            job.each_game(|game| writer.push(game))?;
            Ok(Counters::default())
        })
    })
}
