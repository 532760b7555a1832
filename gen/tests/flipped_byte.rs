//! One changed byte anywhere in a file of many blocks: it is noticed, its place is told within the damaged part, at most
//! that block's games are lost, and all others are read as they were. With `CHUHE_FULL` every byte and many values.

use std::io::Cursor;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use datagen::commands::verify;
use datagen::stats::{self, Keep};
use datagen::validate::{Options, validate};
use nnue_format::record::{GameRecord, HEADER_LEN, Reader, Writer, recover};

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

/// A file's bytes, its parts and its games by part.
struct Whole {
    bytes: Vec<u8>,
    /// Header, plan, each block, footer.
    parts: Vec<Range<u64>>,
    games: Vec<Vec<GameRecord>>,
}

impl Whole {
    fn of(bytes: Vec<u8>) -> Whole {
        let mut reader = Reader::new(Cursor::new(&bytes)).expect("memory can be read");
        let header = HEADER_LEN as u64;
        let mut parts = vec![0..header, header..header + reader.plan().len() as u64];
        let mut games = vec![vec![], vec![]];
        while let Some(block) = reader.next_block() {
            let block = block.expect("a whole block");
            parts.push(block.offset..block.offset + block.head.block_len());
            games.push(block.games().expect("whole games"));
        }
        let end = parts.last().map_or(0, |part| part.end);
        parts.push(end..bytes.len() as u64);
        games.push(vec![]);
        Whole { bytes, parts, games }
    }

    fn all(&self) -> u64 {
        self.games.iter().map(|games| games.len() as u64).sum()
    }

    /// Changes the byte at `at` by `flip` and holds every reader against it.
    fn check(&self, at: usize, flip: u8, folder: Option<&Path>) {
        let place = self.parts.iter().position(|part| part.contains(&(at as u64))).expect("a part");
        let part = &self.parts[place];
        let context = format!("byte {at} ^ {flip:02x}, in {part:?}");
        let mut bytes = self.bytes.clone();
        bytes[at] ^= flip;
        let inside = |offset: u64| part.contains(&offset);

        let mut reader = Reader::new(Cursor::new(&bytes)).expect("memory can be read");
        let verdict = verify::check(&mut reader);
        let offsets: Vec<u64> = verdict.damage.iter().map(|damage| damage.offset).collect();
        assert!(offsets.iter().any(|&offset| inside(offset)), "{context}: {:?}", verdict.damage);
        let kept = self.all() - self.games[place].len() as u64;
        assert_eq!(verdict.games, kept, "{context}: {:?}", verdict.damage);

        let reader = Reader::new(Cursor::new(&bytes)).expect("memory can be read");
        let found: Vec<GameRecord> = reader.games().filter_map(Result::ok).collect();
        let others = self.games.iter().enumerate().filter(|(i, _)| *i != place);
        assert!(found.iter().eq(others.flat_map(|(_, games)| games)), "{context}: the games are others");

        // Where the file can be continued: behind the last whole block before the damage.
        match recover(Cursor::new(&bytes)) {
            Err(error) => assert!(place < 2 && inside(error.offset()), "{context}: {error}"),
            Ok(whole) => {
                assert!(place >= 2 && !whole.finished && whole.damage.is_some(), "{context}: {whole:?}");
                assert_eq!(whole.end, part.start, "{context}");
            }
        }
        if let Some(folder) = folder {
            by_path(&folder.join("flipped.rec"), &bytes, kept, &inside, &context);
        }
    }
}

/// The verbs that take a path.
fn by_path(path: &PathBuf, bytes: &[u8], kept: u64, inside: &dyn Fn(u64) -> bool, context: &str) {
    std::fs::write(path, bytes).expect("written");
    let report = validate(path, &Options::default(), &mut |_| {}).expect("can be read");
    assert!(report.faults.iter().any(|fault| inside(fault.offset)), "{context}: {:?}", report.faults);
    assert_eq!(report.games, kept, "{context}");
    let survey =
        stats::survey(std::slice::from_ref(path), Keep::ForTraining, &mut |_, _| {}).expect("can be read");
    assert!(survey.faults.iter().any(|fault| inside(fault.offset)), "{context}: {:?}", survey.faults);
    assert_eq!(survey.counts.games, kept, "{context}");
}

/// Plays games with next to no search.
fn play(path: &Path, games: &str) {
    let words =
        ["play", "--nodes", "8", "--balance-nodes", "0", "--hash", "1", "--quiet", "--games", games, "--out"];
    let output = Command::new(PROGRAM).args(words).arg(path).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The games of a file written again, so many to a block.
fn in_blocks(path: &Path, games: usize) -> Vec<u8> {
    let reader = Reader::open(path).expect("the file");
    let (header, plan) = (reader.header().expect("a header").clone(), reader.plan().to_vec());
    let records: Vec<GameRecord> = reader.games().map(|game| game.expect("a whole game")).collect();
    let mut writer = Writer::create(Vec::new(), header, &plan).expect("written");
    for block in records.chunks(games) {
        block.iter().for_each(|game| _ = writer.push(game).expect("can be written"));
        writer.end_block().expect("written");
    }
    writer.finish().expect("written").0
}

fn is_full() -> bool {
    std::env::var_os("CHUHE_FULL").is_some()
}

/// Numbers that look like chance.
fn chance(n: usize) -> u64 {
    datagen::seed::game_rng(7, n as u64).below(u64::MAX)
}

#[test]
fn small_blocks_byte_by_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec");
    play(&path, "18");
    let whole = Whole::of(in_blocks(&path, 3));
    assert_eq!(whole.parts.len(), 3 + 6);
    // Every part's first and last bytes, and then every byte or some.
    let edges = whole.parts.iter().flat_map(|part| {
        let (start, end) = (part.start as usize, part.end as usize);
        (start..end.min(start + 9)).chain(end.saturating_sub(9).max(start)..end)
    });
    let edges: Vec<usize> = edges.collect();
    let length = whole.bytes.len();
    let places: Vec<usize> = if is_full() {
        (0..length).collect()
    } else {
        edges.into_iter().chain((0..150).map(|n| chance(n) as usize % length)).collect()
    };
    for (n, &at) in places.iter().enumerate() {
        let folder = (n % 25 == 0).then(|| folder.path());
        whole.check(at, 1 << (chance(at) % 8), folder);
        if is_full() {
            whole.check(at, (chance(at) >> 8) as u8 | 1, None);
        }
    }
}

/// Blocks as `chuhe-gen play` makes them, each of 2^15 plies.
#[test]
fn whole_blocks_at_random_places() {
    let trials = if is_full() { 400 } else { 6 };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec");
    play(&path, if is_full() { "900" } else { "420" });
    let whole = Whole::of(std::fs::read(&path).expect("the file"));
    assert!(whole.parts.len() > 4, "more than one block: {:?}", whole.parts);
    for n in 0..trials {
        let at = chance(1000 + n) as usize % whole.bytes.len();
        whole.check(at, 1 << (n % 8), (n % 100 == 0).then(|| folder.path()));
    }
}
