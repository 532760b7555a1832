//! One step: its inputs and the space looked at, noted, run, noted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::child::{self, Job};
use super::disk;
use super::error::LoopError;
use super::journal::{Ended, Event, FileState};
use super::ladder::clock;
use super::run::{State, failed};
use super::step_run::StepRun;
use super::steps::{self, Step};
use crate::manifest::{digest, write_whole};

/// How one step ended.
pub(super) enum StepEnd {
    /// It is done.
    Done,
    /// The loop was asked to stop.
    Interrupted,
}

impl State<'_> {
    /// Does a step, or goes on with it.
    pub(super) fn step(&mut self, generation: u32, step: &Step) -> Result<StepEnd, LoopError> {
        if self.stop.is_asked() {
            return Ok(StepEnd::Interrupted);
        }
        let folder = self.folder().join(steps::folder(generation));
        fs::create_dir_all(&folder).map_err(failed(&folder, "make the folder"))?;
        if step.name == "train" {
            self.write_train_config(&folder)?;
        }
        let inputs = self.inputs(generation, step)?;
        self.check_space(generation, step, &inputs)?;
        let name = &step.name;
        let before = self.current().and_then(|known| known.step(name)?.pid);
        let command = [vec![step.program.to_owned()], step.args.clone()].concat();
        self.journal.write(Event::Begin { generation, step: name.clone(), command, inputs })?;
        self.show();
        self.say(&format!("generation {generation}, {name}: {} {}", step.program, step.args.join(" ")));
        let root = self.folder().to_owned();
        let job = Job {
            program: self.program(step.program)?,
            args: &step.args,
            folder: &root,
            answer: folder.join(format!("{name}.json")),
            log: folder.join(format!("{name}.log")),
            before,
            shown: (!self.config.quiet).then(|| format!("  {name}: ")),
        };
        let (answer, log) = (job.answer.clone(), job.log.clone());
        let (begun, mut told) = (Instant::now(), Ok(()));
        let mut prepare = !step.resumes;
        let journal = &mut self.journal;
        let status = child::run(&job, self.stop, &mut || clear(&mut prepare, &root, step), &mut |pid| {
            told = journal.write(Event::Child { pid });
            if told.is_ok() { Ok(()) } else { Err(io::Error::other("the journal cannot be written")) }
        });
        told?;
        let status = status.map_err(failed(&answer, "run the step"))?;
        let ended = StepRun { generation, step, status, seconds: begun.elapsed().as_secs_f64(), answer, log };
        self.ended(&ended)
    }

    fn program(&self, name: &str) -> Result<PathBuf, LoopError> {
        let path = self.config.programs.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let path = std::path::absolute(&path).unwrap_or(path);
        if path.is_file() { Ok(path) } else { Err(LoopError::Program { path }) }
    }

    fn write_train_config(&self, folder: &Path) -> Result<(), LoopError> {
        let Some(current) = self.current() else { return Ok(()) };
        Ok(write_whole(&folder.join("train.toml"), &current.settings.train_config)?)
    }

    /// The digests of a step's inputs; those that an earlier step made must be as it made them.
    fn inputs(&self, generation: u32, step: &Step) -> Result<Vec<FileState>, LoopError> {
        let ladder = self.ladder();
        let made = ladder.generations.iter().flat_map(|known| &known.steps).flat_map(|step| &step.outputs);
        let made: Vec<&FileState> = made.collect();
        let mut found = Vec::new();
        for path in &step.inputs {
            let expected = made.iter().rev().find(|output| output.path == *path);
            let changed = |found: String, expected: String| LoopError::Changed {
                generation,
                step: step.name.clone(),
                path: path.clone(),
                found,
                expected,
            };
            let full = self.folder().join(path);
            let said = expected.map_or_else(|| "a file".to_owned(), |file| describe(file));
            if !full.exists() {
                return Err(changed("is not there".to_owned(), said));
            }
            let (bytes, sha256) = digest(&full)?;
            let now = FileState { path: path.clone(), bytes, sha256 };
            if expected.is_some_and(|expected| **expected != now) {
                return Err(changed(format!("has {}", describe(&now)), said));
            }
            found.push(now);
        }
        Ok(found)
    }

    fn check_space(&self, generation: u32, step: &Step, inputs: &[FileState]) -> Result<(), LoopError> {
        const MIB: u64 = 1 << 20;
        let expected = match step.name.as_str() {
            "play" => self.current().map_or(0, |current| disk::of_play(&current.settings.play)),
            name if name.starts_with("tool-") => inputs.iter().map(|input| input.bytes).sum(),
            _ => 0,
        };
        let folder = self.folder();
        let Some(free) = disk::free(folder).map_err(failed(folder, "ask for free space"))? else {
            return Ok(());
        };
        let (free, expected) = (free / MIB, expected.div_ceil(MIB));
        let needed = expected.saturating_add(self.recipe.disk.min_free_mib);
        if free >= needed {
            return Ok(());
        }
        let (step, folder) = (step.name.clone(), folder.to_owned());
        Err(LoopError::Space { generation, step, folder, free, needed, expected })
    }

    /// Notes how a step's child ended.
    fn ended(&mut self, run: &StepRun<'_>) -> Result<StepEnd, LoopError> {
        let StepRun { generation, step, status, seconds, .. } = run;
        let (state, result, message) = if !status.success() && self.stop.is_asked() {
            (Ended::Interrupted, Value::Null, None)
        } else {
            match run.result(self.folder()) {
                Ok(result) => (Ended::Done, result, None),
                Err(message) => (Ended::Failed, Value::Null, Some(message)),
            }
        };
        let mut outputs = Vec::new();
        if state == Ended::Done {
            for path in &step.outputs {
                let (bytes, sha256) = digest(&self.folder().join(path))?;
                outputs.push(FileState { path: path.clone(), bytes, sha256 });
            }
        }
        self.journal.write(Event::End {
            generation: *generation,
            step: step.name.clone(),
            state,
            seconds: *seconds,
            outputs,
            result,
            message: message.clone(),
        })?;
        self.show();
        let Some(message) = message else {
            let word = if state == Ended::Done { "done" } else { "interrupted" };
            self.say(&format!("generation {generation}, {}: {word}, {}", step.name, clock(*seconds)));
            return Ok(if state == Ended::Done { StepEnd::Done } else { StepEnd::Interrupted });
        };
        Err(LoopError::Child {
            generation: *generation,
            step: step.name.clone(),
            program: step.program,
            status: status.code().map_or_else(|| status.to_string(), |code| format!("ended with {code}")),
            is_check: status.code() == Some(1),
            message,
            log: run.log.clone(),
        })
    }
}

fn describe(file: &FileState) -> String {
    format!("{} bytes, SHA-256 {}…", file.bytes, file.sha256.chars().take(12).collect::<String>())
}

/// Removes what an interrupted run of a step left that cannot go on with it.
fn clear(needed: &mut bool, folder: &Path, step: &Step) -> io::Result<()> {
    if std::mem::take(needed) {
        for path in step.outputs.iter().chain(&step.traces) {
            disk::remove(&folder.join(path))?;
        }
    }
    Ok(())
}
