//! Mates by nothing but checks, after a first move that may be any: a proof-number search beside the ordinary one, for mates that lie deeper than it looks.
//!
//! ```text
//! attacker, n moves left     one check that works is enough     proof = least of the children, refutation = their sum
//!    └─ defender, n − 1      every reply must be lost           proof = sum, refutation = the least
//! ```
//! Lengths are tried in turn, 1, 2, 3 …, so what is found first is the shortest mate by checks. Every step has fewer
//! moves left, so no line repeats; what the rules say of positions before the root is looked at when a proof is read
//! out. (Proof numbers: L. V. Allis; their depth-first form with thresholds: A. Nagai, df-pn, 2002.)

use std::collections::HashMap;

use xiangqi::{Game, Move, Position};

/// Longer mates are not looked for, in moves.
const LONGEST: u8 = 60;
/// "Never": proved or refuted for good.
const INFINITE: u32 = 1 << 28;
/// A proof that is not known yet, in moves.
const UNPROVED: u8 = u8::MAX;
/// Refuted at every length: the checks run out.
const FOR_GOOD: u8 = u8::MAX;
/// Places of the table, and how many of them one position may take.
const PLACES: usize = 1 << 16;
const WAYS: usize = 4;

/// What is known of a position, from the view of the side to move there.
#[derive(Clone, Copy)]
struct Known {
    key: u64,
    /// What it takes at least to reach the goal of the side to move, and to deny it.
    reach: u32,
    deny: u32,
    /// The attacker mates in so many of his moves; [`UNPROVED`] where that is not known.
    proved: u8,
    /// He does not in so many or fewer; [`FOR_GOOD`] where he never does by checks.
    refuted: u8,
    /// The logarithm of the work that was spent: what costs most is kept longest.
    work: u8,
}

const NOTHING: Known = Known { key: 0, reach: 1, deny: 1, proved: UNPROVED, refuted: 0, work: 0 };

impl Known {
    /// The two numbers where so many moves are left to the attacker, who is to move or not.
    fn numbers(&self, left: u8, attacker: bool) -> (u32, u32) {
        let (won, lost) =
            if attacker { ((0, INFINITE), (INFINITE, 0)) } else { ((INFINITE, 0), (0, INFINITE)) };
        if self.proved <= left {
            won
        } else if self.refuted >= left {
            lost
        } else if self.reach == 0 || self.deny == 0 {
            (1, 1)
        } else {
            (self.reach, self.deny)
        }
    }
}

struct Child {
    mv: Move,
    /// The two numbers, from the view of the side to move after the move.
    reach: u32,
    deny: u32,
    proved: u8,
    refuted: u8,
}

impl Child {
    fn learn(&mut self, known: &Known, left: u8, attacker: bool) {
        (self.reach, self.deny) = known.numbers(left, attacker);
        (self.proved, self.refuted) = (known.proved, known.refuted);
    }
}

/// How a search for a mate stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// More work may find one.
    Open,
    /// There is none, or none that counts.
    None,
    /// The shortest mate of the kind, with the defence that lasts longest; the last move mates.
    Mate(Vec<Move>),
}

/// Looks for mates by checks in one position; what it has learned stays from one call to the next.
pub(crate) struct CheckMates {
    table: Vec<Known>,
    root: Position,
    /// First moves that may be played.
    allowed: Vec<Move>,
    /// The first move need not be a check.
    quiet_first: bool,
    /// Lengths below this have been refuted.
    length: u8,
    nodes: u64,
    broken_off: bool,
}

/// Called at each node; true ends the work.
type Stop<'a> = &'a mut dyn FnMut() -> bool;

impl CheckMates {
    /// For mates of the side to move that begin with one of these moves, and go on with nothing but checks.
    pub(crate) fn new(root: &Position, allowed: Vec<Move>, quiet_first: bool) -> CheckMates {
        CheckMates {
            table: vec![NOTHING; PLACES],
            root: root.clone(),
            allowed,
            quiet_first,
            length: 1,
            nodes: 0,
            broken_off: false,
        }
    }

    /// Works on until `stop` says so or all is known. A proof counts where `open` says of no position in it that
    /// the rules end or bound the game there. Only lengths up to `longest` moves are looked for.
    pub(crate) fn work(
        &mut self,
        game: &Game,
        longest: u8,
        open: &dyn Fn(&Game) -> bool,
        stop: Stop<'_>,
    ) -> Outcome {
        self.broken_off = false;
        let mut pos = self.root.clone();
        while self.length <= longest.min(LONGEST) {
            let known = self.prove(&mut pos, self.length, stop);
            if self.broken_off {
                return Outcome::Open;
            }
            if known.proved <= self.length {
                let mut reader = Reader { solver: self, open, stop, known: HashMap::new() };
                let read = reader.attack(&mut game.clone(), known.proved, true).is_some();
                let line = read.then(|| reader.line(game));
                return match line {
                    _ if self.broken_off => Outcome::Open,
                    Some(line) => Outcome::Mate(line),
                    None => Outcome::None,
                };
            }
            if known.refuted == FOR_GOOD {
                return Outcome::None;
            }
            self.length += 1;
        }
        Outcome::None
    }

    /// Settles whether the attacker, who is to move, mates in so many moves.
    fn prove(&mut self, pos: &mut Position, left: u8, stop: Stop<'_>) -> Known {
        self.expand(pos, left, true, INFINITE, INFINITE, stop)
    }

    fn probe(&self, key: u64) -> Option<&Known> {
        self.ways(key).iter().find(|known| known.key == key && key != 0)
    }

    fn start(key: u64) -> usize {
        (key as usize) & (PLACES - 1) & !(WAYS - 1)
    }

    fn ways(&self, key: u64) -> &[Known] {
        let start = CheckMates::start(key);
        &self.table[start..start + WAYS]
    }

    /// Keeps what is known, together with what was known before of the same position.
    fn keep(&mut self, mut known: Known) -> Known {
        let start = CheckMates::start(known.key);
        let ways = &mut self.table[start..start + WAYS];
        let same = ways.iter().position(|old| old.key == known.key);
        if let Some(at) = same {
            known.proved = known.proved.min(ways[at].proved);
            known.refuted = known.refuted.max(ways[at].refuted);
        }
        let cheapest = || (0..WAYS).min_by_key(|&at| ways[at].work).unwrap_or(0);
        let at = same.unwrap_or_else(cheapest);
        ways[at] = known;
        known
    }

    /// The moves that count: the attacker's checks, or every reply.
    fn moves(&self, pos: &Position, attacker: bool) -> Vec<Move> {
        let root = attacker && pos.key() == self.root.key();
        let counts = |mv: &Move| match (attacker, root) {
            (false, _) => true,
            (true, false) => pos.gives_check(*mv),
            (true, true) => (self.quiet_first || pos.gives_check(*mv)) && self.allowed.contains(mv),
        };
        pos.legal_moves().iter().copied().filter(counts).collect()
    }

    /// Looks at a position for the first time.
    fn first_look(&mut self, pos: &Position, attacker: bool) -> Known {
        let mut known = Known { key: pos.key(), ..NOTHING };
        if !attacker {
            let replies = u32::try_from(pos.legal_count()).unwrap_or(INFINITE);
            if replies == 0 {
                known.proved = 0;
            }
            known.deny = replies.max(1);
        }
        self.keep(known)
    }

    /// Counts a node; true once the work must end.
    fn count(&mut self, stop: Stop<'_>) -> bool {
        self.nodes += 1;
        self.broken_off |= stop();
        self.broken_off
    }

    fn children(&mut self, pos: &mut Position, left: u8, attacker: bool, stop: Stop<'_>) -> Vec<Child> {
        let moves = self.moves(pos, attacker);
        let mut children = Vec::with_capacity(moves.len());
        for mv in moves {
            if self.count(stop) {
                break;
            }
            let undo = pos.make(mv);
            let known = self.probe(pos.key()).copied();
            let known = known.unwrap_or_else(|| self.first_look(pos, !attacker));
            pos.unmake(&undo);
            let mut child = Child { mv, reach: 1, deny: 1, proved: UNPROVED, refuted: 0 };
            child.learn(&known, left, !attacker);
            let enough = child.deny == 0;
            children.push(child);
            if enough {
                break;
            }
        }
        children
    }

    /// Searches on until one of the two numbers reaches its threshold.
    fn expand(
        &mut self,
        pos: &mut Position,
        left: u8,
        attacker: bool,
        reach_most: u32,
        deny_most: u32,
        stop: Stop<'_>,
    ) -> Known {
        let before = self.nodes;
        let key = pos.key();
        let after = if attacker { left - 1 } else { left };
        let mut children = self.children(pos, after, attacker, stop);
        loop {
            let reach = children.iter().map(|child| child.deny).min().unwrap_or(INFINITE);
            let deny = denial(&children);
            let (proved, refuted) = lengths(&children, attacker, reach, deny);
            let work = (self.nodes - before).checked_ilog2().unwrap_or(0) as u8;
            let known = Known { key, reach, deny, proved, refuted, work };
            if self.broken_off {
                return Known { proved: UNPROVED, refuted: 0, ..known };
            }
            if reach >= reach_most || deny >= deny_most || reach == 0 || deny == 0 {
                return self.keep(known);
            }
            let (at, second) = best_two(&children);
            let child = &mut children[at];
            let child_reach = deny_most - (deny - child.reach);
            let child_deny = reach_most.min(second + second / 4 + 1);
            let undo = pos.make(child.mv);
            let known = self.expand(pos, after, !attacker, child_reach, child_deny, stop);
            pos.unmake(&undo);
            child.learn(&known, after, !attacker);
        }
    }
}

/// The lengths that follow from the children's where the position is settled.
fn lengths(children: &[Child], attacker: bool, reach: u32, deny: u32) -> (u8, u8) {
    let proved = children.iter().map(|child| child.proved);
    let refuted = children.iter().map(|child| child.refuted);
    match (attacker, reach, deny) {
        (true, 0, _) => (proved.min().unwrap_or(UNPROVED).saturating_add(1), 0),
        (true, _, 0) => (UNPROVED, refuted.min().unwrap_or(FOR_GOOD).saturating_add(1)),
        (false, _, 0) => (proved.max().unwrap_or(0), 0),
        (false, 0, _) => (UNPROVED, refuted.max().unwrap_or(0)),
        _ => (UNPROVED, 0),
    }
}

/// What it takes to deny a position its goal: all of its children must reach theirs.
fn denial(children: &[Child]) -> u32 {
    let open = children.iter().filter(|child| child.reach > 0);
    let most = open.clone().map(|child| child.reach).max().unwrap_or(0);
    if most >= INFINITE {
        INFINITE
    } else {
        (most + (open.count() as u32).saturating_sub(1)).min(INFINITE - 1)
    }
}

/// The child that is denied most cheaply, and the next best one's cost.
fn best_two(children: &[Child]) -> (usize, u32) {
    let (mut at, mut best, mut second) = (0, u32::MAX, INFINITE);
    for (i, child) in children.iter().enumerate() {
        if child.deny < best {
            if best != u32::MAX {
                second = best;
            }
            (at, best) = (i, child.deny);
        } else if child.deny < second {
            second = child.deny;
        }
    }
    (at, second)
}

/// Reads a proof out of the table: every reply is followed, what the table has lost is proved again.
struct Reader<'a> {
    solver: &'a mut CheckMates,
    open: &'a dyn Fn(&Game) -> bool,
    stop: Stop<'a>,
    /// By key: plies to the mate, and the move.
    known: HashMap<u64, (u32, Option<Move>)>,
}

impl Reader<'_> {
    /// Plies to the mate by checks in at most `left` moves; `None` where the proof does not hold.
    fn attack(&mut self, game: &mut Game, left: u8, root: bool) -> Option<u32> {
        let key = game.position().key();
        if let Some(&(plies, _)) = self.known.get(&key) {
            return Some(plies);
        }
        if !root && !(self.open)(game) {
            return None;
        }
        let (mv, after) = self.winning(game, left).or_else(|| {
            let known = self.solver.prove(&mut game.position().clone(), left, self.stop);
            (known.proved <= left).then(|| self.winning(game, left)).flatten()
        })?;
        game.try_play(mv).ok()?;
        let plies = self.defend(game, after);
        game.undo();
        let plies = plies? + 1;
        self.known.insert(key, (plies, Some(mv)));
        Some(plies)
    }

    /// The check after which the least is proved, with the moves left then.
    fn winning(&self, game: &Game, left: u8) -> Option<(Move, u8)> {
        let mut pos = game.position().clone();
        let proved = self.solver.moves(&pos, true).into_iter().filter_map(|mv| {
            let undo = pos.make(mv);
            let known = self.solver.probe(pos.key()).map_or(UNPROVED, |known| known.proved);
            pos.unmake(&undo);
            (known < left).then_some((mv, known))
        });
        proved.min_by_key(|&(_, known)| known)
    }

    fn defend(&mut self, game: &mut Game, left: u8) -> Option<u32> {
        let key = game.position().key();
        if let Some(&(plies, _)) = self.known.get(&key) {
            return Some(plies);
        }
        let mut longest = (0, None);
        for &mv in game.position().legal_moves().iter() {
            game.try_play(mv).ok()?;
            let plies = if (self.open)(game) { self.attack(game, left, false) } else { None };
            game.undo();
            let plies = plies? + 1;
            if plies > longest.0 {
                longest = (plies, Some(mv));
            }
        }
        if longest.1.is_some() && !(self.open)(game) {
            return None;
        }
        self.known.insert(key, longest);
        Some(longest.0)
    }

    fn line(&self, game: &Game) -> Vec<Move> {
        let mut along = game.clone();
        let mut line = Vec::new();
        while let Some(&(_, Some(mv))) = self.known.get(&along.position().key()) {
            if along.try_play(mv).is_err() {
                break;
            }
            line.push(mv);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mate in seven moves, all checks.
    const SEVEN: &str = "2n6/6N2/3k5/2P6/9/9/2p6/1C6C/4p1r2/5K3 w - - 0 1";

    fn game(fen: &str) -> Game {
        Game::new(Position::from_fen(fen).expect(fen))
    }

    fn solver(game: &Game) -> CheckMates {
        CheckMates::new(game.position(), game.position().legal_moves().to_vec(), false)
    }

    fn solve(game: &Game) -> Outcome {
        solver(game).work(game, LONGEST, &|_| true, &mut || false)
    }

    fn moves(outcome: &Outcome) -> Option<usize> {
        match outcome {
            Outcome::Mate(line) => Some(line.len().div_ceil(2)),
            _ => None,
        }
    }

    #[test]
    fn mates_are_the_shortest_and_their_lines_whole() {
        let cases = [
            ("4k4/9/9/9/9/9/9/9/R8/3K4R w", Some(2)),
            ("4k4/8R/9/9/9/9/9/9/R8/3K5 w", Some(1)),
            ("5ab2/4k1N2/2Nc3c1/3C4p/2b1C2n1/2B3p2/4P3P/9/4A4/2BAK4 w", Some(4)),
            (SEVEN, Some(7)),
            ("5kb2/1c2R4/n1n2P3/2P6/8C/5r1R1/9/9/2p1Cp3/3AKArc1 w", Some(13)),
        ];
        for (fen, expected) in cases {
            let game = game(fen);
            let outcome = solve(&game);
            assert_eq!(moves(&outcome), expected, "{fen}: {outcome:?}");
            if let Outcome::Mate(line) = outcome {
                let mut along = game.clone();
                for mv in line {
                    along.try_play(mv).expect("a legal move");
                }
                assert!(!along.position().has_legal_move(), "{fen}");
            }
        }
    }

    #[test]
    fn a_small_table_is_enough_and_work_goes_on_where_it_was_left() {
        let game = game(SEVEN);
        let whole = solve(&game);
        let mut solver = solver(&game);
        let mut slices = 0;
        let broken = loop {
            slices += 1;
            let mut nodes = 0;
            let outcome = solver.work(&game, LONGEST, &|_| true, &mut || {
                nodes += 1;
                nodes > 200
            });
            if outcome != Outcome::Open {
                break outcome;
            }
            assert!(slices < 1000, "it makes no way");
        };
        assert!(slices > 2);
        assert_eq!(moves(&broken), moves(&whole));
    }

    #[test]
    fn the_first_move_may_be_quiet() {
        // The second rook takes the last square from the king, which stands in no check: that wins as well.
        let game = game("4k4/R8/9/9/9/9/4P3P/9/9/3K4R w");
        let allowed = game.position().legal_moves().to_vec();
        let mut solver = CheckMates::new(game.position(), allowed, true);
        assert_eq!(moves(&solver.work(&game, LONGEST, &|_| true, &mut || false)), Some(1));
        assert_ne!(moves(&solve(&game)), Some(1));
    }

    #[test]
    fn only_what_is_allowed_counts() {
        let game = game(SEVEN);
        let first = |outcome: Outcome| match outcome {
            Outcome::Mate(line) => line.first().copied(),
            _ => None,
        };
        let best = first(solve(&game)).expect("a mate");
        let others = game.position().legal_moves().iter().copied().filter(|&mv| mv != best).collect();
        let mut without = CheckMates::new(game.position(), others, false);
        assert_ne!(first(without.work(&game, LONGEST, &|_| true, &mut || false)), Some(best));
        // No longer than asked for, and nothing through a position that the rules have a word on.
        assert_eq!(solver(&game).work(&game, 6, &|_| true, &mut || false), Outcome::None);
        assert_eq!(solver(&game).work(&game, 7, &|along| along.len() < 9, &mut || false), Outcome::None);
    }
}
