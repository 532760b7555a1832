//! What a search finds, in UCCI's words.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use xiangqi::{Move, PieceKind, Score};

use crate::eval::hce::EXCHANGE_VALUE;
use crate::protocol::running::Voice;
use crate::protocol::{FirstRank, Output};
use crate::search::tt::{Bound, Entry};
use crate::search::{Info, Line, ScoreBound, SearchResult};
use crate::uci::format::rule_note;

/// A draw is agreed to where the engine's own score (in the search's centipawns) is not above this: about half of
/// having the move.
const DRAW_MOST: i32 = 10;
/// UCCI counts a minor piece as 100.
const MINOR_PIECE: i32 = EXCHANGE_VALUE[PieceKind::Knight.index()];

/// A score as UCCI shows it: a number, a minor piece being 100. Mates and wins by rule stay as they are: 32000 and
/// 31000 less the plies to them, so that nothing is mistaken for them.
pub(super) fn score(score: Score) -> i32 {
    if score.is_decided() { score.0 } else { score.0 * 100 / MINOR_PIECE }
}

/// `pophash [bestmove M] [lowerbound V depth D] [upperbound V depth D]`
pub(super) fn pop_hash(entry: Option<&Entry>) -> String {
    let mut text = "pophash".to_owned();
    let Some(entry) = entry else { return text };
    if let Some(mv) = entry.mv {
        text += &format!(" bestmove {mv}");
    }
    let (value, depth) = (score(Score(entry.score)), entry.depth.max(0));
    if matches!(entry.bound, Bound::Lower | Bound::Exact) {
        text += &format!(" lowerbound {value} depth {depth}");
    }
    if matches!(entry.bound, Bound::Upper | Bound::Exact) {
        text += &format!(" upperbound {value} depth {depth}");
    }
    text
}

/// How a search is shown, as things were when it began.
pub(super) struct UcciVoice {
    out: Output,
    /// The opponent offers a draw; `ponderhit draw` may set it late.
    draw_offered: Arc<AtomicBool>,
    may_resign: bool,
    several_lines: bool,
    start: Instant,
    /// A win by rule has been explained.
    explained: bool,
    /// The first move of the best line last shown.
    shown: Option<Move>,
}

impl UcciVoice {
    pub(super) fn new(
        out: Output,
        draw_offered: Arc<AtomicBool>,
        may_resign: bool,
        several_lines: bool,
    ) -> UcciVoice {
        let start = Instant::now();
        UcciVoice { out, draw_offered, may_resign, several_lines, start, explained: false, shown: None }
    }

    fn tell(&self, depth: i32, number: usize, line: &Line) {
        let number = if self.several_lines { format!(" multipv {number}") } else { String::new() };
        self.out.line(&format!(
            "info depth {depth}{number} score {} pv {}",
            score(line.score),
            FirstRank::Zero.line(&line.pv)
        ));
    }

    /// ` draw`, ` resign` or nothing.
    fn verdict(&self, score: Score) -> &'static str {
        if self.draw_offered.load(Relaxed) && score.0 <= DRAW_MOST {
            return " draw";
        }
        let lost = score.mate_plies().is_some_and(|plies| plies <= 0);
        if self.may_resign && lost { " resign" } else { "" }
    }
}

impl Voice for UcciVoice {
    fn info(&mut self, info: &Info) {
        // UCCI has no words for bounds.
        if info.bound != ScoreBound::Exact {
            return;
        }
        if let Some(note) = rule_note(info.line.score).filter(|_| !self.explained) {
            self.explained = true;
            self.out.line(&format!("info message {note}"));
        }
        if info.multi_pv == 1 {
            self.shown = info.line.pv.first().copied();
        }
        self.tell(info.depth, info.multi_pv, &info.line);
        self.out.line(&format!("info time {} nodes {}", info.time_ms, info.nodes));
    }

    fn answer(&mut self, result: &SearchResult) {
        let Some(best) = result.best else { return self.out.line("nobestmove") };
        let line = result.lines.first();
        // A line that a broken-off iteration changed is told before the answer that rests on it.
        if let Some(line) = line.filter(|line| line.pv.first() != self.shown.as_ref()) {
            self.tell(result.depth.max(1), 1, line);
            self.out.line(&format!("info time {} nodes {}", self.start.elapsed().as_millis(), result.nodes));
        }
        let ponder = result.pv.get(1).map_or(String::new(), |reply| format!(" ponder {reply}"));
        let verdict = self.verdict(line.map_or(result.score, |line| line.score));
        self.out.line(&format!("bestmove {best}{ponder}{verdict}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minor_piece_is_a_hundred() {
        for (value, shown) in [
            (Score(300), 100),
            (Score(-150), -50),
            (Score(0), 0),
            (Score::mate_in(3), 31_997),
            (Score::mated_in(4), -31_996),
            (Score(Score::RULE_WIN - 4), 30_996),
        ] {
            assert_eq!(score(value), shown, "{value}");
        }
    }

    #[test]
    fn what_the_table_knows_is_told() {
        let entry = |bound| Entry { mv: "h2e2".parse().ok(), score: 30, eval: 0, depth: 7, bound, pv: false };
        for (bound, text) in [
            (Bound::None, "pophash bestmove h2e2"),
            (Bound::Lower, "pophash bestmove h2e2 lowerbound 10 depth 7"),
            (Bound::Upper, "pophash bestmove h2e2 upperbound 10 depth 7"),
            (Bound::Exact, "pophash bestmove h2e2 lowerbound 10 depth 7 upperbound 10 depth 7"),
        ] {
            assert_eq!(pop_hash(Some(&entry(bound))), text);
        }
        assert_eq!(pop_hash(None), "pophash");
        assert_eq!(pop_hash(Some(&Entry { mv: None, ..entry(Bound::None) })), "pophash");
    }

    #[test]
    fn draws_and_lost_games_are_agreed_to() {
        let voice = |draw, resign| {
            UcciVoice::new(Output::new(std::io::sink()), Arc::new(AtomicBool::new(draw)), resign, false)
        };
        for (draw, resign, score, said) in [
            (true, false, Score(0), " draw"),
            (true, false, Score(-300), " draw"),
            (true, false, Score(120), ""),
            (false, false, Score(0), ""),
            (false, true, Score::mated_in(6), " resign"),
            (false, false, Score::mated_in(6), ""),
            (false, true, Score(-800), ""),
            (true, true, Score::mated_in(6), " draw"),
            (false, true, Score::mate_in(5), ""),
        ] {
            assert_eq!(voice(draw, resign).verdict(score), said, "{draw} {resign} {score}");
        }
    }
}
