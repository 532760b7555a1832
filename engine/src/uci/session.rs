//! A session: the game on the board, the searcher, and the search that may be running.
//!
//! The searcher moves into the search's thread and comes back with it, so that input is read while it
//! thinks and nothing is shared but two flags.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use xiangqi::{Color, Game, Move, Position, Setup};

use super::command::{Command, Go, parse};
use super::format;
use super::options::{Change, Options, describe};
use crate::bench;
use crate::eval::{EvalSource, Evaluation, source_on};
use crate::search::{Clock, Limits, SearchResult, Searcher};

/// How long a finished `go infinite` sleeps between looks at whether it may answer.
const WAIT_FOR_STOP: Duration = Duration::from_millis(2);
/// A perft deeper than this would not end.
const PERFT_DEEPEST: u32 = 12;

/// Where lines go, whole ones, from whichever thread.
#[derive(Clone)]
pub struct Output(Arc<Mutex<dyn Write + Send>>);

impl Output {
    /// Output to a writer.
    pub fn new(writer: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(writer)))
    }

    /// Writes a line and flushes. A reader that has gone away is no error of ours: nothing more can be said to it.
    pub fn line(&self, text: &str) {
        let mut writer = match self.0.lock() {
            Ok(writer) => writer,
            Err(poisoned) => poisoned.into_inner(),
        };
        let _ = writeln!(writer, "{text}").and_then(|()| writer.flush());
    }

    fn error(&self, what: &dyn std::fmt::Display) {
        // One line, whatever the error's text holds.
        let text = what.to_string().replace(['\n', '\r'], " ");
        self.line(&format!("info string error: {text}"));
    }
}

struct Running {
    thread: JoinHandle<Searcher>,
    stop: Arc<AtomicBool>,
    pondering: Arc<AtomicBool>,
    /// Has a limit, and so ends by itself once it is not pondering.
    bounded: bool,
    /// Its best move is being told or has been: the thread is about to end.
    answered: Arc<AtomicBool>,
}

impl Running {
    /// Will it end, or has it, without a further word?
    fn ends(&self) -> bool {
        let limited = self.bounded && !self.pondering.load(Relaxed);
        limited || self.stop.load(Relaxed) || self.answered.load(Relaxed)
    }
}

/// A conversation in UCI.
pub struct Session {
    out: Output,
    options: Options,
    game: Game,
    searcher: Option<Searcher>,
    running: Option<Running>,
    source: EvalSource,
    threads: usize,
    hash_mib: usize,
}

impl Session {
    /// A session that answers to `out`, evaluating by `source`.
    pub fn new(out: Output, source: EvalSource) -> Session {
        let hash_mib = bench::HASH_MIB;
        Session {
            out,
            options: Options::default(),
            game: Game::new(Position::start()),
            searcher: Some(Searcher::new(hash_mib, source.clone())),
            running: None,
            source,
            threads: 1,
            hash_mib,
        }
    }

    /// Acts on a line. False when the session is over.
    pub fn handle(&mut self, line: &str) -> bool {
        match parse(line) {
            Ok(None) => true,
            Ok(Some(Command::Quit)) => {
                self.stop();
                self.wait();
                false
            }
            Ok(Some(command)) => {
                self.act(command);
                true
            }
            Err(error) => {
                self.out.error(&error);
                true
            }
        }
    }

    /// No more input: waits for a search that ends by itself, stops any other.
    pub fn end_of_input(&mut self) {
        if self.running.as_ref().is_some_and(|running| !running.ends()) {
            self.stop();
        }
        self.wait();
    }

    fn act(&mut self, command: Command) {
        match command {
            Command::Uci => self.identify(),
            Command::IsReady => self.out.line("readyok"),
            Command::NewGame => {
                if let Some(searcher) = self.idle() {
                    searcher.new_game();
                }
                self.game = Game::new(Position::start());
            }
            Command::Position { fen, moves } => self.set_position(fen.as_deref(), &moves),
            Command::Go(go) => self.go(&go),
            Command::Stop => self.stop(),
            Command::PonderHit => {
                if let Some(running) = &self.running {
                    running.pondering.store(false, Relaxed);
                }
            }
            Command::SetOption { name, value } => self.set_option(&name, &value),
            Command::Display => self.display(),
            Command::Eval => self.eval(),
            Command::Bench(depth) => self.bench(depth),
            Command::Flip => self.flip(),
            Command::Quit => {}
        }
    }

    fn identify(&self) {
        self.out.line(&format!("id name Chuhe {}", crate::VERSION));
        self.out.line("id author the Chuhe developers");
        for line in describe() {
            self.out.line(&line);
        }
        self.out.line("uciok");
    }

    fn stop(&mut self) {
        if let Some(running) = &self.running {
            running.pondering.store(false, Relaxed);
            running.stop.store(true, Relaxed);
        }
    }

    /// Waits for the running search to end by itself.
    pub fn wait(&mut self) {
        if let Some(running) = self.running.take() {
            match running.thread.join() {
                Ok(searcher) => self.searcher = Some(searcher),
                Err(_) => {
                    self.out.error(&"the search failed; starting again with empty tables");
                    let mut searcher = Searcher::new(self.hash_mib, self.source.clone());
                    searcher.set_threads(self.threads);
                    self.searcher = Some(searcher);
                }
            }
        }
    }

    /// The searcher; a running search is stopped first.
    fn idle(&mut self) -> Option<&mut Searcher> {
        self.stop();
        self.wait();
        self.searcher.as_mut()
    }

    fn set_position(&mut self, fen: Option<&str>, moves: &[String]) {
        let start = match fen.map_or_else(|| Ok(Position::start()), Position::from_fen) {
            Ok(start) => start,
            Err(error) => return self.out.error(&format!("position: {error}; the old position stays")),
        };
        match game_from(start, moves) {
            Ok(game) => self.game = game,
            Err(error) => self.out.error(&format!("position: {error}; the old position stays")),
        }
    }

    fn set_option(&mut self, name: &str, value: &str) {
        let change = match self.options.set(name, value) {
            Ok(change) => change,
            Err(error) => return self.out.error(&error),
        };
        if change == Change::Kept {
            return;
        }
        if let Change::Net { file, backend } = change {
            return self.load(file, backend);
        }
        let Some(searcher) = self.idle() else { return };
        match change {
            Change::Threads(count) => {
                searcher.set_threads(count);
                self.threads = count;
            }
            Change::Hash(mib) => {
                searcher.set_hash(mib);
                self.hash_mib = mib;
            }
            Change::ClearHash => searcher.clear_hash(),
            Change::Rules(rules) => searcher.set_rules(rules),
            Change::Kept | Change::Net { .. } => {}
        }
    }

    fn load(&mut self, file: String, backend: String) {
        let source = match source_on(&file, &backend) {
            Ok(source) => source,
            Err(error) => return self.out.error(&format!("{error}; the old net stays")),
        };
        self.out.line(&format!("info string evaluation: {source}"));
        (self.options.eval_file, self.options.backend) = (file, backend);
        self.source = source.clone();
        if let Some(searcher) = self.idle() {
            searcher.set_source(source);
        }
    }

    fn limits(&self, go: &Go) -> Limits {
        let side = self.game.position().side_to_move();
        let clock = go.time[side.index()].map(|time_ms| Clock {
            time_ms,
            increment_ms: go.increment[side.index()],
            moves_to_go: go.moves_to_go,
        });
        Limits {
            depth: go.depth,
            nodes: go.nodes,
            movetime_ms: go.movetime,
            clock: if go.infinite { None } else { clock },
            overhead_ms: self.options.overhead_ms,
            mate: go.mate,
            multi_pv: self.options.multi_pv,
            search_moves: go.search_moves.clone(),
            stop: Some(Arc::new(AtomicBool::new(false))),
            pondering: Some(Arc::new(AtomicBool::new(go.ponder))),
            stop_at_mate: false,
            ..Limits::default()
        }
    }

    fn go(&mut self, go: &Go) {
        if let Some(depth) = go.perft {
            return self.perft(depth);
        }
        let illegal = go.search_moves.iter().find(|mv| !self.game.position().legal_moves().contains(mv));
        if let Some(mv) = illegal {
            return self.out.error(&format!("go searchmoves: {mv} is not legal here; no search was begun"));
        }
        if self.running.as_ref().is_some_and(|running| !running.ends()) {
            return self.out.error(&"go: a search is running; send stop first");
        }
        self.wait();
        let Some(mut searcher) = self.searcher.take() else { return };
        let limits = self.limits(go);
        let (Some(stop), Some(pondering)) = (limits.stop.clone(), limits.pondering.clone()) else { return };
        let bounded = limits.depth.is_some()
            || limits.nodes.is_some()
            || limits.movetime_ms.is_some()
            || limits.clock.is_some()
            || limits.mate.is_some();
        let bounded = bounded && !go.infinite;
        let (out, game, infinite) = (self.out.clone(), self.game.clone(), go.infinite);
        let flags = (Arc::clone(&stop), Arc::clone(&pondering));
        let answered = Arc::new(AtomicBool::new(false));
        let answering = Arc::clone(&answered);
        let work = move || {
            let mut noted = false;
            let result = searcher.search(&game, &limits, &mut |info| {
                if let Some(note) = format::rule_note(info.line.score).filter(|_| !noted) {
                    noted = true;
                    out.line(&note);
                }
                out.line(&format::info(info));
            });
            // The protocol forbids an answer before it is asked for.
            while !flags.0.load(Relaxed) && (infinite || flags.1.load(Relaxed)) {
                std::thread::sleep(WAIT_FOR_STOP);
            }
            answering.store(true, Relaxed);
            answer(&out, &result);
            searcher
        };
        let spawned = std::thread::Builder::new().name("search".to_owned()).spawn(work);
        match spawned {
            Ok(thread) => self.running = Some(Running { thread, stop, pondering, bounded, answered }),
            Err(error) => {
                self.out.error(&format!("go: no thread could be started ({error})"));
                self.searcher = Some(Searcher::new(self.hash_mib, self.source.clone()));
            }
        }
    }

    fn perft(&mut self, depth: u32) {
        if depth > PERFT_DEEPEST {
            return self.out.error(&format!("perft: expected a depth up to {PERFT_DEEPEST}, found {depth}"));
        }
        let mut pos = self.game.position().clone();
        let mut total = 0;
        for (mv, nodes) in xiangqi::perft::divide(&mut pos, depth) {
            self.out.line(&format!("{mv}: {nodes}"));
            total += nodes;
        }
        self.out.line("");
        self.out.line(&format!("Nodes searched: {}", if depth == 0 { 1 } else { total }));
    }

    fn display(&self) {
        let pos = self.game.position();
        for line in pos.to_string().lines() {
            self.out.line(line);
        }
        self.out.line(&format!("Key: {:016X}", pos.key()));
        let checkers: Vec<String> = pos.checkers().map(|square| square.to_string()).collect();
        self.out.line(&format!("Checkers: {}", checkers.join(" ")));
    }

    fn eval(&mut self) {
        let pos = self.game.position();
        let mut evaluation = Evaluation::new(&self.source);
        evaluation.reset(pos);
        let value = evaluation.evaluate(pos);
        let red = if pos.side_to_move() == Color::Red { value } else { -value };
        self.out.line(&format!(
            "info string evaluation {}: cp {value} for the side to move, cp {red} for Red",
            self.source
        ));
    }

    fn bench(&mut self, depth: Option<i32>) {
        self.stop();
        self.wait();
        let depth = depth.unwrap_or(bench::DEFAULT_DEPTH);
        let plan = bench::Plan { threads: self.threads, ..bench::Plan::depth(depth) };
        let result = bench::run(self.source.clone(), &plan, &mut |_, _| {});
        self.out.line(&format!("Nodes searched: {}", result.nodes));
        self.out.line(&format!("Nodes/second: {}", result.nps()));
    }

    fn flip(&mut self) {
        match Position::try_from_setup(&flipped(&self.game.position().to_setup())) {
            Ok(pos) => self.game = Game::new(pos),
            Err(error) => self.out.error(&format!("flip: {error}")),
        }
    }
}

/// The same position with the sides changed.
pub fn flipped(setup: &Setup) -> Setup {
    let mut other = setup.clone();
    for square in xiangqi::Square::all() {
        let piece = setup.board[square.index()];
        other.board[square.flip_rank().index()] =
            piece.map(|piece| xiangqi::Piece::new(!piece.color(), piece.kind()));
    }
    other.side_to_move = !setup.side_to_move;
    other
}

/// The game that begins at `start` with these moves, given as coordinates.
///
/// # Errors
/// Names the first move that is none or is not legal, and its number.
pub fn game_from<T: AsRef<str>>(start: Position, moves: &[T]) -> Result<Game, GameError> {
    let mut game = Game::new(start);
    for (i, text) in moves.iter().enumerate() {
        let refused =
            |why: String| GameError { number: i + 1, text: text.as_ref().chars().take(40).collect(), why };
        let mv: Move =
            text.as_ref().parse().map_err(|error: xiangqi::mv::MoveTextError| refused(error.to_string()))?;
        game.try_play(mv).map_err(|error| refused(error.to_string()))?;
    }
    Ok(game)
}

/// A list of moves that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {number} of the list, {text:?}: {why}")]
pub struct GameError {
    /// Which move, from 1.
    pub number: usize,
    /// Its text, cut to 40 characters.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

fn answer(out: &Output, result: &SearchResult) {
    match (result.best, result.pv.get(1)) {
        (None, _) => {
            out.line(&format!("info depth 0 score {}", format::score(result.score)));
            out.line("bestmove (none)");
        }
        (Some(best), Some(reply)) => out.line(&format!("bestmove {best} ponder {reply}")),
        (Some(best), None) => out.line(&format!("bestmove {best}")),
    }
}
