//! Record files behind URLs, from a server on the loopback.

use crate::batches::plan;
use crate::support::record_file;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use trainer::data::source::Role;
use trainer::data::{Batch, DataError, Loader, Location, Plan, Source};

/// Serves the files of a folder by HEAD and GET with ranges, and lists them as an S3 bucket does.
struct Server {
    address: String,
    /// Requests that are answered with 503 before any other.
    failing: Arc<AtomicUsize>,
    /// Bytes of files sent.
    sent: Arc<AtomicUsize>,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (failing, sent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (folder, fails, counts) = (folder.to_path_buf(), failing.clone(), sent.clone());
        // It ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (folder, fails, counts) = (folder.clone(), fails.clone(), counts.clone());
                thread::spawn(move || answer(stream, &folder, &fails, &counts));
            }
        });
        Server { address, failing, sent }
    }

    fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }
}

fn answer(stream: TcpStream, folder: &Path, failing: &AtomicUsize, sent: &AtomicUsize) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let mut out = stream;
    let request = lines.next()?.ok()?;
    let mut range = None;
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("range")
        {
            let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
            range = Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?));
        }
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let mut say = |status: &str, headers: &str, body: &[u8]| {
        let dates = "Last-Modified: Mon, 30 Nov 2026 10:00:00 GMT\r\nETag: \"1\"\r\nConnection: close\r\n";
        write!(out, "HTTP/1.1 {status}\r\n{dates}{headers}\r\n").and_then(|()| out.write_all(body)).ok()
    };
    if failing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        return say("503 Slow Down", "Content-Length: 0\r\n", b"");
    }
    if path.contains("list-type=2") {
        let mut body = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
        for name in std::fs::read_dir(folder).ok()?.flatten() {
            let name = name.file_name().into_string().ok()?;
            body += &format!(
                "<Contents><Key>{name}</Key><Size>1</Size><ETag>1</ETag>\
                 <LastModified>2026-11-30T10:00:00.000Z</LastModified></Contents>"
            );
        }
        body += "</ListBucketResult>";
        return say("200 OK", &format!("Content-Length: {}\r\n", body.len()), body.as_bytes());
    }
    let name = path.split('?').next()?.rsplit('/').next()?;
    let Ok(bytes) = std::fs::read(folder.join(name)) else {
        return say("404 Not Found", "Content-Length: 0\r\n", b"");
    };
    let whole = bytes.len();
    match (method, range) {
        ("HEAD", _) => say("200 OK", &format!("Content-Length: {whole}\r\n"), b""),
        (_, Some((first, last))) => {
            let part = bytes.get(first..(last + 1).min(whole))?;
            sent.fetch_add(part.len(), Ordering::Relaxed);
            let last = first + part.len() - 1;
            let headers =
                format!("Content-Length: {}\r\nContent-Range: bytes {first}-{last}/{whole}\r\n", part.len());
            say("206 Partial Content", &headers, part)
        }
        _ => say("200 OK", &format!("Content-Length: {whole}\r\n"), &bytes),
    }
}

fn batches(plan: &Plan, count: usize) -> Result<Vec<Batch>, DataError> {
    let mut loader = Loader::start(plan, 3);
    (0..count).map(|_| loader.next_batch()).collect()
}

fn open(text: &str) -> Result<Source, DataError> {
    Source::open_all(&[(Role::Training(0), Location::of(text))], false)
}

fn two_lanes(source: Source) -> Plan {
    plan(source, |config| {
        config.loader.lanes = 2;
        config.loader.threads = 2;
    })
}

#[test]
fn a_remote_file_gives_the_batches_of_a_local_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = record_file(&folder.path().join("a.rec"), 0..60, 4);
    let local = batches(&two_lanes(Source::open(&[path], false).unwrap()), 40).unwrap();
    let server = Server::start(folder.path());
    server.failing.store(3, Ordering::Relaxed);
    let source = open(&server.url("a.rec")).unwrap();
    assert_eq!(server.failing.load(Ordering::Relaxed), 0, "failed requests are tried again");
    assert!(source.files()[0].sha256.starts_with("ends:"));
    let opening = server.sent.load(Ordering::Relaxed);
    assert_eq!(batches(&two_lanes(source.clone()), 40).unwrap(), local);
    assert!(server.sent.load(Ordering::Relaxed) > opening);
    // What a run remembers of a file tells another one.
    let files = source.files().to_vec();
    assert_eq!(Source::reopen(&files, false).unwrap().files(), files);
    record_file(&folder.path().join("a.rec"), 1..60, 4);
    let changed = Source::reopen(&files, false).unwrap_err();
    assert!(matches!(changed, DataError::Changed { .. }), "{changed}");
    assert!(changed.to_string().contains(&server.url("a.rec")), "{changed}");
}

#[test]
fn what_is_wrong_with_a_url_is_told() {
    let folder = tempfile::tempdir().unwrap();
    record_file(&folder.path().join("a.rec"), 0..20, 4);
    let server = Server::start(folder.path());
    let none = open(&server.url("none.rec")).unwrap_err().to_string();
    assert!(none.contains("none.rec") && none.contains("look at the URL"), "{none}");
    let scheme = open("ftp://example.org/a.rec").unwrap_err().to_string();
    assert!(scheme.contains("ftp is no scheme") && scheme.contains("s3"), "{scheme}");
    // A file that goes away under a run: the URL, the offset, what to do.
    let plan = two_lanes(open(&server.url("a.rec")).unwrap());
    std::fs::remove_file(folder.path().join("a.rec")).unwrap();
    let gone = batches(&plan, 40).unwrap_err().to_string();
    for word in [server.url("a.rec"), "at byte".to_owned(), "look at the URL".to_owned()] {
        assert!(gone.contains(&word), "{gone}");
    }
}

#[test]
fn a_loader_is_dropped_while_the_network_hangs() {
    let folder = tempfile::tempdir().unwrap();
    record_file(&folder.path().join("a.rec"), 0..60, 4);
    let server = Server::start(folder.path());
    let plan = two_lanes(open(&server.url("a.rec")).unwrap());
    // From now on every request is tried again and again.
    server.failing.store(usize::MAX, Ordering::Relaxed);
    let loader = Loader::start(&plan, 0);
    while server.failing.load(Ordering::Relaxed) == usize::MAX {
        thread::yield_now();
    }
    // Returns at once; minutes later if it waited for the last try.
    drop(loader);
}

#[test]
fn the_program_reads_buckets_by_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a1.rec", "a2.rec", "b.rec"] {
        record_file(&folder.path().join(name), 0..20, 4);
    }
    let server = Server::start(folder.path());
    let config = folder.path().join("config.toml");
    let text = "[net]\narchitecture = 'classic'\n[training]\nbatch_size = 100\n[[data]]\npath = 's3://bucket/a*.rec'\n";
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-train"));
    command.args(["bench-data", "--json"]).arg(&config);
    command.env("AWS_ENDPOINT", format!("http://{}", server.address));
    command.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "here");
    command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let local = Source::open(&[folder.path().join("a1.rec"), folder.path().join("a2.rec")], false).unwrap();
    assert_eq!(found["decode"][0]["positions_read"], local.positions());
}
