//! `chuhe-gen shuffle`: games in random order.

use std::process::ExitCode;

use crate::cli::ShuffleArgs;
use crate::derived::{Counters, DerivedPlan};
use crate::shuffle;

use super::derive;

/// Runs the verb.
pub fn run(args: &ShuffleArgs) -> anyhow::Result<ExitCode> {
    derive::run("shuffle", &args.input, |job, report| {
        let plan = DerivedPlan::new("shuffle", derive::settings(&[("seed", &args.seed)]), job.sources);
        let out = (args.out.as_path(), args.input.force);
        derive::one_file(job, report, out, (&plan, args.seed), |job, writer| {
            shuffle::shuffle(job, args.seed, args.memory, &args.out, writer)?;
            Ok(Counters::default())
        })
    })
}
