//! From a word on a command line to something to evaluate with.

use super::EvalSource;

/// Why there is nothing to evaluate with.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// No net can be loaded yet.
    #[error("net {0:?} cannot be loaded by this build")]
    Unsupported(String),
}

/// The source that `spec` names: `none` (or nothing, or `<empty>`) for the hand-crafted evaluation, else a net file.
///
/// # Errors
/// Where the file cannot be read or is no net; the error says what was found and expected.
pub fn net_source(spec: &str) -> Result<EvalSource, SourceError> {
    match spec {
        "" | "none" | "<empty>" => Ok(EvalSource::Hce),
        file => Err(SourceError::Unsupported(file.to_owned())),
    }
}

/// The same on a backend by its name; `auto` is the fastest of this CPU.
///
/// # Errors
/// As [`net_source`], and where the backend is not known or this CPU lacks it.
pub fn source_on(spec: &str, _backend: &str) -> Result<EvalSource, SourceError> {
    net_source(spec)
}

impl std::fmt::Display for EvalSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EvalSource::Hce => f.write_str("hand-crafted"),
        }
    }
}
