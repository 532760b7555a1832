//! The real program, killed with SIGKILL while it trains and while it writes, and on a full disk: what comes out in the
//! end is what an undisturbed run gives, bit for bit.
//!
//! Where a kill falls is chance; what must hold holds wherever it falls. `CHUHE_FULL=1` makes the net large, so that most
//! of the time goes into writing, and the kills many.

use crate::support::{numbers, record_file};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use trainer::chance::below;

/// Nobody waits longer than this for a thing that comes in a second.
const PATIENCE: Duration = Duration::from_secs(300);

fn full() -> bool {
    std::env::var_os("CHUHE_FULL").is_some_and(|value| value == "1")
}

fn config(arch: &str, steps: u64) -> String {
    format!(
        "[net]\narchitecture = '{arch}'\n[training]\nseed = 3\nbatch_size = 150\nsteps = {steps}\n[validation]\nfraction = \
         0.2\nevery_steps = 3\n[checkpoint]\nevery_steps = 1\nkeep = 2\n"
    )
}

struct Place {
    folder: tempfile::TempDir,
    config: PathBuf,
    data: PathBuf,
}

impl Place {
    fn new(config: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, config).unwrap();
        let data = record_file(&folder.path().join("games.rec"), 0..30, 5);
        Place { folder, config: path, data }
    }

    fn command(&self, out: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-train"));
        command.arg("train").arg(&self.config).arg("--data").arg(&self.data).arg("--out").arg(out);
        command.args(["--quiet", "--threads", "1"]).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn finish(&self, out: &Path) {
        assert!(self.command(out).status().unwrap().success());
        assert!(out.join("result.json").exists());
    }
}

/// Waits until a checkpoint is being written, or the program ends.
fn until_it_writes(child: &mut Child, run: &Path) {
    let began = Instant::now();
    let writes = || {
        fs::read_dir(run.join("checkpoints")).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().ends_with(".partial"))
        })
    };
    while !writes() && child.try_wait().unwrap().is_none() && began.elapsed() < PATIENCE {
        sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_killed_run_ends_as_an_undisturbed_one() {
    let (arch, steps, kills) = if full() {
        ("half-ka-hm-ab 2x512-16-32-1 pairwise 16-stacks psqt", 12, 40)
    } else {
        ("half-kp 2x128-8-8-1", 12, 3)
    };
    let place = Place::new(&config(arch, steps));
    let (whole, killed) = (place.out("whole"), place.out("killed"));
    place.finish(&whole);
    let mut rng = crate::support::rng(11);
    for kill in 0..kills {
        if killed.join("result.json").exists() {
            fs::remove_dir_all(&killed).unwrap();
        }
        let mut child = place.command(&killed).spawn().unwrap();
        if kill % 2 == 0 {
            until_it_writes(&mut child, &killed);
            sleep(Duration::from_micros(below(&mut rng, 20_000)));
        } else {
            sleep(Duration::from_millis(below(&mut rng, 1500)));
        }
        // SIGKILL; an error means that it has ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
    }
    place.finish(&killed);
    assert_eq!(numbers(&killed), numbers(&whole));
    let left: Vec<_> = fs::read_dir(killed.join("checkpoints")).unwrap().flatten().collect();
    assert_eq!(left.len(), 3, "the two newest and the best, and nothing half written: {left:?}");
}

/// On a file system of a few megabytes of its own, where this machine lets us have one.
#[test]
fn a_full_disk_costs_no_whole_checkpoint() {
    if !full() {
        return;
    }
    let place = Place::new(&config("half-kp 2x128-8-8-1", 12));
    let whole = place.out("whole");
    place.finish(&whole);
    let (disk, copy) = (place.out("disk"), place.out("copy"));
    fs::create_dir(&disk).unwrap();
    // Two checkpoints of 10 MB, and not a third or the best beside them. What is on the disk is copied away before it goes
    // with its namespace.
    let script = r#"
        mount -t tmpfs -o size=25m none "$DISK" || exit 77
        "$PROGRAM" train "$CONFIG" --data "$DATA" --out "$DISK/run" --quiet --threads 1 && exit 78
        ls "$DISK/run/checkpoints" > "$COPY.list"
        "$PROGRAM" inspect "$DISK/run" > /dev/null || exit 79
        mount -o remount,size=500m "$DISK" || exit 80
        "$PROGRAM" resume "$DISK/run" --quiet --threads 1 || exit 81
        cp -r "$DISK/run" "$COPY"
    "#;
    let output = Command::new("unshare")
        .args(["--map-root-user", "--user", "--mount", "sh", "-c", script])
        .env("DISK", &disk)
        .env("COPY", &copy)
        .env("PROGRAM", env!("CARGO_BIN_EXE_chuhe-train"))
        .env("CONFIG", &place.config)
        .env("DATA", &place.data)
        .output();
    let said = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stderr).into_owned(),
        Ok(output) if output.status.code() == Some(77) || output.status.code() == Some(1) => {
            eprintln!("SKIPPED: no tmpfs in a namespace: {}", String::from_utf8_lossy(&output.stderr));
            return;
        }
        Ok(output) => panic!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("SKIPPED: no unshare: {error}");
            return;
        }
    };
    assert!(said.contains("No space left on device") && said.contains("checkpoints"), "{said}");
    let list = fs::read_to_string(copy.with_extension("list")).unwrap();
    assert!(!list.contains("partial") && list.contains("step-"), "{list}");
    assert_eq!(numbers(&copy), numbers(&whole));
}
