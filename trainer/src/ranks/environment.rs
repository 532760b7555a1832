//! Which of how many processes this one is, from the variables that torchrun and Slurm set.

use super::RanksError;
use std::fmt::Display;
use std::str::FromStr;

/// This process's place among the processes of a run, and where they meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// 0 for the process that writes; below `world`.
    pub rank: usize,
    /// Number of processes, 2 or more.
    pub world: usize,
    /// Number of the process on its host, for choosing a GPU; `None` when nobody said.
    pub local_rank: Option<usize>,
    /// Processes of the run on this host, where known.
    pub local_world: Option<usize>,
    /// Where the store listens.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The store is served by torchrun's agent and not by rank 0.
    pub agent_store: bool,
    /// Keeps the keys of one attempt apart from those of another.
    pub attempt: String,
    /// The variables that were used, for messages.
    pub source: &'static str,
}

/// The four that must come together, and LOCAL_RANK.
const TORCHRUN: [&str; 5] = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"];

struct Variables<'a, F: Fn(&str) -> Option<String>>(&'a F);

impl<F: Fn(&str) -> Option<String>> Variables<'_, F> {
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    fn number<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, RanksError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = text.trim().parse();
        parsed.map(Some).map_err(|why| wrong(format!("{name} is {text:?}, expected a whole number ({why})")))
    }
}

fn wrong(what: impl Into<String>) -> RanksError {
    RanksError::Environment(what.into())
}

impl Environment {
    /// Reads the process's own variables; see [`Environment::read`].
    ///
    /// # Errors
    /// [`RanksError::Environment`].
    pub fn of_process() -> Result<Option<Environment>, RanksError> {
        Environment::read(&|name| std::env::var(name).ok())
    }

    /// `None` when nothing says that there is more than one process: torchrun's variables first, then those of a step
    /// of Slurm (`srun`).
    ///
    /// # Errors
    /// [`RanksError::Environment`] when variables are half set, contradict each other or are no numbers.
    pub fn read(get: &impl Fn(&str) -> Option<String>) -> Result<Option<Environment>, RanksError> {
        let get = Variables(get);
        let (rank, world) = (get.number::<usize>("RANK")?, get.number::<usize>("WORLD_SIZE")?);
        // A batch script has SLURM_PROCID and SLURM_NTASKS as well; only what srun starts is one of several.
        let in_step = get.text("SLURM_STEP_ID").is_some() || get.text("SLURM_STEPID").is_some();
        let slurm = match (get.number::<usize>("SLURM_PROCID")?, get.number::<usize>("SLURM_NTASKS")?) {
            (Some(rank), Some(world)) if in_step => Some((rank, world)),
            _ => None,
        };
        match (rank, world) {
            (Some(rank), Some(world)) => {
                if let Some((task, tasks)) = slurm
                    && get.text("TORCHELASTIC_RUN_ID").is_none()
                    && world == tasks
                    && rank != task
                {
                    return Err(wrong(format!(
                        "RANK is {rank}, but Slurm says that this is task {task} of {tasks} (SLURM_PROCID); do not set \
                         RANK and WORLD_SIZE for all tasks alike: without them Slurm's own numbers are used"
                    )));
                }
                let local = get.number("LOCAL_RANK")?;
                build(&get, (rank, world), local, get.number("LOCAL_WORLD_SIZE")?, "RANK and WORLD_SIZE")
            }
            (None, None) => match slurm {
                Some(place) => {
                    let local = get.number("SLURM_LOCALID")?;
                    build(&get, place, local, None, "SLURM_PROCID and SLURM_NTASKS")
                }
                None => alone(&get),
            },
            (rank, _) => {
                let (set, missing) =
                    if rank.is_some() { ("RANK", "WORLD_SIZE") } else { ("WORLD_SIZE", "RANK") };
                Err(wrong(format!("{set} is set, but {missing} is not; {HOW}")))
            }
        }
    }
}

/// What to do about half-set variables.
const HOW: &str = "start with torchrun or srun (docs/cluster.md), or set RANK, WORLD_SIZE, MASTER_ADDR and \
                   MASTER_PORT for every process, or none of them for a run of one process";

fn alone<F: Fn(&str) -> Option<String>>(get: &Variables<'_, F>) -> Result<Option<Environment>, RanksError> {
    match TORCHRUN.iter().find(|name| get.text(name).is_some()) {
        // A batch script sets the address for the tasks that it will start.
        Some(name) if get.text("SLURM_JOB_ID").is_none() => {
            Err(wrong(format!("{name} is set, but RANK and WORLD_SIZE are not; {HOW}")))
        }
        _ => Ok(None),
    }
}

fn build<F: Fn(&str) -> Option<String>>(
    get: &Variables<'_, F>,
    (rank, world): (usize, usize),
    local_rank: Option<usize>,
    local_world: Option<usize>,
    source: &'static str,
) -> Result<Option<Environment>, RanksError> {
    if world == 0 || world > MOST_RANKS || rank >= world {
        return Err(wrong(format!(
            "this is rank {rank} of {world} ({source}); ranks count from 0 and there are 1 to {MOST_RANKS}"
        )));
    }
    if let (Some(local), Some(all)) = (local_rank, local_world)
        && local >= all
    {
        return Err(wrong(format!(
            "LOCAL_RANK is {local}, but LOCAL_WORLD_SIZE is {all}; ranks count from 0"
        )));
    }
    if world == 1 {
        return Ok(None);
    }
    let (Some(host), Some(port)) = (get.text("MASTER_ADDR"), get.number::<u16>("MASTER_PORT")?) else {
        return Err(wrong(format!(
            "this is rank {rank} of {world} ({source}), but MASTER_ADDR and MASTER_PORT do not both say where the \
             ranks meet: set them to the host of rank 0 and a free port there (scripts/slurm does)"
        )));
    };
    let agent = get.text("TORCHELASTIC_USE_AGENT_STORE");
    let agent_store = match agent.as_deref() {
        Some("True" | "true" | "1") => true,
        None | Some("False" | "false" | "0") => false,
        Some(other) => {
            return Err(wrong(format!("TORCHELASTIC_USE_AGENT_STORE is {other:?}, expected True or False")));
        }
    };
    let run = get.text("TORCHELASTIC_RUN_ID").unwrap_or_default();
    let restart = get.number::<u64>("TORCHELASTIC_RESTART_COUNT")?.unwrap_or(0);
    let attempt = format!("chuhe/{run}/{restart}");
    Ok(Some(Environment { rank, world, local_rank, local_world, host, port, agent_store, attempt, source }))
}

/// More processes than this are a mistake in a variable.
const MOST_RANKS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Environment>, String> {
        let pairs: Vec<(&str, &str)> =
            text.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        Environment::read(&|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_is_one_process() {
        for text in [
            "",
            "RANK=0 WORLD_SIZE=1",
            "RANK=0 WORLD_SIZE=1 MASTER_ADDR=a MASTER_PORT=1",
            // A batch script, not yet a task of its own.
            "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 MASTER_ADDR=a MASTER_PORT=1",
            "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=1",
        ] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn torchrun_slurm_and_by_hand() {
        let found = read(
            "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=node1 MASTER_PORT=29500 \
             TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RESTART_COUNT=2 TORCHELASTIC_RUN_ID=x \
             SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2",
        );
        let expected = Environment {
            rank: 3,
            world: 4,
            local_rank: Some(1),
            local_world: Some(2),
            host: "node1".to_owned(),
            port: 29500,
            agent_store: true,
            attempt: "chuhe/x/2".to_owned(),
            source: "RANK and WORLD_SIZE",
        };
        assert_eq!(found, Ok(Some(expected)));
        let slurm =
            "SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_NTASKS=3 SLURM_LOCALID=1 MASTER_ADDR=a MASTER_PORT=9";
        let found = read(slurm).unwrap().unwrap();
        assert_eq!((found.rank, found.world, found.local_rank), (2, 3, Some(1)));
        assert!(!found.agent_store && found.attempt == "chuhe//0");
        let found = read("RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=9").unwrap().unwrap();
        assert_eq!((found.rank, found.local_rank), (1, None));
    }

    #[test]
    fn half_set_and_contradictory_variables_are_named() {
        for (text, expected) in [
            ("RANK=0", "WORLD_SIZE is not"),
            ("WORLD_SIZE=2", "RANK is not"),
            ("LOCAL_RANK=0", "LOCAL_RANK is set"),
            ("MASTER_ADDR=a MASTER_PORT=1", "MASTER_ADDR is set"),
            ("RANK=2 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", "rank 2 of 2"),
            ("RANK=0 WORLD_SIZE=0", "rank 0 of 0"),
            ("RANK=0 WORLD_SIZE=two", "WORLD_SIZE is \"two\""),
            ("RANK=-1 WORLD_SIZE=2", "RANK is \"-1\""),
            ("RANK=0 WORLD_SIZE=2 MASTER_ADDR=a", "MASTER_PORT"),
            ("RANK=0 WORLD_SIZE=2 MASTER_PORT=1", "MASTER_ADDR"),
            ("RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=70000", "MASTER_PORT is \"70000\""),
            ("RANK=0 WORLD_SIZE=4 LOCAL_RANK=2 LOCAL_WORLD_SIZE=2", "LOCAL_RANK is 2"),
            ("SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=2", "MASTER_ADDR"),
            ("SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 RANK=0 WORLD_SIZE=2", "RANK is 0, but Slurm"),
            (
                "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1 TORCHELASTIC_USE_AGENT_STORE=maybe",
                "TORCHELASTIC_USE_AGENT_STORE is \"maybe\"",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
