//! Record files in object stores and on web servers: `s3://`, `gs://`, `az://`, `http://`, `https://`.
//!
//! Only ranges are read: a file's index from its end, then single blocks. Credentials come from the environment, by the
//! names that the stores' own tools use (`AWS_…`, `GOOGLE_…`, `AZURE_…`). Requests that fail for a passing reason are tried
//! again with growing pauses, up to ten times within three minutes; a request that hangs ends after 30 seconds.

use super::source::hex;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use url::{Position, Url};

/// Threads that wait for the network.
const NETWORK_THREADS: usize = 2;
/// How much is read at once of a file that is read piece by piece.
const CHUNK: u64 = 1 << 16;
/// How often a thread that waits for data looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);
/// Names of environment variables that are settings of a store begin with these.
const SETTINGS: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    // Fails only where a provider was chosen before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Builder::new_multi_thread().worker_threads(NETWORK_THREADS).thread_name("network").enable_all().build()
});

fn runtime() -> io::Result<&'static Runtime> {
    RUNTIME.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

/// One object and how to reach it.
#[derive(Clone, Debug)]
pub struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
}

/// Stores by the beginnings of their URLs: each has its own connections and credentials.
static STORES: LazyLock<Mutex<HashMap<String, Arc<dyn ObjectStore>>>> = LazyLock::new(Mutex::default);

impl Object {
    /// The object of a URL. Nothing is asked of the network.
    ///
    /// # Errors
    /// When the URL names no store, or its settings are wrong.
    pub fn of(text: &str) -> io::Result<Object> {
        let url = Url::parse(text).map_err(|error| io::Error::other(format!("no URL: {error}")))?;
        let (_, path) = object_store::ObjectStoreScheme::parse(&url).map_err(|_| {
            let known = "file, s3, gs, az, http and https";
            io::Error::other(format!("{} is no scheme of a store; known are {known}", url.scheme()))
        })?;
        let key = url[..Position::BeforePath].to_owned();
        let mut stores = STORES.lock().map_err(|_| io::Error::other("another reader of it has failed"))?;
        if let Some(store) = stores.get(&key) {
            return Ok(Object { store: store.clone(), path });
        }
        runtime()?;
        let settings = std::env::vars().filter(|(name, _)| SETTINGS.iter().any(|s| name.starts_with(s)));
        // Asked for in so many words.
        let plain = (url.scheme() == "http").then(|| ("allow_http".to_owned(), "true".to_owned()));
        let (store, path) = object_store::parse_url_opts(&url, settings.chain(plain)).map_err(told)?;
        let store: Arc<dyn ObjectStore> = Arc::from(store);
        stores.insert(key, store.clone());
        Ok(Object { store, path })
    }

    /// Begins to read a range of bytes.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn fetch(&self, range: Range<u64>) -> io::Result<Fetch> {
        let (object, (sender, receiver)) = (self.clone(), channel());
        runtime()?.spawn(async move {
            let bytes = object.store.get_range(&object.path, range).await;
            // Nobody waits any more when the loader was dropped.
            let _ = sender.send(bytes.map(|bytes| bytes.to_vec()));
        });
        Ok(Fetch(receiver))
    }

    /// The objects in the folder of this one.
    ///
    /// # Errors
    /// Of the store; web servers have no lists.
    pub fn siblings(&self) -> io::Result<Vec<String>> {
        let folder = self.path.as_ref().rsplit_once('/').map_or("", |(folder, _)| folder);
        let (store, folder) = (self.store.clone(), Path::from(folder));
        let listed = runtime()?.block_on(async move { store.list_with_delimiter(Some(&folder)).await });
        Ok(listed.map_err(told)?.objects.into_iter().map(|object| object.location.to_string()).collect())
    }
}

/// A range that is on its way.
pub struct Fetch(Receiver<Result<Vec<u8>, Error>>);

impl Fetch {
    /// Waits for the bytes, or until `stop` is set.
    ///
    /// # Errors
    /// What the store says, and what to do about it.
    pub fn wait(&self, stop: &AtomicBool) -> io::Result<Vec<u8>> {
        loop {
            match self.0.recv_timeout(LOOK) {
                Ok(bytes) => return bytes.map_err(told),
                Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
                Err(_) => return Err(io::Error::other("reading was stopped")),
            }
        }
    }
}

/// The store's word and what to do.
fn told(error: Error) -> io::Error {
    let advice = match &error {
        Error::NotFound { .. } => "look at the URL",
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            "give the store's credentials in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
             GOOGLE_SERVICE_ACCOUNT, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY)"
        }
        Error::NotSupported { .. } => "the server must answer requests for ranges of bytes",
        _ => "look at the network and the store, then resume the run",
    };
    // The causes of the store's errors are in their texts already.
    io::Error::other(format!("{error}; {advice}"))
}

/// A remote file to be read as a file on disk is.
#[derive(Debug)]
pub struct Remote {
    object: Object,
    len: u64,
    at: u64,
    /// Bytes that are here, from `begin` on.
    begin: u64,
    bytes: Vec<u8>,
}

impl Remote {
    /// Asks for the length of the file.
    ///
    /// # Errors
    /// Of the store.
    pub fn open(text: &str) -> io::Result<Remote> {
        let object = Object::of(text)?;
        let Object { store, path } = object.clone();
        let meta = runtime()?.block_on(async move { store.head(&path).await }).map_err(told)?;
        Ok(Remote { object, len: meta.size, at: 0, begin: 0, bytes: Vec::new() })
    }

    /// Length and identity: the digest of the first and the last bytes. The last ones hold the index of all blocks, or its
    /// checksum.
    ///
    /// # Errors
    /// Of the store.
    pub fn identify(&mut self) -> io::Result<(u64, String)> {
        let mut digest = Sha256::new();
        for range in [0..CHUNK.min(self.len), self.len.saturating_sub(CHUNK)..self.len] {
            digest.update(self.object.fetch(range)?.wait(&AtomicBool::new(false))?);
        }
        Ok((self.len, format!("ends:{}", hex(&digest.finalize()))))
    }
}

impl Read for Remote {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.len || buffer.is_empty() {
            return Ok(0);
        }
        let here = self.begin..self.begin + self.bytes.len() as u64;
        if !here.contains(&self.at) {
            let end = self.len.min(self.at + CHUNK.max(buffer.len() as u64));
            self.bytes = self.object.fetch(self.at..end)?.wait(&AtomicBool::new(false))?;
            self.begin = self.at;
        }
        let from = (self.at - self.begin) as usize;
        let count = buffer.len().min(self.bytes.len().saturating_sub(from));
        if count == 0 {
            return Err(io::Error::other("the store gave fewer bytes than the file has; it has changed"));
        }
        buffer[..count].copy_from_slice(&self.bytes[from..from + count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Remote {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = place.ok_or_else(|| io::Error::other("before the beginning of the file"))?;
        Ok(self.at)
    }
}
