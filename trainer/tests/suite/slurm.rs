//! The batch scripts of `scripts/slurm`, with stand-ins for Slurm's own programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a job of two hosts with two tasks each would have, on one host.
const JOB: [(&str, &str); 5] = [
    ("SLURM_JOB_ID", "4123456"),
    ("SLURM_JOB_NODELIST", "node[03-04]"),
    ("SLURM_JOB_NUM_NODES", "2"),
    ("SLURM_CPUS_PER_TASK", "8"),
    ("SLURM_GPUS_ON_NODE", "2"),
];

/// `scontrol show hostnames` as Slurm prints it.
const SCONTROL: &str =
    "#!/bin/bash\n[ \"$1 $2 $3\" = 'show hostnames node[03-04]' ] && printf 'node03\\nnode04\\n'\n";

/// Starts the command for two tasks, one after the other, as srun would at once on two hosts.
const SRUN: &str = r#"#!/bin/bash
flags=()
while [[ $1 == --* ]]; do flags+=("$1"); shift; done
echo "srun ${flags[*]}"
for task in 0 1; do
    SLURM_STEP_ID=0 SLURM_PROCID=$task SLURM_NTASKS=2 SLURM_LOCALID=0 "$@" || exit
done
"#;

/// Says what it was called with.
const ECHO: &str = r#"#!/bin/bash
echo "$(basename "$0")|task ${SLURM_PROCID-none}|at ${MASTER_ADDR-none}:${MASTER_PORT-none}|torch ${LD_LIBRARY_PATH-none}"
printf '<%s>' "$@"; echo
"#;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/slurm").join(name)
}

/// Runs a batch script in a folder with a blank in its name, with the stand-ins before all other programs.
fn run(name: &str, words: &[&str]) -> Output {
    let folder = tempfile::Builder::new().prefix("slurm 队列 ").tempdir().unwrap();
    let programs = [("scontrol", SCONTROL), ("srun", SRUN), ("chuhe-train", ECHO), ("torchrun", ECHO)];
    for (program, text) in programs {
        let path = folder.path().join(program);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg(script(name)).args(words).env("PATH", path).env("CHUHE_TRAIN", "chuhe-train");
    command.env("CHUHE_OPTIONS", "--rank-timeout 90 --quiet").env("TORCH_LIB", "/opt/torch/lib");
    command.env_remove("LD_LIBRARY_PATH").env_remove("MASTER_PORT").env_remove("MASTER_ADDR");
    command.envs(JOB).output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn the_batch_scripts_start_what_they_should() {
    let words = ["conf/a b.toml", "runs/棋 1", "data/x y.rec", "data/z.rec"];
    let train = "<train><conf/a b.toml><--data><data/x y.rec><data/z.rec><--out><runs/棋 1>\
                 <--rank-timeout><90><--quiet>";

    // 20000 + 4123456 mod 20000.
    let expected = [
        "srun --kill-on-bad-exit=1 --label --cpus-per-task=8",
        "chuhe-train|task 0|at node03:23456|torch /opt/torch/lib",
        train,
        "chuhe-train|task 1|at node03:23456|torch /opt/torch/lib",
        train,
    ];
    assert_eq!(lines(&run("srun.sbatch", &words)), expected);

    let torchrun = "<--nnodes><2><--nproc-per-node><2><--rdzv-backend><c10d><--rdzv-endpoint><node03:23456>\
                    <--rdzv-id><4123456><--max-restarts><3><--no-python><chuhe-train>";
    let whole = format!("{torchrun}{train}");
    let expected = [
        "srun --ntasks-per-node=1 --kill-on-bad-exit=1 --label --cpus-per-task=8",
        "torchrun|task 0|at none:none|torch /opt/torch/lib",
        &whole,
        "torchrun|task 1|at none:none|torch /opt/torch/lib",
        &whole,
    ];
    assert_eq!(lines(&run("torchrun.sbatch", &words)), expected);
}

#[test]
fn the_batch_scripts_are_whole_and_say_how_they_are_used() {
    for name in ["srun.sbatch", "torchrun.sbatch"] {
        let checked = Command::new("bash").arg("-n").arg(script(name)).output().unwrap();
        assert!(checked.status.success() && checked.stderr.is_empty(), "{checked:?}");
        let output = run(name, &["config.toml"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && text.contains("RECORD_FILE"), "{name}: {text}");
        // sbatch reads its lines only up to the first command.
        let text = fs::read_to_string(script(name)).unwrap();
        let first_command = text.find("\nset -euo").unwrap();
        let last_line = text.rfind("\n#SBATCH").unwrap();
        assert!(text.starts_with("#!/bin/bash\n") && last_line < first_command, "{name}");
    }
}
