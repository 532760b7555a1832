//! `chuhe-gen loop`: generations without a hand on them.

use std::process::ExitCode;

use anyhow::Context;
use serde_json::json;

use crate::cli::LoopArgs;
use crate::generations::{
    self, Config, Ladder, LoopError, LoopJournal, Outcome, PAGE, Planned, Recipe, Stop,
};

/// Runs the verb.
pub fn run(args: &LoopArgs) -> anyhow::Result<ExitCode> {
    let recipe = Recipe::read(&args.recipe)?.scaled(args.scale)?;
    if args.status {
        let ladder = Ladder::of(&LoopJournal::peek(&recipe.whole.folder)?);
        show(args, &ladder, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        return dry_run(args, &recipe);
    }
    let stop = Stop::default();
    let asked = stop.clone();
    ctrlc::set_handler(move || asked.ask()).context("cannot listen for Ctrl-C")?;
    let programs = match &args.programs {
        Some(folder) => folder.clone(),
        None => {
            let own = std::env::current_exe().context("asking for the path of this program")?;
            own.parent().map(ToOwned::to_owned).unwrap_or_default()
        }
    };
    let config = Config { programs, redo: args.redo.clone(), quiet: args.quiet };
    let (outcome, ladder) = match generations::run(&recipe, &config, &stop) {
        Ok(ended) => ended,
        Err(error @ LoopError::Child { is_check: true, .. }) => {
            crate::progress::note(&format!("chuhe-gen: {error}"));
            return Ok(ExitCode::from(1));
        }
        Err(error) => return Err(error.into()),
    };
    show(args, &ladder, Some(outcome))?;
    if !args.json {
        let page = recipe.whole.folder.join(PAGE);
        super::print(&format!("{}: {}\n", page.display(), word(outcome)))?;
    }
    Ok(match outcome {
        Outcome::Complete | Outcome::AlreadyComplete => ExitCode::SUCCESS,
        Outcome::Stopped => ExitCode::from(1),
        Outcome::Interrupted => ExitCode::from(2),
    })
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Complete => "complete",
        Outcome::AlreadyComplete => "already complete",
        Outcome::Stopped => "stopped by a net that failed",
        Outcome::Interrupted => "interrupted; the same command goes on",
    }
}

fn show(args: &LoopArgs, ladder: &Ladder, outcome: Option<Outcome>) -> anyhow::Result<()> {
    if !args.json {
        return super::print(&ladder.text());
    }
    let mut value = ladder.json();
    if let Some(outcome) = outcome {
        value["state"] = word(outcome).into();
    }
    super::print(&format!("{value}\n"))
}

fn dry_run(args: &LoopArgs, recipe: &Recipe) -> anyhow::Result<ExitCode> {
    let next = generations::dry_run(recipe)?;
    let (wanted, folder) = (recipe.whole.generations, recipe.whole.folder.display());
    let Some(Planned { generation: number, steps }) = next else {
        let all = json!({ "generation": null, "generations": wanted, "steps": [] });
        let text = format!("all {wanted} generations are judged\n");
        return super::print(&if args.json { format!("{all}\n") } else { text }).map(|()| ExitCode::SUCCESS);
    };
    if args.json {
        let steps: Vec<_> = steps
            .iter()
            .map(|(step, done)| {
                let command = [vec![step.program.to_owned()], step.args.clone()].concat();
                json!({ "name": step.name, "done": done, "command": command })
            })
            .collect();
        let value = json!({ "generation": number, "generations": wanted, "steps": steps });
        super::print(&format!("{value}\n"))?;
    } else {
        let mut text = format!("generation {number} of {wanted}, in {folder}:\n");
        for (step, done) in &steps {
            let mark = if *done { "done" } else { "to do" };
            text += &format!("  {:<8} {mark:<6} {} {}\n", step.name, step.program, step.args.join(" "));
        }
        super::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
