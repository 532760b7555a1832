//! A player that is another program, spoken to in UCI or UCCI.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::outcome::FailureKind;
use crate::player::{Answer, Failure, NoThought, Player, PlayerInfo, StartError, Thought, Turn};
use crate::process::{EngineProcess, Line, NoLine};
use crate::protocol::{Dialect, Introduction, Protocol, Said, read_line};

/// The option by which the Fairy-Stockfish family tells its game, and with it its rank base.
const VARIANT: &str = "UCI_Variant";
/// By this option an engine (Chuhe) says, and is told, the number of Red's back rank.
const FIRST_RANK: &str = "First Rank";
/// By this option engines of the Pikafish family are told what the number behind `cp` is.
const SCORE_TYPE: &str = "ScoreType";

/// The value that `UCI_Variant` needs.
const XIANGQI: &str = "xiangqi";
/// Centipawn-like: what adjudication by score and the scores in a game's record mean.
const RAW: &str = "Raw";

/// Starts of a player before we give it up.
const START_TRIES: u32 = 3;

/// Between two looks at the sign that the match ends.
const LOOK: Duration = Duration::from_millis(100);

/// So many characters of the last line of an engine that hangs are reported.
const LAST_WORDS: usize = 200;

/// How long we wait for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// From its start to its ready word, and for each `readyok`.
    pub start: Duration,
    /// For an answer under a limit of nodes or depth. Without it an engine that hangs holds the
    /// match for ever.
    pub thought: Duration,
    /// For an answer after `stop`.
    pub stop: Duration,
}

/// What to start and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Options to set, in order; a value of `None` presses a button.
    pub options: Vec<(String, Option<String>)>,
    /// The protocol; both are tried where it is not given, UCI first.
    pub protocol: Option<Protocol>,
    /// Number of Red's back rank on the wire; told by the engine's options where it is not given.
    pub rank_base: Option<u8>,
}

/// A player that is another program.
pub struct ExternalPlayer {
    spec: EngineSpec,
    waits: Waits,
    halt: Arc<AtomicBool>,
    running: Option<Running>,
    info: PlayerInfo,
    /// Options that are set before each game, besides those of the spec.
    tuned: Vec<(String, String)>,
    introduction: Introduction,
}

struct Running {
    process: EngineProcess,
    dialect: Dialect,
    new_game: Option<&'static str>,
}

/// Why a wait for a word ended without it.
enum NoWord {
    Timeout,
    Closed,
}

/// Passes lines to `seen` until one equals `word`. The sign `halt` ends the wait as its time does.
fn wait_for(
    process: &EngineProcess,
    word: &str,
    (wait, halt): (Duration, &AtomicBool),
    seen: &mut dyn FnMut(&str),
) -> Result<(), NoWord> {
    let deadline = Instant::now() + wait;
    loop {
        match process.read(deadline.min(Instant::now() + LOOK)) {
            Ok(line) if line.text.trim() == word => return Ok(()),
            Ok(line) => seen(line.text.trim()),
            Err(NoLine::Timeout) => {}
            Err(NoLine::Closed) => return Err(NoWord::Closed),
        }
        // A flood of other lines must not outlast the deadline either.
        if Instant::now() > deadline || halt.load(Ordering::Relaxed) {
            return Err(NoWord::Timeout);
        }
    }
}

impl ExternalPlayer {
    /// A player not started yet. While `halt` is set it does not think.
    pub fn new(spec: EngineSpec, waits: Waits, halt: Arc<AtomicBool>) -> ExternalPlayer {
        ExternalPlayer {
            spec,
            waits,
            halt,
            running: None,
            info: PlayerInfo::default(),
            tuned: Vec::new(),
            introduction: Introduction::default(),
        }
    }

    /// Options to set before the next game, and again when the engine has to be started anew.
    pub(crate) fn tune(&mut self, options: Vec<(String, String)>) {
        self.tuned = options;
    }

    /// What the engine said of an option when it was started: all after its name.
    pub(crate) fn announced(&self, name: &str) -> Option<&str> {
        self.introduction.option(name)
    }

    fn start_error(&self, what: String) -> StartError {
        StartError { player: self.spec.words.join(" "), what }
    }

    fn start(&mut self) -> Result<Running, StartError> {
        let tried = match self.spec.protocol {
            Some(protocol) => vec![protocol],
            None => vec![Protocol::Uci, Protocol::Ucci],
        };
        let mut last = None;
        for protocol in tried {
            match self.start_as(protocol) {
                Ok(running) => return Ok(running),
                Err(error) => last = last.or(Some(error)),
            }
        }
        Err(last.unwrap_or_else(|| self.start_error("no protocol to try".to_owned())))
    }

    fn start_as(&mut self, protocol: Protocol) -> Result<Running, StartError> {
        let mut process = EngineProcess::spawn(&self.spec.words)
            .map_err(|error| self.start_error(format!("the program cannot be run: {error}")))?;
        process.send(protocol.name());
        let mut introduction = Introduction::default();
        let waited = wait_for(&process, protocol.ready_word(), self.patience_to_start(), &mut |line| {
            introduction.read(protocol, line);
        });
        if let Err(no_word) = waited {
            return Err(self.silent(&mut process, protocol.ready_word(), &no_word));
        }
        let dialect = self.settle(protocol, &introduction)?;
        let new_game = match protocol {
            Protocol::Uci => Some("ucinewgame"),
            Protocol::Ucci => introduction.option("newgame").map(|_| "setoption newgame"),
        };
        for line in self.option_lines(&dialect, &introduction) {
            process.send(&line);
        }
        process.send("isready");
        if let Err(no_word) = wait_for(&process, "readyok", self.patience_to_start(), &mut |_| {}) {
            return Err(self.silent(&mut process, "readyok", &no_word));
        }
        self.introduction = introduction;
        Ok(Running { process, dialect, new_game })
    }

    /// Settles the dialect and what there is to know of the engine.
    fn settle(&mut self, protocol: Protocol, introduction: &Introduction) -> Result<Dialect, StartError> {
        let fairy = protocol == Protocol::Uci && introduction.option(VARIANT).is_some();
        if fairy && introduction.option(VARIANT).is_some_and(|rest| !rest.split(' ').any(|w| w == XIANGQI)) {
            let what = format!("its {VARIANT} offers no {XIANGQI}: it was built without large boards");
            return Err(self.start_error(what));
        }
        let told = self.first_rank(introduction);
        let rank_base = self.spec.rank_base.or(told).unwrap_or(u8::from(fairy));
        let unknown =
            self.spec.options.iter().map(|(name, _)| name).filter(|name| introduction.option(name).is_none());
        let warnings = unknown.map(|name| format!("the engine announces no option {name:?}")).collect();
        let name = introduction.name.clone().unwrap_or_else(|| self.spec.words.join(" "));
        self.info = PlayerInfo { name, protocol: protocol.name(), rank_base, warnings };
        let milliseconds = protocol == Protocol::Uci || introduction.option("usemillisec").is_some();
        Ok(Dialect { protocol, rank_base, milliseconds })
    }

    /// What `First Rank` is set to, or its default; `None` where the engine has no such option.
    fn first_rank(&self, introduction: &Introduction) -> Option<u8> {
        let default = introduction.default_of(FIRST_RANK)?;
        let set = self.spec.options.iter().rfind(|(name, _)| name.eq_ignore_ascii_case(FIRST_RANK));
        set.and_then(|(_, value)| value.as_deref()).unwrap_or(default).parse().ok()
    }

    fn option_lines(&self, dialect: &Dialect, introduction: &Introduction) -> Vec<String> {
        let asked = |name: &str| self.spec.options.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut lines = Vec::new();
        if dialect.protocol == Protocol::Uci && introduction.option(VARIANT).is_some() && !asked(VARIANT) {
            lines.push(dialect.set_option(VARIANT, Some(XIANGQI)));
        }
        let offers_raw = |rest: &str| rest.split(' ').any(|word| word == RAW);
        if introduction.option(SCORE_TYPE).is_some_and(offers_raw) && !asked(SCORE_TYPE) {
            lines.push(dialect.set_option(SCORE_TYPE, Some(RAW)));
        }
        if dialect.protocol == Protocol::Ucci && dialect.milliseconds && !asked("usemillisec") {
            lines.push(dialect.set_option("usemillisec", Some("true")));
        }
        lines.extend(self.spec.options.iter().map(|(n, v)| dialect.set_option(n, v.as_deref())));
        lines
    }

    fn silent(&self, process: &mut EngineProcess, word: &str, why: &NoWord) -> StartError {
        let said = describe_stderr(process);
        self.start_error(match why {
            NoWord::Timeout => format!("no {word:?} within {} s{said}", self.waits.start.as_secs_f32()),
            NoWord::Closed => format!("it ended before {word:?} ({}){said}", describe_exit(process)),
        })
    }

    /// Tells a running engine of a new game and waits until it has done everything of the last one.
    fn renew(&self, running: &Running) -> Result<(), NoWord> {
        for (name, value) in &self.tuned {
            running.process.send(&running.dialect.set_option(name, Some(value)));
        }
        if let Some(line) = running.new_game {
            running.process.send(line);
        }
        running.process.send("isready");
        wait_for(&running.process, "readyok", self.patience_to_start(), &mut |_| {})
    }

    /// The failure of an engine that closed its output.
    fn gone(&mut self, mut running: Running) -> NoThought {
        let status = running.process.exit_status();
        let kind = match status {
            Some(status) if !status.success() => FailureKind::Crash,
            _ => FailureKind::Disconnect,
        };
        let detail = format!("{}{}", describe_exit(&mut running.process), describe_stderr(&running.process));
        running.process.kill();
        NoThought::Failure(Failure { kind, detail })
    }

    /// The answer did not come in time: asks for it once more.
    fn overdue(&mut self, mut running: Running, turn: &Turn<'_>, wait: Duration, last: &str) -> NoThought {
        running.process.send("stop");
        let deadline = Instant::now() + self.waits.stop;
        let answered = loop {
            match running.process.read(deadline) {
                Ok(line) => {
                    if matches!(read_line(&line.text), Said::Best(_) | Said::NoMove | Said::Resigns) {
                        break true;
                    }
                    if Instant::now() > deadline {
                        break false;
                    }
                }
                Err(NoLine::Timeout) => break false,
                Err(NoLine::Closed) => return self.gone(running),
            }
        };
        let waited = wait.as_secs_f32();
        if answered {
            // Without a limit of time an engine that has to be stopped hangs, even if it can be.
            let kind = if turn.limit.is_timed() { FailureKind::TimeLoss } else { FailureKind::Hang };
            let detail = format!("no move within {waited} s; it came after \"stop\"");
            self.running = Some(running);
            return NoThought::Failure(Failure { kind, detail });
        }
        let grace = self.waits.stop.as_secs_f32();
        let last = if last.is_empty() { "nothing" } else { last };
        let last: String = last.chars().take(LAST_WORDS).collect();
        let stderr = describe_stderr(&running.process);
        let detail =
            format!("no move within {waited} s, nor {grace} s after \"stop\"; it last said: {last}{stderr}");
        running.process.kill();
        NoThought::Failure(Failure { kind: FailureKind::Hang, detail })
    }

    /// An answer in time: reads it. The engine stays as it is.
    fn answer(&self, said: Said, dialect: Dialect, so_far: Thought) -> Result<Thought, NoThought> {
        let failure = |kind, detail| Err(NoThought::Failure(Failure { kind, detail }));
        match said {
            Said::Resigns => Ok(Thought { answer: Answer::Resign, ..so_far }),
            Said::Best(word) => match dialect.read_move(&word) {
                Some(mv) => Ok(Thought { answer: Answer::Move(mv), ..so_far }),
                None => {
                    let base = dialect.rank_base;
                    let detail = format!("{word:?} is no move (ranks {base}-{} expected)", base + 9);
                    failure(FailureKind::IllegalMove, detail)
                }
            },
            _ => failure(FailureKind::NoMove, "it says that it has no move".to_owned()),
        }
    }

    fn patience_to_start(&self) -> (Duration, &AtomicBool) {
        (self.waits.start, &self.halt)
    }

    /// How long to wait for an answer.
    fn patience(&self, turn: &Turn<'_>) -> Duration {
        turn.time_ms().map_or(self.waits.thought, |ms| Duration::from_millis(ms + turn.margin_ms))
    }

    fn listen(&mut self, running: Running, turn: &Turn<'_>) -> Result<Thought, NoThought> {
        let wait = self.patience(turn);
        let asked = Instant::now();
        running.process.send(&running.dialect.go(turn));
        let deadline = asked + wait;
        // The move does not matter until there is one.
        let mut thought = Thought { answer: Answer::Resign, score: None, nodes: 0, elapsed_ms: 0 };
        let mut last = String::new();
        let mut exact = None;
        loop {
            if self.halt.load(Ordering::Relaxed) {
                return Err(NoThought::Interrupted);
            }
            let line = match running.process.read(deadline.min(Instant::now() + LOOK)) {
                Ok(line) => line,
                Err(NoLine::Timeout) if Instant::now() < deadline => continue,
                Err(NoLine::Timeout) => return Err(self.overdue(running, turn, wait, &last)),
                Err(NoLine::Closed) => return Err(self.gone(running)),
            };
            match read_line(&line.text) {
                Said::Other => {}
                Said::Info { score, bound, nodes } => {
                    // The last exact score; a bound where there is none.
                    let kept = if bound { exact } else { None };
                    exact = if bound { exact } else { score.or(exact) };
                    thought.score = kept.or(score).or(thought.score);
                    thought.nodes = nodes.unwrap_or(thought.nodes);
                }
                said => {
                    thought.elapsed_ms = elapsed_ms(&line, asked);
                    let dialect = running.dialect;
                    self.running = Some(running);
                    if turn.limit.is_timed() && line.at > deadline {
                        return Err(too_late(wait, thought.elapsed_ms));
                    }
                    return self.answer(said, dialect, thought);
                }
            }
            // A flood of other lines must not outlast the deadline.
            if line.at > deadline {
                return Err(self.overdue(running, turn, wait, &line.text));
            }
            last = line.text;
        }
    }
}

fn too_late(wait: Duration, elapsed_ms: u64) -> NoThought {
    let detail = format!("its move came after {elapsed_ms} ms; {} ms were left", wait.as_millis());
    NoThought::Failure(Failure { kind: FailureKind::TimeLoss, detail })
}

fn elapsed_ms(line: &Line, since: Instant) -> u64 {
    u64::try_from(line.at.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}

fn describe_exit(process: &mut EngineProcess) -> String {
    match process.exit_status() {
        Some(status) => format!("it ended with {status}"),
        None => "it closed its output and still runs".to_owned(),
    }
}

fn describe_stderr(process: &EngineProcess) -> String {
    match process.stderr_tail() {
        tail if tail.is_empty() => tail,
        tail => format!("; stderr ends: {tail}"),
    }
}

impl Player for ExternalPlayer {
    fn info(&self) -> &PlayerInfo {
        &self.info
    }

    fn begin_game(&mut self) -> Result<(), StartError> {
        let mut why = String::new();
        for _ in 0..START_TRIES {
            if self.halt.load(Ordering::Relaxed) {
                return Err(self.start_error("the match is being ended".to_owned()));
            }
            let mut running = match self.running.take() {
                Some(running) => running,
                None => self.start()?,
            };
            match self.renew(&running) {
                Ok(()) => {
                    self.running = Some(running);
                    return Ok(());
                }
                Err(no_word) => why = self.silent(&mut running.process, "readyok", &no_word).what,
            }
            running.process.kill();
        }
        Err(self.start_error(format!("{why} (after a new game; tried {START_TRIES} times)")))
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, NoThought> {
        let Some(running) = self.running.take() else {
            let detail = "the engine is not running".to_owned();
            return Err(NoThought::Failure(Failure { kind: FailureKind::Crash, detail }));
        };
        running.process.send(&running.dialect.position(turn.game));
        self.listen(running, turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(options: &[(&str, &str)]) -> Vec<String> {
        let mut introduction = Introduction::default();
        introduction.read(
            Protocol::Uci,
            "option name ScoreType type combo default Elo var Elo var PawnValueNormalized var Raw",
        );
        let options = options.iter().map(|&(name, value)| (name.to_owned(), Some(value.to_owned())));
        let spec = EngineSpec {
            words: vec!["engine".to_owned()],
            options: options.collect(),
            protocol: None,
            rank_base: None,
        };
        let wait = Duration::from_secs(1);
        let waits = Waits { start: wait, thought: wait, stop: wait };
        let player = ExternalPlayer::new(spec, waits, Arc::new(AtomicBool::new(false)));
        let dialect = Dialect { protocol: Protocol::Uci, rank_base: 0, milliseconds: true };
        player.option_lines(&dialect, &introduction)
    }

    #[test]
    fn scores_are_asked_for_in_centipawns_unless_the_user_wants_them_otherwise() {
        assert_eq!(lines(&[]), ["setoption name ScoreType value Raw"]);
        assert_eq!(lines(&[("scoretype", "Elo")]), ["setoption name scoretype value Elo"]);
    }
}
