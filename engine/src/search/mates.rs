//! Mates at the root: the proof-number search beside the ordinary one, and lines that end where their score says.

use xiangqi::judge;
use xiangqi::{Game, Move, Position, Score};

use super::check_mates::{CheckMates, Outcome};
use super::limits::ScoreBound;
use super::thread::Thread;

/// Looking for mates by checks begins after so many nodes: short searches of self-play are not to pay for it …
const FROM_NODES: u64 = 20_000;
/// … and takes this part of the nodes from then on,
const SHARE: u64 = 8;
/// where a clock runs this,
const CLOCK_SHARE: u64 = 32;
/// and where a mate is asked for this.
const ASKED_SHARE: u64 = 2;

/// A mate that was proved at the root.
pub(crate) struct ProvedMate {
    pub(crate) score: i32,
    /// All of its moves.
    pub(crate) line: Vec<Move>,
}

/// How the search for mates by checks stands: for those that begin with a check, and those that may begin otherwise.
#[derive(Default)]
pub(crate) struct MateWork {
    solvers: [Option<Box<CheckMates>>; 2],
    over: [bool; 2],
    spent: u64,
    /// The shortest mate that is proved.
    pub(crate) proved: Option<ProvedMate>,
}

impl Thread<'_> {
    /// Looks for a mate by checks for a while. True if one was found that is shorter than what was known; it stands
    /// among the root's moves then.
    pub(crate) fn look_for_mate(&mut self) -> bool {
        let budget = self.mate_budget();
        let both = !self.shared.timer.has_clock() || self.shared.limits.mate.is_some();
        let mut found = false;
        for quiet_first in [false, true] {
            if !self.mates.over[usize::from(quiet_first)] && (both || !quiet_first) && !self.stopped {
                let part = if both { budget / 2 } else { budget };
                found |= part > 0 && self.prove_mate(quiet_first, part);
            }
        }
        found
    }

    fn prove_mate(&mut self, quiet_first: bool, budget: u64) -> bool {
        let stage = usize::from(quiet_first);
        let longest = self.longest_mate();
        let mut solver = self.mates.solvers[stage].take().unwrap_or_else(|| {
            let allowed = self.root_moves.iter().map(|root| root.mv).collect();
            Box::new(CheckMates::new(self.position(), allowed, quiet_first))
        });
        let (rules, root_len, game) = (self.shared.rules, self.root_len, self.game.clone());
        let open = |game: &Game| {
            judge::search_repetition(game, &rules, root_len).is_none()
                && !judge::insufficient_material(game.position())
        };
        let mut slice = 0;
        let outcome = solver.work(&game, longest, &open, &mut || {
            slice += 1;
            self.nodes += 1;
            slice >= budget || self.should_stop()
        });
        self.mates.spent += slice;
        self.mates.over[stage] = outcome != Outcome::Open;
        match outcome {
            Outcome::Open => self.mates.solvers[stage] = Some(solver),
            Outcome::None => {}
            Outcome::Mate(line) => return self.take_proof(line),
        }
        false
    }

    /// So many nodes may be spent now.
    fn mate_budget(&self) -> u64 {
        let limits = self.shared.limits;
        if self.id != 0 || limits.weakening().is_some() {
            return 0;
        }
        let (share, from) = match limits.mate {
            Some(_) => (ASKED_SHARE, 0),
            None if self.shared.timer.has_clock() => (CLOCK_SHARE, FROM_NODES),
            None => (SHARE, FROM_NODES),
        };
        if self.nodes < from { 0 } else { (self.nodes / share).saturating_sub(self.mates.spent) }
    }

    /// Plies to the mate that the best line is, as [`Score::mate_plies`] has them; `None` before the first search too.
    pub(crate) fn best_mate(&self) -> Option<i32> {
        let score = self.root_moves[0].score;
        if score == -Score::INFINITE { None } else { Score(score).mate_plies() }
    }

    /// Mates longer than this say nothing new, or come after the natural limit. In moves.
    fn longest_mate(&self) -> u8 {
        let known = self.best_mate().filter(|&plies| plies > 0);
        let shorter = known.map_or(i32::MAX, |plies| (plies + 1) / 2 - 1);
        let open = self.shared.natural_limit.plies_left(self.position()) / 2;
        u8::try_from(shorter.min(open).max(0)).unwrap_or(u8::MAX)
    }

    fn take_proof(&mut self, line: Vec<Move>) -> bool {
        let score = Score::mate_in(line.len() as i32).0;
        let Some(at) = self.root_moves.iter().position(|root| Some(&root.mv) == line.first()) else {
            return false;
        };
        if score <= self.root_moves[0].score {
            return false;
        }
        let mut root = self.root_moves.remove(at);
        (root.score, root.bound) = (score, ScoreBound::Exact);
        root.seldepth = root.seldepth.max(line.len() as i32);
        root.pv.clone_from(&line);
        self.root_moves.insert(0, root);
        self.mates.proved = Some(ProvedMate { score, line });
        true
    }

    /// Makes the lines of mates whole as far as the table knows them: a search that was broken off has but begun some.
    /// A mate whose line stays open is not claimed, if another score is known.
    pub(crate) fn complete_mates(&mut self, lines: usize) {
        for at in 0..lines.min(self.root_moves.len()) {
            let root = &self.root_moves[at];
            let Some(plies) = Score(root.score).mate_plies().filter(|_| root.score != -Score::INFINITE)
            else {
                continue;
            };
            let mut game = self.game.clone();
            let whole = self.whole_line(&mut game, &root.pv, plies);
            let root = &mut self.root_moves[at];
            match whole {
                Some(line) => (root.pv, root.bound) = (line, ScoreBound::Exact),
                None if root.bound != ScoreBound::Exact && root.previous_score != -Score::INFINITE => {
                    root.score = root.previous_score;
                }
                None => {}
            }
        }
    }

    /// A line, continued by what the table has, to the mate that its score tells of.
    fn whole_line(&self, game: &mut Game, begun: &[Move], plies: i32) -> Option<Vec<Move>> {
        let mut line = begun.to_vec();
        for &mv in begun {
            game.try_play(mv).ok()?;
        }
        while (line.len() as i32) < plies.abs() {
            let mv = self.next_to_mate(game, plies.abs() - line.len() as i32)?;
            game.try_play(mv).ok()?;
            line.push(mv);
        }
        (!game.position().has_legal_move()).then_some(line)
    }

    /// The next move of a line to a mate in so many plies: the table's, and if that is not known to lead there, any
    /// that is.
    fn next_to_mate(&self, game: &mut Game, left: i32) -> Option<Move> {
        let known = |pos: &Position, plies: i32| {
            let score = if plies & 1 == 0 { Score::mated_in(plies) } else { Score::mate_in(plies) };
            let key = self.shared.natural_limit.key(pos);
            self.shared.table.probe(key, 0).filter(|entry| entry.score == score.0)
        };
        let legal = game.position().legal_moves();
        let stored = known(game.position(), left).and_then(|entry| entry.mv).filter(|mv| legal.contains(mv));
        let mut candidates = stored.iter().chain(legal.iter()).copied();
        let leads_there = |mv: &Move| {
            if game.try_play(*mv).is_err() {
                return false;
            }
            let pos = game.position();
            let leads = if left == 1 { !pos.has_legal_move() } else { known(pos, left - 1).is_some() };
            game.undo();
            leads
        };
        candidates.find(leads_there).or(stored)
    }

    /// A root move's score, with what has been proved of it.
    pub(crate) fn with_proof(&mut self, mv: Move, score: i32) -> i32 {
        match &self.mates.proved {
            Some(proved) if proved.line.first() == Some(&mv) && score < proved.score => {
                self.pvs[1].clear();
                self.pvs[1].extend_from_slice(&proved.line[1..]);
                proved.score
            }
            _ => score,
        }
    }
}
