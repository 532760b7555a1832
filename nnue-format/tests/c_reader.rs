//! `docs/net_reader.c`, written from the format document alone, evaluates as the reference does.
//!
//! It needs libzstd. The test links the static library that the zstd crate has built, which lies
//! beside the test's own binary; where that cannot be found, the system's (`-lzstd`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nnue_format::{Description, NetFile, Overwrite, QuantisedNet, reference};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::Position;

const ARCHITECTURES: [&str; 5] = [
    "classic",
    "default",
    "half-kp-hm 2x192-24-40-1 crelu 8-stacks psqt",
    "half-ka-hm 2x128-8-8-1 pairwise",
    "half-ka-hm-ab 2x128-16-8-1 crelu 16-stacks",
];

/// `libzstd.a` of the zstd-sys crate: `target/PROFILE/build/zstd-sys-HASH/out`.
fn built_zstd() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let build = test.parent()?.parent()?.join("build");
    let folders = std::fs::read_dir(build).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    folders.map(|folder| folder.join("out/libzstd.a")).find(|path| path.exists())
}

fn compile(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/net_reader.c");
    let binary = folder.join("net_reader");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&binary).arg(source);
    match built_zstd() {
        Some(library) => command.arg(library),
        None => command.arg("-lzstd"),
    };
    let output = command.output().expect("a C compiler is needed, as for the build of zstd");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    binary
}

fn positions(count: usize, seed: u64) -> Vec<Position> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = Position::start();
        for ply in 0..200 {
            let moves = position.legal_moves();
            if moves.is_empty() || found.len() == count {
                break;
            }
            position.make(moves[(rng.next_u64() % moves.len() as u64) as usize]);
            if ply % 5 == 0 {
                found.push(position.clone());
            }
        }
    }
    found
}

/// What the C program prints for these positions.
fn run(binary: &Path, net: &Path, positions: &[Position]) -> String {
    let mut child =
        Command::new(binary).arg(net).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let fens: String = positions.iter().map(|p| p.fen() + "\n").collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(fens.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn c_reader_evaluates_as_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let binary = compile(folder.path());
    let net_path = folder.path().join("net.nnue");
    for (seed, arch) in ARCHITECTURES.iter().enumerate() {
        let net = QuantisedNet::random(&arch.parse().unwrap(), seed as u64);
        let description = Description { author: "somebody".into(), ..Description::default() };
        let file = NetFile { net, description };
        file.write(&net_path, Overwrite::Yes).unwrap();
        let positions = positions(200, seed as u64);
        let found = run(&binary, &net_path, &positions);
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines.len(), positions.len());
        for (line, position) in lines.iter().zip(&positions) {
            let expected = reference::evaluate(&file.net, position);
            assert_eq!(*line, format!("{} {}", expected.raw, expected.cp), "{arch} {}", position.fen());
        }
    }
    // A damaged file is refused.
    let mut bytes = std::fs::read(&net_path).unwrap();
    bytes[5000] ^= 1;
    std::fs::write(&net_path, &bytes).unwrap();
    let output = Command::new(&binary).arg(&net_path).stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("checksum"));
}
