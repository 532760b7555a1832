//! Tells the program which compiler makes it, for `chuhe speedtest`, and puts the net of the folder `net` into it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the net lies that the program plays with by itself.
const NET_FOLDER: &str = "net";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    compiler();
    embed_net()
}

fn compiler() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = std::process::Command::new(compiler).arg("--version").output();
    let text = said.ok().and_then(|said| String::from_utf8(said.stdout).ok()).unwrap_or_default();
    // `rustc 1.95.0 (…)`: the date and the commit follow from the version.
    let version = text.split(" (").next().unwrap_or_default().trim();
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=CHUHE_COMPILER={version}, {target}");
}

/// Writes the value of `eval::embedded::EMBEDDED`.
fn embed_net() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join(NET_FOLDER);
    println!("cargo:rerun-if-changed={NET_FOLDER}");
    let text = match net_in(&folder)? {
        Some(file) => {
            let name =
                file.file_name().and_then(|name| name.to_str()).ok_or("the net's name is not UTF-8")?;
            let path = file.to_str().ok_or("the path of the engine's sources is not UTF-8")?;
            format!("Some(Embedded {{ name: {name:?}, bytes: include_bytes!({path:?}) }})")
        }
        None => "None".to_owned(),
    };
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("embedded.in"), text)?;
    Ok(())
}

/// The one `.nnue` file of a folder, if there is one.
fn net_in(folder: &Path) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let mut nets = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "nnue") {
            nets.push(path);
        }
    }
    match nets.len() {
        0 | 1 => Ok(nets.pop()),
        count => {
            Err(format!("{}: {count} nets; expected one, which the program carries", folder.display()).into())
        }
    }
}
