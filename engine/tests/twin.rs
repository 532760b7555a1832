//! `chuhe` becomes a build for newer CPUs that lies beside it, and goes on by itself where that is no good.
#![cfg(all(unix, target_arch = "x86_64"))]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use engine::twin::{LEVEL, NO_TWIN};

/// A script that says which version it is, and else what it was started with; its input's first line, too.
fn script(version: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n\
         read -r line\necho \"twin $* <$line> ${NO_TWIN} $$\"\nexit 7\n"
    )
}

fn put(path: &Path, text: &str, mode: u32) {
    let _ = fs::remove_file(path);
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// Exit code, output and process number of `PROGRAM fen startpos "a b"` with a line on its input.
fn run(program: &Path, environment: &[(&str, &str)]) -> (Option<i32>, String, u32) {
    let mut child = Command::new(program)
        .args(["fen", "startpos", "--json"])
        .env_remove(NO_TWIN)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let number = child.id();
    // A program that reads nothing may be gone already.
    let _ = child.stdin.take().expect("a pipe").write_all(b"one line\n");
    let done = child.wait_with_output().expect("it ends");
    (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned(), number)
}

/// One test for all, step by step: a file may not be open for writing while it is started.
#[test]
fn the_twin_takes_over_where_it_is_good() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let program = folder.path().join("chuhe");
    fs::hard_link(env!("CARGO_BIN_EXE_chuhe"), &program).expect("a link on the same disk");
    let twin = folder.path().join("chuhe-x86-64-v3");
    let said = Command::new(&program).arg("--version").env(NO_TWIN, "1").output().expect("it starts");
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    assert!(version.starts_with("chuhe ") && version.contains(LEVEL), "{version}");
    let good = script(&version.replace(LEVEL, "x86-64-v3"));

    let by_itself = |what: &str, environment: &[(&str, &str)]| {
        let (code, out, _) = run(&program, environment);
        assert!(code == Some(0) && out.contains("canonical"), "{what}: {code:?} {out}");
    };
    by_itself("no twin", &[]);
    put(&twin, &good, 0o755);
    by_itself("a sign not to", &[(NO_TWIN, "")]);
    if LEVEL == "x86-64-v2" && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        let (code, out, number) = run(&program, &[]);
        assert_eq!((code, out), (Some(7), format!("twin fen startpos --json <one line> 1 {number}\n")));
    } else {
        by_itself("a CPU or a build that wants no twin", &[]);
    }
    put(&twin, &good, 0o644);
    by_itself("a twin that may not be run", &[]);
    put(&twin, &script("chuhe 0.0.9 (x86-64-v3)"), 0o755);
    by_itself("a twin of another build", &[]);
    put(&twin, "\u{7f}ELF, but not really", 0o755);
    by_itself("a broken twin", &[]);
    put(&twin, "", 0o755);
    by_itself("an empty twin", &[]);
    fs::remove_file(&twin).expect("it was there");
    symlink(&program, &twin).expect("a link");
    by_itself("its own twin", &[]);
    fs::remove_file(&twin).expect("it was there");
    symlink("nowhere", &twin).expect("a link");
    by_itself("a dangling link", &[]);
    fs::remove_file(&twin).expect("it was there");
    fs::hard_link(&program, &twin).expect("a link on the same disk");
    by_itself("a twin of the same level", &[]);
}
