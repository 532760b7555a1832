//! Bad input: each kind is refused before any training, with what was found and where.

use crate::support::{conduct, record_file, start_config};
use std::fs;
use std::path::{Path, PathBuf};
use trainer::checkpoint::{self, Checkpoint};
use trainer::config::Config;
use trainer::run::{self, RunError};

fn config(arch: &str) -> String {
    format!(
        "[net]\narchitecture = '{arch}'\n[training]\nseed = 3\nbatch_size = 100\nsteps = 6\n[validation]\nfraction = \
         0.2\nevery_steps = 3\n[checkpoint]\nevery_steps = 2\nkeep = 3\n"
    )
}

const ARCH: &str = "half-kp 2x128-8-8-1";

/// A run that has done four of its six steps.
struct Begun {
    folder: tempfile::TempDir,
    data: Vec<PathBuf>,
    run: PathBuf,
}

impl Begun {
    fn new() -> Begun {
        let folder = tempfile::tempdir().unwrap();
        let data = vec![record_file(&folder.path().join("games.rec"), 0..30, 5)];
        let run = folder.path().join("run");
        start_config(&config(ARCH), &data, &run, Some(4)).unwrap();
        Begun { folder, data, run }
    }

    /// Resuming fails with these words, and nothing of the run changes by it.
    fn refused(&self, words: &[&str]) {
        let before = fs::read(self.run.join("loss.csv")).unwrap();
        let error = run::resume(&self.run, conduct(None)).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in: {error}");
        }
        assert_eq!(fs::read(self.run.join("loss.csv")).unwrap(), before, "{error}");
        assert!(!self.run.join("result.json").exists());
    }

    fn newest(&self) -> PathBuf {
        checkpoint::locate(&self.run).unwrap()
    }
}

fn rewrite(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {}", path.display());
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_corrupted_record_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = record_file(&folder.path().join("games.rec"), 0..60, 1);
    let whole = fs::read(&path).unwrap();
    // In a block at the end, which neither validation nor the count of an epoch comes to before the first steps.
    let config = config(ARCH).replace("every_steps = 3", "max_positions = 1\nevery_steps = 3");
    let run = folder.path().join("run");
    for place in [whole.len() / 10, whole.len() / 2, whole.len() * 3 / 4] {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let error = start_config(&config, std::slice::from_ref(&path), &run, None).unwrap_err();
        assert!(matches!(error, RunError::Data(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("games.rec") && text.contains("byte"), "{text}");
        assert!(!run.exists(), "before anything is made of it");
    }
    let skipping = format!("{config}[loader]\nskip_damage = true\n");
    assert!(
        start_config(&skipping, &[path], &run, None).unwrap().complete,
        "left out where that is asked for"
    );
}

#[test]
fn a_setting_that_does_not_exist() {
    let text = config(ARCH).replace("batch_size", "batchsize");
    let error = Config::parse(&text).unwrap_err().to_string();
    assert!(
        error.contains("batchsize") && error.contains("batch_size"),
        "what there is is named too: {error}"
    );
    assert!(error.contains("line 5"), "{error}");
    let error = Config::parse("[net]\narchitecture = 'classic'\n[wach]\ntensorboard = false\n").unwrap_err();
    assert!(error.to_string().contains("wach"), "{error}");
}

#[test]
fn a_checkpoint_of_another_run() {
    let begun = Begun::new();
    let other = begun.folder.path().join("other");
    start_config(&config("half-kp-hm 2x128-8-8-1"), &begun.data, &other, Some(4)).unwrap();
    let place = begun.newest();
    fs::remove_dir_all(&place).unwrap();
    fs::rename(checkpoint::locate(&other).unwrap(), &place).unwrap();
    begun.refused(&["step-000000000004", "half-kp-hm 2x128-8-8-1", "half-kp 2x128-8-8-1"]);

    // One of the same architecture, and another configuration.
    let third = begun.folder.path().join("third");
    start_config(&config(ARCH).replace("seed = 3", "seed = 4"), &begun.data, &third, Some(4)).unwrap();
    fs::remove_dir_all(&place).unwrap();
    fs::rename(checkpoint::locate(&third).unwrap(), &place).unwrap();
    begun.refused(&["step-000000000004", "another configuration"]);
}

#[test]
fn a_truncated_safetensors_file() {
    let begun = Begun::new();
    let folder = begun.newest();
    let path = folder.join("weights.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    begun.refused(&["weights.safetensors", "SHA-256"]);
    // Also where the manifest agrees with it.
    use sha2::{Digest, Sha256};
    let mut manifest = checkpoint::read_manifest(&folder).unwrap();
    for cut in [bytes.len() - 100, 20, 3, 0] {
        fs::write(&path, &bytes[..cut]).unwrap();
        let digest = Sha256::digest(&bytes[..cut]).iter().map(|byte| format!("{byte:02x}")).collect();
        manifest.files.insert("weights.safetensors".to_owned(), digest);
        fs::write(folder.join("manifest.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
        begun.refused(&["weights.safetensors"]);
    }
    // The checkpoint before it is whole, and the run goes on from there when the broken one is taken away.
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(Checkpoint::read(&begun.run).unwrap().state.step, 2);
    assert!(run::resume(&begun.run, conduct(None)).unwrap().complete);
}

#[test]
fn a_manifest_of_another_version() {
    let begun = Begun::new();
    let format = format!("\"format\": {}", checkpoint::FORMAT);
    let newer = "\"format\": 77, \"something new\": {}";
    let manifest = begun.run.join("manifest.json");
    rewrite(&manifest, &format, newer);
    begun.refused(&["manifest.json", "layout 77", &checkpoint::FORMAT.to_string()]);
    rewrite(&manifest, newer, "\"fromat\": 1");
    begun.refused(&["manifest.json", "says no layout"]);
    rewrite(&manifest, "\"fromat\": 1", &format);
    let checkpoint = begun.newest().join("manifest.json");
    rewrite(&checkpoint, &format, newer);
    begun.refused(&["step-000000000004", "manifest.json", "layout 77"]);
    rewrite(&checkpoint, newer, &format);
    fs::write(&manifest, "{").unwrap();
    begun.refused(&["manifest.json", "EOF"]);
}
