use xiangqi::judge::explain::{Language, explain};
use xiangqi::judge::{self, RuleSet, Rules};
use xiangqi::{Color, Game, Move, MoveList, Position};

use crate::slow::Slow;

/// Plies of a game that are looked at.
const MOST_PLIES: usize = 300;
/// Positions of a game that are looked at closely: the slow generator takes some hundred microseconds in a fuzzing build.
const CLOSE_LOOKS: usize = 8;
/// Bytes that mean something else than a move of the list.
const TAKE_BACK: u8 = 255;
const MOVE_BACK: u8 = 254;
pub(crate) const RAW: u8 = 253;

/// A game from bytes: a first line with a FEN, or none for the start position, then a byte per ply (which of
/// the legal moves; or take back, go back where one came from, or two bytes of a raw move). Make and undo
/// leave no trace, the legal moves are those of the slow generator, every rule set has a verdict.
pub fn moves(data: &[u8]) {
    let (line, bytes) = match data.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (&[][..], data),
    };
    let start = Position::from_fen(&String::from_utf8_lossy(line)).unwrap_or_else(|_| Position::start());
    let mut game = Game::new(start);
    // Spread over the game, its end included; all of a short one.
    let stride = bytes.len().min(MOST_PLIES) / CLOSE_LOOKS + 1;
    let mut bytes = bytes.iter().copied();
    for ply in 0..MOST_PLIES {
        if ply % stride == 0 || bytes.len() == 0 {
            check_position(game.position());
        }
        check_verdicts(&game, ply % stride == 0);
        let Some(byte) = bytes.next() else { break };
        step(&mut game, byte, &mut bytes);
    }
    check_verdicts(&game, true);
    check_take_back(game);
}

fn step(game: &mut Game, byte: u8, rest: &mut impl Iterator<Item = u8>) {
    let legal = game.position().legal_moves();
    match byte {
        TAKE_BACK => game.undo(),
        MOVE_BACK => {
            let own_last = game.len().checked_sub(2).and_then(|i| game.moves().nth(i));
            let back = own_last.map(|mv| Move::new(mv.to(), mv.from()));
            if let Some(mv) = back {
                assert_eq!(game.try_play(mv).is_ok(), legal.contains(&mv));
            }
        }
        RAW => {
            let bits = u16::from_le_bytes([rest.next().unwrap_or(0), rest.next().unwrap_or(0)]);
            if let Some(mv) = Move::from_bits(bits) {
                let before = game.position().clone();
                let played = game.try_play(mv).is_ok();
                assert_eq!(played, legal.contains(&mv), "{mv} in {before:?}");
                assert!(played || *game.position() == before, "a refused move left a trace in {before:?}");
            }
        }
        _ if legal.is_empty() => {}
        _ => {
            let mv = legal[usize::from(byte) % legal.len()];
            assert!(game.try_play(mv).is_ok(), "{mv} in {:?}", game.position());
        }
    }
}

fn check_position(position: &Position) {
    let slow = Slow::new(&position.to_setup());
    let legal = position.legal_moves();
    let mut texts: Vec<String> = legal.iter().map(Move::to_string).collect();
    texts.sort();
    assert_eq!(texts, slow.legal_moves(), "{position:?}");
    assert_eq!(position.in_check(), slow.in_check(), "{position:?}");
    assert_eq!(position.legal_count(), texts.len() as u64, "{position:?}");
    let fresh = Position::from_fen(&position.fen());
    assert_eq!(fresh.as_ref().map(Position::key), Ok(position.key()), "{position:?}");
    let mut pseudo = MoveList::new();
    position.pseudo_legal(&mut pseudo);
    let mut board = position.clone();
    for (rank, &mv) in pseudo.iter().enumerate() {
        assert_eq!(position.move_rank(mv), Some(rank as u32), "{position:?} {mv}");
        assert_eq!(position.move_at_rank(rank as u32), Some(mv), "{position:?}");
        if legal.contains(&mv) {
            let gives_check = position.gives_check(mv);
            let undo = board.make(mv);
            assert_eq!(board.in_check(), gives_check, "{position:?} {mv}");
            board.unmake(&undo);
            assert!(board == *position, "{mv} left a trace in {position:?}");
        }
    }
}

/// Moves within which a mate threat is looked for; deeper ones take long.
const MATE_THREAT_DEPTH: u8 = 2;

/// Every rule set judges, and explains what it judges where `closely` is asked for.
fn check_verdicts(game: &Game, closely: bool) {
    for set in RuleSet::ALL {
        let rules = Rules { mate_threat_depth: MATE_THREAT_DEPTH, ..set.into() };
        let status = judge::status(game, rules);
        let by_repetition = status.reason == Some(judge::EndReason::Repetition);
        assert_eq!(status.repetition.is_some(), by_repetition, "{set}: {game:?}");
        let verdict = judge::repetition(game, rules);
        let enough = game.occurrences() as usize >= set.deciding_occurrence();
        assert_eq!(verdict.is_some(), enough, "{set}: {game:?}");
        if closely || enough {
            let explanation = explain(game, rules);
            assert_eq!(explanation.status, status, "{set}: {game:?}");
            if enough {
                assert_eq!(explanation.cycle, verdict, "{set}: {game:?}");
            }
            for language in [Language::English, Language::Chinese] {
                let reasons = explanation.reasons.iter().flat_map(|reasons| Color::ALL.iter().zip(reasons));
                let mut lines: Vec<String> =
                    reasons.map(|(&side, reason)| language.of_reason(side, reason)).collect();
                lines.extend(explanation.moves.iter().map(|note| language.of_move(note)));
                lines.push(language.of_scope(&explanation));
                assert!(lines.iter().all(|line| !line.is_empty() && !line.contains('\n')), "{lines:?}");
            }
        }
    }
}

/// Undone to its start, a game is as it began.
fn check_take_back(mut game: Game) {
    let plies = game.moves().collect::<Vec<_>>();
    let end = game.position().clone();
    while !game.is_empty() {
        game.undo();
    }
    assert!(game.position() == game.start(), "{:?}", game.start());
    for mv in plies {
        game.play(mv);
    }
    assert!(*game.position() == end, "{end:?}");
}
