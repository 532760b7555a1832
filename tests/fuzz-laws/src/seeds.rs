//! Inputs to begin from, made from the vectors in `tests/data`: a few hundred small ones, not kept as files.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use datagen::derived::{DERIVED_PLAN_VERSION, DerivedPlan};
use nnue_format::record::{GameRecord, Header, Outcome, PlyFlags, PlyRecord, Reason, Start, Writer};
use serde_json::Value;
use xiangqi::judge::RuleSet;
use xiangqi::{Position, Score};

/// One input: the name of its target and its bytes.
pub type Seed = (&'static str, Vec<u8>);

/// Root of the checkout.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

fn vectors(name: &str) -> Result<Value> {
    let path = root().join("tests/data/vectors").join(name);
    let told = |error: &dyn std::fmt::Display| Error::other(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| told(&error))?;
    serde_json::from_str(&text).map_err(|error| told(&error))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or("")
}

/// All of them.
///
/// # Errors
/// A vector file that is missing or no JSON, named.
pub fn seeds() -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for case in list(&vectors("fen.json")?) {
        seeds.push(("fen", text(case, "input").as_bytes().to_vec()));
    }
    for file in ["perft.json", "game_end.json", "repetition_random.json", "repetition_competition_rules.json"]
    {
        for case in list(&vectors(file)?) {
            seeds.push(("moves", moves(case)));
        }
    }
    seeds.extend(notations(&vectors("notation.json")?));
    for (target, folder) in FOLDERS {
        seeds.extend(files(&root().join(folder))?.into_iter().map(|bytes| (*target, bytes)));
    }
    for case in list(&vectors("pgn_robust.json")?) {
        seeds.push(("pgn", text(case, "text").as_bytes().to_vec()));
    }
    seeds.extend(LISTS.iter().map(|list| ("games", list.as_bytes().to_vec())));
    seeds.extend(records()?.into_iter().map(|bytes| ("record", bytes)));
    seeds.extend(SESSIONS.iter().map(|lines| ("uci", lines.as_bytes().to_vec())));
    Ok(seeds)
}

/// Record files of a few short games: in one block, in a block each, without a footer, and from a FEN.
fn records() -> Result<Vec<Vec<u8>>> {
    let games: Vec<GameRecord> = (0..3).map(game).collect();
    let header = Header {
        rules: RuleSet::ALL[0],
        seed: 1,
        engine_signature: 2,
        run_id: [3; 16],
        net_id: [4; 32],
        plan_len: 0,
        plan_crc: 0,
    };
    let file = |plan: &[u8], alone: bool| {
        let mut writer = Writer::create(Vec::new(), header.clone(), plan).map_err(Error::other)?;
        for game in &games {
            writer.push(game).map_err(Error::other)?;
            if alone {
                writer.end_block().map_err(Error::other)?;
            }
        }
        Ok::<_, Error>(writer.finish().map_err(Error::other)?.0)
    };
    let plan = DerivedPlan {
        version: DERIVED_PLAN_VERSION,
        verb: "filter".to_owned(),
        settings: vec![("checks".to_owned(), "true".to_owned())],
        inputs: Vec::new(),
        rules: RuleSet::ALL[0].to_string(),
    };
    let plan = plan.to_bytes().map_err(Error::other)?;
    let (together, alone) = (file(&plan, false)?, file(b"", true)?);
    let unfinished = alone[..alone.len() - 30].to_vec();
    Ok(vec![together, alone, unfinished])
}

/// A game of some plies, each the legal move that a number takes.
fn game(number: u64) -> GameRecord {
    let fen = (number == 2).then(|| "3k5/9/9/9/9/9/9/9/R8/1R3K3 w - - 0 1".to_owned());
    let start = fen.map_or(Start::Standard, Start::Fen);
    let mut position = start.position().unwrap_or_else(|_| Position::start());
    let (mut opening, mut plies) = (Vec::new(), Vec::new());
    for ply in 0..9 {
        let moves = position.legal_moves();
        let Some(&mv) = moves.get((7 * ply + number as usize) % moves.len().max(1)) else { break };
        position.make(mv);
        if ply < 2 {
            opening.push(mv);
        } else {
            let score = Score([30, -500, 31_997, -31_998, 20_000, 0, -30_991][ply - 2]);
            let flags = PlyFlags::from_bits(ply % 3 == 0, ply % 4 == 3);
            plies.push(PlyRecord { mv, score, flags });
        }
    }
    let (outcome, reason, rules) = (Outcome::Draw, Reason::PlyLimit, RuleSet::ALL[0]);
    GameRecord { number, start, opening, plies, outcome, reason, rules }
}

/// Folders of small files that are seeds as they are.
const FOLDERS: &[(&str, &str)] = &[
    ("dhtmlxq", "tests/data/games/dhtmlxq"),
    ("exchange", "tests/data/exchange"),
    ("games", "tests/data/games/dhtmlxq"),
    ("games", "tests/data/games/xqf"),
    ("net", "nnue-format/tests/golden"),
    ("record", "nnue-format/tests/golden"),
    ("xqf", "tests/data/games/xqf"),
];
/// Longer files are no good seeds.
const LONGEST_SEED: usize = 20_000;

fn files(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    let read: Result<Vec<Vec<u8>>> = paths.iter().map(std::fs::read).collect();
    Ok(read?.into_iter().filter(|bytes| bytes.len() <= LONGEST_SEED).collect())
}

/// Formats of which there is no file in the folders.
const LISTS: &[&str] = &[
    "4C4/4a4/b2ank2b/9/9/1RNR1crC1/3r1p3/3cKA3/4A4/4n4 w - - id \"pj1\"; dm 3;\n\
     rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b - - 2 2\n",
    "h2e2 h9g7 h0g2 i9h9\nb2e2 b9c7\n",
    "{\"fen\":\"4k4/9/9/9/9/9/9/9/4R4/3K5 w\",\"moves\":[\"e1e2\"],\"result\":\"red_wins\"}\n",
    "[Game \"Chinese Chess\"]\n\n1. 炮二平五 马8进7 (1... 马2进3) 2. 马二进三 {x} 车9平8 1-0\n",
];

const SESSIONS: &[&str] = &[
    "uci\nsetoption name Threads value 2\nsetoption name MultiPV value 3\nisready\nucinewgame\n\
     position startpos moves h2e2 h9g7\ngo depth 3\ngo infinite\nstop\nponderhit\nd\neval\nflip\n",
    "position fen 3ak4/4a4/2R6/9/2R6/9/9/4B4/4A4/3AK1B2 w - - 0 1 moves c5c4\n\
     go wtime 1000 btime 1000 winc 10 binc 10 movestogo 5\ngo searchmoves d9d8 ponder\nperft 2\n\
     go perft 1\ngo mate 2\ngo movetime 5\nsetoption name Clear Hash\nsetoption name Move Overhead value 3\n",
    "setoption name Repetition Rule value ComputerRule\nsetoption name Backend value scalar\nsetoption name Ponder \
     value true\nposition startpos moves b0c2 b9c7 c2b0 c7b9 b0c2 b9c7 c2b0 c7b9\ngo nodes 100\n",
    "ucicyclone\nstartpos moves h2e2\ngo movetime 10\nfen 4k4/9/9/9/9/9/9/9/4R4/3K5 w\ngo depth 2\nhelp\ndebug on\n",
    "ucci\nsetoption usemillisec true\nsetoption hashsize 2\nsetoption newgame\nsetoption batch true\nisready\n\
     position startpos moves h2e2 h9g7\nbanmoves b0c2 h0g2\ngo time 100 increment 0\ngo ponder time 50\n\
     ponderhit draw\nprobe startpos moves h2e2\ngo depth 0\ngo draw nodes 50\nsetoption randomness huge\nstop\n",
];

/// A FEN line and the moves as raw ones.
fn moves(case: &Value) -> Vec<u8> {
    let mut bytes = format!("{}\n", text(case, "fen")).into_bytes();
    for mv in list(&case["moves"]).iter().filter_map(|mv| mv.as_str()?.parse::<xiangqi::Move>().ok()) {
        bytes.push(crate::moves::RAW);
        bytes.extend(mv.bits().to_le_bytes());
    }
    bytes
}

/// One seed a position: its FEN and every text that the cases of it have.
fn notations(vectors: &Value) -> Vec<Seed> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    for case in list(&vectors["moves"]).iter().chain(list(&vectors["reject"])) {
        let fen = text(case, "fen");
        if texts.last().is_none_or(|last| last.0 != fen) {
            texts.push((fen, format!("{fen}\n")));
        }
        let fields = ["uci", "iccs", "chinese", "wxf", "text"].map(|field| text(case, field));
        let also = list(&case["also"]).iter().filter_map(Value::as_str);
        if let Some((_, seed)) = texts.last_mut() {
            seed.extend(fields.into_iter().chain(also).map(|line| format!("{line}\n")));
        }
    }
    texts.into_iter().map(|(_, seed)| ("notation", seed.into_bytes())).collect()
}
