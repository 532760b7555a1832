//! What a search finds, in UCI's words.

use std::time::Instant;

use xiangqi::{Move, Position, Score};

use crate::protocol::running::Voice;
use crate::protocol::values::Options;
use crate::protocol::{FirstRank, Output};
use crate::score_display::{ScoreType, ShownScore, wdl};
use crate::search::{Info, Line, ScoreBound, SearchResult};

/// How a search is shown, as the options were when it began.
pub(super) struct UciVoice {
    out: Output,
    position: Position,
    score_type: ScoreType,
    show_wdl: bool,
    bounds: bool,
    ranks: FirstRank,
    start: Instant,
    /// A win by rule has been explained.
    explained: bool,
    /// The best line last shown, and what its score said.
    shown: Option<(Vec<Move>, ScoreBound)>,
}

/// What `info string` says of a win or loss by rule; `None` for other scores.
pub(crate) fn rule_note(score: Score) -> Option<String> {
    score
        .is_rule_win()
        .then(|| format!("{score} plies by a verdict of the rules (no mate), shown as cp {}", score.0))
}

impl UciVoice {
    pub(super) fn new(out: Output, position: Position, options: &Options) -> UciVoice {
        UciVoice {
            out,
            position,
            score_type: options.score_type,
            show_wdl: options.show_wdl,
            bounds: options.bounds,
            ranks: options.first_rank,
            start: Instant::now(),
            explained: false,
            shown: None,
        }
    }

    /// `score cp 31 lowerbound wdl 412 500 88`
    fn score(&self, score: Score, bound: ScoreBound) -> String {
        let mut text = format!("score {}", ShownScore::new(score, self.score_type, &self.position));
        text += match bound {
            ScoreBound::Exact => "",
            ScoreBound::Lower => " lowerbound",
            ScoreBound::Upper => " upperbound",
        };
        if self.show_wdl {
            text += &format!(" {}", wdl(score, &self.position));
        }
        text
    }

    /// An `info` line. Its `pv` has at least one move.
    fn line(&self, info: &Info) -> String {
        let nps = info.nodes.saturating_mul(1000) / info.time_ms.max(1);
        format!(
            "info depth {} seldepth {} multipv {} {} nodes {} nps {nps} hashfull {} time {} pv {}",
            info.depth,
            info.seldepth,
            info.multi_pv,
            self.score(info.line.score, info.bound),
            info.nodes,
            info.hashfull,
            info.time_ms,
            self.ranks.line(&info.line.pv),
        )
    }

    /// The last `info` says what the answer rests on, and never with a bound: scripts read its score and fall over
    /// `lowerbound`. A line that a broken-off iteration changed, or that was shown as a bound or not at all, is told
    /// again.
    fn conclude(&self, result: &SearchResult, best: &Line) {
        let told = matches!(
            &self.shown,
            Some((pv, ScoreBound::Exact)) if pv.first() == best.pv.first() && result.bound == ScoreBound::Exact
        );
        if told || best.pv.is_empty() {
            return;
        }
        let time_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.out.line(&self.line(&Info {
            depth: result.depth.max(1),
            seldepth: result.depth.max(1),
            multi_pv: 1,
            line: best.clone(),
            bound: ScoreBound::Exact,
            nodes: result.nodes,
            time_ms,
            hashfull: 0,
        }));
    }
}

impl Voice for UciVoice {
    fn info(&mut self, info: &Info) {
        if info.bound != ScoreBound::Exact && !self.bounds {
            return;
        }
        if let Some(note) = rule_note(info.line.score).filter(|_| !self.explained) {
            self.explained = true;
            self.out.line(&format!("info string {note}"));
        }
        if info.multi_pv == 1 {
            self.shown = Some((info.line.pv.clone(), info.bound));
        }
        self.out.line(&self.line(info));
    }

    fn answer(&mut self, result: &SearchResult) {
        if let Some(best) = result.lines.first() {
            self.conclude(result, best);
        }
        let text = |mv: Move| self.ranks.text(mv);
        match (result.best, result.pv.get(1)) {
            (None, _) => {
                self.out.line(&format!("info depth 0 {}", self.score(result.score, ScoreBound::Exact)));
                self.out.line("bestmove (none)");
            }
            (Some(best), Some(&reply)) => {
                self.out.line(&format!("bestmove {} ponder {}", text(best), text(reply)));
            }
            (Some(best), None) => self.out.line(&format!("bestmove {}", text(best))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_by_rule_is_explained_and_no_mate() {
        let cases = [
            (
                Score(Score::RULE_WIN - 4),
                Some("rule win in 4 plies by a verdict of the rules (no mate), shown as cp 30996"),
            ),
            (
                Score(-Score::RULE_WIN + 7),
                Some("rule loss in 7 plies by a verdict of the rules (no mate), shown as cp -30993"),
            ),
            (Score::mate_in(5), None),
            (Score(-34), None),
        ];
        for (score, note) in cases {
            assert_eq!(rule_note(score).as_deref(), note, "{score}");
        }
    }

    #[test]
    fn scores_are_written_with_chances_and_bounds() {
        let options = Options { show_wdl: true, score_type: ScoreType::Raw, ..Options::default() };
        let voice = UciVoice::new(Output::new(std::io::sink()), Position::start(), &options);
        assert_eq!(voice.score(Score::mate_in(5), ScoreBound::Exact), "score mate 3 wdl 1000 0 0");
        assert_eq!(
            voice.score(Score::mated_in(4), ScoreBound::Upper),
            "score mate -2 upperbound wdl 0 0 1000"
        );
        let plain = UciVoice::new(
            Output::new(std::io::sink()),
            Position::start(),
            &Options { score_type: ScoreType::Raw, ..Options::default() },
        );
        assert_eq!(plain.score(Score(-34), ScoreBound::Lower), "score cp -34 lowerbound");
    }
}
