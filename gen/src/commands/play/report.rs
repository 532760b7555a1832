//! What `play` says at its end.

use std::time::Duration;

use anyhow::Context;
use nnue_format::record::Totals;
use serde_json::json;

use crate::cli::PlayArgs;
use crate::plan::Plan;
use crate::progress::per_second;

/// What this process did.
pub(super) struct Made {
    /// Wall time.
    pub(super) elapsed: Duration,
    /// Time that the threads spent in games, all together.
    pub(super) busy: Duration,
    /// Threads.
    pub(super) threads: usize,
    /// Positions written.
    pub(super) positions: u64,
    /// Nodes searched.
    pub(super) nodes: u64,
    /// Numbers that gave no game.
    pub(super) unused: u64,
}

impl Made {
    /// The share of the threads' time in which they played, in thousandths.
    fn busy_permille(&self) -> u64 {
        let all = self.elapsed.as_micros().max(1) * self.threads.max(1) as u128;
        u64::try_from(self.busy.as_micros() * 1000 / all).unwrap_or(1000).min(1000)
    }
}

/// The result on stdout.
pub(super) fn report(
    args: &PlayArgs,
    plan: &Plan,
    totals: Totals,
    state: &str,
    made: Option<&Made>,
) -> anyhow::Result<()> {
    let out = args.out.display();
    let bytes = std::fs::metadata(&args.out).with_context(|| format!("{out}"))?.len();
    let speed = made.map(|made| per_second(made.positions, made.elapsed));
    if args.json {
        let json = json!({
            "file": args.out.to_string_lossy(),
            "state": state,
            "games": totals.games,
            "plies": totals.plies,
            "positions": totals.positions,
            "bytes": bytes,
            "reproducible": plan.is_reproducible(),
            "seconds": made.map(|made| made.elapsed.as_secs_f64()),
            "positions_per_second": speed,
            "nodes": made.map(|made| made.nodes),
            "nodes_per_second": made.map(|made| per_second(made.nodes, made.elapsed)),
            "unused_openings": made.map(|made| made.unused),
            "threads": made.map(|made| made.threads),
            "busy_permille": made.map(Made::busy_permille),
        });
        return super::super::print(&format!("{json}\n"));
    }
    let Totals { games, positions, .. } = totals;
    let mut text = format!("{out}: {state}, {games} games, {positions} positions, {bytes} bytes\n");
    if let (Some(made), Some(speed)) = (made, speed) {
        let (seconds, unused, permille) = (made.elapsed.as_secs(), made.unused, made.busy_permille());
        let nps = per_second(made.nodes, made.elapsed);
        let busy = format!("{}.{}", permille / 10, permille % 10);
        text += &format!(
            "{seconds} s, {speed} positions/s, {nps} nodes/s, threads busy {busy} %; {unused} repeated or one-sided openings left out\n"
        );
    }
    if !plan.is_reproducible() {
        text += "searched by the clock (--movetime): the games cannot be played again from the plan\n";
    }
    super::super::print(&text)
}
