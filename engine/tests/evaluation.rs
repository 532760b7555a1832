//! The hand-crafted evaluation does not know colours or wings, and is kept up to date exactly.

use engine::eval::hce;
use engine::protocol::{flipped, mirrored};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::{Position, Setup};

fn value(setup: &Setup) -> i32 {
    let pos = Position::try_from_setup(setup).expect("a mirrored position is one");
    hce::evaluate(&pos, hce::base(&pos))
}

/// Calls `check` on the positions of random games.
fn along_random_games(games: u64, mut check: impl FnMut(&Position)) {
    for seed in 0..games {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut pos = Position::start();
        for _ in 0..150 {
            check(&pos);
            let moves = pos.legal_moves();
            if moves.is_empty() {
                break;
            }
            pos.make(moves[rng.next_u64() as usize % moves.len()]);
        }
    }
}

#[test]
fn both_colours_and_both_wings_are_evaluated_alike() {
    along_random_games(40, |pos| {
        let setup = pos.to_setup();
        let here = value(&setup);
        assert_eq!(here, value(&flipped(&setup)), "sides changed: {}", pos.fen());
        assert_eq!(here, value(&mirrored(&setup)), "wings changed: {}", pos.fen());
        assert_eq!(here, value(&mirrored(&flipped(&setup))), "both changed: {}", pos.fen());
    });
}

#[test]
fn material_and_place_follow_the_moves() {
    for seed in 0..40 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1000 + seed);
        let mut pos = Position::start();
        let mut line = hce::Hce::default();
        line.reset(&pos);
        let mut undos = Vec::new();
        for _ in 0..150 {
            assert_eq!(line.current(), hce::base(&pos), "{}", pos.fen());
            let moves = pos.legal_moves();
            if moves.is_empty() {
                break;
            }
            let undo = pos.make(moves[rng.next_u64() as usize % moves.len()]);
            line.push(&undo.change.expect("a move changes something"));
            undos.push(undo);
        }
        for undo in undos.iter().rev() {
            pos.unmake(undo);
            line.pop();
            assert_eq!(line.current(), hce::base(&pos), "taken back: {}", pos.fen());
        }
    }
}

#[test]
fn what_a_player_would_say() {
    // (better for the side to move, worse): pairs of positions that differ in one thing.
    let cases = [
        // A rook more.
        ("3k5/9/9/9/9/9/9/9/9/R3K4 w", "3k5/9/9/9/9/9/9/9/9/4K4 w"),
        // A pawn over the river is worth more than one at home.
        ("3k5/9/9/9/2P6/9/9/9/9/R3K4 w", "3k5/9/9/9/9/9/2P6/9/9/R3K4 w"),
        // A hollow cannon, and the same cannon on another file.
        (
            "rnbakabnr/9/1c5c1/p1p3p1p/4C4/9/P1P3P1P/7C1/4A4/RNBAK1BNR w",
            "rnbakabnr/9/1c5c1/p1p3p1p/3C5/9/P1P3P1P/7C1/4A4/RNBAK1BNR w",
        ),
        // The enemy's advisors gone, with our rooks on the board.
        (
            "rnb1k1bnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w",
            "rn1aka1nr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w",
        ),
    ];
    for (better, worse) in cases {
        let value = |fen| Position::from_fen(fen).map(|pos| hce::evaluate(&pos, hce::base(&pos)));
        let (a, b) = (value(better).expect(better), value(worse).expect(worse));
        assert!(a > b, "{better} is {a}, {worse} is {b}");
    }
}

#[test]
fn a_whole_guard_holds_a_rook() {
    let pos = Position::from_fen("2bakab2/9/9/9/9/9/9/9/9/R4K3 w").expect("a position");
    assert!(hce::evaluate(&pos, hce::base(&pos)) < 100);
}
