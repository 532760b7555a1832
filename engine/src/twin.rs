//! The faster twin: the same program built for x86-64-v3, found beside this one.
//!
//! Programs are built for x86-64-v2, so that they run anywhere. `scripts/dist.sh` puts a second build of `chuhe` beside the
//! first, as `chuhe-x86-64-v3`; the first becomes that one at its start where the CPU allows. It is an `exec`: the process
//! stays the same one, with its arguments, input, output, signals and exit code.
//!
//! ```text
//! chuhe (v2) ── CPU has v3? ── chuhe-x86-64-v3 beside it? ── does it name the same build? ── exec
//!     └──────────────┴──────────────────┴──────────────── no ──────────┴─► goes on by itself
//! ```
//! It never goes round in circles: a v3 build looks for no twin, nor does one that was started as a twin
//! ([`NO_TWIN`] is set then), nor one that bears a twin's name.

use std::sync::OnceLock;

/// Set (to anything), it keeps a program from becoming its twin.
pub const NO_TWIN: &str = "CHUHE_NO_REEXEC";

/// The level of the twin.
const TWIN_LEVEL: &str = "x86-64-v3";

/// For which CPUs this program was built: an x86-64 level, or the name of another architecture.
pub const LEVEL: &str = if cfg!(all(
    target_arch = "x86_64",
    target_feature = "avx2",
    target_feature = "bmi1",
    target_feature = "bmi2",
    target_feature = "f16c",
    target_feature = "fma",
    target_feature = "lzcnt",
    target_feature = "movbe"
)) {
    TWIN_LEVEL
} else if cfg!(all(target_arch = "x86_64", target_feature = "sse4.2", target_feature = "popcnt")) {
    "x86-64-v2"
} else {
    std::env::consts::ARCH
};

/// The compiler that made this program, and for which system.
pub const COMPILER: &str = env!("CHUHE_COMPILER");

/// Version, level and, where it was given at compile time (`CHUHE_BUILD`), the name of the build.
pub fn version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| version_at(LEVEL))
}

/// What [`version`] is in the same build for another level.
fn version_at(level: &str) -> String {
    match option_env!("CHUHE_BUILD") {
        Some(build) => format!("{} ({level}, build {build})", crate::VERSION),
        None => format!("{} ({level})", crate::VERSION),
    }
}

/// Becomes the twin and does not return, or returns because there is no reason to, or no good twin.
#[cfg(all(unix, target_arch = "x86_64"))]
pub fn become_twin() {
    use std::os::unix::process::CommandExt;

    let Some(twin) = here::find() else { return };
    let mut words = std::env::args_os();
    let mut command = std::process::Command::new(&twin);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    // It comes back only where the system refuses; this build goes on then.
    let _ = command.args(words).env(NO_TWIN, "1").exec();
}

/// Other systems have no twins.
#[cfg(not(all(unix, target_arch = "x86_64")))]
pub fn become_twin() {}

#[cfg(all(unix, target_arch = "x86_64"))]
mod here {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::{LEVEL, NO_TWIN, TWIN_LEVEL, version_at};

    /// The twin to become, if there is one and nothing speaks against it.
    pub(super) fn find() -> Option<PathBuf> {
        if LEVEL == TWIN_LEVEL || std::env::var_os(NO_TWIN).is_some() || !cpu_suits() {
            return None;
        }
        let own = std::env::current_exe().ok()?;
        let twin = beside(&own)?;
        // A name for this very file is no twin; a missing file has no canonical path.
        if std::fs::canonicalize(&twin).ok()? == own {
            return None;
        }
        is_of_this_build(&twin).then_some(twin)
    }

    /// The twin's path; `None` for a program that bears a twin's name itself.
    fn beside(own: &Path) -> Option<PathBuf> {
        let name = own.file_name()?.to_str()?;
        (!name.ends_with(TWIN_LEVEL)).then(|| own.with_file_name(format!("{name}-{TWIN_LEVEL}")))
    }

    /// Everything that a compiler may use at the twin's level.
    fn cpu_suits() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("movbe")
    }

    /// Asks it: a file cut short, of another build or for another system does not answer so.
    fn is_of_this_build(twin: &Path) -> bool {
        let asked = Command::new(twin)
            .arg("--version")
            .env(NO_TWIN, "1")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let expected = format!("chuhe {}", version_at(TWIN_LEVEL));
        asked.is_ok_and(|said| said.status.success() && said.stdout.trim_ascii() == expected.as_bytes())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_twin_lies_beside_and_has_none_itself() {
            let path = |text: &str| beside(Path::new(text)).map(|path| path.display().to_string());
            assert_eq!(path("/a b/chuhe"), Some("/a b/chuhe-x86-64-v3".to_owned()));
            assert_eq!(path("/a b/chuhe-x86-64-v3"), None);
            assert_eq!(path("/"), None);
        }
    }
}
