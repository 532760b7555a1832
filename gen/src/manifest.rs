//! The manifest beside a record file: how it was made, in JSON.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use nnue_format::record::Totals;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::plan::{Plan, hex, net_text};
use crate::sink::SinkError;

/// The commit this program was built from, or "unknown".
pub const COMMIT: &str = env!("CHUHE_GEN_COMMIT");

/// The manifest of a finished file. `file` is where its bytes are now, `name` what it will be called.
pub fn manifest(plan: &Plan, totals: Totals, file: &Path, name: &Path) -> Result<Value, SinkError> {
    let mut manifest = of_file(totals, file, name)?;
    manifest["seed"] = json!(plan.seed);
    manifest["net"] = json!(net_text(&plan.net));
    manifest["engine_signature"] = json!(plan.engine_signature);
    manifest["reproducible"] = json!(plan.is_reproducible());
    manifest["plan"] = json!(plan);
    Ok(manifest)
}

/// What every record file's manifest says: the program, the file and its counts. Arguments as of [`manifest()`].
pub fn of_file(totals: Totals, file: &Path, name: &Path) -> Result<Value, SinkError> {
    let mut manifest = of_any(file, name)?;
    manifest["games"] = json!(totals.games);
    manifest["plies"] = json!(totals.plies);
    manifest["positions"] = json!(totals.positions);
    Ok(manifest)
}

/// What every file's manifest says. Arguments as of [`manifest()`].
pub fn of_any(file: &Path, name: &Path) -> Result<Value, SinkError> {
    let (bytes, sha256) = digest(file)?;
    Ok(json!({
        "program": "chuhe-gen",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        "file": name.file_name().map(|name| name.to_string_lossy()),
        "bytes": bytes,
        "sha256": sha256,
    }))
}

/// Length and SHA-256 of a file.
pub fn hash(path: &Path) -> Result<(u64, [u8; 32]), SinkError> {
    let error = |source| SinkError::Io { path: path.to_owned(), verb: "read", source };
    let mut file = File::open(path).map_err(error)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((length, hash.finalize().into())),
            Ok(found) => {
                hash.update(&buffer[..found]);
                length += found as u64;
            }
            Err(source) if source.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(error(source)),
        }
    }
}

/// As [`hash`], the digest in hexadecimal digits.
pub fn digest(path: &Path) -> Result<(u64, String), SinkError> {
    hash(path).map(|(length, sha256)| (length, hex(&sha256)))
}

/// One digest of files in their order, for a plan.
pub fn digest_of_all(files: &[PathBuf]) -> Result<[u8; 32], SinkError> {
    let mut all = Sha256::new();
    for path in files {
        all.update(digest(path)?.1.as_bytes());
    }
    Ok(all.finalize().into())
}

/// The input files of a manifest: name, length, digest.
pub fn inputs(files: &[PathBuf]) -> Result<Vec<Value>, SinkError> {
    let one = |path: &PathBuf| {
        let (bytes, sha256) = digest(path)?;
        Ok(json!({ "file": path.to_string_lossy(), "bytes": bytes, "sha256": sha256 }))
    };
    files.iter().map(one).collect()
}

/// Where the manifest of a file lies: FILE.manifest.json.
pub fn path_beside(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".manifest.json");
    PathBuf::from(path)
}

/// Writes a text file whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> Result<(), SinkError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let error = |source| SinkError::Io { path: path.to_owned(), verb: "write", source };
    let mut file = File::create(&temporary).map_err(error)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(error)?;
    std::fs::rename(&temporary, path).map_err(error)
}
