//! Writes the seeds of every target into a folder each: `cargo run --release -p fuzz-laws --example fuzz_seeds
//! FOLDER`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

fn write(folder: PathBuf) -> std::io::Result<()> {
    let mut counts = BTreeMap::new();
    for (target, bytes) in fuzz_laws::seeds()? {
        let number = counts.entry(target).or_insert(0);
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("seed-{number:04}")), bytes)?;
        *number += 1;
    }
    println!("seeds: {counts:?} in {}", folder.display());
    Ok(())
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("error: expected the folder to write to");
        return ExitCode::from(2);
    };
    match write(folder.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
