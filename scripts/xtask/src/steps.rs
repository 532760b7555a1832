//! Steps that are done once: each leaves a small JSON file with its command and its answer, so that an interrupted
//! run continues where it stopped and a finished one says so.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// The folder of a run and what was done in it.
pub(crate) struct Steps {
    folder: PathBuf,
    /// Steps that had to be run this time; zero means that the run was complete already.
    pub(crate) fresh: usize,
}

/// What a step gave: the JSON it answered and how long it took when it was run.
pub(crate) struct Done {
    pub(crate) output: Value,
    pub(crate) seconds: f64,
}

impl Steps {
    pub(crate) fn open(folder: PathBuf) -> Result<Steps> {
        fs::create_dir_all(&folder).with_context(|| format!("making the folder {}", folder.display()))?;
        Ok(Steps { folder, fresh: 0 })
    }

    /// Runs a step unless its file says that the same command has been done and `made` is still there.
    ///
    /// # Errors
    /// What the step fails with; also a step file of another command, which means that the plan has changed.
    pub(crate) fn once(
        &mut self,
        name: &str,
        command: &str,
        made: Option<&Path>,
        run: impl FnOnce() -> Result<Value>,
    ) -> Result<Done> {
        let file = self.folder.join(format!("{name}.json"));
        if let Some(done) = read(&file, command)?
            && made.is_none_or(Path::exists)
        {
            eprintln!("[{name}] already complete");
            return Ok(done);
        }
        eprintln!("[{name}] {command}");
        let started = Instant::now();
        let output = run()?;
        let seconds = started.elapsed().as_secs_f64();
        eprintln!("[{name}] done in {seconds:.1} s");
        let text = json!({ "command": command, "seconds": seconds, "output": output });
        write_whole(&file, &serde_json::to_string_pretty(&text)?)?;
        self.fresh += 1;
        Ok(Done { output, seconds })
    }
}

fn read(file: &Path, command: &str) -> Result<Option<Done>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("reading {}", file.display())),
    };
    let value: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
    if value["command"].as_str() != Some(command) {
        bail!(
            "{} belongs to another plan:\n  found    {}\n  expected {command}\nstart over with: scripts/quickstart.sh --fresh",
            file.display(),
            value["command"].as_str().unwrap_or("nothing"),
        );
    }
    let seconds = value["seconds"].as_f64().unwrap_or(0.0);
    Ok(Some(Done { output: value["output"].clone(), seconds }))
}

/// Puts a file in place whole: another name, fsync, rename.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    let mut file = fs::File::create(&partial).with_context(|| format!("making {}", partial.display()))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&partial, path).with_context(|| format!("putting {} in place", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_run_once_and_repeated_only_when_its_file_is_gone() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let made = folder.path().join("made");
        let mut runs = 0;
        for (kept, expected) in [(false, 1), (true, 1), (false, 2)] {
            if !kept && made.exists() {
                fs::remove_file(&made)?;
            }
            let mut steps = Steps::open(folder.path().join("steps"))?;
            let done = steps.once("a", "make it", Some(&made), || {
                runs += 1;
                fs::write(&made, "x")?;
                Ok(json!({ "value": 7 }))
            })?;
            assert_eq!(done.output["value"], 7);
            assert_eq!(runs, expected);
        }
        Ok(())
    }

    #[test]
    fn another_plan_in_the_same_folder_is_refused() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut steps = Steps::open(folder.path().to_path_buf())?;
        steps.once("a", "one", None, || Ok(Value::Null))?;
        let error = steps.once("a", "two", None, || Ok(Value::Null)).err().context("must be refused")?;
        assert!(error.to_string().contains("--fresh"), "{error}");
        Ok(())
    }

    #[test]
    fn a_failed_step_leaves_nothing_behind() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut steps = Steps::open(folder.path().to_path_buf())?;
        assert!(steps.once("a", "one", None, || bail!("no")).is_err());
        assert!(!folder.path().join("a.json").exists());
        Ok(())
    }
}
