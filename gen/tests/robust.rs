//! What disturbs a run from outside: full disks, folders that cannot be written, other processes, the clock. Nothing whole is
//! lost, nothing is counted twice, and the message says what to do.
#![cfg(unix)]

#[path = "common/process.rs"]
mod process;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use process::{PROGRAM, command, done, stderr, tool};

/// Whole blocks and a journal, with all kinds of chance.
const REST: &str = "--games 420 --nodes 12 --balance-nodes 12 --hash 1 --seed 8 --threads 2 --multi-pv 2 --multi-pv-plies 4 \
                    --random-moves 10 --resign-mate --quiet";

/// The words of [`REST`], one blank between them.
fn rest() -> String {
    REST.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file of the same run, undisturbed.
fn undisturbed() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("undisturbed.rec");
        done(&mut command(&out, &rest()), 0);
        std::fs::read(out).expect("the file is there")
    })
}

/// `play` under a limit of file sizes, in blocks of 512 bytes: writing beyond it fails as on a full disk.
fn limited(out: &Path, blocks: u64) -> Command {
    let mut command = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    command.args(["-c", &script, "sh", PROGRAM, "play", "--out"]).arg(out).args(rest().split(' '));
    command
}

#[test]
fn full_disks_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let expected = undisturbed();
    let out = folder.path().join("a.rec");
    let mut games = Vec::new();
    // From not even a header to most of the journal.
    for blocks in [0, 1, 30, 100, 200] {
        let message = stderr(done(&mut limited(&out, blocks), 2));
        assert!(message.contains("make room"), "{blocks} blocks: {message}");
        let journal = folder.path().join("a.rec.journal.partial");
        games.push(journal.metadata().map_or(0, |data| data.len()));
    }
    assert!(games.windows(2).all(|pair| pair[0] <= pair[1]) && games[4] > 40_000, "what is kept: {games:?}");
    done(&mut command(&out, &rest()), 0);
    assert!(std::fs::read(&out).unwrap() == expected, "the files differ");
    assert_eq!(tool("verify", &out, 0)["games"], 420);
}

/// A real file system that is too small. Only where one can be mounted (as root), in the long form of the tests.
#[test]
fn full_file_systems_lose_nothing() {
    if std::env::var_os("CHUHE_FULL").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(small) = Mounted::new(&folder.path().join("small"), "size=64k") else {
        eprintln!("SKIPPED: no tmpfs can be mounted here");
        return;
    };
    let expected = undisturbed();
    let out = small.0.join("a.rec");
    for size in ["size=64k", "size=128k", "size=256k"] {
        assert!(small.again(size));
        let message = stderr(done(&mut command(&out, &rest()), 2));
        assert!(message.contains("make room") && message.contains("No space left"), "{message}");
    }
    assert!(small.again("ro"));
    let message = stderr(done(&mut command(&out, &rest()), 2));
    assert!(message.contains("make the folder writable"), "{message}");
    assert!(small.again("rw,size=8m"));
    done(&mut command(&out, &rest()), 0);
    assert!(std::fs::read(&out).unwrap() == expected, "the files differ");
}

/// A file system in memory, there until dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: &Path, options: &str) -> Option<Mounted> {
        std::fs::create_dir(at).ok()?;
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output().ok()?;
        mounted.status.success().then(|| Mounted(at.to_owned()))
    }

    fn again(&self, options: &str) -> bool {
        let options = format!("remount,{options}");
        Command::new("mount")
            .arg("-o")
            .arg(options)
            .arg(&self.0)
            .status()
            .is_ok_and(|status| status.success())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn folders_that_cannot_be_written_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "no folder").unwrap();
    let message = stderr(done(&mut command(&file.join("a.rec"), "--games 1 --nodes 1 --quiet"), 2));
    assert!(message.contains("make the folder, or give --out"), "{message}");
    let missing = folder.path().join("missing").join("a.rec");
    let message = stderr(done(&mut command(&missing, "--games 1 --nodes 1 --quiet"), 2));
    assert!(message.contains("make the folder, or give --out"), "{message}");
    // A folder where even root may not write.
    if cfg!(target_os = "linux") && Path::new("/sys/kernel").is_dir() {
        let out = Path::new("/sys/kernel/chuhe-test.rec");
        let message = stderr(done(&mut command(out, "--games 1 --nodes 1 --quiet"), 2));
        assert!(message.contains("make the folder writable, or give --out"), "{message}");
    }
}

/// Several processes with one output, again and again until it is complete: one writes, the others say so, and nothing is
/// there twice.
#[test]
fn several_processes_with_one_output() {
    let folder = tempfile::tempdir().unwrap();
    let expected = undisturbed();
    let out = folder.path().join("a.rec");
    let mut locked = 0;
    for round in 0.. {
        assert!(round < 20, "no run came to its end");
        let start = || command(&out, &rest()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut children: Vec<_> = (0..3).map(|_| start()).collect();
        if round == 0 {
            std::thread::sleep(Duration::from_millis(150));
            children.iter_mut().for_each(|child| _ = child.kill());
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            match output.status.code() {
                None | Some(0) => {}
                Some(2) => {
                    let message = stderr(output);
                    assert!(
                        message.contains("is being written by another process; wait for it"),
                        "{message}"
                    );
                    locked += 1;
                }
                code => panic!("{code:?}"),
            }
        }
        if out.exists() {
            break;
        }
    }
    assert!(locked > 0, "no process met another");
    assert!(std::fs::read(&out).unwrap() == expected, "the files differ");
    let verified = tool("verify", &out, 0);
    assert_eq!((&verified["games"], &verified["ok"]), (&420.into(), &true.into()));
    let rest: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(rest.iter().all(|name| !name.to_string_lossy().ends_with(".journal.partial")), "{rest:?}");
}

/// A run killed between its last byte and the new name is complete at once.
#[test]
fn killed_before_the_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let expected = undisturbed();
    let out = folder.path().join("a.rec");
    std::fs::write(folder.path().join("a.rec.partial"), expected).unwrap();
    done(&mut command(&out, &rest()), 0);
    assert!(std::fs::read(&out).unwrap() == expected, "the files differ");
}

/// What plays and writes does not ask what time it is, so setting the clock back changes nothing.
#[test]
fn no_part_of_a_run_reads_the_wall_clock() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files: Vec<PathBuf> =
        ["adjudicate", "play", "player", "run", "seed", "variety", "workers", "manifest"]
            .iter()
            .map(|name| source.join(format!("{name}.rs")))
            .collect();
    for folder in ["openings", "plan", "sink", "commands/play"] {
        files.extend(std::fs::read_dir(source.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    for file in files {
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for word in ["SystemTime", "UNIX_EPOCH", ".modified()"] {
            assert!(!text.contains(word), "{} reads the wall clock: {word}", file.display());
        }
    }
}
