//! The competition rules' judge: 《象棋程序竞赛规则》, chapter 3.
//!
//! Only the closed cycle counts, as a ring: every position in it arose by a move in it.
//! - 长将: every move of a side in the cycle gives check.
//! - 捉: there is no chase at all in a cycle with a check in it. Otherwise an attack, that is a
//!   legal capture if its side were to move now, is a chase unless (a) the capturer could be
//!   captured in return, except where a knight or cannon takes a rook, or an advisor or bishop a
//!   knight, cannon or rook; (b) the attacker is a king or pawn; (c) the target is a pawn that has
//!   not crossed the river; (d) both are of one kind and the target attacks the attacker too.
//! - 长捉: there is a piece that each of the chaser's moves chases and each of its owner's moves
//!   frees from all chase.

use super::{Conduct, GameResult, Repetition};
use crate::bitboard::Bitboard;
use crate::color::Color;
use crate::game::Game;
use crate::mv::Move;
use crate::piece::{Piece, PieceKind};
use crate::position::Position;
use crate::square::Square;
use crate::zones::has_crossed;

pub(super) fn judge(game: &Game, first: usize) -> Repetition {
    let checks = checks_by_side(game, first);
    let no_chase = [Bitboard::EMPTY; 2];
    let any_check = checks.iter().any(|&(given, _)| given > 0);
    let chased = if any_check { no_chase } else { chased_by_side(game, first) };
    let conduct = |color: Color| {
        let (given, moves) = checks[color.index()];
        if moves > 0 && given == moves {
            Conduct::PerpetualCheck
        } else if !chased[color.index()].is_empty() {
            Conduct::PerpetualChase
        } else {
            Conduct::Allowed
        }
    };
    let (red, black) = (conduct(Color::Red), conduct(Color::Black));
    let result = match red.cmp(&black) {
        std::cmp::Ordering::Greater => GameResult::RedLoses,
        std::cmp::Ordering::Less => GameResult::BlackLoses,
        std::cmp::Ordering::Equal => GameResult::Draw,
    };
    Repetition { result, red, black, chased_by_red: chased[0], chased_by_black: chased[1] }
}

/// `(checks given, moves made)` in the cycle, by side.
fn checks_by_side(game: &Game, first: usize) -> [(u32, u32); 2] {
    let mut sides = [(0, 0); 2];
    let plies = &game.plies()[first..];
    let mut mover = if plies.len().is_multiple_of(2) {
        game.position().side_to_move()
    } else {
        !game.position().side_to_move()
    };
    for i in 0..plies.len() {
        // A ply's record keeps what was so before it: the next one tells what it did.
        let check = plies.get(i + 1).map_or(game.position().in_check(), |next| next.in_check);
        let side = &mut sides[mover.index()];
        side.0 += check as u32;
        side.1 += 1;
        mover = !mover;
    }
    sides
}

/// The pieces that each side chases perpetually (index: the chaser), on their squares at the
/// cycle's start. Only for cycles without check.
fn chased_by_side(game: &Game, first: usize) -> [Bitboard; 2] {
    let mut position = game.position().clone();
    let plies = &game.plies()[first..];
    for undo in plies.iter().rev() {
        position.unmake(undo);
    }
    // Where the piece on each square stood at the start. Nothing is captured in a cycle.
    let mut home: [Square; Square::COUNT] = std::array::from_fn(|i| Square::known(i as u8));
    let mut chased = [position.color(Color::Black), position.color(Color::Red)];
    for change in plies.iter().filter_map(|undo| undo.change) {
        let mover = position.side_to_move();
        position.make(Move::new(change.from, change.to));
        home[change.to.index()] = home[change.from.index()];
        // Only pieces that have been chased all along are worth a look.
        for chaser in Color::ALL {
            let remaining = &mut chased[chaser.index()];
            if remaining.is_empty() {
                continue;
            }
            let targets: Bitboard =
                position.color(!chaser).filter(|square| remaining.has(home[square.index()])).collect();
            let now: Bitboard =
                chased_now(&position, chaser, targets).map(|square| home[square.index()]).collect();
            // The chaser's own move must chase it, its owner's must free it.
            *remaining = if chaser == mover { *remaining & now } else { remaining.without(now) };
        }
        if chased.iter().all(|set| set.is_empty()) {
            break;
        }
    }
    chased
}

/// Those of `targets` that `chaser` chases in this position, as if it were to move.
fn chased_now(position: &Position, chaser: Color, targets: Bitboard) -> Bitboard {
    let to_move = turned(position, chaser);
    let other = turned(position, !chaser);
    targets.filter(|&target| is_chased(&to_move, &other, target)).collect()
}

/// The position with `side` to move.
fn turned(position: &Position, side: Color) -> Position {
    let mut position = position.clone();
    if position.side_to_move() != side {
        position.make_null();
    }
    position
}

/// Does the side to move in `to_move` chase the piece on `target`? `other` is the same position
/// with the other side to move.
fn is_chased(to_move: &Position, other: &Position, target: Square) -> bool {
    let chaser = to_move.side_to_move();
    let Some(victim) = to_move.piece_on(target) else { return false };
    if victim.kind() == PieceKind::Pawn && !has_crossed(victim.color(), target) {
        return false;
    }
    let mut attackers = to_move.attackers_to(target, chaser, to_move.occupied());
    attackers.any(|from| {
        let Some(attacker) = to_move.piece_on(from) else { return false };
        let capture = Move::new(from, target);
        !matches!(attacker.kind(), PieceKind::King | PieceKind::Pawn)
            && to_move.is_legal(capture)
            && !attacks_back(other, attacker, victim, Move::new(target, from))
            && (worth_more(attacker.kind(), victim.kind()) || !is_recaptured(to_move, capture))
    })
}

/// Are both of one kind, and does the victim attack the attacker too?
fn attacks_back(other: &Position, attacker: Piece, victim: Piece, back: Move) -> bool {
    attacker.kind() == victim.kind() && other.is_pseudo_legal(back) && other.is_legal(back)
}

/// Captures that are a chase even of a protected piece.
fn worth_more(attacker: PieceKind, victim: PieceKind) -> bool {
    use PieceKind::{Advisor, Bishop, Cannon, Knight, Rook};
    match attacker {
        Knight | Cannon => victim == Rook,
        Advisor | Bishop => matches!(victim, Knight | Cannon | Rook),
        _ => false,
    }
}

/// Could the capturer be captured in return?
fn is_recaptured(position: &Position, capture: Move) -> bool {
    let mut after = position.clone();
    after.make(capture);
    let mut attackers = after.attackers_to(capture.to(), after.side_to_move(), after.occupied());
    attackers.any(|from| after.is_legal(Move::new(from, capture.to())))
}
