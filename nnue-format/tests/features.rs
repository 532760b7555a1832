//! Feature numbers: golden values, ranges, and exact symmetry.

use std::collections::HashSet;

use nnue_format::features::{ALL, FeatureSet};
use nnue_format::{QuantisedNet, reference};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::setup::Setup;
use xiangqi::{Color, Piece, PieceKind, Position, Square, zones};

fn sorted(set: FeatureSet, position: &Position, perspective: Color) -> Vec<usize> {
    let mut features = Vec::new();
    set.active(position, perspective, &mut features);
    features.sort_unstable();
    features
}

/// Left and right swapped.
fn mirror(setup: &Setup) -> Setup {
    let mut out = setup.clone();
    for square in Square::all() {
        out.board[square.mirror_file().index()] = setup.board[square.index()];
    }
    out
}

/// Colours and ranks swapped, the other side to move.
fn flip(setup: &Setup) -> Setup {
    let mut out = setup.clone();
    out.side_to_move = !setup.side_to_move;
    for square in Square::all() {
        let piece = setup.board[square.index()].map(|p| Piece::new(!p.color(), p.kind()));
        out.board[square.flip_rank().index()] = piece;
    }
    out
}

/// The rows of both sides are what each side's features are.
fn check_rows(position: &Position) {
    for set in ALL {
        for us in Color::ALL {
            let mut rows = vec![7];
            let first = 1 + set.append_rows(position, us, &mut rows).expect("16 bits are enough");
            for (row, perspective) in [(&rows[1..first], us), (&rows[first..], us.flip())] {
                let mut row: Vec<usize> = row.iter().map(|&index| index.into()).collect();
                row.sort_unstable();
                assert_eq!(row, sorted(set, position, perspective), "{} {}", set.name(), position.fen());
            }
        }
    }
}

/// The symmetries of one position, for every set and both sides.
fn check_symmetry(position: &Position) {
    check_rows(position);
    let setup = position.to_setup();
    let mirrored = Position::try_from_setup(&mirror(&setup)).unwrap();
    let flipped = Position::try_from_setup(&flip(&setup)).unwrap();
    for set in ALL {
        for color in Color::ALL {
            let features = sorted(set, position, color);
            let fen = || format!("{set} {color} {}", position.fen());
            assert_eq!(features, sorted(set, &flipped, !color), "colour flip: {}", fen());
            if set.needs_board_view() {
                assert_eq!(features, sorted(set, &mirrored, color), "mirror: {}", fen());
            }
            let unique: HashSet<usize> = features.iter().copied().collect();
            assert_eq!(unique.len(), features.len(), "{}", fen());
            let kings = if set.slot_count() == 689 { 2 } else { 0 };
            let pieces = position.occupied().count() as usize;
            assert_eq!(features.len(), pieces - 2 + kings, "{}", fen());
            assert!(features.iter().all(|&f| f < set.inputs()), "{}", fen());
        }
    }
}

#[test]
fn golden_indices() {
    let text = include_str!("golden/features.txt");
    let mut position = Position::start();
    let mut checked = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(fen) = line.strip_prefix("fen ") {
            position = Position::from_fen(fen).unwrap();
            continue;
        }
        let mut words = line.split(' ');
        let set: FeatureSet = words.next().unwrap().parse().unwrap();
        let color = if words.next() == Some("red") { Color::Red } else { Color::Black };
        let expected: Vec<usize> = words.map(|word| word.parse().unwrap()).collect();
        assert_eq!(sorted(set, &position, color), expected, "{set} {color} {}", position.fen());
        checked += 1;
    }
    assert_eq!(checked, 56);
}

#[test]
fn sizes() {
    let expected = [("half-kp", 6066), ("half-kp-hm", 4044), ("half-ka-hm", 4134), ("half-ka-hm-ab", 16536)];
    let found: Vec<(&str, usize)> = ALL.iter().map(|set| (set.name(), set.inputs())).collect();
    assert_eq!(found, expected);
    let ids: HashSet<[u8; 8]> = ALL.iter().map(|set| set.id()).collect();
    assert_eq!(ids.len(), ALL.len());
}

/// Every slot is the slot of exactly one reachable (piece, square), for each perspective.
#[test]
fn slots_are_a_numbering() {
    for set in ALL {
        for color in Color::ALL {
            for mirror in [false, true] {
                let mut seen = vec![0; set.slot_count()];
                for piece in (0..Piece::COUNT).filter_map(Piece::from_index) {
                    for square in Square::all() {
                        if let Some(slot) = set.slots().get(color, mirror, piece, square) {
                            assert!(zones::zone(piece).has(square));
                            seen[slot] += 1;
                        }
                    }
                }
                assert!(seen.iter().all(|&n| n == 1), "{set} {color} {mirror}");
            }
        }
    }
}

/// Both kings and one more piece, wherever they can stand: every such position there is.
#[test]
fn symmetry_of_all_three_piece_positions() {
    let king = |color| Piece::new(color, PieceKind::King);
    let mut checked = 0;
    for red in zones::zone(king(Color::Red)) {
        for black in zones::zone(king(Color::Black)) {
            for piece in (0..Piece::COUNT).filter_map(Piece::from_index) {
                if piece.kind() == PieceKind::King {
                    continue;
                }
                for square in zones::zone(piece) {
                    let mut setup = Setup::empty();
                    setup.board[square.index()] = Some(piece);
                    setup.board[red.index()] = Some(king(Color::Red));
                    setup.board[black.index()] = Some(king(Color::Black));
                    setup.side_to_move = piece.color();
                    if square == red || square == black {
                        continue;
                    }
                    // The piece's side to move may stand in no check; the other side must not.
                    let position = Position::try_from_setup(&setup).or_else(|_| {
                        setup.side_to_move = !piece.color();
                        Position::try_from_setup(&setup)
                    });
                    if let Ok(position) = position {
                        check_symmetry(&position);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert_eq!(checked, 36_780);
}

/// Random boards with both kings on file e, nearly symmetric: the last steps of the tie-break.
#[test]
fn symmetry_of_nearly_symmetric_positions() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut below = |n: usize| ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
    let mut checked = 0;
    for _ in 0..40_000 {
        let mut setup = Setup::empty();
        setup.side_to_move = Color::ALL[below(2)];
        for color in Color::ALL {
            let rank = if color == Color::Red { below(3) } else { 9 - below(3) };
            setup.board[rank * 9 + 4] = Some(Piece::new(color, PieceKind::King));
            for kind in &PieceKind::ALL[1..] {
                let piece = Piece::new(color, *kind);
                let zone: Vec<Square> = zones::zone(piece).collect();
                // A pair that mirror each other, or now and then one or two anywhere.
                let square = zone[below(zone.len())];
                let other = if below(6) == 0 { zone[below(zone.len())] } else { square.mirror_file() };
                for square in [square, other] {
                    if below(8) > 0 && setup.board[square.index()].is_none() {
                        setup.board[square.index()] = Some(piece);
                    }
                }
            }
        }
        if let Ok(position) = Position::try_from_setup(&setup) {
            check_symmetry(&position);
            checked += 1;
        }
    }
    assert!(checked > 5_000, "{checked}");
}

/// Random games: what real positions look like.
#[test]
fn symmetry_in_random_games() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    for _ in 0..100 {
        let mut position = Position::start();
        for _ in 0..150 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.make(moves[(rng.next_u64() % moves.len() as u64) as usize]);
            check_symmetry(&position);
        }
    }
}

/// So whole nets are symmetric too: stacks and PSQT included, to the last bit.
#[test]
fn evaluations_are_symmetric() {
    let nets = ALL.map(|set| {
        let arch = format!("{set} 2x128-8-8-1 pairwise 16-stacks psqt").parse().unwrap();
        QuantisedNet::random(&arch, 6)
    });
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    for _ in 0..10 {
        let mut position = Position::start();
        for _ in 0..100 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.make(moves[(rng.next_u64() % moves.len() as u64) as usize]);
            let setup = position.to_setup();
            let mirrored = Position::try_from_setup(&mirror(&setup)).unwrap();
            let flipped = Position::try_from_setup(&flip(&setup)).unwrap();
            for net in &nets {
                let eval = reference::evaluate(net, &position);
                assert_eq!(eval, reference::evaluate(net, &flipped), "{}", position.fen());
                if net.arch.features().needs_board_view() {
                    assert_eq!(eval, reference::evaluate(net, &mirrored), "{}", position.fen());
                }
            }
        }
    }
}

/// Bucket and slot can be told apart again: what factorised training relies on.
#[test]
fn virtual_features() {
    for set in ALL {
        let mut features = Vec::new();
        let position = Position::start();
        set.active(&position, Color::Red, &mut features);
        let bucket = set.bucket(set.view(&position, Color::Red));
        for feature in features {
            let slot = set.virtual_index(feature);
            assert!(slot < set.slot_count());
            assert_eq!(bucket * set.slot_count() + slot, feature);
        }
    }
}
