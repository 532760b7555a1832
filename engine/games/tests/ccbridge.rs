//! CCBridge libraries and records as people have them, and ones made here byte by byte.

mod common;

use common::{Chance, amount, comments, final_fen, index, shared};
use game_files::{FaultKind, GameTree, Outcome, Place, ReadGame, ccbridge};
use serde_json::Value;

#[test]
fn the_public_library_reads_as_expected() {
    let Some(path) = shared("games/bridge/championship_1956_93games.cbl") else { return };
    let games = ccbridge::read(&std::fs::read(path).expect("a file")).expect("a library");
    let Some(expected) = shared("games/bridge/championship_1956_expected.jsonl") else { return };
    let expected = std::fs::read_to_string(expected).expect("a file");
    let expected: Vec<Value> =
        expected.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(games.len(), expected.len());
    for (game, expected) in games.iter().zip(&expected) {
        let number = &expected["game"];
        assert_eq!(game.faults, [], "{number}");
        assert_eq!(Value::from(game.tree.main_line().len()), expected["plies"], "{number}");
        assert_eq!(Value::from(final_fen(game)), expected["final_fen"], "{number}");
        assert_eq!(Value::from(game.tree.outcome.text()), expected["result"], "{number}");
        assert_eq!(Value::from(game.tree.variations() + 1), expected["lines"], "{number}");
    }
    assert_eq!(games[0].tree.tag("Red"), Some("保定邓裕如"));
    assert_eq!(games[0].tree.tag("Date"), Some("1956年12月17日"));
}

#[test]
fn the_public_record_reads_as_its_index_says() {
    for entry in index("games/bridge/").iter().filter(|entry| entry["games"] == 1) {
        let Some(path) = shared(entry["file"].as_str().expect("file")) else { continue };
        let game = ccbridge::read(&std::fs::read(path).expect("a file")).expect("a record").remove(0);
        let moves: Vec<Value> = game.tree.main_line().iter().map(|mv| Value::from(mv.to_string())).collect();
        assert_eq!(Value::from(moves), entry["moves"]);
        assert_eq!((game.faults.len(), comments(&game.tree)), (0, 3));
        assert_eq!(game.tree.tag("Title"), Some("Test"));
    }
}

const START: [&[u8; 9]; 10] = [
    b"\x21\x22\x23\x24\x25\x24\x23\x22\x21",
    b"\0\0\0\0\0\0\0\0\0",
    b"\0\x26\0\0\0\0\0\x26\0",
    b"\x27\0\x27\0\x27\0\x27\0\x27",
    b"\0\0\0\0\0\0\0\0\0",
    b"\0\0\0\0\0\0\0\0\0",
    b"\x17\0\x17\0\x17\0\x17\0\x17",
    b"\0\x16\0\0\0\0\0\x16\0",
    b"\0\0\0\0\0\0\0\0\0",
    b"\x11\x12\x13\x14\x15\x14\x13\x12\x11",
];

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A record of the start position.
fn record(moves: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 2214];
    bytes[..16].copy_from_slice(b"CCBridge Record\0");
    bytes[19] = 2;
    bytes[180..190].copy_from_slice(&utf16("一局 (1)")[..10]);
    bytes[2076] = 2;
    bytes[2112] = 1;
    bytes[2120..2210].copy_from_slice(&START.map(|row| &row[..]).concat());
    bytes.extend(moves);
    bytes
}

/// Squares as file and rank, flags, comment where the flags promise one.
fn step(flags: u8, from: (u8, u8), to: (u8, u8), comment: &str) -> Vec<u8> {
    let square = |(file, rank): (u8, u8)| (9 - rank) * 9 + file;
    let mut bytes = vec![flags, 0, square(from), square(to)];
    if flags & 4 != 0 {
        let text = utf16(comment);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
    }
    bytes
}

fn read_one(bytes: &[u8]) -> ReadGame {
    let mut games = ccbridge::read(bytes).expect("a record");
    assert_eq!(games.len(), 1);
    games.remove(0)
}

/// h2e2 or b2e2; after h2e2, h9g7 or b9c7 with a comment.
fn tree_of_four() -> Vec<u8> {
    let steps = [
        vec![4, 0, 0, 0, 2, 0, 0, 0, b'!', 0],
        step(2, (7, 2), (4, 2), ""),
        step(3, (7, 9), (6, 7), ""),
        step(5, (1, 9), (2, 7), "好\r\n棋"),
        step(1, (1, 2), (4, 2), ""),
    ];
    steps.concat()
}

#[test]
fn trees_and_comments() {
    let game = read_one(&record(&tree_of_four()));
    assert_eq!(game.faults, []);
    let tree = &game.tree;
    assert_eq!((tree.len(), tree.variations(), tree.outcome), (4, 2, Outcome::BlackWins));
    assert_eq!(tree.tag("Title"), Some("一局 (1"));
    assert_eq!(tree.comment(GameTree::ROOT), "!");
    let moves: Vec<String> = (1..=4).filter_map(|node| tree.mv(node)).map(|mv| mv.to_string()).collect();
    assert_eq!(moves, ["h2e2", "h9g7", "b9c7", "b2e2"]);
    assert_eq!((tree.comment(3), tree.parent(3), tree.parent(4)), ("好\n棋", 1, 0));
}

#[test]
fn black_moves_first_where_the_first_move_is_black() {
    let moves = [vec![0; 4], step(1, (7, 9), (6, 7), "")].concat();
    assert_eq!(read_one(&record(&moves)).tree.start().side_to_move(), xiangqi::Color::Black);
    let mut none = record(&[1, 0, 0, 0]);
    none[2112] = 2;
    let game = read_one(&none);
    assert_eq!((game.tree.start().side_to_move(), game.tree.len()), (xiangqi::Color::Black, 0));
}

/// Libraries have records with an introduction: no board, no moves, one comment.
#[test]
fn a_text_without_a_board_is_no_fault() {
    let mut bytes = record(&[vec![5, 0, 0, 0, 2, 0, 0, 0], utf16("序")].concat());
    bytes[2120..2210].fill(0);
    let game = read_one(&bytes);
    assert_eq!((game.faults.len(), game.warnings.len(), game.tree.len()), (0, 1, 0));
    assert_eq!(game.tree.comment(GameTree::ROOT), "序");
}

#[test]
fn broken_records_say_where() {
    let moves = [vec![0; 4], step(2, (0, 0), (1, 5), ""), step(1, (7, 9), (6, 7), "")].concat();
    let illegal = read_one(&record(&moves)).faults.remove(0);
    assert_eq!((illegal.kind, illegal.ply, illegal.place), (FaultKind::Illegal, 1, Place::Byte(2218)));
    let mut bytes = record(&tree_of_four());
    bytes[2120] = 0x18;
    let start = read_one(&bytes).faults.remove(0);
    assert_eq!((start.kind, start.ply, start.place), (FaultKind::Start, 0, Place::Byte(2120)));
    // Zeros where a variation was promised.
    let zeros = [vec![0; 4], step(3, (7, 2), (4, 2), ""), vec![0; 8]].concat();
    assert_eq!(read_one(&record(&zeros)).faults[0].kind, FaultKind::Cut);
    // Zeros end a line that is not closed.
    let open = [vec![0; 4], step(0, (7, 2), (4, 2), ""), vec![0; 8]].concat();
    assert_eq!(read_one(&record(&open)).faults, []);
    for bytes in [&b""[..], b"CCBridge", &[0; 9000]] {
        assert_eq!(ccbridge::read(bytes).expect_err("nothing").place, Place::Byte(0));
    }
}

#[test]
fn cut_anywhere() {
    let whole = record(&tree_of_four());
    for len in 16..whole.len() {
        let game = read_one(&whole[..len]);
        assert!(game.faults.iter().any(|fault| fault.kind == FaultKind::Cut), "{len}");
        assert_eq!(game.main_fault().is_some(), len < 2214 + 10 + 8, "{len}");
    }
}

/// A library of so many slots that holds these records, each from a slot's beginning.
fn library(slots: usize, records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 66_624 + 276 * slots];
    bytes[..16].copy_from_slice(b"CCBridgeLibrary\0");
    bytes[60..64].copy_from_slice(&(slots as u32).to_le_bytes());
    for (i, record) in records.iter().enumerate() {
        bytes[66_624 + 276 * i] = if i == 1 { 5 } else { 7 };
        bytes.extend(record);
        let used = (bytes.len() - 66_624 - 276 * slots) % 4096;
        bytes.extend(vec![0xcd; (4096 - used) % 4096]);
    }
    bytes
}

#[test]
fn libraries_of_any_size() {
    let long = "长".repeat(3000);
    let spanning = [vec![0; 4], step(5, (7, 2), (4, 2), &long)].concat();
    let records = [record(&tree_of_four()), record(&spanning), record(&[1, 0, 0, 0])];
    for slots in [3, 128, 140, 1024] {
        let games = ccbridge::read(&library(slots, &records)).expect("a library");
        let sizes: Vec<usize> = games.iter().map(|game| game.tree.len()).collect();
        assert_eq!(sizes, [4, 1, 0], "{slots}");
        assert!(games.iter().all(|game| game.faults.is_empty()));
        assert_eq!(games[1].tree.comment(1), long);
        let deleted: Vec<usize> = games.iter().map(|game| game.warnings.len()).collect();
        assert_eq!(deleted, [0, 1, 0]);
    }
    // An index of another length than the header says.
    let mut odd = library(5, &records);
    odd[60] = 9;
    assert_eq!(ccbridge::read(&odd).expect("a library").len(), 3);
    assert_eq!(ccbridge::read(&library(5, &[])).expect("an empty library").len(), 0);
    let cut = ccbridge::read(&library(5, &records)[..60_000]).expect_err("no index");
    assert_eq!(cut.place, Place::Byte(60_000));
    // The fault of a game is placed in the file.
    let broken = record(&[[0; 4].to_vec(), step(1, (0, 0), (5, 5), "")].concat());
    let games = ccbridge::read(&library(2, &[records[0].clone(), broken])).expect("a library");
    assert_eq!((games[1].faults[0].game, games[1].faults[0].place), (2, Place::Byte(67_176 + 4096 + 2218)));
}

/// Noise, and records with bytes changed, give a value or an error.
#[test]
fn hostile_bytes() {
    let mut chance = Chance(17);
    let samples = [record(&tree_of_four()), library(2, &[record(&tree_of_four()), record(&tree_of_four())])];
    let mut moves = 0;
    for i in 0..amount(10_000) {
        let mut bytes = samples[i % samples.len()].clone();
        let tail = bytes.len() - bytes.len().min(2000);
        for _ in 0..1 + chance.below(8) {
            let at = if chance.below(2) == 0 {
                tail + chance.below(bytes.len() - tail)
            } else {
                chance.below(bytes.len())
            };
            bytes[at] = chance.next() as u8;
        }
        bytes.truncate(chance.below(3 * bytes.len()));
        for game in ccbridge::read(&bytes).unwrap_or_default() {
            moves += game.tree.len();
            assert!(game.tree.len() <= bytes.len() / 4);
        }
    }
    assert!(moves > 0, "damage never left a move");
}
