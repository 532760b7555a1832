//! From a word on a command line to something to evaluate with.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use nnue_format::{NetFile, NetFileError, NetId};
use nnue_infer::{Backend, BackendError, EngineNet, EngineNetError};

use super::EvalSource;
use super::embedded::{EMBEDDED, Embedded};

/// The word for "the fastest backend of this CPU".
const BEST: &str = "auto";

/// Why there is nothing to evaluate with.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be read, or is no net.
    #[error("net {path}: {}", without_path(error))]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        error: NetFileError,
    },
    /// The net does not suit this program.
    #[error("net {path}: {error}")]
    Net {
        /// The file.
        path: String,
        /// What is wrong with it.
        error: EngineNetError,
    },
    /// No such backend here.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// What is wrong with a file whose name has just been said.
fn without_path(error: &NetFileError) -> String {
    match error {
        NetFileError::Io { source, .. } => source.to_string(),
        _ => error.to_string(),
    }
}

/// A net with its name, ready to evaluate.
#[derive(Clone)]
pub struct LoadedNet {
    /// SHA-256 of the file.
    pub id: NetId,
    /// The net on its backend.
    pub net: Arc<EngineNet>,
    /// The file, byte for byte.
    pub bytes: Arc<Vec<u8>>,
}

/// A reader that keeps what is read.
struct Keeping<R> {
    reader: R,
    bytes: Vec<u8>,
}

impl<R: Read> Read for Keeping<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.reader.read(into)?;
        self.bytes.extend_from_slice(&into[..count]);
        Ok(count)
    }
}

/// Does this word stand for the hand-crafted evaluation?
pub fn is_none(spec: &str) -> bool {
    matches!(spec, "" | "none" | "<empty>")
}

/// The backend of this name; `auto` (or nothing) for the fastest of this CPU.
///
/// # Errors
/// Where there is none of that name.
pub fn backend_named(name: &str) -> Result<Backend, BackendError> {
    if name.is_empty() || name == BEST { Ok(Backend::best()) } else { name.parse() }
}

/// A net file that has been read.
pub struct NetBytes {
    /// What it says.
    pub file: NetFile,
    /// SHA-256 of the bytes.
    pub id: NetId,
    /// Byte for byte: as many as the reader finds reason to read, a whole net's.
    pub bytes: Vec<u8>,
}

/// Reads the net that `spec` names, a file or the one in the program; `None` where it stands for the hand-crafted
/// evaluation.
///
/// # Errors
/// Where the file cannot be read or is no net.
pub fn read_net(spec: &str) -> Result<Option<NetBytes>, NetFileError> {
    read_net_beside(spec, EMBEDDED)
}

fn read_net_beside(spec: &str, embedded: Option<Embedded>) -> Result<Option<NetBytes>, NetFileError> {
    if is_none(spec) {
        return Ok(None);
    }
    let path = Path::new(spec);
    if let Some(net) = embedded.filter(|net| net.is_meant_by(spec)) {
        let (file, id) = nnue_format::net::read_from(net.bytes, Path::new(net.name))?;
        return Ok(Some(NetBytes { file, id, bytes: net.bytes.to_vec() }));
    }
    let reader = File::open(path).map_err(|source| NetFileError::Io { path: path.into(), source })?;
    let mut keeping = Keeping { reader, bytes: Vec::new() };
    let (file, id) = nnue_format::net::read_from(&mut keeping, path)?;
    Ok(Some(NetBytes { file, id, bytes: keeping.bytes }))
}

/// Reads a net for a backend; `None` where `spec` stands for the hand-crafted evaluation.
///
/// # Errors
/// Where the file cannot be read, is no net, or the CPU lacks the backend.
pub fn load_net(spec: &str, backend: Backend) -> Result<Option<LoadedNet>, SourceError> {
    let path = || spec.to_owned();
    let read = read_net(spec).map_err(|error| SourceError::File { path: path(), error })?;
    let Some(NetBytes { file, id, bytes }) = read else { return Ok(None) };
    match EngineNet::new(&file.net, backend) {
        Ok(net) => Ok(Some(LoadedNet { id, net: Arc::new(net), bytes: Arc::new(bytes) })),
        Err(error) => Err(SourceError::Net { path: path(), error }),
    }
}

/// The source that `spec` names: `none` (or nothing, or `<empty>`) for the hand-crafted evaluation, `embedded` (or its
/// name) for the net in the program, else a net file, evaluated on the fastest backend of this CPU.
///
/// # Errors
/// Where the file cannot be read or is no net; the error says what was found and expected.
pub fn net_source(spec: &str) -> Result<EvalSource, SourceError> {
    source_on(spec, BEST)
}

/// The same on a backend by its name; `auto` is the fastest of this CPU.
///
/// # Errors
/// As [`net_source`], and where the backend is not known or this CPU lacks it.
pub fn source_on(spec: &str, backend: &str) -> Result<EvalSource, SourceError> {
    let net = load_net(spec, backend_named(backend)?)?;
    Ok(net.map_or(EvalSource::Hce, |loaded| EvalSource::Net(loaded.net)))
}

impl fmt::Display for EvalSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalSource::Hce => f.write_str("hand-crafted"),
            EvalSource::Net(net) => write!(f, "net {} on {}", net.arch(), net.backend()),
        }
    }
}

impl fmt::Debug for EvalSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use nnue_format::{Description, Overwrite, QuantisedNet};

    use super::*;

    /// The net in the program is read by its word and by its name, without a file; another name is a file's.
    #[test]
    fn the_net_in_the_program_has_two_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("any.nnue");
        let net = QuantisedNet::random(&"classic".parse().expect("an architecture"), 1);
        let written = NetFile { net, description: Description::default() }.write(&path, Overwrite::No);
        let id = written.expect("a net");
        let bytes: &'static [u8] = std::fs::read(&path).expect("its bytes").leak();
        let embedded = Some(Embedded { name: "chuhe-0123456789ab.nnue", bytes });
        for spec in ["embedded", "chuhe-0123456789ab.nnue"] {
            let read = read_net_beside(spec, embedded).expect("a net").expect("no hand-crafted evaluation");
            assert_eq!((read.id, &read.bytes[..]), (id, bytes), "{spec}");
            assert!(read_net_beside(spec, None).is_err(), "{spec} is no file");
        }
        assert!(read_net_beside("none", embedded).expect("no net").is_none());
        let file = path.to_str().expect("UTF-8");
        assert_eq!(read_net_beside(file, embedded).expect("a net").expect("a file").id, id);
    }

    /// What the program carries is a net whose name is its id.
    #[test]
    fn the_net_in_the_program_is_one() {
        if let Some(embedded) = EMBEDDED {
            let read = read_net(embedded.name).expect("a net").expect("no hand-crafted evaluation");
            assert_eq!(read.id.file_name(), embedded.name);
        }
    }
}
