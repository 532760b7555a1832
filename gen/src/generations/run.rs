//! The loop itself: from what the journal says to the next step, until all generations are judged.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::child::Stop;
use super::disk;
use super::error::LoopError;
use super::journal::{Event, LoopJournal, Player, Settings};
use super::ladder::{Generation, Ladder};
use super::page::page;
use super::perform::StepEnd;
use super::recipe::{OnFailure, Recipe, RecipeError, Undecided};
use super::steps::{self, Purpose, Step};
use super::{PAGE, START_NET};
use crate::manifest::{digest, write_whole};
use crate::progress::note;

/// How a loop is carried out.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the programs are.
    pub programs: PathBuf,
    /// Do this step of the last generation, and those after it, again.
    pub redo: Option<String>,
    /// Nothing on stderr but errors.
    pub quiet: bool,
}

/// How a run of the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All generations are judged.
    Complete,
    /// All were judged before.
    AlreadyComplete,
    /// A net failed, and the recipe says to stop then.
    Stopped,
    /// Asked to stop; the same command goes on.
    Interrupted,
}

/// Runs a loop until all generations are judged, or goes on with it.
///
/// # Errors
/// [`LoopError`]; whatever it is, the same command goes on where it was once the cause is gone.
pub fn run(recipe: &Recipe, config: &Config, stop: &Stop) -> Result<(Outcome, Ladder), LoopError> {
    let folder = &recipe.whole.folder;
    fs::create_dir_all(folder).map_err(failed(folder, "make the folder"))?;
    let journal = LoopJournal::open(folder, recipe.whole.seed)?;
    let start = start_player(recipe)?;
    let mut state = State { recipe, config, stop, journal, start };
    if let Some(step) = &config.redo {
        state.redo(step)?;
    }
    let outcome = state.go();
    state.show();
    Ok((outcome?, state.ladder()))
}

/// An error of the system with what was tried.
pub(super) fn failed(path: &Path, verb: &'static str) -> impl FnOnce(io::Error) -> LoopError {
    let path = path.to_owned();
    move |source| LoopError::Io { path, verb, source }
}

/// The settings that a recipe gives a generation.
pub(super) fn settings_of(recipe: &Recipe, generation: u32) -> Result<Settings, RecipeError> {
    let seed = steps::seed(recipe.whole.seed, generation, Purpose::Train);
    Ok(Settings::of(recipe, generation, recipe.train_config(seed)?))
}

/// Who plays generation 1; its net is copied into the folder once.
fn start_player(recipe: &Recipe) -> Result<Player, LoopError> {
    let Some(net) = &recipe.whole.start_net else {
        return Ok(Player { generation: None, net: None, id: "none".to_owned() });
    };
    let kept = recipe.whole.folder.join(START_NET);
    if !kept.exists() {
        let temporary = recipe.whole.folder.join(format!("{START_NET}.partial"));
        fs::copy(net, &temporary).map_err(failed(net, "copy"))?;
        fs::rename(&temporary, &kept).map_err(failed(&kept, "put in place"))?;
    }
    let (_, id) = digest(&kept)?;
    Ok(Player { generation: None, net: Some(START_NET.to_owned()), id })
}

/// A loop being run.
pub(super) struct State<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) config: &'a Config,
    pub(super) stop: &'a Stop,
    pub(super) journal: LoopJournal,
    pub(super) start: Player,
}

impl State<'_> {
    pub(super) fn folder(&self) -> &Path {
        &self.recipe.whole.folder
    }

    pub(super) fn ladder(&self) -> Ladder {
        Ladder::of(self.journal.lines())
    }

    pub(super) fn say(&self, line: &str) {
        if !self.config.quiet {
            note(line);
        }
    }

    /// Refreshes the page. That it cannot be written is said, and stops nothing.
    pub(super) fn show(&self) {
        let path = self.folder().join(PAGE);
        let text = page(&self.ladder(), self.recipe.whole.generations);
        if let Err(error) = write_whole(&path, &text) {
            note(&format!("the page is not up to date: {error}"));
        }
    }

    fn go(&mut self) -> Result<Outcome, LoopError> {
        let mut outcome = Outcome::AlreadyComplete;
        loop {
            let ladder = self.ladder();
            match ladder.generations.last() {
                Some(last) if last.accepted.is_none() => {
                    if outcome == Outcome::AlreadyComplete {
                        self.say_changes(last)?;
                    }
                    outcome = Outcome::Complete;
                    if let Some(ended) = self.generation(last.number)? {
                        return Ok(ended);
                    }
                }
                last => {
                    if let Some(last) = last
                        && last.accepted == Some(false)
                        && self.must_stop(last)?
                    {
                        return Ok(Outcome::Stopped);
                    }
                    let next = last.map_or(1, |last| last.number + 1);
                    if next > self.recipe.whole.generations {
                        return Ok(outcome);
                    }
                    self.begin(next)?;
                }
            }
        }
    }

    /// A net failed: does the recipe, as it is now, say to stop? It may also say to accept it after all.
    fn must_stop(&mut self, last: &Generation) -> Result<bool, LoopError> {
        match self.recipe.contest.on_failure {
            OnFailure::Stop => {
                let number = last.number;
                self.say(&format!(
                    "generation {number}: {}; match.on_failure is \"stop\" (\"keep\" or \"accept\" goes on)",
                    last.why
                ));
                Ok(true)
            }
            OnFailure::Accept => {
                let why = format!("{}; accepted all the same", last.why);
                let verdict = Event::Verdict { generation: last.number, accepted: true, passed: false, why };
                self.journal.write(verdict)?;
                Ok(false)
            }
            OnFailure::Keep => Ok(false),
        }
    }

    /// Where the recipe is another than the one that a generation was begun with.
    fn changed(&self, begun: &Generation) -> Result<String, LoopError> {
        Ok(begun.settings.differences(&settings_of(self.recipe, begun.number)?).join(", "))
    }

    fn say_changes(&self, begun: &Generation) -> Result<(), LoopError> {
        let changed = self.changed(begun)?;
        if !changed.is_empty() {
            self.say(&format!(
                "generation {}: the recipe has changed ({changed}); it goes on as it was begun, --redo STEP takes changes up",
                begun.number
            ));
        }
        Ok(())
    }

    fn begin(&mut self, number: u32) -> Result<(), LoopError> {
        let settings = settings_of(self.recipe, number)?;
        let ladder = self.ladder();
        if let Some(last) = ladder.generations.last() {
            let changed = self.changed(last)?;
            if !changed.is_empty() {
                self.say(&format!("generation {number}: the recipe has changed: {changed}"));
            }
        }
        let player = ladder.player(number, &self.start);
        self.say(&format!(
            "generation {number} of {}: played by {}",
            self.recipe.whole.generations,
            player.net.as_deref().unwrap_or("the hand-crafted evaluation")
        ));
        self.journal.write(Event::Generation { number, settings: Box::new(settings), player })?;
        Ok(())
    }

    /// Does what is left of a generation; `Some` when the run ends here.
    fn generation(&mut self, number: u32) -> Result<Option<Outcome>, LoopError> {
        for step in self.steps() {
            if self.current().is_some_and(|generation| generation.done(&step.name).is_some()) {
                continue;
            }
            if let StepEnd::Interrupted = self.step(number, &step)? {
                return Ok(Some(Outcome::Interrupted));
            }
        }
        self.judge(number)?;
        self.tidy()?;
        self.show();
        Ok(None)
    }

    pub(super) fn current(&self) -> Option<Generation> {
        self.ladder().generations.pop()
    }

    /// The steps of the last generation.
    fn steps(&self) -> Vec<Step> {
        let ladder = self.ladder();
        let Some(last) = ladder.generations.last() else { return Vec::new() };
        let window = ladder.window(last.number, &last.player, &last.settings);
        let limits = (self.recipe.whole.seed, self.recipe.whole.threads);
        steps::steps(limits, last.number, &last.settings, &last.player, &window)
    }

    fn judge(&mut self, generation: u32) -> Result<(), LoopError> {
        let Some(current) = self.current() else { return Ok(()) };
        let Some(contest) = current.contest() else {
            let program = "chuhe-match";
            let message = "its answer has no pentanomial, elo, elo_error or games".to_owned();
            let (step, log) = ("match".to_owned(), self.folder().join(steps::folder(generation)));
            let (status, is_check) = ("is not understood".to_owned(), false);
            return Err(LoopError::Child { generation, step, program, status, is_check, message, log });
        };
        let settings = &current.settings.contest;
        let passed = match (contest.state.as_str(), settings.undecided) {
            ("H1", _) => true,
            ("continue", Undecided::ByElo) => contest.elo > 0.0,
            _ => false,
        };
        let accepted = passed || self.recipe.contest.on_failure == OnFailure::Accept;
        let why = format!(
            "{} after {} games, {:+.1} ± {:.1} Elo",
            contest.state, contest.games, contest.elo, contest.error
        );
        let word = if accepted { "accepted" } else { "not accepted" };
        self.say(&format!("generation {generation}: {word} ({why})"));
        self.journal.write(Event::Verdict { generation, accepted, passed, why })?;
        Ok(())
    }

    /// Takes away what is not needed any more; first it is noted, so that nobody looks for it. What a loop killed here left
    /// goes as well.
    fn tidy(&mut self) -> Result<(), LoopError> {
        let mut paths = disk::dispensable(&self.ladder(), &self.recipe.disk);
        paths.retain(|path| self.folder().join(path).exists());
        if !paths.is_empty() {
            self.journal.write(Event::Removed { paths })?;
        }
        for path in self.ladder().removed {
            let path = self.folder().join(path);
            disk::remove(&path).map_err(failed(&path, "remove"))?;
        }
        Ok(())
    }

    /// Forgets a step of the last generation and those after it, and what they made.
    fn redo(&mut self, from: &str) -> Result<(), LoopError> {
        let wrong = |why: String| LoopError::Redo { found: from.to_owned(), why };
        let Some(current) = self.current() else { return Err(wrong("nothing is done yet".to_owned())) };
        let steps = self.steps();
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        let Some(at) = names.iter().position(|&name| name == from) else {
            return Err(wrong(format!("expected one of {}", names.join(" "))));
        };
        let settings = Box::new(settings_of(self.recipe, current.number)?);
        let redo = Event::Redo { generation: current.number, step: from.to_owned(), settings };
        self.journal.write(redo)?;
        for path in steps[at..].iter().flat_map(|step| step.outputs.iter().chain(&step.traces)) {
            let path = self.folder().join(path);
            disk::remove(&path).map_err(failed(&path, "remove"))?;
        }
        Ok(())
    }
}
