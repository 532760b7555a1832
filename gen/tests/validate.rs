//! `chuhe-gen validate`: a good file is good, and every kind of fault is found, at its place.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datagen::validate::{Fault, Kind, Options, Report, validate};
use nnue_format::record::{BLOCK_MARKER, GameRecord, Header, Outcome, Reader, Reason, Writer};
use serde_json::{Value, json};
use xiangqi::Score;

const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-gen");

fn program(words: &[&str], file: &Path, code: i32) -> Output {
    let output = Command::new(PROGRAM).args(words).arg(file).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {stderr}");
    output
}

/// A file as it was played, in a folder of its own.
struct Played {
    folder: tempfile::TempDir,
    path: PathBuf,
    header: Header,
    plan: Vec<u8>,
    games: Vec<GameRecord>,
}

fn play(rest: &str) -> Played {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec");
    let words: Vec<&str> = ["play"].into_iter().chain(rest.split(' ')).chain(["--quiet", "--out"]).collect();
    program(&words, &path, 0);
    let reader = Reader::open(&path).expect("the file");
    let (header, plan) = (reader.header().expect("a header").clone(), reader.plan().to_vec());
    let games = reader.games().map(|game| game.expect("a whole game")).collect();
    Played { folder, path, header, plan, games }
}

/// Adjudications of both kinds, few nodes.
const GAMES: &str = "--games 8 --nodes 60 --balance-nodes 20 --hash 1 --seed 11 --threads 1 --resign-score 400 \
                     --resign-plies 4 --draw-score 30 --draw-plies 4 --draw-from 40 --max-plies 120";

impl Played {
    /// Another file beside it: the same header and plan, these games, two to a block.
    fn with(&self, name: &str, games: &[GameRecord]) -> PathBuf {
        self.with_header(name, self.header.clone(), games)
    }

    fn with_header(&self, name: &str, header: Header, games: &[GameRecord]) -> PathBuf {
        let path = self.folder.path().join(name);
        let file = File::create(&path).expect("created");
        let mut writer = Writer::create(file, header, &self.plan).expect("written");
        for pair in games.chunks(2) {
            for game in pair {
                writer.push(game).expect("can be written");
            }
            writer.end_block().expect("written");
        }
        writer.finish().expect("written");
        path
    }

    /// Changes one game and gives what is found then.
    fn changed(&self, name: &str, index: usize, change: impl FnOnce(&mut GameRecord)) -> Vec<Fault> {
        let mut games = self.games.clone();
        change(&mut games[index]);
        check(&self.with(name, &games)).faults
    }

    /// The first game that ended for this reason.
    fn ended_by(&self, reason: Reason) -> usize {
        self.games.iter().position(|game| game.reason == reason).unwrap_or_else(|| panic!("no {reason}"))
    }
}

fn check(path: &Path) -> Report {
    validate(path, &Options::default(), &mut |_| {}).expect("can be read")
}

/// Exactly this fault, in the block of game `index` (two to a block).
fn one(faults: &[Fault], kind: Kind, game: u64, ply: Option<usize>, text: &str) {
    let [fault] = faults else { panic!("{faults:?}") };
    assert_eq!((fault.kind, fault.game, fault.ply), (kind, Some(game), ply), "{fault:?}");
    assert!(fault.what.contains(text), "{fault:?}");
    assert!(fault.offset > 0);
}

#[test]
fn what_was_played_is_good() {
    let played = play(GAMES);
    let found = check(&played.path);
    assert_eq!((found.faults, found.notes), (vec![], vec![]));
    let plies: usize = played.games.iter().map(GameRecord::len).sum();
    assert_eq!((found.games, found.plies), (8, plies as u64));
    assert_eq!(check(&played.with("b.rec", &played.games)).faults, vec![]);
}

#[test]
fn games_against_the_rules() {
    let played = play(GAMES);
    let index = played.ended_by(Reason::Resignation);
    let number = played.games[index].number;
    let faults = played.changed("outcome.rec", index, |game| game.reason = Reason::Checkmate);
    one(&faults, Kind::Game, number, None, "the judge says the game goes on");
    // A move that leaves the king where it is taken: somewhere in these games there is one.
    let (index, ply, mv) = illegal(&played.games);
    let number = played.games[index].number;
    let faults = played.changed("move.rec", index, |game| {
        let scored = ply - game.opening.len();
        game.plies.truncate(scored + 1);
        game.plies[scored].mv = mv;
    });
    one(&faults, Kind::Game, number, Some(ply), &format!("ply {ply}"));
}

/// A pseudo-legal move that is not legal, and where: game, ply.
fn illegal(games: &[GameRecord]) -> (usize, usize, xiangqi::Move) {
    for (index, game) in games.iter().enumerate() {
        let mut walk = game.positions().expect("a game");
        while let Some(Ok((position, ply))) = walk.next() {
            if ply.scored.is_none() {
                continue;
            }
            let legal = position.legal_moves();
            let all = (0..position.pseudo_legal_count()).filter_map(|rank| position.move_at_rank(rank));
            let enemy = position.king(!position.side_to_move());
            let mut bad = all.filter(|mv| mv.to() != enemy && !legal.iter().any(|found| found == mv));
            if let Some(mv) = bad.next() {
                return (index, ply.number, mv);
            }
        }
    }
    panic!("no illegal move in these games");
}

#[test]
fn scores_that_cannot_be() {
    let played = play(GAMES);
    let game = &played.games[2];
    let (number, ply) = (game.number, game.opening.len() + 3);
    for (score, text) in
        [(25_000, "means nothing"), (31_998, "mates after an odd number"), (31_999, "the game goes on")]
    {
        let faults = played.changed("score.rec", 2, |game| game.plies[3].score = Score(score));
        let score: Vec<Fault> = faults.into_iter().filter(|fault| fault.kind == Kind::Score).collect();
        one(&score, Kind::Score, number, Some(ply), text);
    }
}

#[test]
fn ends_against_the_plan() {
    let played = play(GAMES);
    let resigned = played.ended_by(Reason::Resignation);
    let number = played.games[resigned].number;
    let last = played.games[resigned].len() - 1;
    let faults = played.changed("resigned.rec", resigned, |game| {
        game.plies.last_mut().expect("a ply").score = Score(100);
    });
    one(&faults, Kind::Adjudication, number, Some(last), "lets the game go on");
    let faults = played.changed("other.rec", resigned, |game| {
        game.outcome =
            if game.outcome == Outcome::RedLoses { Outcome::BlackLoses } else { Outcome::RedLoses };
    });
    one(&faults, Kind::Adjudication, number, Some(last), "recorded is");
    // The plan would have ended the game before.
    let faults = played.changed("early.rec", resigned, |game| {
        let side = if game.plies.len() > 8 { 0 } else { panic!("a longer game is needed") };
        for (i, score) in [900, -900, 900, -900].into_iter().enumerate() {
            game.plies[side + i].score = Score(score);
        }
    });
    let ply = played.games[resigned].opening.len() + 3;
    one(&faults, Kind::Adjudication, number, Some(ply), "after this ply");
    // Of an exact number of positions the last game lacks its first scores: its end is not held against the plan.
    let exact = play(&GAMES.replace("--games 8", "--positions 333"));
    assert_eq!(check(&exact.path).faults, vec![]);
}

#[test]
fn numbers_and_counts() {
    let played = play(GAMES);
    let faults = played.changed("number.rec", 5, |game| game.number = 1);
    one(&faults, Kind::Number, 1, None, "second time");
    // The plan asked for eight games.
    let faults = check(&played.with("seven.rec", &played.games[..7])).faults;
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert_eq!((fault.kind, fault.game), (Kind::Plan, None));
    assert!(fault.what.contains("asks for 8 games, the file has 7"), "{fault:?}");
    // A block's head that counts one position too few, with a good checksum.
    let path = played.with("head.rec", &played.games);
    let mut bytes = std::fs::read(&path).expect("the file");
    let at = bytes.windows(8).rposition(|window| window == BLOCK_MARKER).expect("a block");
    bytes[at + 20] ^= 1;
    let end = at + nnue_format::record::BLOCK_HEAD_LEN - 4;
    let crc = crc32c(&bytes[at..end]);
    bytes[end..end + 4].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(&path, bytes).expect("written");
    let faults = check(&path).faults;
    assert!(faults.iter().all(|fault| fault.kind == Kind::Counts), "{faults:?}");
    assert!(
        faults.iter().any(|fault| fault.offset == at as u64 && fault.what.contains("counted")),
        "{faults:?}"
    );
    assert!(faults.iter().any(|fault| fault.what.contains("footer")), "{faults:?}");
}

/// CRC-32C bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[test]
fn bytes_header_and_manifest() {
    let played = play(GAMES);
    let bytes = std::fs::read(&played.path).expect("the file");
    let flipped = played.folder.path().join("flipped.rec");
    let mut changed = bytes.clone();
    let at = changed.len() / 2;
    changed[at] ^= 4;
    std::fs::write(&flipped, changed).expect("written");
    let faults = check(&flipped).faults;
    assert_eq!((faults.len(), faults[0].kind), (1, Kind::Bytes), "{faults:?}");
    let header = Header { seed: played.header.seed + 1, ..played.header.clone() };
    let faults = check(&played.with_header("seed.rec", header, &played.games)).faults;
    assert_eq!((faults.len(), faults[0].kind), (1, Kind::Plan), "{faults:?}");
    assert!(faults[0].what.contains("seed is 12 in the header, 11 by the plan"), "{faults:?}");
    // The manifest beside the file.
    let manifest = played.folder.path().join("a.rec.manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("the manifest");
    for (field, value) in
        [("games", json!(9)), ("sha256", json!("00")), ("bytes", json!(1)), ("seed", json!(2))]
    {
        let mut json: Value = serde_json::from_str(&text).expect("JSON");
        json[field] = value;
        std::fs::write(&manifest, json.to_string()).expect("written");
        let faults = check(&played.path).faults;
        assert_eq!((faults.len(), faults[0].kind), (1, Kind::Manifest), "{faults:?}");
        assert!(faults[0].what.contains(field), "{faults:?}");
    }
    std::fs::write(&manifest, "no JSON").expect("written");
    assert_eq!(check(&played.path).faults[0].kind, Kind::Manifest);
    std::fs::remove_file(&manifest).expect("removed");
    let report = check(&played.path);
    assert_eq!((report.faults.len(), report.notes.len()), (0, 1), "{report:?}");
}

#[test]
fn games_played_again() {
    let played = play(GAMES);
    let words = ["validate", "--json", "--quiet", "--replay", "8", "--search", "20"];
    let found: Value = serde_json::from_slice(&program(&words, &played.path, 0).stdout).expect("JSON");
    let file = &found["files"][0];
    assert_eq!(
        (&found["ok"], &file["replay"]["same"], &file["replay"]["different"]),
        (&json!(true), &json!(8), &json!(0))
    );
    assert_eq!(file["search"]["positions"], 20);
    assert_eq!(file["search"]["other_engine"], Value::Null);
    // One score is another by one centipawn.
    let mut games = played.games.clone();
    let (number, ply) = (games[3].number, games[3].opening.len() + 5);
    games[3].plies[5].score.0 += 1;
    let path = played.with("b.rec", &games);
    let text = program(&["validate", "--quiet", "--replay", "8"], &path, 1);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains(&format!("game {number}, ply {ply}: replay: the score is")), "{text}");
    assert!(text.contains("7 the same"), "{text}");
    // An exact number of positions: the last game is compared as it was cut.
    let exact = play(&GAMES.replace("--games 8", "--positions 333"));
    program(&["validate", "--quiet", "--replay", "100"], &exact.path, 0);
}

/// Positions for either side to move and lines of moves.
const BOOK: &str = "3akab2/9/4b4/p3p3p/9/2P6/P3P3P/2N1B4/9/2BAKA1R1 b - - 0 1\n\
                    2bakab2/9/2n1c4/p1p1p3p/9/2P6/P3P1P1P/1C2B1N2/9/2BAKA3 w - - 0 1\n\
                    rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1\n\
                    h2e2 h9g7 h0g2 i9h9\nb2e2 h7e7\ng3g4\n";

/// Books, random plies, several lines, random moves and every limit but time: what was played is played again. Of an exact
/// number of positions from a book the last game cannot be: where its opening ended is not in the file.
#[test]
fn games_of_books_and_variety_are_played_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = folder.path().join("book.txt");
    std::fs::write(&book, BOOK).expect("written");
    let book = format!(
        "--balance 3000 --balance-nodes 20 --hash 1 --threads 2 --max-plies 80 --book {}",
        book.display()
    );
    let lines = "--multi-pv 3 --multi-pv-margin 80 --multi-pv-plies 30";
    for (rest, left_out) in [
        (
            format!(
                "{book} --games 14 --book-wrap --random-plies 0..3 --nodes 90 --soft-nodes 40 {lines} --random-moves 60"
            ),
            0,
        ),
        (
            format!("{book} --whole-book --depth 2 --random-moves 100 --random-moves-plies 40 --resign-mate"),
            0,
        ),
        (
            format!(
                "{book} --positions 301 --book-wrap --random-plies 1..3 --nodes 50 --book-plies 3 {lines}"
            ),
            1,
        ),
        (
            format!(
                "--positions 301 --random-plies 3 --nodes 50 --hash 1 --threads 2 --max-plies 80 {lines} --random-moves 60"
            ),
            0,
        ),
    ] {
        let played = play(&rest);
        let others = |game: &GameRecord| game.plies.iter().any(|ply| ply.flags.is_not_best());
        assert!(
            played.games.iter().filter(|game| others(game)).count() * 2 > played.games.len(),
            "{rest}: nothing to test"
        );
        let run = program(&["validate", "--json", "--quiet", "--replay", "1000"], &played.path, 0);
        let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let replay = &found["files"][0]["replay"];
        let expected = played.games.len() - left_out;
        assert_eq!((&replay["same"], &replay["different"]), (&json!(expected), &json!(0)), "{rest}");
        // The number decides what chance wants: under another one it is another game.
        let mut games = played.games.clone();
        let index = games.iter().position(others).expect("a game with chance in it");
        games[index].number += 1 << 20;
        let path = played.with("renumbered.rec", &games);
        let run = program(&["validate", "--quiet", "--replay", "1000"], &path, 1);
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(
            text.contains(&format!("game {}", games[index].number)) && text.contains(": replay: "),
            "{rest}: {text}"
        );
    }
}

#[test]
fn what_cannot_be_played_again_is_said() {
    let played = play("--games 1 --nodes 20 --hash 1 --threads 1");
    let header = Header { engine_signature: 1, ..played.header.clone() };
    let mut plan = datagen::plan::Plan::from_bytes(&played.plan).expect("a plan");
    plan.engine_signature = 1;
    let other = Played { plan: plan.to_bytes().expect("bytes"), ..played };
    let path = other.with_header("other.rec", header.clone(), &other.games);
    let refused = program(&["validate", "--quiet", "--replay", "1"], &path, 2);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("--replay is not possible") && text.contains("signature 1"), "{text}");
    // Searching is possible, and what it is worth is said.
    let run = program(&["validate", "--quiet", "--json", "--search", "3"], &path, 1);
    let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert!(
        found["files"][0]["search"]["other_engine"].as_str().is_some_and(|why| why.contains("signature 1"))
    );
    let none = Played { plan: b"another plan".to_vec(), ..other };
    let path = none.with_header("none.rec", header, &none.games);
    let refused = program(&["validate", "--quiet", "--replay", "1"], &path, 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not one of self-play"), "{refused:?}");
    let refused = program(&["validate", "--quiet", "--search", "1"], &path, 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("give --nodes"), "{refused:?}");
    program(&["validate", "--quiet", "--search", "1", "--nodes", "10"], &path, 0);
    let timed = play("--games 1 --movetime 1 --hash 1 --threads 1 --max-plies 20");
    let refused = program(&["validate", "--quiet", "--replay", "1"], &timed.path, 2);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("--replay is not possible") && text.contains("--movetime"), "{text}");
}
