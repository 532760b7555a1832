//! Openings: the start position or one of a book, random plies from there, held to be balanced by a short search.

mod permutation;

use arena::openings::{Book, BookError};
use nnue_format::record::Start;
use xiangqi::judge::{self, GameResult, RuleSet};
use xiangqi::{Game, Move, Position};

use crate::plan::{OpeningPlan, Plan, SearchLimit, hex};
use crate::player::Player;
use crate::seed::GameRng;

pub use permutation::Permutation;

/// After so many one-sided openings from the start position the least one-sided of them is taken.
const MAX_TRIES: u32 = 100;
/// After so many from a book's opening, that opening is left out.
const MAX_BOOK_TRIES: u32 = 20;

/// Why a plan's book cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StartsError {
    /// The book cannot be read.
    #[error(transparent)]
    Book(#[from] BookError),
    /// It is another one than the plan's.
    #[error(
        "the book has SHA-256 {found}, the plan's has {expected}; give the --book that the run began with"
    )]
    OtherBook {
        /// The digest of the book given; "none" where there is none.
        found: String,
        /// The plan's.
        expected: String,
    },
    /// A game would be over by its length before it is searched.
    #[error(
        "opening {number} of the book has {plies} plies, and {random} random ones may follow: no less than --max-plies {longest}; cut the lines with --book-plies"
    )]
    Long {
        /// Its number in the book, from 1.
        number: usize,
        /// Its plies.
        plies: usize,
        /// The plan's most random plies.
        random: u32,
        /// The plan's longest game.
        longest: u32,
    },
}

/// Where the games of a run begin before random plies: the start position, or the openings of a book, each at one number
/// of the run.
pub struct Starts {
    book: Option<(Book, Permutation)>,
}

impl Starts {
    /// The starts of a plan, whose book is given if it has one.
    ///
    /// # Errors
    /// For another book than the plan's, and for a book with openings longer than games.
    pub fn new(plan: &Plan, book: Option<Book>) -> Result<Starts, StartsError> {
        let expected = plan.opening.book.map(|book| book.sha256);
        let found = book.as_ref().map(Book::sha256);
        if found != expected {
            let text =
                |digest: Option<[u8; 32]>| digest.map_or_else(|| "none".to_owned(), |bytes| hex(&bytes));
            return Err(StartsError::OtherBook { found: text(found), expected: text(expected) });
        }
        let Some(book) = book else { return Ok(Starts { book: None }) };
        let (random, longest) = (plan.opening.max_plies, plan.adjudication.max_plies);
        let plies = |index| book.opening(index).map_or(0, |opening| opening.moves.len());
        if let Some(i) = (0..book.len()).find(|&i| plies(i) + random as usize >= longest as usize) {
            return Err(StartsError::Long { number: i + 1, plies: plies(i), random, longest });
        }
        let order = Permutation::new(book.len() as u64, plan.seed);
        Ok(Starts { book: Some((book, order)) })
    }

    /// Where game `number` begins, and the game there; `None` where the book has no such opening.
    fn of(&self, number: u64) -> Option<(Start, Game)> {
        let Some((book, order)) = &self.book else {
            return Some((Start::Standard, Game::new(Position::start())));
        };
        let place = number.checked_rem(book.len() as u64)?;
        let opening = book.opening(order.at(place) as usize)?;
        let is_standard = opening.start == xiangqi::fen::START;
        let start = if is_standard { Start::Standard } else { Start::Fen(opening.start.clone()) };
        Some((start, opening.game()?))
    }
}

/// An opening: the game after it, with what made it.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Where the game begins.
    pub start: Start,
    /// The game, standing where the searches begin.
    pub game: Game,
    /// Nodes spent on choosing it.
    pub nodes: u64,
}

/// What became of drawing an opening.
#[derive(Clone, Debug)]
pub enum Drawn {
    /// An opening.
    Opening(Box<Opening>),
    /// The book's opening is one-sided, whatever random plies followed.
    OneSided,
    /// Every try ended the game on the way.
    Ended,
}

/// Draws the opening of game `number` from the game's own chance. The player has forgotten all else when it begins to weigh.
pub fn draw(
    plan: &OpeningPlan,
    starts: &Starts,
    number: u64,
    rules: RuleSet,
    rng: &mut GameRng,
    player: &mut dyn Player,
) -> Drawn {
    let Some((start, game)) = starts.of(number) else { return Drawn::Ended };
    let tries = match (plan.book, plan.max_plies) {
        (_, 0) => 1,
        (Some(_), _) => MAX_BOOK_TRIES,
        (None, _) => MAX_TRIES,
    };
    let mut least: Option<(i32, Game)> = None;
    let mut nodes = 0;
    if plan.balance_nodes > 0 {
        player.new_game();
    }
    for _ in 0..tries {
        let Some(game) = random_plies(plan, game.clone(), rules, rng) else {
            continue;
        };
        if plan.balance_nodes == 0 {
            return Drawn::Opening(Box::new(Opening { start, game, nodes }));
        }
        let limit = SearchLimit { nodes: Some(plan.balance_nodes), ..SearchLimit::default() };
        let choice = player.search(&game, limit);
        nodes += choice.nodes;
        let size = choice.score.0.abs();
        if size <= plan.balance {
            return Drawn::Opening(Box::new(Opening { start, game, nodes }));
        }
        if least.as_ref().is_none_or(|&(other, _)| size < other) {
            least = Some((size, game));
        }
    }
    match least {
        _ if plan.book.is_some() => Drawn::OneSided,
        Some((_, game)) => Drawn::Opening(Box::new(Opening { start, game, nodes })),
        None => Drawn::Ended,
    }
}

/// Goes on with random legal moves, each as likely; `None` if the game ended on the way.
fn random_plies(plan: &OpeningPlan, mut game: Game, rules: RuleSet, rng: &mut GameRng) -> Option<Game> {
    let span = u64::from(plan.max_plies.saturating_sub(plan.min_plies)) + 1;
    let plies = u64::from(plan.min_plies) + rng.below(span);
    for _ in 0..plies {
        let moves = game.position().legal_moves();
        let mv: Move = *rng.pick(&moves)?;
        game.play(mv);
        if judge::status(&game, rules).result != GameResult::Ongoing {
            return None;
        }
    }
    Some(game)
}
