//! Positions that follow one another, joined into games.
//!
//! ```text
//! line n     position P, move m, result r       P after m = Q, and r' = -r (the other side's view):
//! line n+1   position Q, move m', result r'     one game, two plies of it
//! ```
//!
//! Generators write a game's positions forwards or backwards (variant-nnue-tools); both are joined. A position whose
//! neighbours do not fit is a game of one ply that begins with its FEN.

use game_files::Place;
use nnue_format::record::{GameRecord, MAX_GAME_PLIES, Outcome, PlyFlags, PlyRecord, Reason, Start};
use xiangqi::judge::{self, RuleSet};
use xiangqi::{Color, Game, Position};

use crate::exchange::{ExchangeError, Sample, SampleFault};

/// In which order the positions of a game stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Unknown,
    Forwards,
    Backwards,
}

/// Joins samples into runs. Holds one run: at most [`MAX_GAME_PLIES`] samples, about 2 MB.
#[derive(Debug)]
pub struct Joiner {
    /// The samples in the order of the file, each with the key of the position behind its move.
    run: Vec<(Sample, u64)>,
    order: Order,
}

impl Default for Joiner {
    fn default() -> Joiner {
        Joiner { run: Vec::new(), order: Order::Unknown }
    }
}

/// Does ply `b` come next after `a`, as far as the file says?
fn next_ply(a: Option<u32>, b: Option<u32>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.checked_add(1) == Some(b),
        _ => true,
    }
}

impl Joiner {
    /// Takes the next sample; gives the run that ended before it, and the fault if the two fit but for their results.
    pub fn push(&mut self, sample: Sample) -> (Vec<Sample>, Option<ExchangeError>) {
        let mut behind = sample.position.clone();
        behind.make(sample.mv);
        let behind = behind.key();
        let mut fault = None;
        if let Some((last, last_behind)) = self.run.last() {
            let forwards = self.order != Order::Backwards
                && *last_behind == sample.position.key()
                && next_ply(last.ply, sample.ply);
            let backwards = self.order != Order::Forwards
                && behind == last.position.key()
                && next_ply(sample.ply, last.ply);
            let fits = forwards || backwards;
            if fits && last.result != -sample.result {
                fault = Some(contradiction(last, &sample));
            } else if fits && self.run.len() < MAX_GAME_PLIES {
                self.order = if forwards { Order::Forwards } else { Order::Backwards };
                self.run.push((sample, behind));
                return (Vec::new(), None);
            }
        }
        let ended = self.finish();
        self.run.push((sample, behind));
        (ended, fault)
    }

    /// The run that is begun, in the order of play.
    pub fn finish(&mut self) -> Vec<Sample> {
        let mut run: Vec<Sample> = self.run.drain(..).map(|(sample, _)| sample).collect();
        if self.order == Order::Backwards {
            run.reverse();
        }
        self.order = Order::Unknown;
        run
    }
}

fn contradiction(last: &Sample, sample: &Sample) -> ExchangeError {
    let (a, b) = (last.result, sample.result);
    let why = format!(
        "it is next to the position at {} in one game, but their results are {a} and {b} for the side to move, which must \
         be opposite; if results are Red's, give --results red (and --results side if that was given)",
        last.place
    );
    ExchangeError::new(SampleFault::Inconsistent, sample.place, &format!("result {b}"), why)
}

/// The games of a run: one, unless the rules end it before its last ply. What contradicts the rules is a fault, and left
/// out.
pub fn games(run: &[Sample], rules: RuleSet) -> (Vec<GameRecord>, Vec<ExchangeError>) {
    let (mut games, mut faults, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(rest) = run.get(at..).filter(|rest| !rest.is_empty()) {
        match first_game(rest, rules) {
            Ok(game) => {
                at += game.plies.len();
                games.push(game);
            }
            Err(error) => {
                at += 1;
                faults.push(error);
            }
        }
    }
    (games, faults)
}

/// What the file says of the end.
fn stated(sample: &Sample) -> Outcome {
    let side: Color = sample.position.side_to_move();
    match sample.result {
        0 => Outcome::Draw,
        won if won > 0 => Outcome::loss_of(!side),
        _ => Outcome::loss_of(side),
    }
}

fn first_game(run: &[Sample], rules: RuleSet) -> Result<GameRecord, ExchangeError> {
    let fault =
        |place: Place, found: &str, why| ExchangeError::new(SampleFault::Inconsistent, place, found, why);
    let Some(first) = run.first() else { return Err(fault(Place::Byte(0), "", "no position".to_owned())) };
    let outcome = stated(first);
    let mut game = Game::new(first.position.clone());
    if let Some(reason) = judge::status(&game, rules).reason {
        let why = format!("the game is over here by the rules of {rules} ({reason})");
        return Err(fault(first.place, &first.position.fen(), why));
    }
    let (mut used, mut reason) = (0, Reason::Stated);
    for sample in run {
        game.play(sample.mv);
        let status = judge::status(&game, rules);
        let Some((ruled, by)) = Outcome::from_result(status.result).zip(status.reason) else {
            used += 1;
            continue;
        };
        if ruled == outcome {
            (used, reason) = (used + 1, Reason::from(by));
        } else if used == 0 {
            let why = format!(
                "the move ends the game by the rules of {rules}: {ruled} by {by}, the file says {outcome}"
            );
            return Err(fault(sample.place, &sample.mv.to_string(), why));
        }
        // Else the ply becomes a game of its own, which knows of no repetition.
        break;
    }
    let is_start = first.position == Position::start();
    let start = if is_start { Start::Standard } else { Start::Fen(first.position.fen()) };
    let ply = |sample: &Sample| PlyRecord { mv: sample.mv, score: sample.score, flags: PlyFlags::NONE };
    let plies = run[..used].iter().map(ply).collect();
    Ok(GameRecord { number: 0, start, opening: Vec::new(), plies, outcome, reason, rules })
}
