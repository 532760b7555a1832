//! The verdicts on a cycle a second time, slowly and from the definitions of `docs/rules.md` alone,
//! on the mailbox of [`Slow`]. Shares nothing with the crate's judge.

use super::slow::Slow;

type At = (i32, i32);
type Mv = (At, At);

/// A cycle: its positions, its moves, and who is who on each position's board.
pub struct Cycle {
    boards: Vec<Slow>,
    moves: Vec<Mv>,
    /// Where the man on a square stood in the first position.
    homes: Vec<[[At; 9]; 10]>,
}

/// 0 allowed, 1 chase or attacks, 2 perpetual check; and the chased men where they stood at first.
pub type Conduct = (u8, Vec<At>);

impl Cycle {
    pub fn new(start: Slow, moves: &[Mv]) -> Cycle {
        let home = std::array::from_fn(|r| std::array::from_fn(|f| (f as i32, r as i32)));
        let mut cycle = Cycle { boards: vec![start], moves: moves.to_vec(), homes: vec![home] };
        for &(from, to) in moves {
            let board = cycle.boards.last().expect("a start").after(from, to);
            let mut home = *cycle.homes.last().expect("a start");
            home[to.1 as usize][to.0 as usize] = home[from.1 as usize][from.0 as usize];
            cycle.boards.push(board);
            cycle.homes.push(home);
        }
        cycle
    }

    fn home(&self, i: usize, at: At) -> At {
        self.homes[i][at.1 as usize][at.0 as usize]
    }

    /// The numbers of a side's moves; move `i` leads from position `i` to `i + 1`.
    fn own(&self, red: bool) -> Vec<usize> {
        (0..self.moves.len()).filter(|&i| self.boards[i].red == red).collect()
    }

    fn checks(&self, red: bool) -> (usize, usize) {
        let own = self.own(red);
        (own.iter().filter(|&&i| self.boards[i + 1].in_check()).count(), own.len())
    }

    fn perpetual_check(&self, red: bool) -> bool {
        let (given, moves) = self.checks(red);
        moves > 0 && given == moves
    }

    /// The men that `red` chases in position `i` as if it were to move, by their homes.
    fn chased(&self, i: usize, red: bool, ignored: &[At]) -> Vec<At> {
        let board = &self.boards[i];
        let all = pairs(board, red);
        let chases = all.into_iter().filter(|&pair| chase(board, pair, ignored, false));
        chases.map(|(_, victim)| self.home(i, victim)).collect()
    }

    pub fn competition(&self, red: bool) -> Conduct {
        if self.perpetual_check(red) {
            return (2, Vec::new());
        }
        if self.checks(true).0 + self.checks(false).0 > 0 {
            return (0, Vec::new());
        }
        let mut men = self.boards[0].squares(!red);
        for i in 1..=self.moves.len() {
            let now = self.chased(i, red, &[]);
            let after_own = self.boards[i].red != red;
            men.retain(|man| now.contains(man) == after_own);
        }
        conduct(men)
    }

    pub fn asian(&self, red: bool) -> Conduct {
        if self.perpetual_check(red) {
            return (2, Vec::new());
        }
        if self.perpetual_check(!red) {
            return (0, Vec::new());
        }
        let own = self.always_chased(red);
        let other = self.always_chased(!red);
        let excused = !own.is_empty()
            && !other.is_empty()
            && self.holds_rook(!red, &other)
            && !self.holds_rook(red, &own);
        conduct(if excused { Vec::new() } else { own })
    }

    /// Men on whom each move of the side brings about a chase by someone.
    fn always_chased(&self, red: bool) -> Vec<At> {
        let fresh = |i: usize| -> Vec<At> {
            let (before, after) = (&self.boards[i], &self.boards[i + 1]);
            let (from, to) = self.moves[i];
            let new = |&(attacker, victim): &Mv| {
                let was = if attacker == to { from } else { attacker };
                let stood = before.targets(was.0, was.1).contains(&victim)
                    && chase(before, (was, victim), &checkers(before), true);
                chase(after, (attacker, victim), &checkers(after), false) && !stood
            };
            pairs(after, red).into_iter().filter(new).map(|(_, victim)| self.home(i + 1, victim)).collect()
        };
        let own = self.own(red);
        let mut men = fresh(own[0]);
        for &i in &own[1..] {
            let now = fresh(i);
            men.retain(|man| now.contains(man));
        }
        men
    }

    /// Is one of these men a rook that would leave its king open to a knight by leaving its square,
    /// after each move of the chaser?
    fn holds_rook(&self, red: bool, men: &[At]) -> bool {
        men.iter().any(|man| {
            self.own(red).iter().all(|&i| {
                let board = &self.boards[i + 1];
                let rook = board.squares(!red).into_iter().find(|&at| self.home(i + 1, at) == *man);
                rook.is_some_and(|at| letter(board, at) == b'r' && knight_waits(board, red, at))
            })
        })
    }

    pub fn chinese(&self, red: bool, depth: u8) -> Conduct {
        if self.perpetual_check(red) {
            return (2, Vec::new());
        }
        if self.perpetual_check(!red) {
            return (0, Vec::new());
        }
        let mut men = Vec::new();
        for i in self.own(red) {
            let after = &self.boards[i + 1];
            if after.in_check() {
                continue;
            }
            let before = self.chased(i, red, &checkers(&self.boards[i]));
            let mut fresh = self.chased(i + 1, red, &[]);
            fresh.retain(|man| !before.contains(man));
            if fresh.is_empty() && !mates(&passed(after), depth) {
                return (0, Vec::new());
            }
            men.extend(fresh);
        }
        let (_, men) = conduct(men);
        (1, men)
    }
}

fn conduct(mut men: Vec<At>) -> Conduct {
    men.sort_unstable();
    men.dedup();
    (u8::from(!men.is_empty()), men)
}

fn letter(board: &Slow, (f, r): At) -> u8 {
    board.get(f, r).unwrap_or(b'.').to_ascii_lowercase()
}

fn is_red(board: &Slow, (f, r): At) -> bool {
    board.get(f, r).is_some_and(|c| c.is_ascii_uppercase())
}

/// Each attack by a man of the side: attacker and victim.
fn pairs(board: &Slow, red: bool) -> Vec<Mv> {
    let targets = |at: At| board.targets(at.0, at.1).into_iter().map(move |to| (at, to));
    let all = board.squares(red).into_iter().flat_map(targets);
    all.filter(|&(_, to)| letter(board, to) != b'.').collect()
}

/// The men that attack the king of the side to move.
fn checkers(board: &Slow) -> Vec<At> {
    let all = pairs(board, !board.red).into_iter();
    all.filter(|&(_, to)| letter(board, to) == b'k').map(|(from, _)| from).collect()
}

/// Could the side take the other's king, these men aside?
fn takes_king(board: &Slow, red: bool, aside: &[At]) -> bool {
    pairs(board, red).into_iter().any(|(from, to)| letter(board, to) == b'k' && !aside.contains(&from))
}

/// After this capture, is the capturer's own king safe?
fn safe(board: &Slow, (from, to): Mv, aside: &[At]) -> bool {
    let red = is_red(board, from);
    let mut aside = aside.to_vec();
    aside.retain(|&at| at != to);
    !takes_king(&board.after(from, to), !red, &aside)
}

fn protected(board: &Slow, (from, to): Mv, aside: &[At], only_as_it_stands: bool) -> bool {
    let owner = is_red(board, to);
    let after = board.after(from, to);
    let mut aside = aside.to_vec();
    aside.retain(|&at| at != from);
    after.squares(owner).into_iter().any(|defender| {
        let reaches = |board: &Slow| board.targets(defender.0, defender.1).contains(&to);
        // As it stands: the attacker in its place, and an enemy where the victim is.
        let mut standing = board.clone();
        standing.board[to.1 as usize][to.0 as usize] = board.get(from.0, from.1).expect("the attacker");
        reaches(&after) && (!only_as_it_stands || reaches(&standing)) && safe(&after, (defender, to), &aside)
    })
}

fn chase(board: &Slow, (from, to): Mv, aside: &[At], only_as_it_stands: bool) -> bool {
    let (attacker, victim) = (letter(board, from), letter(board, to));
    let at_home = if is_red(board, to) { to.1 <= 4 } else { to.1 >= 5 };
    let mutual =
        attacker == victim && board.targets(to.0, to.1).contains(&from) && safe(board, (to, from), aside);
    let always = match attacker {
        b'n' | b'c' => victim == b'r',
        b'a' | b'b' => b"ncr".contains(&victim),
        _ => false,
    };
    !b"kp".contains(&attacker)
        && victim != b'k'
        && !(victim == b'p' && at_home)
        && safe(board, (from, to), aside)
        && !mutual
        && (always || !protected(board, (from, to), aside, only_as_it_stands))
}

/// Does a knight of `red` wait for the rook to step off its leg to the king?
fn knight_waits(board: &Slow, red: bool, rook: At) -> bool {
    let knights = |board: &Slow| {
        let all = pairs(board, red).into_iter();
        all.filter(|&(from, to)| letter(board, from) == b'n' && letter(board, to) == b'k').count()
    };
    let mut without = board.clone();
    without.board[rook.1 as usize][rook.0 as usize] = b'.';
    knights(&without) > knights(board)
}

fn passed(board: &Slow) -> Slow {
    let mut passed = board.clone();
    passed.red = !passed.red;
    passed
}

fn plays(board: &Slow) -> Vec<Slow> {
    let square = |b: &[u8]| (i32::from(b[0] - b'a'), i32::from(b[1] - b'0'));
    let after = |mv: String| board.after(square(&mv.as_bytes()[..2]), square(&mv.as_bytes()[2..]));
    board.legal_moves().into_iter().map(after).collect()
}

/// Does the side to move mate by checks alone in `moves` moves?
fn mates(board: &Slow, moves: u8) -> bool {
    moves > 0
        && plays(board)
            .into_iter()
            .filter(Slow::in_check)
            .any(|check| plays(&check).iter().all(|escape| mates(escape, moves - 1)))
}
