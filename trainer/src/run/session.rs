//! The loop of steps.

use super::diverged::Divergence;
use super::looks::{Clock, LookError, Looks, gradient_norms};
use super::{Best, Conduct, Outcome, RESULT, RunError, together};
use crate::checkpoint::{self, Checkpoint, CheckpointError, RunManifest, State};
use crate::config::Config;
use crate::data::{Batch, FilterCounts, Loader, Plan};
use crate::loss::Loss;
use crate::material;
use crate::model::net::Net;
use crate::optim::UpdateStep;
use crate::optim::schedule::{self, Extent};
use crate::progress::{Progress, Shown};
use crate::validate::ValidationSet;
use crate::watch::Row;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Steps whose mean is given as the training loss.
const RECENT: usize = 100;

/// A run in progress.
pub(super) struct Session {
    out: PathBuf,
    manifest: RunManifest,
    config: Config,
    plan: Plan,
    pub(super) conduct: Conduct,
    pub(super) net: Box<dyn Net>,
    /// Positions of the steps whose loss is not known yet, oldest first.
    pending: VecDeque<usize>,
    pub(super) validation: ValidationSet,
    /// This rank's part of it, if there are several ranks.
    pub(super) validation_part: Option<Batch>,
    /// All ranks have agreed to stop after this step.
    pub(super) agreed_to_stop: bool,
    pub(super) state: State,
    looks: Looks,
    progress: Progress,
    started: Instant,
    /// Work and time of this call.
    clock: Clock,
    /// What the filters did to an epoch.
    pub(super) counts: Option<FilterCounts>,
    last_checkpoint: Option<PathBuf>,
}

/// Why the loop ended.
#[derive(PartialEq, Eq)]
enum End {
    Complete,
    Stopped,
}

impl Session {
    #[expect(clippy::too_many_arguments, reason = "the parts of a run, put together in one place")]
    pub(super) fn new(
        out: &Path,
        manifest: RunManifest,
        config: Config,
        plan: Plan,
        conduct: Conduct,
        net: Box<dyn Net>,
        validation: ValidationSet,
        state: State,
    ) -> Result<Session, RunError> {
        // Rank 0 alone writes.
        let folder = conduct.ranks.is_first().then_some(out);
        let looks = Looks::open(folder, &config, &manifest, state.step)?;
        let validation_part = together::part_of(&conduct.ranks, &validation.batch);
        let progress = Progress::start(state.step, conduct.quiet);
        Ok(Session {
            out: out.to_path_buf(),
            manifest,
            config,
            plan,
            conduct,
            net,
            pending: VecDeque::new(),
            validation,
            validation_part,
            agreed_to_stop: false,
            state,
            looks,
            progress,
            started: Instant::now(),
            clock: Clock::default(),
            counts: None,
            last_checkpoint: None,
        })
    }

    /// Trains to the end, or until interrupted.
    pub(super) fn run(mut self) -> Result<Outcome, RunError> {
        self.announce();
        let result = self.steps();
        self.progress.finish();
        let end = result?;
        let outcome = self.outcome(end == End::Complete)?;
        if end == End::Complete && self.conduct.ranks.is_first() {
            let path = self.out.join(RESULT);
            checkpoint::write_file(&path, &checkpoint::to_json(&outcome, &path)?)?;
        } else if end == End::Stopped {
            let out = self.out.display();
            self.progress.say(&format!("stopped after step {}", self.state.step));
            self.progress.say(&format!("go on with: chuhe-train resume '{out}'"));
        }
        Ok(outcome)
    }

    fn announce(&mut self) {
        let (files, blocks) = (self.plan.source.files().len(), self.plan.source.blocks().len());
        let positions = self.plan.source.positions();
        let lines = [
            format!("net         {}", self.manifest.architecture),
            format!("data        {files} file(s), {blocks} blocks, {positions} scored positions"),
            format!("validation  {} positions; {}", self.validation.batch.len(), self.validation.counts),
            format!(
                "run         {} steps of {} positions, {}",
                self.manifest.total_steps,
                self.config.training.batch_size,
                self.net.device()
            ),
        ];
        for line in lines {
            self.progress.say(&line);
        }
        if self.conduct.ranks.world() > 1 {
            self.progress.say(&format!("ranks       this is {}", self.conduct.ranks.describe()));
        }
        if let Some(counts) = self.counts {
            let positions = self.manifest.epoch_positions;
            self.progress.say(&format!("epoch       {positions} positions; of those looked at {counts}"));
        }
        if let Some(origin) = &self.manifest.init {
            let (path, architecture) = (origin.path.display(), &origin.architecture);
            self.progress.say(&format!("begins as   {path} ({architecture})"));
        }
        if self.state.step > 0 {
            self.progress.say(&format!("resuming    after step {}", self.state.step));
        }
    }

    fn steps(&mut self) -> Result<End, RunError> {
        // A run that was killed between its last checkpoint and its result has nothing left to do.
        if self.state.step >= self.manifest.total_steps || self.on_plateau() {
            return Ok(End::Complete);
        }
        let mut loader = Loader::start(&self.plan, self.state.step);
        loop {
            self.conduct.ranks.tick();
            let began = Instant::now();
            let batch = loader.next_batch()?;
            let waited = began.elapsed();
            self.step(&batch)?;
            self.clock.waiting += waited;
            self.clock.stepping += began.elapsed();
            self.clock.trained += self.config.training.batch_size as u64;
            if let Some(end) = self.after_step(&batch)? {
                return Ok(end);
            }
        }
    }

    /// A step with this rank's share of a batch.
    fn step(&mut self, batch: &Batch) -> Result<(), RunError> {
        let (step, total) = (self.state.step, self.manifest.total_steps);
        let loss = self.loss(schedule::lambda(&self.config.loss, step, total));
        let divisor = self.config.training.batch_size;
        self.net.gradients(batch, &loss, divisor)?;
        self.sum_over_ranks()?;
        self.pending.push_back(divisor);
        // Before the losses are asked for, which are a part of what was gathered.
        if self.looks.due(step + 1) {
            self.looks.note_gradients(&mut *self.net)?;
        }
        // On the CPU the loss is known before it changes a weight; other devices see to that themselves.
        self.note_losses(step + 1, false, batch)?;
        for note in self.net.notes() {
            self.progress.say(&note);
        }
        let update = UpdateStep::at(&self.config.optimiser, step + 1, self.learning_rate(step));
        self.net.update(&update)?;
        self.state.step += 1;
        self.state.positions += divisor as u64;
        self.state.epoch = self.state.positions / self.manifest.epoch_positions.max(1);
        Ok(())
    }

    /// Takes in the losses that are known by now, or with `wait` those of all steps up to number `step`, whose
    /// batch is `batch`.
    fn note_losses(&mut self, step: u64, wait: bool, batch: &Batch) -> Result<(), RunError> {
        let keep = RECENT.max(self.looks.every as usize);
        for sum in self.net.losses(wait)? {
            let of = step + 1 - self.pending.len() as u64;
            let mean = sum / self.pending.pop_front().unwrap_or(1) as f64;
            if !mean.is_finite() {
                let batch = if of == step { Some(batch) } else { None };
                return Err(self.diverged(of, format!("the loss is {mean}"), batch));
            }
            if self.state.recent.len() == keep {
                self.state.recent.remove(0);
            }
            self.state.recent.push(mean);
        }
        Ok(())
    }

    /// Validation, curve, checkpoint and progress where they are due; `Some` when the run ends here.
    fn after_step(&mut self, batch: &Batch) -> Result<Option<End>, RunError> {
        let step = self.state.step;
        let last = step == self.manifest.total_steps;
        let mut validated = None;
        if last || step.is_multiple_of(self.config.validation.every_steps) {
            self.note_losses(step, true, batch)?;
            validated = self.validate(batch)?;
        }
        let complete = last || validated.is_some() && self.on_plateau();
        let end = if complete {
            Some(End::Complete)
        } else if self.stops() {
            Some(End::Stopped)
        } else {
            None
        };
        let checkpoint = end.is_some() || step.is_multiple_of(self.config.checkpoint.every_steps);
        let row = complete || step.is_multiple_of(self.looks.every);
        let look = self.looks.due(step);
        if checkpoint || row || look {
            self.note_losses(step, true, batch)?;
        }
        let statistics = match look.then(|| self.looks.look(&*self.net, batch)) {
            None => None,
            Some(Ok(statistics)) => Some(statistics),
            Some(Err(LookError::Model(error))) => return Err(error.into()),
            Some(Err(LookError::Weights(error))) => return Err(error.into()),
            Some(Err(error)) => return Err(self.diverged(step, error.to_string(), Some(batch))),
        };
        if row || validated.is_some() || look {
            let row = self.row(validated);
            self.looks.add(row, self.clock, statistics.as_ref())?;
        }
        self.show();
        if checkpoint {
            let written = self.checkpoint();
            self.unless_diverged(written, batch)?;
        }
        Ok(end)
    }

    /// The validation loss now; the best state so far is kept aside.
    fn validate(&mut self, batch: &Batch) -> Result<Option<f64>, RunError> {
        let (step, loss) = (self.state.step, self.final_loss());
        let validated = self.validation_loss(&loss)?;
        let Some(loss) = validated else { return Ok(None) };
        if !loss.is_finite() {
            return Err(self.diverged(step, format!("the validation loss is {loss}"), Some(batch)));
        }
        self.state.validation = Some((step, loss));
        let best = self.state.plateau.see(step, loss, self.config.training.plateau_delta);
        if best && self.config.checkpoint.best && self.conduct.ranks.is_first() {
            let ranks = self.conduct.ranks.clone();
            let written = ranks.while_busy("writing the best checkpoint", || self.write_best());
            self.unless_diverged(written, batch)?;
        }
        Ok(validated)
    }

    /// A state that is no number was not written: the run ends with what is known of it.
    fn unless_diverged(&mut self, written: Result<(), RunError>, batch: &Batch) -> Result<(), RunError> {
        match written {
            Err(RunError::Checkpoint(error @ CheckpointError::NotFinite { .. })) => {
                Err(self.diverged(self.state.step, error.to_string(), Some(batch)))
            }
            other => other,
        }
    }

    fn on_plateau(&self) -> bool {
        self.state.plateau.is_over(self.config.training.stop_after_plateau)
    }

    /// Writes down what is known of a step in which something is no number, and gives the error that ends the run.
    fn diverged(&mut self, step: u64, what: String, batch: Option<&Batch>) -> RunError {
        let last = self.last_checkpoint.clone().or_else(|| checkpoint::locate(&self.out).ok());
        if !self.conduct.ranks.is_first() {
            let last = last.map_or("see rank 0".to_owned(), |path| path.display().to_string());
            return RunError::NotFinite { step, what, last, diagnosis: "see rank 0".to_owned() };
        }
        let gradients = gradient_norms(&mut *self.net).unwrap_or_default();
        let (before, total) = (step.saturating_sub(1), self.manifest.total_steps);
        let written = self.net.parameters().map_err(|error| error.to_string()).and_then(|parameters| {
            let divergence = Divergence {
                run: &self.out,
                manifest: &self.manifest,
                state: &self.state,
                step,
                what: what.clone(),
                lambda: schedule::lambda(&self.config.loss, before, total),
                learning_rate: self.learning_rate(before),
                last_good: last.clone(),
                batch,
                architecture: self.net.architecture(),
                parameters: &parameters,
                gradients,
            };
            divergence.write().map_err(|error| error.to_string())
        });
        let diagnosis = match written {
            Ok(folder) => folder.display().to_string(),
            Err(error) => format!("not written ({error})"),
        };
        let last = last.map_or("none yet".to_owned(), |path| path.display().to_string());
        RunError::NotFinite { step, what, last, diagnosis }
    }

    /// The loss that validation is judged by: λ as at the run's end.
    fn final_loss(&self) -> Loss {
        self.loss(self.config.loss.lambda_end)
    }

    fn loss(&self, lambda: f64) -> Loss {
        Loss::new(&self.config.loss, self.manifest.score_scale, lambda)
    }

    /// The learning rate of step number `step` (from 0).
    fn learning_rate(&self, step: u64) -> f64 {
        let epoch = self.manifest.epoch_positions.div_ceil(self.config.training.batch_size as u64);
        let extent = Extent { steps: self.manifest.total_steps, epoch };
        schedule::learning_rate(&self.config.learning_rate, step, extent)
    }

    fn mean_recent(&self, steps: usize) -> f64 {
        let recent = &self.state.recent;
        let last = &recent[recent.len().saturating_sub(steps)..];
        last.iter().sum::<f64>() / last.len().max(1) as f64
    }

    fn row(&self, validation: Option<f64>) -> Row {
        let (step, total) = (self.state.step, self.manifest.total_steps);
        Row {
            step,
            epoch: self.state.epoch,
            positions: self.state.positions,
            lambda: schedule::lambda(&self.config.loss, step - 1, total),
            learning_rate: self.learning_rate(step - 1),
            loss: self.mean_recent(self.looks.every as usize),
            validation_loss: validation,
            seconds: self.started.elapsed().as_secs_f64(),
            ..Row::default()
        }
    }

    fn rate(&self) -> f64 {
        self.clock.trained as f64 / self.clock.stepping.as_secs_f64().max(1e-9)
    }

    fn waiting_share(&self) -> f64 {
        self.clock.waiting.as_secs_f64() / self.clock.stepping.as_secs_f64().max(1e-9)
    }

    fn show(&mut self) {
        let shown = Shown {
            step: self.state.step,
            total: self.manifest.total_steps,
            loss: self.mean_recent(RECENT),
            validation: self.state.validation.map(|(_, loss)| loss),
            rate: self.rate(),
            waiting: self.waiting_share(),
        };
        self.progress.show(&shown);
    }

    fn snapshot(&self) -> Result<Checkpoint, RunError> {
        Ok(Checkpoint {
            run: self.manifest.clone(),
            state: self.state.clone(),
            parameters: self.net.parameters()?,
            positions: self.validation.fens.clone(),
        })
    }

    /// Rank 0 writes a checkpoint.
    pub(super) fn checkpoint(&mut self) -> Result<(), RunError> {
        let ranks = self.conduct.ranks.clone();
        if ranks.is_first() {
            ranks.while_busy("writing a checkpoint", || self.write_checkpoint())?;
        }
        Ok(())
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        let snapshot = self.snapshot()?;
        self.looks.sync()?;
        self.last_checkpoint = Some(snapshot.write(&self.out, self.config.checkpoint.keep)?);
        Ok(())
    }

    fn write_best(&self) -> Result<(), RunError> {
        self.snapshot()?.write_best(&self.out)?;
        Ok(())
    }

    fn best(&self) -> Option<Best> {
        let (step, validation_loss) = self.state.plateau.best.filter(|_| self.config.checkpoint.best)?;
        Some(Best { checkpoint: checkpoint::best_of(&self.out), step, validation_loss })
    }

    fn outcome(&self, complete: bool) -> Result<Outcome, RunError> {
        let fit = material::fit(&self.validation.batch.samples, &self.final_loss());
        let checkpoint = match &self.last_checkpoint {
            Some(path) => path.clone(),
            None => match checkpoint::locate(&self.out) {
                Ok(path) => path,
                Err(CheckpointError::NotFound(path)) => path,
                Err(error) => return Err(error.into()),
            },
        };
        Ok(Outcome {
            complete,
            loss: self.mean_recent(RECENT),
            validation_loss: self.state.validation.map(|(_, loss)| loss),
            material_validation_loss: fit.map(|fit| fit.loss),
            positions_per_second: self.rate(),
            waiting: self.waiting_share(),
            steps: self.state.step,
            total_steps: self.manifest.total_steps,
            positions: self.state.positions,
            validation_positions: self.validation.batch.len() as u64,
            seconds: self.started.elapsed().as_secs_f64(),
            architecture: self.manifest.architecture.clone(),
            checkpoint,
            best: self.best(),
            plateau: complete && self.state.step < self.manifest.total_steps,
            filters: self.counts,
            material_values: fit.map(|fit| fit.values),
        })
    }
}
