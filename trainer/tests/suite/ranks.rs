//! Several processes of one run on loopback: the numbers of one process, one end for all, and who is to blame.

use crate::support::record_file;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use trainer::checkpoint::{self, Checkpoint};

const CONFIG: &str = "
[net]
architecture = 'half-kp 2x128-16-16-1'
[training]
seed = 3
batch_size = 150
steps = 50
[learning_rate]
start = 1e-3
warmup_steps = 2
[validation]
fraction = 0.25
every_steps = 20
[filters]
random_skip = 0.1
[checkpoint]
every_steps = 1000
keep = 2
";

/// Far more than a run of this size takes, even on a crowded machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Every variable that says who a process is.
const VARIABLES: [&str; 11] = [
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
];

struct Setting {
    folder: TempDir,
    data: PathBuf,
}

impl Setting {
    fn new() -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let data = record_file(&folder.path().join("games.rec"), 0..40, 5);
        Setting { folder, data }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The words that begin (or go on with) a run in `out`.
    fn train(&self, config: &Path, out: &str) -> Vec<String> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let out = text(&self.path(out));
        vec!["train".into(), text(config), "--data".into(), text(&self.data), "--out".into(), out]
    }
}

/// The long forms too?
fn is_full() -> bool {
    std::env::var("CHUHE_FULL").is_ok_and(|value| value == "1")
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-train"));
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.env("GLOO_SOCKET_IFNAME", "lo").stdin(Stdio::null());
    command
}

/// A process and what it says on standard error.
struct Rank {
    child: Child,
    text: std::thread::JoinHandle<String>,
}

impl Rank {
    fn start(command: &mut Command) -> Rank {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stderr.take().unwrap();
        let text = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Rank { child, text }
    }

    /// Waits for its end; one that does not come to it is killed, and the test fails.
    fn end(mut self) -> (ExitStatus, String) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if began.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = self.text.join().unwrap();
        (status.unwrap_or_else(|| panic!("it did not end; it said:\n{text}")), text)
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts `world` ranks; `words` gives the command line of each.
fn start_ranks(world: usize, words: impl Fn(usize) -> Vec<String>) -> Vec<Rank> {
    let port = free_port().to_string();
    let start = |rank: usize| {
        let mut command = program();
        command.args(words(rank)).args(["--threads", "1"]);
        command.env("RANK", rank.to_string()).env("WORLD_SIZE", world.to_string());
        Rank::start(command.env("MASTER_ADDR", "127.0.0.1").env("MASTER_PORT", &port))
    };
    (0..world).map(start).collect()
}

/// Runs `world` ranks to their good end; one process is started without any variables.
fn run_ranks(world: usize, words: &[String]) {
    let ranks = if world == 1 {
        vec![Rank::start(program().args(words).args(["--threads", "1"]))]
    } else {
        start_ranks(world, |_| words.to_vec())
    };
    for (rank, process) in ranks.into_iter().enumerate() {
        let (status, text) = process.end();
        assert!(status.success(), "rank {rank} of {world}, {status}:\n{text}");
    }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn stopping(mut words: Vec<String>, step: u64) -> Vec<String> {
    words.extend(["--stop-after".to_owned(), step.to_string()]);
    words
}

/// ‖a − b‖ / ‖b‖.
fn relative_norm(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let square = |x: f64| x * x;
    let difference: f64 = a.iter().zip(b).map(|(a, b)| square(f64::from(*a) - f64::from(*b))).sum();
    let size: f64 = b.iter().map(|b| square(f64::from(*b))).sum();
    if difference == 0.0 { 0.0 } else { (difference / size).sqrt() }
}

/// The greatest relative difference of two checkpoints' tensors, of those that `which` takes from a parameter.
fn greatest<'a>(
    a: &'a Checkpoint,
    b: &'a Checkpoint,
    which: impl Fn(&'a trainer::model::weights::Parameter) -> &'a [f32],
) -> f64 {
    let by_name: BTreeMap<&str, _> = b.parameters.iter().map(|p| (p.name.as_str(), p)).collect();
    let differences = a.parameters.iter().map(|p| {
        let difference = relative_norm(which(p), which(by_name[p.name.as_str()]));
        println!("{}: {difference:.2e}", p.name);
        difference
    });
    differences.fold(0.0, f64::max)
}

#[test]
fn two_ranks_and_three_do_what_one_does() {
    let setting = Setting::new();
    let config = setting.config("config.toml", CONFIG);
    let run = |world: usize, out: &str, stop: Option<u64>| {
        let words = setting.train(&config, out);
        run_ranks(world, &stop.map_or(words.clone(), |step| stopping(words, step)));
        Checkpoint::read(&setting.path(out)).unwrap()
    };
    // After one step Adam's mean of gradients is the gradient, times 1 − β1.
    let (one, two) = (run(1, "one", Some(1)), run(2, "two", Some(1)));
    assert_eq!((one.state.step, two.state.step), (1, 1));
    let difference =
        greatest(&two, &one, |p| &p.state.iter().find(|state| state.name == "first").unwrap().values);
    assert!(difference < 1e-6, "gradients at step 1: {difference:.2e}");
    assert!((one.state.recent[0] - two.state.recent[0]).abs() < 1e-6, "the loss is that of the whole batch");

    let (one, two) = (run(1, "one", None), run(2, "two", None));
    // Another number of ranks after an interruption.
    run(3, "three", Some(20));
    let three = run(1, "three", None);
    for (name, other) in [("two ranks", &two), ("three ranks, then one", &three)] {
        assert_eq!(other.state.step, 50);
        assert_eq!(
            (other.state.positions, other.state.epoch),
            (one.state.positions, one.state.epoch),
            "{name}"
        );
        let difference = greatest(other, &one, |p| &p.weights);
        assert!(difference < 1e-4, "weights after 50 steps, {name}: {difference:.2e}");
        let losses = (other.state.validation.unwrap().1, one.state.validation.unwrap().1);
        assert!((losses.0 - losses.1).abs() < 1e-5, "validation loss, {name}: {losses:?}");
    }
    let rows =
        |out: &str| std::fs::read_to_string(setting.path(out).join("loss.csv")).unwrap().lines().count();
    assert_eq!(rows("two"), rows("one"), "rank 0 alone writes the curve");
}

/// Starts two ranks on a run without end and waits until it has a checkpoint.
fn endless(setting: &Setting, out: &str, timeout: &str) -> Vec<Rank> {
    let text =
        CONFIG.replace("steps = 50", "steps = 1000000").replace("every_steps = 1000", "every_steps = 20");
    let config = setting.config("endless.toml", &text);
    let mut words = setting.train(&config, out);
    words.extend(["--rank-timeout".to_owned(), timeout.to_owned()]);
    let ranks = start_ranks(2, |_| words.clone());
    let began = Instant::now();
    while checkpoint::locate(&setting.path(out)).is_err() {
        assert!(began.elapsed() < PATIENCE, "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    ranks
}

/// Ends rank `gone` by a signal; the other must end with an error that names it, and the run go on with one rank.
fn loses_a_rank(gone: usize, signal: &str, expected: &str) {
    let setting = Setting::new();
    let mut ranks = endless(&setting, "run", if signal == "-STOP" { "6" } else { "60" });
    let pid = ranks[gone].child.id();
    ranks[gone].signal(signal);
    let (status, text) = ranks.remove(1 - gone).end();
    let mut gone_one = ranks.remove(0);
    gone_one.child.kill().unwrap();
    gone_one.child.wait().unwrap();
    assert_eq!(status.code(), Some(2), "{text}");
    let named = text.contains(&format!("rank {gone}")) && text.contains(expected);
    assert!(named && text.contains("resume"), "rank {gone}, process {pid}: {text}");
    let before = Checkpoint::read(&setting.path("run")).unwrap().state.step;
    let resume = words(&["resume", setting.path("run").to_str().unwrap()]);
    run_ranks(1, &stopping(resume, before + 3));
    assert_eq!(Checkpoint::read(&setting.path("run")).unwrap().state.step, before + 3);
}

#[test]
fn a_killed_rank_ends_the_other_which_names_it() {
    // PATIENCE is the time limit as far as this test is decided by a clock: without the watch, Gloo would wait a day.
    loses_a_rank(1, "-KILL", "no sign of life");
}

#[test]
fn a_killed_rank_0_and_a_stopped_process_are_named_too() {
    if is_full() {
        loses_a_rank(0, "-KILL", "holds the store");
        loses_a_rank(1, "-STOP", "no sign of life");
        loses_a_rank(0, "-STOP", "has not answered");
    }
}

#[test]
fn an_interrupt_of_one_rank_stops_all_at_one_step() {
    let setting = Setting::new();
    let ranks = endless(&setting, "run", "60");
    ranks[1].signal("-TERM");
    for rank in ranks {
        let (status, text) = rank.end();
        assert_eq!(status.code(), Some(130), "{text}");
    }
    let state = Checkpoint::read(&setting.path("run")).unwrap().state;
    run_ranks(1, &stopping(words(&["resume", setting.path("run").to_str().unwrap()]), state.step + 2));
}

#[test]
fn ranks_that_disagree_say_so_before_they_begin() {
    let setting = Setting::new();
    let configs = [("a.toml", CONFIG.to_owned()), ("b.toml", CONFIG.replace("seed = 3", "seed = 4"))]
        .map(|(name, text)| setting.config(name, &text));
    for (rank, process) in start_ranks(2, |rank| setting.train(&configs[rank], "run")).into_iter().enumerate()
    {
        let (status, text) = process.end();
        assert_eq!(status.code(), Some(2), "rank {rank}: {text}");
        let told = text.contains("do not agree: rank 1 (")
            && text.contains("`seed = 4`, on rank 0 it is `seed = 3`");
        assert!(told, "rank {rank}: {text}");
    }
    assert!(!setting.path("run").exists(), "nothing was written");

    // An error of one is told to the other.
    let missing = |rank: usize| {
        let mut words = setting.train(&configs[0], "run");
        if rank == 1 {
            words[1] = "missing.toml".to_owned();
        }
        words
    };
    for (rank, process) in start_ranks(2, missing).into_iter().enumerate() {
        let (status, text) = process.end();
        assert!(status.code() == Some(2) && text.contains("missing.toml"), "rank {rank}: {text}");
        assert_eq!(text.contains("stopped: "), rank == 0, "rank {rank}: {text}");
    }
}

#[test]
fn other_data_and_finished_runs_are_told() {
    if !is_full() {
        return;
    }
    let setting = Setting::new();
    let config = setting.config("config.toml", CONFIG);
    let other = record_file(&setting.path("other.rec"), 0..39, 5);
    let data = [setting.data.clone(), other];
    let told = |rank: usize| {
        let mut words = setting.train(&config, "run");
        words[3] = data[rank].to_str().unwrap().to_owned();
        words
    };
    for process in start_ranks(2, told) {
        let (status, text) = process.end();
        assert!(status.code() == Some(2) && text.contains("record file 1 is `other.rec"), "{text}");
    }

    for _ in 0..2 {
        run_ranks(2, &setting.train(&config, "run"));
    }
}

#[test]
fn a_nan_stops_all_ranks_at_one_step() {
    let setting = Setting::new();
    let config = setting.config("nan.toml", &CONFIG.replace("start = 1e-3", "start = 1e38"));
    let said: Vec<String> = start_ranks(2, |_| setting.train(&config, "run"))
        .into_iter()
        .map(|process| {
            let (status, text) = process.end();
            assert_eq!(status.code(), Some(2), "{text}");
            let line = text.lines().find(|line| line.contains("the loss is")).unwrap_or(&text);
            line.split(';').next().unwrap().to_owned()
        })
        .collect();
    assert!(said[0].contains("step ") && said[0] == said[1], "{said:?}");
}

#[test]
fn half_set_variables_are_an_error() {
    let setting = Setting::new();
    let config = setting.config("config.toml", CONFIG);
    let (status, text) = Rank::start(program().args(setting.train(&config, "run")).env("RANK", "0")).end();
    assert!(status.code() == Some(2) && text.contains("RANK is set, but WORLD_SIZE is not"), "{text}");
    assert!(!setting.path("run").exists());
}

/// torchrun of the full torch (`scripts/setup-libtorch.py --full`), in a full run and where it is installed.
fn torchrun_of_full_run() -> Option<PathBuf> {
    if !is_full() {
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found = root.join("third_party/torch-full/bin/torchrun");
    if !found.exists() {
        eprintln!("SKIPPED: no {}", found.display());
    }
    found.exists().then_some(found)
}

fn with_torchrun(torchrun: &Path, words: &[String]) -> Command {
    let mut command = Command::new(torchrun);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.args(["--standalone", "--nnodes", "1", "--nproc-per-node", "2", "--no-python"]);
    command.arg(env!("CARGO_BIN_EXE_chuhe-train")).args(words);
    command.env("GLOO_SOCKET_IFNAME", "lo").stdin(Stdio::null());
    command
}

/// The processes that another one has started.
fn children(parent: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[test]
fn under_torchrun() {
    let Some(torchrun) = torchrun_of_full_run() else { return };
    let setting = Setting::new();
    let config = setting.config("config.toml", CONFIG);
    let run = |out: &str, stop: Option<u64>| {
        let words = setting.train(&config, out);
        let words = stop.map_or(words.clone(), |step| stopping(words, step));
        if out == "one" {
            run_ranks(1, &words);
        } else {
            let (status, text) = Rank::start(&mut with_torchrun(&torchrun, &words)).end();
            assert!(status.success(), "{status}:\n{text}");
        }
        Checkpoint::read(&setting.path(out)).unwrap()
    };
    let (one, two) = (run("one", Some(1)), run("two", Some(1)));
    let difference =
        greatest(&two, &one, |p| &p.state.iter().find(|state| state.name == "first").unwrap().values);
    assert!(difference < 1e-6, "gradients at step 1: {difference:.2e}");
    let (one, two) = (run("one", None), run("two", None));
    let difference = greatest(&two, &one, |p| &p.weights);
    assert!(difference < 1e-4, "weights after 50 steps: {difference:.2e}");
}

#[test]
fn a_killed_rank_under_torchrun() {
    let Some(torchrun) = torchrun_of_full_run() else { return };
    let setting = Setting::new();
    let text =
        CONFIG.replace("steps = 50", "steps = 1000000").replace("every_steps = 1000", "every_steps = 20");
    let words = setting.train(&setting.config("endless.toml", &text), "run");
    let agent = Rank::start(&mut with_torchrun(&torchrun, &words));
    let began = Instant::now();
    while checkpoint::locate(&setting.path("run")).is_err() {
        assert!(began.elapsed() < PATIENCE, "no checkpoint");
        std::thread::sleep(Duration::from_millis(50));
    }
    let workers = children(agent.child.id());
    assert_eq!(workers.len(), 2, "{workers:?}");
    assert!(Command::new("kill").args(["-KILL", &workers[1].to_string()]).status().unwrap().success());
    let (status, text) = agent.end();
    assert!(!status.success(), "{text}");
    // torchrun ends the others as well; where that leaves them the time, they say who is gone.
    println!("{text}");
    assert!(text.contains(&format!("process {}", workers[1])) || text.contains("exitcode"), "{text}");
    let before = Checkpoint::read(&setting.path("run")).unwrap().state.step;
    run_ranks(1, &stopping(words, before + 3));
}

/// What runs on GPUs alone must at least compile and link against the torch it is for.
#[test]
fn the_nccl_shim_is_built_where_the_full_torch_is() {
    if torchrun_of_full_run().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("libchuhe_nccl.so");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built =
        Command::new(root.join("scripts/build-nccl-shim.sh")).arg("--out").arg(&out).output().unwrap();
    let text = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && out.is_file(), "{text}");
}
