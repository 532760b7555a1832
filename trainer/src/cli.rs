//! The command line: words to plans, plans to acts. Results on standard output, progress on standard error; exit
//! code 0 done, 1 a check failed, 2 could not run, 130 interrupted (with a checkpoint written).

use crate::backend::choice::Compute;
use crate::backend::cuda::DeviceChoice;
use crate::bench;
use crate::commands::inspect::{InspectArgs, inspect};
use crate::commands::report::{ReportArgs, report};
use crate::commands::validate::{ValidateArgs, validate};
use crate::config::{Config, OptimiserConfig};
use crate::data::files::files;
use crate::data::samples::Encoder;
use crate::data::source::Source;
use crate::data::{Plan, speed};
use crate::export::{self, BOUND, Bound, ExportError};
use crate::gpu_check;
use crate::ranks::{RankArgs, Ranks, settings};
use crate::run::{self, Conduct, Outcome};
use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use nnue_format::Architecture;
use nnue_format::net::Overwrite;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Trains xiangqi NNUE nets on game records and exports them for the engine.
#[derive(Parser)]
#[command(name = "chuhe-train", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads of the training step [default: all cores]; changes no result
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Kernel of the feature transformer: scalar, avx2, avx512 [default: the best of this CPU]
    #[arg(long, global = true, value_name = "NAME")]
    kernel: Option<String>,
    /// Where to compute: cpu, cuda (the GPU of the local rank) or cuda:N [default: cpu; gpu-check: cuda]
    #[arg(long, global = true, value_name = "DEVICE")]
    device: Option<String>,
    /// The GPU's way of the feature transformer: bucketed, sparse [default: the faster, measured at the start]
    #[arg(long, global = true, value_name = "WAY")]
    transformer: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Begin a run, or go on with the one in --out if it is the same
    Train(TrainArgs),
    /// Go on with a run after its newest checkpoint
    Resume(ResumeArgs),
    /// Quantise a checkpoint into a net file and prove it against the reference evaluator
    Export(ExportArgs),
    /// Loss of a checkpoint or net on the validation games of record files, by kinds of positions
    Validate(ValidateArgs),
    /// Say what a checkpoint or net is, or in what two checkpoints differ
    Inspect(InspectArgs),
    /// Make one page of a run: curves, weights, activations, errors, calibration, pictures
    Report(ReportArgs),
    /// Time the loader: decoding, filters, features, shuffle, batches
    BenchData(BenchDataArgs),
    /// Time the training step alone, on positions of random play
    BenchStep(BenchStepArgs),
    /// Prove and measure the CUDA backend on this computer's GPU; exit code 3 where there is none
    GpuCheck(GpuCheckArgs),
}

#[derive(Args)]
struct TrainArgs {
    /// The configuration, TOML; see trainer/configs
    config: PathBuf,
    /// Record files, or their URLs [default: [[data]] of the configuration]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    data: Vec<PathBuf>,
    /// Folder of the run
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Begin with the weights of a net file or a checkpoint, also into a wider net or richer features
    #[arg(long, value_name = "NET|DIR")]
    init: Option<PathBuf>,
    /// Stop after this many steps in all, with a checkpoint
    #[arg(long, value_name = "N")]
    stop_after: Option<u64>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    ranks: RankArgs,
}

#[derive(Args)]
struct ResumeArgs {
    /// Folder of the run
    run: PathBuf,
    /// Stop after this many steps in all, with a checkpoint
    #[arg(long, value_name = "N")]
    stop_after: Option<u64>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    ranks: RankArgs,
}

#[derive(Args)]
struct ExportArgs {
    /// A checkpoint, or a run for its newest
    checkpoint: PathBuf,
    /// The net file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite another file of that name
    #[arg(long)]
    force: bool,
    /// Greatest mean error against the float net, centipawns
    #[arg(long, value_name = "CP", default_value_t = BOUND.mean)]
    max_mean_error: f64,
    /// Greatest error against the float net, centipawns
    #[arg(long, value_name = "CP", default_value_t = BOUND.worst)]
    max_worst_error: f64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct BenchDataArgs {
    /// The configuration, TOML; see trainer/configs
    config: PathBuf,
    /// Record files, or their URLs [default: [[data]] of the configuration]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    data: Vec<PathBuf>,
    /// Decoding threads, in place of the configuration's
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct BenchStepArgs {
    /// Architecture, a name or text
    #[arg(long, value_name = "ARCH", default_value = "classic")]
    arch: String,
    /// Positions in a step
    #[arg(long, value_name = "N", default_value_t = 16384)]
    batch_size: usize,
    /// Steps measured
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: usize,
    /// A configuration whose [optimiser] is used [default: plain AdamW]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct GpuCheckArgs {
    /// Leave measurements out when so much time has passed
    #[arg(long, value_name = "SECONDS", default_value_t = 240)]
    seconds: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the program with the words of the process. `commit` is what it was built from.
pub fn main(commit: &str) -> ExitCode {
    let cli = Cli::parse();
    match cli.run(commit) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("chuhe-train: error: {}", chain(&error));
            ExitCode::from(if error.downcast_ref::<CheckFailed>().is_some() { 1 } else { 2 })
        }
    }
}

/// The error and its causes, leaving out a cause that the text before it already tells, and the mark of a check.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().filter(|cause| !cause.is::<CheckFailed>()) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    text
}

/// Marks an error that is the answer of a check, and not a failure to run one.
#[derive(Debug, thiserror::Error)]
#[error("the check failed")]
struct CheckFailed;

impl Cli {
    fn run(self, commit: &str) -> Result<ExitCode> {
        let threads = match (self.threads, &self.command) {
            (None, Command::Train(_) | Command::Resume(_)) => settings::threads_of_a_rank(),
            (threads, _) => threads,
        };
        if let Some(threads) = threads {
            if !(1..=1024).contains(&threads) {
                bail!("--threads is {threads}, expected 1 to 1024");
            }
            rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        }
        let device = self.device.as_deref().map(str::parse::<DeviceChoice>).transpose()?;
        let compute = Compute {
            device: device.unwrap_or_default(),
            kernel: self.kernel.as_deref().map(str::parse).transpose()?,
            transformer: self.transformer.as_deref().map(str::parse).transpose()?,
            local_rank: 0,
        };
        match self.command {
            Command::Train(args) => train(&args, compute, commit),
            Command::Resume(args) => resume(&args, compute, commit),
            Command::Export(args) => export(&args),
            Command::Validate(args) => validate(&args, &compute.nets()),
            Command::Inspect(args) => inspect(&args),
            Command::Report(args) => report(&args, &compute.nets()),
            Command::BenchData(args) => bench_data(&args),
            Command::BenchStep(args) => bench_step(&args, compute),
            Command::GpuCheck(args) => gpu_check(&args, device),
        }
    }
}

/// Joins the other processes of the run, if there are any.
fn join(args: &RankArgs) -> Result<Arc<Ranks>> {
    let on_lost = |verdict: &str| {
        eprintln!("chuhe-train: error: {verdict}");
        std::process::exit(2);
    };
    Ok(Arc::new(Ranks::join(args.settings(Arc::new(on_lost)))?))
}

/// A launcher may pass on a signal that the terminal has sent as well; only what comes later than this after the first
/// is a wish of its own.
const SAME_SIGNAL: Duration = Duration::from_secs(5);

fn conduct(
    compute: Compute,
    stop_after: Option<u64>,
    commit: &str,
    quiet: bool,
    ranks: Arc<Ranks>,
) -> Result<Conduct> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = interrupted.clone();
    let launched = ranks.world() > 1;
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        flag.store(true, Ordering::Relaxed);
        match first {
            None => {
                first = Some(Instant::now());
                eprintln!("\nstopping after this step; once more to stop without a checkpoint");
            }
            Some(first) if launched && first.elapsed() < SAME_SIGNAL => {}
            // The second time, the user means now.
            Some(_) => std::process::exit(130),
        }
    })
    .context("catching Ctrl-C")?;
    let quiet = quiet || !ranks.is_first();
    let local_rank = if compute.device == DeviceChoice::Cuda(None) { ranks.local_rank()? } else { 0 };
    let compute = Compute { local_rank, ..compute };
    Ok(Conduct { net: compute.nets(), interrupted, stop_after, commit: commit.to_owned(), quiet, ranks })
}

fn read_config(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn train(args: &TrainArgs, compute: Compute, commit: &str) -> Result<ExitCode> {
    let ranks = join(&args.ranks)?;
    let text = telling(&ranks, || {
        let text = read_config(&args.config)?;
        Config::parse(&text).with_context(|| args.config.display().to_string())?;
        Ok(text)
    })?;
    let conduct = conduct(compute, args.stop_after, commit, args.quiet, ranks.clone())?;
    let outcome = run::start_from(args.init.as_deref(), &text, &args.data, &args.out, conduct)?;
    print_outcome(&outcome, args.json, args.stop_after, &ranks)
}

fn resume(args: &ResumeArgs, compute: Compute, commit: &str) -> Result<ExitCode> {
    let ranks = join(&args.ranks)?;
    let conduct = conduct(compute, args.stop_after, commit, args.quiet, ranks.clone())?;
    let outcome = run::resume(&args.run, conduct)?;
    print_outcome(&outcome, args.json, args.stop_after, &ranks)
}

/// Does something before the run; the other ranks hear of an error.
fn telling<T>(ranks: &Ranks, work: impl FnOnce() -> Result<T>) -> Result<T> {
    work().inspect_err(|error| ranks.fail(&chain(error)))
}

fn print_outcome(outcome: &Outcome, json: bool, stop_after: Option<u64>, ranks: &Ranks) -> Result<ExitCode> {
    if !ranks.is_first() {
        // Rank 0 reports for all.
    } else if json {
        println!("{}", serde_json::to_string_pretty(outcome)?);
    } else {
        let optional = |loss: Option<f64>| loss.map_or("–".to_owned(), |loss| format!("{loss:.6}"));
        println!("loss             {:.6}", outcome.loss);
        println!(
            "validation loss  {} (best fit of material alone: {})",
            optional(outcome.validation_loss),
            optional(outcome.material_validation_loss)
        );
        println!("steps            {} of {}", outcome.steps, outcome.total_steps);
        println!(
            "speed            {:.0} positions/s, {:.0} % of the time waiting for data",
            outcome.positions_per_second,
            100.0 * outcome.waiting
        );
        println!("checkpoint       {}", outcome.checkpoint.display());
        if let Some(best) = &outcome.best {
            let (loss, step, path) = (best.validation_loss, best.step, best.checkpoint.display());
            println!("best             {path}: validation loss {loss:.6} at step {step}");
        }
        if outcome.plateau {
            println!("ended early      validations brought nothing any more (training.stop_after_plateau)");
        }
    }
    let asked = stop_after.is_some_and(|last| outcome.steps >= last);
    Ok(if outcome.complete || asked { ExitCode::SUCCESS } else { ExitCode::from(130) })
}

fn export(args: &ExportArgs) -> Result<ExitCode> {
    let bound = Bound { mean: args.max_mean_error, worst: args.max_worst_error };
    let overwrite = if args.force { Overwrite::Yes } else { Overwrite::No };
    let exported = match export::export(&args.checkpoint, &args.out, bound, overwrite) {
        Ok(exported) => exported,
        Err(error @ (ExportError::Error { .. } | ExportError::Quantise(_))) => {
            return Err(anyhow::Error::new(CheckFailed).context(error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&exported)?);
    } else {
        println!("net        {}", exported.file.display());
        println!("id         {}", exported.id);
        println!("size       {} bytes, {}", exported.bytes, exported.architecture);
        println!(
            "error      mean {:.3} cp, worst {:.3} cp over {} positions (bound {} and {})",
            exported.mean_error, exported.worst_error, exported.positions, bound.mean, bound.worst
        );
        println!("worst at   {}", exported.worst_fen);
    }
    Ok(ExitCode::SUCCESS)
}

fn bench_data(args: &BenchDataArgs) -> Result<ExitCode> {
    let config = Config::parse(&read_config(&args.config)?)?;
    let source = Source::open_all(&files(&config, &args.data)?, config.loader.skip_damage)?;
    let mut plan = Plan::new(&config, source, Encoder::new(&config.architecture()?)?)?;
    plan.threads = args.threads.unwrap_or(plan.threads);
    let found = speed::measure(&plan)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&found)?);
        return Ok(ExitCode::SUCCESS);
    }
    let line = |name: &str, speed: &speed::Speed, what: &str| {
        let rate = speed.positions_read_per_second;
        let (core, read) = (speed.positions_read_per_cpu_second, speed.positions_read);
        println!(
            "{name:<10}  {rate:.0} positions a second ({core:.0} a core): {what} ({read} in {:.2} s)",
            speed.seconds
        );
    };
    for (number, decode) in (1..).zip(&found.decode) {
        let name = if found.decode.len() == 1 { "decode".to_owned() } else { format!("decode {number}") };
        line(&name, decode, "decompression, replay, filters, features");
    }
    line("load", &found.load, "the same, shuffled and in batches");
    let kept = found.load.positions_kept as f64 / found.load.seconds;
    println!("kept        {kept:.0} a second in {} batches; {}", found.batches, found.filters);
    println!("threads     {}, for {} lane(s)", found.threads, found.lanes);
    Ok(ExitCode::SUCCESS)
}

fn gpu_check(args: &GpuCheckArgs, device: Option<DeviceChoice>) -> Result<ExitCode> {
    const NO_GPU: u8 = 3;
    let mut say = |line: &str| if args.json { eprintln!("{line}") } else { println!("{line}") };
    let report = match gpu_check::run(device.unwrap_or(DeviceChoice::Cuda(None)), args.seconds, &mut say) {
        Ok(report) => report,
        Err(error) if gpu_check::is_no_gpu(&error) => {
            eprintln!("chuhe-train: {error}");
            return Ok(ExitCode::from(NO_GPU));
        }
        Err(error) => return Err(error),
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    }
    if !report.passes() {
        return Err(
            anyhow::Error::new(CheckFailed).context("a comparison is beyond its tolerance (FAILED above)")
        );
    }
    say("result  every comparison is within its tolerance");
    Ok(ExitCode::SUCCESS)
}

fn bench_step(args: &BenchStepArgs, compute: Compute) -> Result<ExitCode> {
    if compute.device != DeviceChoice::Cpu {
        bail!("bench-step times the CPU; for a GPU there is `chuhe-train gpu-check`");
    }
    let arch: Architecture = args.arch.parse()?;
    if args.batch_size == 0 || args.steps == 0 {
        bail!("--batch-size and --steps must be 1 or more");
    }
    let optimiser = match &args.config {
        Some(path) => Config::parse(&read_config(path)?)?.optimiser,
        None => OptimiserConfig::default(),
    };
    let result = bench::step(&arch, compute.kernel()?, args.batch_size, args.steps, &optimiser)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&result)?);
    } else {
        println!("net     {} (factorised)", result.architecture);
        println!("kernel  {}, {} threads", result.kernel, result.threads);
        println!(
            "step    {:.1} ms for {} positions: {:.0} positions/s",
            result.milliseconds, result.batch_size, result.positions_per_second
        );
        println!(
            "        {:.1} ms of processor time: {:.0} positions a processor second",
            result.cpu_milliseconds, result.positions_per_cpu_second
        );
        println!("  part          wall ms   cpu ms");
        for ((name, wall), cpu) in bench::PARTS.iter().zip(result.parts).zip(result.cpu_parts) {
            println!("  {name:<12} {wall:8.1} {cpu:8.1}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
