//! Which thread's line a search with several threads ends with.
//!
//! Each thread votes for its best move, the stronger the deeper it has searched and the better it thinks of the move.
//! The line is that of the thread which speaks for the winner most strongly. Mates and wins by rule are not voted on:
//! who has one is right. (The idea is Stockfish's.)

use xiangqi::Score;

use super::limits::ScoreBound;
use super::thread::RootMove;

/// What even the worst line's vote weighs, in centipawns for each ply of depth.
const LEAST_WEIGHT: i64 = 12;

/// What a thread has to say in the end.
pub(crate) struct Ballot {
    /// Of its last whole iteration.
    pub(crate) depth: i32,
    /// Its best move.
    pub(crate) root: RootMove,
}

impl Ballot {
    fn is_won(&self) -> bool {
        self.root.score >= Score::RULE_WIN_FLOOR
    }

    /// How strongly it speaks, where `worst` is the lowest score of all.
    fn weight(&self, worst: i32) -> i64 {
        (i64::from(self.root.score - worst) + LEAST_WEIGHT) * i64::from(self.depth)
    }
}

/// Puts the best line of all threads first among the main thread's moves; returns the depth it rests on.
pub(crate) fn take_best(moves: &mut [RootMove], depth: i32, helpers: Vec<Ballot>) -> i32 {
    // Only what a whole iteration says, or a search in full, can be compared.
    let counts = |ballot: &Ballot| {
        ballot.depth > 0 && ballot.root.score != -Score::INFINITE && ballot.root.bound == ScoreBound::Exact
    };
    let mut ballots = vec![Ballot { depth, root: moves[0].clone() }];
    ballots.extend(helpers.into_iter().filter(counts));
    let best = ballots.swap_remove(elected(&ballots));
    if let Some(at) = moves.iter().position(|root| root.mv == best.root.mv) {
        moves[..=at].rotate_right(1);
        moves[0] = best.root;
    }
    best.depth
}

/// The index of the ballot whose line is played; the first one's, where nobody speaks more strongly.
fn elected(ballots: &[Ballot]) -> usize {
    let worst = ballots.iter().map(|ballot| ballot.root.score).min().unwrap_or(0);
    let votes = |of: &Ballot| -> i64 {
        let same = ballots.iter().filter(|ballot| ballot.root.mv == of.root.mv);
        same.map(|ballot| ballot.weight(worst)).sum()
    };
    let mut best = 0;
    for (i, ballot) in ballots.iter().enumerate().skip(1) {
        let leader = &ballots[best];
        let better = if ballot.is_won() || leader.is_won() {
            ballot.root.score > leader.root.score
        } else {
            (votes(ballot), ballot.weight(worst)) > (votes(leader), leader.weight(worst))
        };
        if better {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Move, score and depth of each thread; the index of the elected.
    type Case<'a> = (&'a [(&'a str, i32, i32)], usize);

    fn ballot(mv: &str, score: i32, depth: i32) -> Ballot {
        let mv = mv.parse().expect("a move");
        let bound = ScoreBound::Exact;
        Ballot { depth, root: RootMove { mv, score, previous_score: 0, pv: vec![mv], seldepth: 1, bound } }
    }

    #[test]
    fn votes_are_counted() {
        let mate = Score::MATE;
        let cases: [Case<'_>; 7] = [
            // Alike: the first thread's line stays.
            (&[("h2e2", 30, 12), ("h2e2", 30, 12)], 0),
            // Deeper and no worse.
            (&[("h2e2", 30, 12), ("b2e2", 30, 13)], 1),
            // Two against one that is a little better.
            (&[("h2e2", 33, 12), ("b2e2", 30, 12), ("b2e2", 30, 12)], 1),
            // One that sees much more.
            (&[("h2e2", 10, 12), ("b2e2", 200, 12), ("h2e2", 12, 12)], 1),
            // The shorter mate, however many have the longer one.
            (&[("h2e2", mate - 9, 20), ("b2e2", mate - 7, 9), ("h2e2", mate - 9, 20)], 1),
            // A win by rule is less than a mate.
            (&[("h2e2", mate - 9, 9), ("b2e2", Score::RULE_WIN - 2, 30)], 0),
            // Who sees no mate against itself speaks louder.
            (&[("h2e2", 8 - mate, 20), ("b2e2", -300, 12)], 1),
        ];
        for (ballots, expected) in cases {
            let ballots: Vec<Ballot> =
                ballots.iter().map(|&(mv, score, depth)| ballot(mv, score, depth)).collect();
            let shown: Vec<_> = ballots.iter().map(|b| (b.root.mv, b.root.score, b.depth)).collect();
            assert_eq!(elected(&ballots), expected, "{shown:?}");
        }
    }

    #[test]
    fn the_line_of_the_elected_comes_first() {
        let mut moves: Vec<RootMove> = ["h2e2", "b2e2", "a0a1"].map(|mv| ballot(mv, 10, 5).root).into();
        let mut broken = ballot("a0a1", 900, 9);
        broken.root.bound = ScoreBound::Lower;
        let depth = take_best(&mut moves, 5, vec![broken, ballot("b2e2", 40, 7)]);
        let order: Vec<String> = moves.iter().map(|root| root.mv.to_string()).collect();
        assert_eq!((depth, order.join(" ").as_str(), moves[0].score), (7, "b2e2 h2e2 a0a1", 40));
    }
}
