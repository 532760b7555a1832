//! `chuhe-fake-engine`: an engine that misbehaves on request, to test match runners with.
//!
//! It plays legal moves chosen by the position alone, in no time, and does what its arguments say:
//!
//! ```text
//! ucci            speaks UCCI instead of UCI
//! variant         announces UCI_Variant and then counts ranks from 1, as Fairy-Stockfish does
//! first-rank      announces UCI_Variant and First Rank, and counts ranks from what First Rank is set to, 0 at first
//! spin            announces a number, Strength from 0 to 100; the farther it is from 70, the sooner it resigns
//! garbage         surrounds its answers with lines no one asked for, huge ones among them
//! silent | deaf   never says uciok | never says readyok
//! crash:N         at its Nth move: ends with status 1
//! exit:N          … ends with status 0
//! close:N         … closes its output and lives on (Unix)
//! hang:N          … answers nothing any more
//! late:N          … answers only when told to stop
//! illegal:N       … answers with a move that is not legal
//! nonsense:N      … answers with a word that is no move
//! none:N          … says that it has no move
//! resign:N        … resigns
//! ```
//! Moves are counted from the start of the process or the last new game.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use xiangqi::{Game, Move, Position, Square};

/// More than a runner should keep of one line.
const HUGE_LINE: usize = 300_000;

struct Fake {
    arguments: Vec<String>,
    game: Game,
    moves: u32,
    variant_set: bool,
    /// What `First Rank` was set to.
    first_rank: u8,
    answer_at_stop: Option<String>,
    /// What `Strength` was set to.
    strength: i32,
}

fn main() -> ExitCode {
    let mut fake = Fake {
        arguments: std::env::args().skip(1).collect(),
        game: Game::new(Position::start()),
        moves: 0,
        variant_set: false,
        first_rank: 0,
        answer_at_stop: None,
        strength: 10,
    };
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return ExitCode::from(3) };
        match fake.hear(line.trim()) {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(_) => return ExitCode::from(4),
        }
    }
    ExitCode::SUCCESS
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

impl Fake {
    fn has(&self, word: &str) -> bool {
        self.arguments.iter().any(|argument| argument == word)
    }

    /// Is this the move at which to do something?
    fn now(&self, what: &str) -> bool {
        self.has(&format!("{what}:{}", self.moves))
    }

    /// Takes in a line; gives the exit status when it is time to go.
    fn hear(&mut self, line: &str) -> io::Result<Option<ExitCode>> {
        let word = line.split(' ').next().unwrap_or_default();
        match word {
            "uci" if !self.has("ucci") => self.introduce("uciok")?,
            "ucci" if self.has("ucci") => self.introduce("ucciok")?,
            "isready" if !self.has("deaf") => say("readyok")?,
            "ucinewgame" => self.moves = 0,
            "setoption" => {
                self.variant_set |= line == "setoption name UCI_Variant value xiangqi";
                if let Some(rank) = line.strip_prefix("setoption name First Rank value ") {
                    self.first_rank = u8::from(rank == "1");
                }
                if let Some(value) = line.strip_prefix("setoption name Strength value ") {
                    self.strength = value.parse().unwrap_or(-1);
                }
                if line == "setoption newgame" {
                    self.moves = 0;
                }
            }
            "position" => self.set_position(line)?,
            "go" => return self.go(),
            "stop" => {
                if let Some(answer) = self.answer_at_stop.take() {
                    say(&answer)?;
                }
            }
            "quit" => return Ok(Some(ExitCode::SUCCESS)),
            _ => {}
        }
        Ok(None)
    }

    fn introduce(&self, ready: &str) -> io::Result<()> {
        if self.has("silent") {
            return Ok(());
        }
        say(&format!("id name Fake 引擎 {}", self.arguments.join(" ")))?;
        if self.has("variant") {
            say("option name UCI_Variant type combo default chess var chess var xiangqi")?;
        }
        if self.has("first-rank") {
            say("option name UCI_Variant type combo default xiangqi var xiangqi")?;
            say("option name First Rank type spin default 0 min 0 max 1")?;
        }
        if self.has("spin") {
            say("option name Strength type spin default 10 min 0 max 100")?;
        }
        if self.has("ucci") {
            say("option usemillisec type check default false")?;
            say("option newgame type button")?;
        }
        say(ready)
    }

    fn rank_base(&self) -> u8 {
        u8::from(self.has("variant")).max(self.first_rank)
    }

    fn set_position(&mut self, line: &str) -> io::Result<()> {
        let wrong = || io::Error::other(format!("cannot read {line:?}"));
        let (setup, moves) = line.split_once(" moves ").unwrap_or((line, ""));
        let setup = setup.strip_prefix("position ").ok_or_else(wrong)?;
        let fen = setup.strip_prefix("fen ").unwrap_or(xiangqi::fen::START);
        self.game = Game::new(Position::from_fen(fen).map_err(io::Error::other)?);
        for word in moves.split_whitespace() {
            let mv = self.read_move(word).ok_or_else(wrong)?;
            self.game.try_play(mv).map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn read_move(&self, word: &str) -> Option<Move> {
        let mut squares = Vec::new();
        let mut rest = word;
        while let Some(file) = rest.bytes().next() {
            let end = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + 1);
            let rank = rest[1..end].parse::<u8>().ok()?.checked_sub(self.rank_base())?;
            squares.push(Square::at(file.checked_sub(b'a')?, rank)?);
            rest = &rest[end..];
        }
        match squares[..] {
            [from, to] => Some(Move::new(from, to)),
            _ => None,
        }
    }

    fn write_move(&self, mv: Move) -> String {
        let square =
            |s: Square| format!("{}{}", (b'a' + s.file()) as char, u32::from(s.rank() + self.rank_base()));
        square(mv.from()) + &square(mv.to())
    }

    fn go(&mut self) -> io::Result<Option<ExitCode>> {
        self.moves += 1;
        if self.has("garbage") {
            garbage()?;
        }
        let position = self.game.position();
        let legal = position.legal_moves();
        let best = match legal.len() {
            0 => "bestmove (none)".to_owned(),
            n => format!("bestmove {}", self.write_move(legal[(position.key() % n as u64) as usize])),
        };
        let answer = match () {
            () if self.has("variant") && !self.variant_set => "bestmove e2e4".to_owned(),
            () if self.now("crash") => {
                eprintln!("fake crash, as asked");
                return Ok(Some(ExitCode::from(1)));
            }
            () if self.now("exit") => return Ok(Some(ExitCode::SUCCESS)),
            () if self.now("close") => {
                close_output()?;
                return Ok(None);
            }
            () if self.now("hang") => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            () if self.now("late") => {
                self.answer_at_stop = Some(best);
                return Ok(None);
            }
            () if self.now("illegal") => format!("bestmove {}", self.illegal_move()),
            () if self.now("nonsense") => "bestmove 炮二平五".to_owned(),
            () if self.now("none") => "bestmove (none)".to_owned(),
            () if self.has("spin") && self.is_worn_out() => "bestmove resign".to_owned(),
            () if self.now("resign") => "bestmove resign".to_owned(),
            () => best,
        };
        say("info depth 1 score cp 7 nodes 1 pv h2e2")?;
        say(&answer)?;
        Ok(None)
    }

    /// The better `Strength` is, the more moves it plays.
    fn is_worn_out(&self) -> bool {
        const BEST: i32 = 70;
        i64::from(self.moves) > i64::from(40 - (self.strength - BEST).abs() / 2)
    }

    /// A well-formed move that may not be played.
    fn illegal_move(&self) -> String {
        let mut pairs = Square::all().flat_map(|from| Square::all().map(move |to| (from, to)));
        let illegal = pairs.find_map(|(from, to)| {
            let mv = (from != to).then(|| Move::new(from, to))?;
            self.game.clone().try_play(mv).is_err().then_some(mv)
        });
        illegal.map_or_else(String::new, |mv| self.write_move(mv))
    }
}

#[cfg(unix)]
fn close_output() -> io::Result<()> {
    let null = std::fs::File::create("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(null)?)
}

#[cfg(not(unix))]
fn close_output() -> io::Result<()> {
    Ok(())
}

fn garbage() -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(b"\xff\xfe\x00 no text at all\r\n\n\ninfo\ninfo score\ninfo score cp\n")?;
    out.write_all(b"info depth x score mate y nodes -1 pv\nbestmov h2e2\nreadyok readyok\n")?;
    out.write_all(&vec![b'x'; HUGE_LINE])?;
    writeln!(out)?;
    for i in 0..3000 {
        writeln!(out, "info string line {i} of many")?;
    }
    let mut err = io::stderr().lock();
    err.write_all(&vec![b'e'; HUGE_LINE])?;
    out.flush()
}
