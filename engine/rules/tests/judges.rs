//! Every judge against a slow one that is written from the definitions, on random cycles; and the
//! explanations against the verdicts.

mod common;

use common::slow::Slow;
use common::slow_judge::{Conduct, Cycle};
use common::{Chance, amount};
use xiangqi::judge::explain::{Reason, Scope, explain};
use xiangqi::judge::{self, Repetition, RuleSet, Rules};
use xiangqi::zones::zone;
use xiangqi::{Bitboard, Color, Game, Move, Piece, PieceKind, Position, Setup};

/// What stands on the boards beside the kings, the likelier the more often it is named.
const KINDS: [PieceKind; 11] = {
    use PieceKind::{Advisor, Bishop, Cannon, Knight, Pawn, Rook};
    [Rook, Rook, Knight, Knight, Cannon, Cannon, Cannon, Advisor, Bishop, Pawn, Pawn]
};

/// A legal position with few pieces, in which moves do more than in a full one.
fn sparse_position(chance: &mut Chance) -> Position {
    loop {
        let mut setup = Setup::empty();
        setup.side_to_move = Color::ALL[chance.below(2)];
        let kings = Color::ALL.map(|color| Piece::new(color, PieceKind::King));
        let men = (0..3 + chance.below(9))
            .map(|_| Piece::new(Color::ALL[chance.below(2)], KINDS[chance.below(KINDS.len())]));
        let men: Vec<Piece> = kings.into_iter().chain(men).collect();
        for piece in men {
            let square = zone(piece).nth(chance.below(zone(piece).count() as usize) as u32);
            let slot = square.map(|square| &mut setup.board[square.index()]);
            if let Some(slot) = slot.filter(|slot| slot.is_none()) {
                *slot = Some(piece);
            }
        }
        if let Ok(position) = Position::try_from_setup(&setup) {
            return position;
        }
    }
}

/// A quiet legal move of any man, or of the one on `from`.
fn quiet(position: &Position, from: Option<xiangqi::Square>, chance: &mut Chance) -> Option<Move> {
    let fits = |mv: &Move| position.piece_on(mv.to()).is_none() && from.is_none_or(|from| mv.from() == from);
    let moves: Vec<Move> = position.legal_moves().iter().copied().filter(fits).collect();
    (!moves.is_empty()).then(|| moves[chance.below(moves.len())])
}

/// A game whose last moves lead back to its start: a man of each side to and fro, or round a triangle.
fn cycle(chance: &mut Chance) -> Option<Game> {
    let mut game = Game::new(sparse_position(chance));
    let legs = 2 + chance.below(2);
    let mut moves: Vec<Move> = Vec::new();
    for i in 0..2 * legs {
        let mv = if i >= 2 * legs - 2 {
            Move::new(moves[i - 2].to(), moves[i % 2].from())
        } else {
            quiet(game.position(), (i >= 2).then(|| moves[i - 2].to()), chance)?
        };
        if mv.from() == mv.to() || game.position().piece_on(mv.to()).is_some() {
            return None;
        }
        game.try_play(mv).ok()?;
        moves.push(mv);
    }
    (game.occurrences() > 1).then_some(game)
}

/// Is there enough on the board for a verdict to be other than "allowed"? After each of its moves,
/// the side gives check or attacks something by the gait.
fn is_lively(game: &Game) -> bool {
    let mut position = game.start().clone();
    let mut lively = [true; 2];
    for mv in game.moves() {
        let mover = position.side_to_move();
        position.make(mv);
        let attacks =
            position.color(mover).any(|from| !(position.attacks(from) & position.color(!mover)).is_empty());
        lively[mover.index()] &= attacks || position.in_check();
    }
    lively.iter().any(|&side| side)
}

fn squares(men: &[(i32, i32)]) -> Bitboard {
    Bitboard::from_bits(men.iter().fold(0, |bits, &(f, r)| bits | 1 << (r * 9 + f)))
}

fn check(game: &Game, rules: Rules, verdict: Repetition, slow: [Conduct; 2]) {
    let text = format!("{game:?} by {}", rules.set);
    let [red, black] = &slow;
    assert_eq!((verdict.red.level(), verdict.black.level()), (red.0, black.0), "{text}");
    assert_eq!(verdict.chased_by_red, squares(&red.1), "{text}: chased by red");
    assert_eq!(verdict.chased_by_black, squares(&black.1), "{text}: chased by black");
    let loser = [(red.0 > black.0).then_some(Color::Red), (red.0 < black.0).then_some(Color::Black)];
    assert_eq!(verdict.result.loser(), loser[0].or(loser[1]), "{text}");
}

/// The explanation tells what the verdict is, and names what it says is chased.
fn check_explanation(game: &Game, rules: Rules, verdict: Repetition) {
    let text = format!("{game:?} by {}", rules.set);
    let told = explain(game, rules);
    let decides = rules.set.deciding_occurrence() == 2;
    assert_eq!(told.scope, Scope::Cycle { occurrences: 2, decides }, "{text}");
    assert_eq!((told.cycle, told.moves.len()), (Some(verdict), game.len()), "{text}");
    let reasons = told.reasons.expect("reasons for a cycle");
    let sides = [(verdict.red, verdict.chased_by_red), (verdict.black, verdict.chased_by_black)];
    for (reason, (conduct, chased)) in reasons.iter().zip(sides) {
        let forbids = match reason {
            Reason::EveryMoveChases(men) => {
                let named: Bitboard = men.iter().map(|man| man.home).collect();
                assert_eq!(named, chased, "{text}: {reason:?}");
                1
            }
            Reason::EveryMoveChecks => 2,
            Reason::EveryMoveChasesSomething | Reason::EveryMoveThreatens | Reason::EveryMoveAttacks => 1,
            _ => 0,
        };
        assert_eq!(forbids, conduct.level(), "{text}: {reason:?}");
    }
}

#[test]
fn slow_judges_agree() {
    let mut chance = Chance(9);
    let (mut cycles, mut lost) = (0, [0; 3]);
    while cycles < amount(20_000) {
        let Some(game) = cycle(&mut chance).filter(is_lively) else { continue };
        cycles += 1;
        let at = |square: xiangqi::Square| (i32::from(square.file()), i32::from(square.rank()));
        let moves: Vec<_> = game.moves().map(|mv| (at(mv.from()), at(mv.to()))).collect();
        let slow = Cycle::new(Slow::new(&game.start().to_setup()), &moves);
        let depth = chance.below(3) as u8;
        let judges: [(RuleSet, &dyn Fn(bool) -> Conduct); 4] = [
            (RuleSet::Competition, &|red| slow.competition(red)),
            (RuleSet::Asian, &|red| slow.asian(red)),
            (RuleSet::Chinese, &|red| slow.chinese(red, depth)),
            (RuleSet::AllowChase, &|red| (2 * (slow.competition(red).0 / 2), Vec::new())),
        ];
        for (i, (set, slow)) in judges.into_iter().enumerate() {
            let rules = Rules { mate_threat_depth: depth, ..set.into() };
            // The cycle as if its position stood often enough.
            let told = explain(&game, rules).cycle.expect("a cycle");
            if set.deciding_occurrence() == 2 {
                assert_eq!(judge::repetition(&game, rules), Some(told));
            }
            check(&game, rules, told, [slow(true), slow(false)]);
            check_explanation(&game, rules, told);
            if i < 3 {
                lost[i] += usize::from(told.result.loser().is_some());
            }
        }
    }
    // Not all cycles may be dull.
    assert!(lost.iter().all(|&lost| lost * 100 > cycles), "{lost:?} of {cycles}");
    eprintln!("{lost:?} of {cycles} cycles lost under competition, asian and chinese");
}
