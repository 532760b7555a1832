//! Random games: the fast generator against the slow one, make and undo against positions built
//! anew, keys against keys. 10 million moves in the full run.

mod common;

use common::slow::Slow;
use common::{Chance, amount};
use xiangqi::{Game, Move, MoveList, Position};

/// Plays random legal games and shows each position, until `plies` moves have been made in all.
fn random_play(plies: usize, seed: u64, mut see: impl FnMut(&mut Game, &mut Chance)) {
    let mut chance = Chance(seed);
    let mut left = plies;
    while left > 0 {
        let mut game = Game::new(Position::start());
        for _ in 0..200 {
            see(&mut game, &mut chance);
            let moves = game.position().legal_moves();
            if left == 0 || moves.is_empty() {
                break;
            }
            // Captures rarely: full boards and long games find more.
            let mut mv = moves[chance.below(moves.len())];
            if game.position().piece_on(mv.to()).is_some() && chance.below(3) > 0 {
                mv = moves[chance.below(moves.len())];
            }
            game.try_play(mv).expect("a legal move");
            left -= 1;
        }
    }
}

/// The same position read from its own FEN, where nothing is incremental.
fn rebuilt(position: &Position) -> Position {
    Position::from_fen(&position.fen()).expect("its own FEN")
}

#[test]
fn make_and_undo_equal_a_fresh_board() {
    random_play(amount(10_000_000), 1, |game, chance| {
        let position = game.position();
        let fresh = rebuilt(position);
        assert_eq!(fresh.key(), position.key(), "{position:?}");
        assert_eq!(fresh.in_check(), position.in_check(), "{position:?}");
        assert_eq!(fresh.to_setup(), position.to_setup());
        assert_eq!(fresh.occupied(), position.occupied());
        let moves = position.legal_moves();
        if moves.is_empty() {
            return;
        }
        let before = position.clone();
        game.play(moves[chance.below(moves.len())]);
        game.undo();
        assert!(*game.position() == before, "undo left a trace in {before:?}");
    });
}

#[test]
fn a_slow_generator_agrees() {
    random_play(amount(200_000), 2, |game, _| {
        let position = game.position();
        let slow = Slow::new(&position.to_setup());
        let mut fast: Vec<String> = position.legal_moves().iter().map(Move::to_string).collect();
        fast.sort();
        assert_eq!(fast, slow.legal_moves(), "{position:?}");
        assert_eq!(position.in_check(), slow.in_check(), "{position:?}");
        assert_eq!(position.legal_count(), fast.len() as u64, "{position:?}");
        assert_eq!(position.has_legal_move(), !fast.is_empty(), "{position:?}");
    });
}

#[test]
fn ranks_are_places_in_the_list() {
    random_play(amount(200_000), 3, |game, _| {
        let position = game.position();
        let mut list = MoveList::new();
        position.pseudo_legal(&mut list);
        assert!(list.is_sorted_by_key(|mv| (mv.from(), mv.to())));
        assert_eq!(position.pseudo_legal_count() as usize, list.len());
        for (rank, &mv) in list.iter().enumerate() {
            assert_eq!(position.move_rank(mv), Some(rank as u32), "{position:?} {mv}");
            assert_eq!(position.move_at_rank(rank as u32), Some(mv), "{position:?}");
        }
        assert_eq!(position.move_at_rank(list.len() as u32), None);
        let (mut captures, mut quiets) = (MoveList::new(), MoveList::new());
        position.pseudo_legal_captures(&mut captures);
        position.pseudo_legal_quiets(&mut quiets);
        let mut both: Vec<Move> = captures.iter().chain(quiets.iter()).copied().collect();
        both.sort_by_key(|mv| (mv.from(), mv.to()));
        assert_eq!(both, list.to_vec(), "{position:?}");
    });
}

#[test]
fn gives_check_and_attackers_tell_the_same() {
    random_play(amount(100_000), 4, |game, _| {
        let position = game.position().clone();
        let (mut quiets, mut checks) = (MoveList::new(), MoveList::new());
        position.pseudo_legal_quiets(&mut quiets);
        position.pseudo_legal_quiet_checks(&mut checks);
        let asked: Vec<Move> = quiets.iter().copied().filter(|&mv| position.gives_check(mv)).collect();
        assert_eq!(checks.to_vec(), asked, "{position:?}");
        for &mv in position.legal_moves().iter() {
            let mut after = position.clone();
            let gives_check = position.gives_check(mv);
            let undo = after.make(mv);
            assert_eq!(after.in_check(), gives_check, "{position:?} {mv}");
            assert_eq!(after.checkers().is_empty(), !gives_check, "{position:?} {mv}");
            after.unmake(&undo);
            assert!(after == position);
            if position.piece_on(mv.to()).is_some() {
                let attackers = position.attackers_to(mv.to(), position.side_to_move(), position.occupied());
                assert!(attackers.has(mv.from()), "{position:?} {mv}");
            }
        }
    });
}

/// Mostly the mover's last move turned back, so that positions come again; else any move.
fn wander(game: &Game, chance: &mut Chance) -> Option<Move> {
    let own_last = game.len().checked_sub(2).and_then(|i| game.moves().nth(i));
    let back = own_last.map(|mv| Move::new(mv.to(), mv.from()));
    let moves = game.position().legal_moves();
    match back.filter(|mv| moves.contains(mv) && chance.below(4) > 0) {
        Some(mv) => Some(mv),
        None => (!moves.is_empty()).then(|| moves[chance.below(moves.len())]),
    }
}

#[test]
fn occurrences_are_counted_as_by_hand() {
    let mut chance = Chance(6);
    let mut repeats = 0;
    for _ in 0..amount(20_000) {
        let mut game = Game::new(Position::start());
        let mut keys = vec![game.position().key()];
        while let Some(mv) = wander(&game, &mut chance).filter(|_| keys.len() < 60) {
            game.play(mv);
            keys.push(game.position().key());
            let by_hand = keys.iter().filter(|&&key| key == game.position().key()).count();
            assert_eq!(game.occurrences() as usize, by_hand, "{game:?}");
            repeats += usize::from(by_hand > 2);
        }
    }
    assert!(repeats > amount(20_000), "only {repeats} third occurrences seen");
}
