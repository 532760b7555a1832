//! The processes of one run: who they are, what they must agree on, and the sum of their gradients.
//!
//! Each process ("rank") trains on its share of every batch; [`Ranks::sum`] adds the gradients of all, so that each then
//! makes the same update. They meet in a store of torch.distributed (c10d's TCPStore) and are connected by Gloo, and
//! by NCCL where their gradients lie on GPUs. [`environment`] says how a process learns its place, `watch` how the
//! others notice that one is gone. A run of one process is [`Ranks::alone`]: nothing is opened and every call returns
//! at once.
//!
//! Keys of the store, all under the attempt's prefix: those of `watch`; `joined/R`, counted up to find two processes of
//! one rank; `facts/R` and `agreed` for [`Ranks::agree`]; whatever rank 0 [tells](Ranks::tell); `bye`, a count.

mod c10d;
pub mod environment;
pub mod facts;
mod late;
pub mod settings;
mod watch;

use c10d::{Failure, Group, Operation, Store};
pub use environment::Environment;
pub use facts::Facts;
pub use settings::{Backend, RankArgs, Settings};
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tch::{Device, Tensor};
use thiserror::Error;
pub use watch::OnLost;
use watch::{Watch, Watched};

/// Ranks join a run within this many times the time limit of [`Settings`]: hosts do not start together.
const JOIN: u32 = 10;
/// How often a waiting rank looks whether another one is gone.
const SLICE: Duration = Duration::from_millis(100);
/// Longest time that rank 0 keeps the store open at its end for ranks that have not said good-bye.
const LINGER: Duration = Duration::from_secs(5);

/// What can be wrong between ranks.
#[derive(Debug, Error)]
pub enum RanksError {
    /// The variables that say which process this is.
    #[error("environment: {0}")]
    Environment(String),
    /// The ranks did not find each other.
    #[error("{0}")]
    Join(String),
    /// Two ranks differ in what they were told to do.
    #[error("the ranks do not agree: {0}")]
    Disagree(String),
    /// A rank is gone, or ended with an error.
    #[error(
        "{0}. The run ends on all ranks; go on from its last checkpoint with `chuhe-train resume`, with any number of \
         ranks"
    )]
    Lost(String),
    /// What torch reports.
    #[error("torch.distributed: {0}")]
    C10d(String),
    /// GPUs without NCCL.
    #[error("{0}")]
    Nccl(String),
}

impl From<Failure> for RanksError {
    fn from(Failure(text): Failure) -> RanksError {
        RanksError::C10d(text)
    }
}

/// The processes of a run, as one of them sees them.
pub struct Ranks {
    rank: usize,
    world: usize,
    linked: Option<Linked>,
}

/// What there is when there are several.
struct Linked {
    environment: Environment,
    settings: Settings,
    store: Store,
    watch: Mutex<Watch>,
    /// Open after [`Ranks::agree`].
    group: Mutex<Option<Group>>,
    /// This rank has said good-bye.
    left: Mutex<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ranks {
    /// A run of one process.
    pub fn alone() -> Ranks {
        Ranks { rank: 0, world: 1, linked: None }
    }

    /// Joins the run that the environment describes, or is alone where it describes none.
    ///
    /// # Errors
    /// [`RanksError`] when the variables are wrong or the store of rank 0 is not there in time.
    pub fn join(settings: Settings) -> Result<Ranks, RanksError> {
        match Environment::of_process()? {
            Some(environment) => Ranks::open(environment, settings),
            None => Ok(Ranks::alone()),
        }
    }

    /// Joins the run described.
    ///
    /// # Errors
    /// As [`Ranks::join`].
    pub fn open(environment: Environment, settings: Settings) -> Result<Ranks, RanksError> {
        let Environment { rank, world, port, agent_store, .. } = environment;
        let (host, prefix) = (environment.host.as_str(), environment.attempt.as_str());
        let patience = JOIN * settings.timeout;
        let open = |serve: bool| {
            Store::open(host, port, serve, prefix, patience).map_err(|Failure(why)| {
                let who = if agent_store { "torchrun's agent" } else { "rank 0" };
                let what = if serve { "open" } else { "reach" };
                RanksError::Join(format!(
                    "rank {rank} of {world} could not {what} the store of {who} at {host}:{port} within {:.0} s \
                     (MASTER_ADDR, MASTER_PORT): {why}",
                    patience.as_secs_f64()
                ))
            })
        };
        let store = open(rank == 0 && !agent_store)?;
        if store.add(&format!("joined/{rank}"), 1)? > 1 {
            return Err(RanksError::Join(format!(
                "two processes say that they are rank {rank} at {host}:{port}; every process needs a RANK of its own \
                 (or an earlier run is still ending there: wait, or take another MASTER_PORT)"
            )));
        }
        store.set(&format!("who/{rank}"), this_process().as_bytes())?;
        let server = if agent_store {
            format!("the store of torchrun's agent at {host}:{port}")
        } else {
            format!("rank 0, whose process holds the store at {host}:{port},")
        };
        let (timeout, on_lost) = (settings.timeout, settings.on_lost.clone());
        let watch = Watch::start(Watched { store: open(false)?, rank, world, timeout, server, on_lost });
        let linked = Linked {
            environment,
            settings,
            store,
            watch: Mutex::new(watch),
            group: Mutex::new(None),
            left: Mutex::new(false),
        };
        Ok(Ranks { rank, world, linked: Some(linked) })
    }

    /// This process's number, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many there are.
    pub fn world(&self) -> usize {
        self.world
    }

    /// Is this the one that writes? True for a run of one process.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Who this is among how many, for people: `rank 1 of 4, process 12 on node3`.
    pub fn describe(&self) -> String {
        format!("rank {} of {}, {}", self.rank, self.world, this_process())
    }

    /// The number of this process among those of its host, for choosing a GPU; 0 for a run of one process.
    ///
    /// # Errors
    /// [`RanksError::Environment`] when nobody said which it is.
    pub fn local_rank(&self) -> Result<usize, RanksError> {
        let Some(linked) = &self.linked else { return Ok(0) };
        linked.environment.local_rank.ok_or_else(|| {
            let what = "LOCAL_RANK (or SLURM_LOCALID) is not set, so that it is open which GPU this process is to use";
            RanksError::Environment(what.to_owned())
        })
    }

    /// Processes of this run on this host, where the starter said so.
    pub fn local_world(&self) -> Option<usize> {
        self.linked.as_ref().and_then(|linked| linked.environment.local_world)
    }

    /// Checks that all ranks have the same facts as rank 0, and connects them. All ranks must call it, once.
    ///
    /// # Errors
    /// [`RanksError::Disagree`] on all ranks, with the rank and its first difference; [`RanksError::Lost`] when one
    /// does not come.
    pub fn agree(&self, facts: &Facts) -> Result<(), RanksError> {
        let Some(linked) = &self.linked else { return Ok(()) };
        let json = serde_json::to_vec(facts).map_err(|error| RanksError::C10d(error.to_string()))?;
        linked.store.set(&format!("facts/{}", self.rank), &json)?;
        let difference = if self.is_first() {
            let difference = self.differences(linked, facts)?;
            linked.store.set("agreed", difference.as_bytes())?;
            difference
        } else {
            String::from_utf8_lossy(&linked.hear("agreed", None)?).into_owned()
        };
        if !difference.is_empty() {
            return Err(RanksError::Disagree(difference));
        }
        let join = JOIN * linked.settings.timeout;
        let group = Group::open(&linked.store, self.rank, self.world, join);
        let group = group.map_err(|failure| linked.blame(failure))?;
        *lock(&linked.group) = Some(group);
        Ok(())
    }

    /// The differences of all other ranks, a line each.
    fn differences(&self, linked: &Linked, facts: &Facts) -> Result<String, RanksError> {
        let limit = JOIN * linked.settings.timeout;
        let mut told = Vec::new();
        for rank in 1..self.world {
            let found = linked.hear(&format!("facts/{rank}"), Some((rank, limit)))?;
            let found: Facts = serde_json::from_slice(&found).unwrap_or_default();
            if let Some(difference) = facts.difference(&found) {
                told.push(format!("{}: {difference}", watch::name(&linked.store, rank)));
            }
        }
        Ok(told.join("; "))
    }

    /// Lets gradients on the GPU `device` be summed there: by NCCL, or through this computer's memory and Gloo where
    /// the settings say so. Call it after [`Ranks::agree`] and after libtorch_cuda was loaded.
    ///
    /// # Errors
    /// [`RanksError::Nccl`] when the shim is missing or does not fit.
    pub fn use_device(&self, device: Device) -> Result<(), RanksError> {
        let (Some(linked), Device::Cuda(index)) = (&self.linked, device) else { return Ok(()) };
        if linked.settings.backend == Backend::Gloo {
            return Ok(());
        }
        let shim = settings::nccl_shim().map_err(RanksError::Nccl)?;
        let mut group = lock(&linked.group);
        let Some(group) = group.as_mut() else {
            return Err(RanksError::Nccl("the ranks are not connected yet".to_owned()));
        };
        // NCCL's own watchdog is the last resort; ours names the rank before.
        let limit = 2 * linked.settings.timeout;
        group
            .add_nccl(&linked.store, &shim, (self.rank, self.world), index, limit)
            .map_err(|Failure(why)| RanksError::Nccl(format!("NCCL: {why}")))
    }

    /// Leaves a value for the other ranks; for rank 0.
    ///
    /// # Errors
    /// [`RanksError::C10d`].
    pub fn tell(&self, key: &str, value: &[u8]) -> Result<(), RanksError> {
        if let Some(linked) = &self.linked {
            linked.store.set(&format!("told/{key}"), value)?;
        }
        Ok(())
    }

    /// Waits for the value that rank 0 tells.
    ///
    /// # Errors
    /// [`RanksError::Lost`] when it ends before that.
    pub fn hear(&self, key: &str) -> Result<Vec<u8>, RanksError> {
        match &self.linked {
            Some(linked) => linked.hear(&format!("told/{key}"), None),
            None => Err(RanksError::Join("nobody else is there to be heard".to_owned())),
        }
    }

    /// Adds up tensors (contiguous, f32 or f64; on the CPU, or on the device of [`Ranks::use_device`]) and numbers over all
    /// ranks, in place. Every rank gets the same bits. All ranks must call it with the same shapes.
    ///
    /// # Errors
    /// [`RanksError::Lost`] naming a rank that is gone or does not come within the time limit.
    pub fn sum(&self, tensors: &mut [Tensor], numbers: &mut [f64]) -> Result<(), RanksError> {
        self.operate(Operation::Sum, tensors, numbers)
    }

    /// Gives every rank what rank 0 has in its tensors.
    ///
    /// # Errors
    /// As [`Ranks::sum`].
    pub fn spread(&self, tensors: &mut [Tensor]) -> Result<(), RanksError> {
        self.operate(Operation::FromFirst, tensors, &mut [])
    }

    fn operate(
        &self,
        operation: Operation,
        tensors: &mut [Tensor],
        numbers: &mut [f64],
    ) -> Result<(), RanksError> {
        let Some(linked) = &self.linked else { return Ok(()) };
        let mut group = lock(&linked.group);
        let Some(group) = group.as_mut() else {
            return Err(RanksError::C10d("the ranks are not connected yet".to_owned()));
        };
        lock(&linked.watch).operation_begins();
        let result = group.run(operation, tensors, numbers, SLICE, || linked.check());
        lock(&linked.watch).operation_ended();
        match result {
            Err(RanksError::C10d(why)) => Err(linked.blame(Failure(why))),
            other => other,
        }
    }

    /// The training thread gets on: called for every batch, so that a slow rank is told from a hung one.
    pub fn tick(&self) {
        if let Some(linked) = &self.linked {
            lock(&linked.watch).tick();
        }
    }

    /// Does something that may keep the other ranks waiting longer than the time limit, such as writing to a slow disk.
    pub fn while_busy<T>(&self, activity: &'static str, work: impl FnOnce() -> T) -> T {
        let Some(linked) = &self.linked else { return work() };
        lock(&linked.watch).set_activity(activity);
        let result = work();
        lock(&linked.watch).set_activity("");
        result
    }

    /// Ends together: returns when all ranks have come here.
    ///
    /// # Errors
    /// [`RanksError::Lost`].
    pub fn finish(&self) -> Result<(), RanksError> {
        let connected = self.linked.as_ref().is_some_and(|linked| lock(&linked.group).is_some());
        if connected {
            self.sum(&mut [], &mut [1.0])?;
        }
        self.leave();
        Ok(())
    }

    /// Tells the other ranks that this one ends with an error, and leaves.
    pub fn fail(&self, error: &impl Display) {
        let reachable = |linked: &&Linked| !*lock(&linked.left) && !lock(&linked.watch).store_is_silent();
        if let Some(linked) = self.linked.as_ref().filter(reachable) {
            let verdict = format!("{} stopped: {error}", watch::name(&linked.store, self.rank));
            // Where nobody can be told, the others notice by themselves.
            let _ = linked.store.claim("verdict", verdict.as_bytes());
        }
        self.leave();
    }

    /// Says good-bye. Rank 0, if it serves the store, waits a little for the others to do so.
    fn leave(&self) {
        let Some(linked) = &self.linked else { return };
        if std::mem::replace(&mut *lock(&linked.left), true) {
            return;
        }
        // The others must not take our silence for death: they have read the verdict or are at their end themselves.
        let silent = {
            let mut watch = lock(&linked.watch);
            watch.stop();
            watch.store_is_silent()
        };
        if silent {
            return;
        }
        let Ok(mut gone) = linked.store.add("bye", 1) else { return };
        let began = Instant::now();
        while self.is_first() && gone < self.world as i64 && began.elapsed() < LINGER {
            std::thread::sleep(SLICE / 4);
            match linked.store.add("bye", 0) {
                Ok(count) => gone = count,
                Err(_) => return,
            }
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.fail(&"it ended without a word");
    }
}

impl Linked {
    /// The verdict, if there is one.
    fn check(&self) -> Result<(), RanksError> {
        match lock(&self.watch).verdict() {
            Some(verdict) => Err(RanksError::Lost(verdict)),
            None => Ok(()),
        }
    }

    /// Waits for a key. `joining`: the rank that has to set it, and the time it has to come at all.
    fn hear(&self, key: &str, joining: Option<(usize, Duration)>) -> Result<Vec<u8>, RanksError> {
        let began = Instant::now();
        let mut pause = Duration::from_millis(2);
        loop {
            self.check()?;
            match self.store.get(key) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => {}
                Err(failure) => return Err(self.blame(failure)),
            }
            if let Some((rank, limit)) = joining
                && began.elapsed() > limit
                && self.store.get(&format!("who/{rank}"))?.is_none()
            {
                let told = format!("rank {rank} has not joined within {:.0} s", limit.as_secs_f64());
                return Err(RanksError::Join(told));
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(SLICE);
        }
    }

    /// A connection broke: waits a little for the watch to find out who is gone.
    fn blame(&self, Failure(why): Failure) -> RanksError {
        // If the store is gone as well, the watch notices that.
        let _ = self.store.claim("suspect", b"1");
        let timeout = self.settings.timeout;
        let limit = watch::suspect_limit(timeout) + 10 * watch::interval(timeout);
        let began = Instant::now();
        loop {
            if let Err(lost) = self.check() {
                return lost;
            }
            if began.elapsed() > limit {
                return RanksError::C10d(format!("a connection to another rank failed: {why}"));
            }
            std::thread::sleep(SLICE / 4);
        }
    }
}

/// This process, in words for messages on other hosts.
fn this_process() -> String {
    format!("process {} on {}", std::process::id(), host_name())
}

/// The name of this host.
fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}
