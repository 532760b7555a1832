//! The rules a second time, slowly and from the words alone: a mailbox, rays walked square by
//! square, legality by looking whether any enemy move takes the king. Shares nothing with the
//! crate's generator.

use xiangqi::Setup;

/// The board as letters, `[rank][file]`, `.` where nothing stands; and whether Red is to move.
#[derive(Clone)]
pub struct Slow {
    pub board: [[u8; 9]; 10],
    pub red: bool,
}

type Step = (i32, i32);
const STRAIGHT: [Step; 4] = [(0, 1), (0, -1), (1, 0), (-1, 0)];
const SLANTED: [Step; 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

impl Slow {
    pub fn new(setup: &Setup) -> Slow {
        let mut board = [[b'.'; 9]; 10];
        for (i, piece) in setup.board.iter().enumerate() {
            if let Some(piece) = piece {
                board[i / 9][i % 9] = piece.fen_char() as u8;
            }
        }
        Slow { board, red: setup.side_to_move == xiangqi::Color::Red }
    }

    pub fn get(&self, f: i32, r: i32) -> Option<u8> {
        ((0..9).contains(&f) && (0..10).contains(&r)).then(|| self.board[r as usize][f as usize])
    }

    fn in_palace(f: i32, r: i32) -> bool {
        (3..=5).contains(&f) && ((0..=2).contains(&r) || (7..=9).contains(&r))
    }

    /// Every place the piece on (f, r) can go by its gait, own pieces left out.
    pub fn targets(&self, f: i32, r: i32) -> Vec<(i32, i32)> {
        let Some(piece) = self.get(f, r) else { return Vec::new() };
        let red = piece.is_ascii_uppercase();
        let mut out = Vec::new();
        match piece.to_ascii_lowercase() {
            b'k' => {
                for (df, dr) in STRAIGHT {
                    if Slow::in_palace(f + df, r + dr) {
                        out.push((f + df, r + dr));
                    }
                }
                // The facing king can be taken along the open file.
                let (mut at, step) = (r, if red { 1 } else { -1 });
                loop {
                    at += step;
                    match self.get(f, at) {
                        Some(b'.') => {}
                        Some(b'k' | b'K') => {
                            out.push((f, at));
                            break;
                        }
                        _ => break,
                    }
                }
            }
            b'a' => {
                for (df, dr) in SLANTED {
                    if Slow::in_palace(f + df, r + dr) {
                        out.push((f + df, r + dr));
                    }
                }
            }
            b'b' => {
                for (df, dr) in SLANTED {
                    let (tf, tr) = (f + 2 * df, r + 2 * dr);
                    let own_half = if red { tr <= 4 } else { tr >= 5 };
                    if own_half && self.get(f + df, r + dr) == Some(b'.') {
                        out.push((tf, tr));
                    }
                }
            }
            b'n' => {
                for (df, dr) in STRAIGHT {
                    if self.get(f + df, r + dr) == Some(b'.') {
                        for side in [-1, 1] {
                            let (sf, sr) = if df == 0 { (side, 0) } else { (0, side) };
                            out.push((f + 2 * df + sf, r + 2 * dr + sr));
                        }
                    }
                }
            }
            b'r' => self.ride(f, r, &mut out, false),
            b'c' => self.ride(f, r, &mut out, true),
            _ => {
                let step = if red { 1 } else { -1 };
                out.push((f, r + step));
                if (red && r >= 5) || (!red && r <= 4) {
                    out.push((f - 1, r));
                    out.push((f + 1, r));
                }
            }
        }
        let own = |c: u8| c != b'.' && c.is_ascii_uppercase() == red;
        out.retain(|&(tf, tr)| self.get(tf, tr).is_some_and(|c| !own(c)));
        out
    }

    fn ride(&self, f: i32, r: i32, out: &mut Vec<(i32, i32)>, cannon: bool) {
        for (df, dr) in STRAIGHT {
            let (mut tf, mut tr, mut screens) = (f + df, r + dr, 0);
            while let Some(c) = self.get(tf, tr) {
                if c == b'.' {
                    if screens == 0 {
                        out.push((tf, tr));
                    }
                } else if !cannon {
                    out.push((tf, tr));
                    break;
                } else {
                    screens += 1;
                    if screens == 2 {
                        out.push((tf, tr));
                        break;
                    }
                }
                (tf, tr) = (tf + df, tr + dr);
            }
        }
    }

    /// Can the side `red` take the other king at once?
    fn takes_king(&self, red: bool) -> bool {
        let king = if red { b'k' } else { b'K' };
        self.squares(red)
            .into_iter()
            .any(|(f, r)| self.targets(f, r).into_iter().any(|(tf, tr)| self.get(tf, tr) == Some(king)))
    }

    pub fn squares(&self, red: bool) -> Vec<(i32, i32)> {
        let all = (0..10).flat_map(|r| (0..9).map(move |f| (f, r)));
        all.filter(|&(f, r)| self.get(f, r).is_some_and(|c| c != b'.' && c.is_ascii_uppercase() == red))
            .collect()
    }

    pub fn in_check(&self) -> bool {
        self.takes_king(!self.red)
    }

    pub fn after(&self, from: (i32, i32), to: (i32, i32)) -> Slow {
        let mut next = self.clone();
        next.board[to.1 as usize][to.0 as usize] = self.board[from.1 as usize][from.0 as usize];
        next.board[from.1 as usize][from.0 as usize] = b'.';
        next.red = !self.red;
        next
    }

    /// The legal moves as coordinates, sorted.
    pub fn legal_moves(&self) -> Vec<String> {
        let name = |(f, r): (i32, i32)| format!("{}{r}", (b'a' + f as u8) as char);
        let mut moves = Vec::new();
        for from in self.squares(self.red) {
            for to in self.targets(from.0, from.1) {
                if !self.after(from, to).takes_king(!self.red) {
                    moves.push(name(from) + &name(to));
                }
            }
        }
        moves.sort();
        moves
    }
}
