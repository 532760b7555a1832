//! What a journal amounts to: the generations, their steps, the ladder of nets.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::journal::{Ended, Event, FileState, Line, Player, Settings};
use super::recipe::Opponent;
use super::steps;

/// A curve of training: step, loss, validation loss.
pub(super) type Curve = Vec<(f64, f64, Option<f64>)>;

/// How a step stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StepState {
    /// Its name.
    pub name: String,
    /// How its last run ended; `None`: it runs, or its loop was killed.
    pub ended: Option<Ended>,
    /// The program's name and its words.
    pub command: Vec<String>,
    /// The process that was started last.
    pub pid: Option<u32>,
    /// Time that its runs took; a run whose loop was killed is not in it.
    pub seconds: f64,
    /// What it made.
    pub outputs: Vec<FileState>,
    /// What it said.
    pub result: Value,
    /// Why it failed.
    pub message: Option<String>,
}

/// What a match said.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Elo of the new net against its opponent.
    pub elo: f64,
    /// Half width of its 95 % interval.
    pub error: f64,
    /// `H0`, `H1` or `continue`.
    pub state: String,
    /// Pairs by score: LL, LD, DD and WL, WD, WW.
    pub pentanomial: [u64; 5],
    /// Games played.
    pub games: u64,
    /// Log-likelihood ratio.
    pub llr: f64,
}

/// A generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its number, from 1.
    pub number: u32,
    /// What it is made with.
    pub settings: Settings,
    /// Who plays.
    pub player: Player,
    /// Steps begun, in order.
    pub steps: Vec<StepState>,
    /// Does its net play the next generation? `None`: not judged yet.
    pub accepted: Option<bool>,
    /// Did it pass its test?
    pub passed: bool,
    /// Why, in words.
    pub why: String,
}

/// A loop's generations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ladder {
    /// In order; the last one may be unfinished.
    pub generations: Vec<Generation>,
    /// Files that were taken away because they are not needed any more.
    pub removed: BTreeSet<String>,
    /// When the last line was written, in seconds since 1970.
    pub at: u64,
}

impl Generation {
    /// A step that was begun.
    pub fn step(&self, name: &str) -> Option<&StepState> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// A step that is done.
    pub fn done(&self, name: &str) -> Option<&StepState> {
        self.step(name).filter(|step| step.ended == Some(Ended::Done))
    }

    /// A step begins, or goes on.
    fn begin(&mut self, name: &str, command: &[String]) {
        let known = self.steps.iter_mut().find(|step| step.name == name);
        if let Some(step) = known {
            step.command = command.to_vec();
            step.ended = None;
            step.message = None;
            return;
        }
        self.steps.push(StepState {
            name: name.to_owned(),
            ended: None,
            command: command.to_vec(),
            pid: None,
            seconds: 0.0,
            outputs: Vec::new(),
            result: Value::Null,
            message: None,
        });
    }

    fn answer(&self, name: &str, key: &str) -> &Value {
        self.done(name).map_or(&Value::Null, |step| &step.result[key])
    }

    /// Scored positions played.
    pub fn positions(&self) -> Option<u64> {
        self.answer("play", "positions").as_u64()
    }

    /// Length of the record file.
    pub fn bytes(&self) -> Option<u64> {
        self.answer("play", "bytes").as_u64()
    }

    /// Positions played a second, in the run that ended the file; for a file that was complete when the loop came
    /// back to it, over all runs' time.
    pub fn positions_per_second(&self) -> Option<f64> {
        let said = self.answer("play", "positions_per_second").as_f64();
        said.or_else(|| {
            let seconds = self.done("play")?.seconds;
            (seconds > 1.0).then_some(self.positions()? as f64 / seconds)
        })
    }

    /// Validation loss of the net.
    pub fn validation_loss(&self) -> Option<f64> {
        self.answer("train", "validation_loss").as_f64()
    }

    /// The curve of its training.
    pub(super) fn curve(&self) -> Curve {
        let rows = self.answer("train", "curve").as_array();
        let row = |row: &Value| Some((row[0].as_f64()?, row[1].as_f64()?, row[2].as_f64()));
        rows.into_iter().flatten().filter_map(row).collect()
    }

    /// SHA-256 of the net.
    pub fn net_id(&self) -> Option<&str> {
        self.answer("export", "id").as_str()
    }

    /// The result of the match.
    pub fn contest(&self) -> Option<Match> {
        let result = &self.done("match")?.result;
        let counts: Vec<u64> = result["pentanomial"].as_array()?.iter().filter_map(Value::as_u64).collect();
        Some(Match {
            elo: result["elo"].as_f64()?,
            error: result["elo_error"].as_f64()?,
            state: result["state"].as_str().unwrap_or("continue").to_owned(),
            pentanomial: counts.try_into().ok()?,
            games: result["games"].as_u64()?,
            llr: result["llr"].as_f64().unwrap_or(0.0),
        })
    }

    /// Time of all its steps.
    pub fn seconds(&self) -> f64 {
        self.steps.iter().map(|step| step.seconds).sum()
    }

    /// How it stands, in a word or some.
    pub fn state(&self) -> String {
        match (self.accepted, self.passed, self.steps.last()) {
            (Some(true), true, _) => "accepted".to_owned(),
            (Some(true), false, _) => "accepted, though not better".to_owned(),
            (Some(false), ..) => "not accepted".to_owned(),
            (None, _, None) => "begun".to_owned(),
            (None, _, Some(step)) => match step.ended {
                None => format!("{} runs", step.name),
                Some(Ended::Done) => format!("{} done", step.name),
                Some(Ended::Interrupted) => format!("{} interrupted", step.name),
                Some(Ended::Failed) => format!("{} failed", step.name),
            },
        }
    }
}

impl Ladder {
    /// Reads the lines of a journal.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Ladder {
        let mut ladder = Ladder::default();
        for line in lines {
            ladder.at = line.at;
            ladder.take(&line.event);
        }
        ladder
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Generation { number, settings, player } => self.generations.push(Generation {
                number: *number,
                settings: (**settings).clone(),
                player: player.clone(),
                steps: Vec::new(),
                accepted: None,
                passed: false,
                why: String::new(),
            }),
            Event::Removed { paths } => self.removed.extend(paths.iter().cloned()),
            event => self.take_step(event),
        }
        if let Event::End { outputs, .. } = event {
            // Made once more.
            outputs.iter().for_each(|output| _ = self.removed.remove(&output.path));
        }
    }

    /// What happens to the last generation (only a verdict may come later).
    fn take_step(&mut self, event: &Event) {
        let Some(last) = self.generations.last_mut() else { return };
        match event {
            Event::Redo { step, settings, .. } => {
                last.settings = (**settings).clone();
                let at = last.steps.iter().position(|known| known.name == *step);
                last.steps.truncate(at.unwrap_or(last.steps.len()));
                (last.accepted, last.passed) = (None, false);
            }
            Event::Begin { step, command, .. } => last.begin(step, command),
            Event::Child { pid } => {
                if let Some(step) = last.steps.last_mut() {
                    step.pid = Some(*pid);
                }
            }
            Event::End { step, state, seconds, outputs, result, message, .. } => {
                if let Some(step) = last.steps.iter_mut().find(|known| known.name == *step) {
                    step.ended = Some(*state);
                    step.seconds += seconds;
                    (step.outputs, step.result) = (outputs.clone(), result.clone());
                    step.message.clone_from(message);
                }
            }
            Event::Verdict { accepted, passed, why, .. } => {
                (last.accepted, last.passed) = (Some(*accepted), *passed);
                last.why.clone_from(why);
            }
            Event::Generation { .. } | Event::Removed { .. } => {}
        }
    }

    /// The net that plays after the generations before `number`: the last accepted one, or `start`.
    pub fn player(&self, number: u32, start: &Player) -> Player {
        let before = self.generations.iter().take_while(|known| known.number < number);
        let accepted = before.filter(|known| known.accepted == Some(true)).last();
        accepted.map_or_else(
            || start.clone(),
            |known| Player {
                generation: Some(known.number),
                net: Some(steps::net(known.number)),
                id: known.net_id().unwrap_or_default().to_owned(),
            },
        )
    }

    /// The generations whose games generation `number` trains on, itself last: the setting's number, and all whose
    /// games the same net played; as far back as there are games.
    pub fn window(&self, number: u32, player: &Player, settings: &Settings) -> Vec<u32> {
        let mut first = number.saturating_sub(settings.data.generations - 1).max(1);
        let before = self.generations.iter().rev().skip_while(|known| known.number >= number);
        let same = before.take_while(|known| known.player == *player).map(|known| known.number);
        first = same.min().unwrap_or(number).min(first);
        let gone = (1..number).rev().find(|&old| self.removed.contains(&steps::games(old)));
        (first.max(gone.map_or(1, |gone| gone + 1))..=number).collect()
    }

    /// Elo of a generation's net over the hand-crafted evaluation (or the start net), with the half width of its
    /// 95 % interval: the sum of the matches up to it, which are independent of each other.
    pub fn cumulative(&self, generation: &Generation) -> Option<(f64, f64)> {
        let contest = generation.contest()?;
        let base = match (generation.settings.contest.opponent, generation.player.generation) {
            (Opponent::Previous, Some(before)) => {
                let before = self.generations.iter().find(|known| known.number == before)?;
                self.cumulative(before)?
            }
            _ => (0.0, 0.0),
        };
        Some((base.0 + contest.elo, base.1.hypot(contest.error)))
    }

    /// The ladder as JSON.
    pub fn json(&self) -> Value {
        let generations = self.generations.iter().map(|generation| {
            let cumulative = self.cumulative(generation);
            let steps = generation.steps.iter().map(|step| {
                json!({
                    "name": step.name, "state": step.ended, "seconds": step.seconds, "command": step.command,
                    "outputs": step.outputs, "message": step.message,
                })
            });
            json!({
                "generation": generation.number,
                "state": generation.state(),
                "accepted": generation.accepted,
                "passed": generation.passed,
                "why": generation.why,
                "player": generation.player,
                "positions": generation.positions(),
                "bytes": generation.bytes(),
                "positions_per_second": generation.positions_per_second(),
                "validation_loss": generation.validation_loss(),
                "net": generation.net_id(),
                "match": generation.contest().map(|contest| json!({
                    "elo": contest.elo, "elo_error": contest.error, "state": contest.state,
                    "pentanomial": contest.pentanomial, "games": contest.games, "llr": contest.llr,
                })),
                "cumulative_elo": cumulative.map(|(elo, _)| elo),
                "cumulative_elo_error": cumulative.map(|(_, error)| error),
                "seconds": generation.seconds(),
                "steps": steps.collect::<Vec<_>>(),
            })
        });
        json!({ "generations": generations.collect::<Vec<_>>() })
    }

    /// The ladder for people.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:>3}  {:>10}  {:>6}  {:>7}  {:>9}  {:<12}  {:<8}  {:>18}  {:>18}  {:>9}  state\n",
            "gen", "positions", "B/pos", "pos/s", "val. loss", "net", "SPRT", "Elo", "from the start", "time"
        );
        for generation in &self.generations {
            let _ = writeln!(text, "{}", self.row(generation));
        }
        text
    }

    fn row(&self, generation: &Generation) -> String {
        let dash = || "–".to_owned();
        let positions = generation.positions();
        let density = generation.bytes().zip(positions).map(|(bytes, n)| bytes as f64 / n.max(1) as f64);
        let elo = |(elo, error): (f64, f64)| format!("{elo:+.1} ± {error:.1}");
        let contest = generation.contest();
        format!(
            "{:>3}  {:>10}  {:>6}  {:>7}  {:>9}  {:<12}  {:<8}  {:>18}  {:>18}  {:>9}  {}",
            generation.number,
            positions.map_or_else(dash, |n| n.to_string()),
            density.map_or_else(dash, |ratio| format!("{ratio:.3}")),
            generation.positions_per_second().map_or_else(dash, |rate| format!("{rate:.0}")),
            generation.validation_loss().map_or_else(dash, |loss| format!("{loss:.6}")),
            generation.net_id().map_or_else(dash, |id| id.chars().take(12).collect()),
            contest.as_ref().map_or_else(dash, |contest| contest.state.clone()),
            contest.as_ref().map_or_else(dash, |contest| elo((contest.elo, contest.error))),
            self.cumulative(generation).map_or_else(dash, elo),
            clock(generation.seconds()),
            generation.state(),
        )
    }
}

/// `1:02:03` or `2:03`.
pub(super) fn clock(seconds: f64) -> String {
    let s = seconds.round().clamp(0.0, 1e12) as u64;
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}
