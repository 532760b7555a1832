//! What a loop would do next.

use std::io;

use arena::journal::JournalError;

use super::START_NET;
use super::error::LoopError;
use super::journal::{LoopJournal, Player};
use super::ladder::Ladder;
use super::recipe::Recipe;
use super::run::settings_of;
use super::steps::{self, Step};

/// A generation that is to be made, or to be finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its number.
    pub generation: u32,
    /// Its steps, each with whether it is done.
    pub steps: Vec<(Step, bool)>,
}

/// The steps of the generation that is next, each with whether it is done; `None` when all are judged. Nothing is
/// written.
///
/// # Errors
/// The journal is damaged, or the trainer's configuration cannot be read.
pub fn dry_run(recipe: &Recipe) -> Result<Option<Planned>, LoopError> {
    let folder = &recipe.whole.folder;
    let ladder = match LoopJournal::peek(folder) {
        Ok(lines) => Ladder::of(&lines),
        Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ladder::default(),
        Err(error) => return Err(error.into()),
    };
    let next = ladder.generations.last().map_or(1, |last| last.number + u32::from(last.accepted.is_some()));
    if next > recipe.whole.generations {
        return Ok(None);
    }
    let id = recipe.whole.start_net.as_ref().map_or("none", |_| "the start net's");
    let net = recipe.whole.start_net.as_ref().map(|_| START_NET.to_owned());
    let start = Player { generation: None, net, id: id.to_owned() };
    let begun = ladder.generations.last().filter(|last| last.number == next);
    let (settings, player) = match begun {
        Some(begun) => (begun.settings.clone(), begun.player.clone()),
        None => (settings_of(recipe, next)?, ladder.player(next, &start)),
    };
    let window = ladder.window(next, &player, &settings);
    let limits = (recipe.whole.seed, recipe.whole.threads);
    let steps = steps::steps(limits, next, &settings, &player, &window);
    let done = |step: &Step| begun.is_some_and(|begun| begun.done(&step.name).is_some());
    let steps = steps.into_iter().map(|step| {
        let is_done = done(&step);
        (step, is_done)
    });
    Ok(Some(Planned { generation: next, steps: steps.collect() }))
}
