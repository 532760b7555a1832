//! `chuhe-gen dedup`: every game, and every position, once.

use std::process::ExitCode;

use crate::cli::{DedupArgs, Once};
use crate::dedup::{self, Dedup};
use crate::derived::DerivedPlan;

use super::derive;

/// Runs the verb.
pub fn run(args: &DedupArgs) -> anyhow::Result<ExitCode> {
    let (by, games, positions) = match args.by {
        Once::Games => ("games", true, false),
        Once::Positions => ("positions", false, true),
        Once::Both => ("both", true, true),
    };
    let dedup = Dedup { games, positions, mirror: args.mirror, memory_mib: args.memory };
    derive::run("dedup", &args.input, |job, report| {
        let settings = derive::settings(&[("by", &by), ("mirror", &args.mirror)]);
        let plan = DerivedPlan::new("dedup", settings, job.sources);
        let out = (args.out.as_path(), args.input.force);
        derive::one_file(job, report, out, (&plan, 0), |job, writer| {
            dedup::run(job, dedup, &args.out, writer)
        })
    })
}
