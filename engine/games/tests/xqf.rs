//! XQF files as people have them, damaged ones, and ones written here.

mod common;

use common::{Chance, amount, comments, final_fen, index, own, random_tree, same, shared};
use game_files::{FaultKind, GameTree, Outcome, Place, ReadGame, xqf};
use xiangqi::Position;

fn read_one(bytes: &[u8]) -> ReadGame {
    let mut games = xqf::read(bytes).expect("an XQF file");
    assert_eq!(games.len(), 1);
    games.remove(0)
}

/// The index counts what stands in the file, trees hold legal moves only: a side line of this file breaks, and
/// eleven moves, one of them with a comment, stand behind the break.
const BROKEN_SIDE_LINE: (&str, usize, usize) = ("games/xqf/wildhouse.xqf", 11, 1);

#[test]
fn every_public_file_reads_as_its_index_says() {
    for entry in index("games/xqf/") {
        let file = entry["file"].as_str().expect("file");
        let Some(path) = shared(file) else { continue };
        let game = read_one(&std::fs::read(path).expect("a file"));
        let plies = |field: &str| entry[field].as_u64().expect(field) as usize;
        assert_eq!(game.tree.start().fen(), entry["start"].as_str().expect("start"), "{file}");
        assert_eq!(game.tree.main_line().len(), plies("legal_plies"), "{file}");
        assert_eq!(final_fen(&game), entry["final_fen"].as_str().expect("final_fen"), "{file}");
        assert_eq!(game.tree.outcome.text(), entry["header_result"].as_str().expect("result"), "{file}");
        assert_eq!(
            game.tree.tag("Title").unwrap_or_default(),
            entry["title"].as_str().expect("title"),
            "{file}"
        );
        let (side_moves, side_comments) =
            if file == BROKEN_SIDE_LINE.0 { (BROKEN_SIDE_LINE.1, BROKEN_SIDE_LINE.2) } else { (0, 0) };
        assert_eq!(comments(&game.tree) + side_comments, plies("comments"), "{file}");
        assert_eq!(game.tree.variations(), plies("variations"), "{file}");
        let fault = game.main_fault();
        let lost = match &entry["first_illegal"] {
            serde_json::Value::Null => 0,
            illegal => {
                let fault = fault.expect(file);
                assert_eq!(fault.kind, FaultKind::Illegal);
                assert_eq!(fault.ply as u64, illegal["ply"].as_u64().expect("ply"), "{file}");
                assert_eq!(fault.found, illegal["move"].as_str().expect("move"), "{file}");
                1
            }
        };
        assert_eq!(game.tree.len() + lost + side_moves, plies("nodes"), "{file}");
        let side_faults = game.faults.iter().filter(|fault| fault.variation > 0).count();
        assert_eq!(game.warnings.len(), 0, "{file}");
        assert_eq!(side_faults, usize::from(side_moves > 0), "{file}: {:?}", game.faults);
        if entry["note"].as_str().is_some_and(|note| note.contains("cut")) {
            assert_eq!(fault.expect(file).kind, FaultKind::Cut);
        } else {
            assert_eq!(fault.is_some(), lost > 0, "{file}");
        }
    }
}

fn board_byte(file: u8, rank: u8) -> u8 {
    10 * file + rank
}

/// A plain header with the start position, as the published description has it.
fn header() -> Vec<u8> {
    let mut bytes = xqf::write(&GameTree::new(Position::start()));
    bytes.truncate(0x400);
    bytes
}

/// A plain record: squares as file and rank, flags, comment.
fn record(from: (u8, u8), to: (u8, u8), flags: u8, comment: &[u8]) -> Vec<u8> {
    let mut bytes = vec![board_byte(from.0, from.1) + 0x18, board_byte(to.0, to.1) + 0x20, flags, 0];
    bytes.extend((comment.len() as u32).to_le_bytes());
    bytes.extend(comment);
    bytes
}

/// The example of the published description of version 10, as far as its fourth move.
#[test]
fn the_published_example_is_read_and_written() {
    let mut bytes = header();
    bytes[0x50..0x61]
        .copy_from_slice(b"\x10\xcf\xc9\xc8\xcb\xd6\xb8\xc2\xb7\xb6\xd4\xc6\xf0\xc2\xed\xbe\xd6");
    bytes[0x33] = 2;
    bytes.extend([0x18, 0x20, 0xf0, 0xff, 0, 0, 0, 0, 0x2f, 0x38, 0xf0, 0, 0, 0, 0, 0]);
    bytes.extend([0x67, 0x63, 0xf0, 0, 0, 0, 0, 0, 0x57, 0x60, 0, 0, 0, 0, 0, 0]);
    let game = read_one(&bytes);
    assert_eq!(game.faults, []);
    let moves: Vec<String> = game.tree.main_line().iter().map(ToString::to_string).collect();
    assert_eq!(moves, ["c3c4", "h9g7", "g3g4"]);
    assert_eq!(game.tree.tag("title"), Some("仙人指路对起马局"));
    assert_eq!(game.tree.outcome, Outcome::BlackWins);
    assert_eq!(xqf::write(&game.tree), bytes);
}

#[test]
fn black_moves_first_where_the_first_move_is_black() {
    let mut bytes = header();
    bytes.extend(record((0, 0), (0, 0), 0xf0, b""));
    bytes.extend(record((7, 9), (6, 7), 0, b""));
    let game = read_one(&bytes);
    assert_eq!(game.tree.start().side_to_move(), xiangqi::Color::Black);
    assert_eq!((game.faults.len(), game.tree.len()), (0, 1));
}

#[test]
fn a_header_alone_is_a_game_without_moves() {
    let game = read_one(&header());
    assert_eq!((game.faults.len(), game.tree.len()), (0, 0));
    assert_eq!(game.tree.start(), &Position::start());
    let mut black = header();
    black[0x32] = 1;
    assert_eq!(read_one(&black).tree.start().side_to_move(), xiangqi::Color::Black);
}

#[test]
fn what_is_no_header_is_refused() {
    for bytes in [&b""[..], b"XQ", &[0; 2000], &header()[..1023]] {
        let error = xqf::read(bytes).expect_err("no header");
        assert_eq!(error.place, Place::Byte(0));
        assert!(error.expected.contains("XQ"), "{error}");
    }
}

#[test]
fn a_board_that_is_no_position_is_a_fault_of_the_start() {
    let mut bytes = header();
    bytes[0x10 + 4] = 0xff;
    let game = read_one(&bytes);
    let fault = game.main_fault().expect("no red king");
    assert_eq!((fault.kind, fault.ply, fault.place), (FaultKind::Start, 0, Place::Byte(0x10)));
    assert!(fault.why.contains("kings"), "{fault}");
}

#[test]
fn keys_that_do_not_add_up_and_later_versions_are_told() {
    let mut bytes = header();
    bytes[2] = 19;
    bytes[12] = 1;
    assert_eq!(read_one(&bytes).warnings.len(), 2);
    assert_eq!(read_one(&header()).warnings.len(), 0);
}

#[test]
fn handicap_games_begin_without_the_piece() {
    let mut bytes = header();
    bytes[0x10 + 1] = 0xff;
    let fen = read_one(&bytes).tree.start().fen();
    assert!(fen.starts_with("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKAB1R w"), "{fen}");
}

/// h2e2 {first} | h9g7 | illegal a0b5 with an alternative, a variation at ply 1 that breaks at its second.
#[test]
fn a_broken_line_costs_itself_alone() {
    let mut bytes = header();
    bytes.extend(record((0, 0), (0, 0), 0xf0, b""));
    bytes.extend(record((7, 2), (4, 2), 0xff, b"\xd6\xd0\r\n\xc5\xda"));
    bytes.extend(record((7, 9), (6, 7), 0xf0, b""));
    let broken = bytes.len();
    bytes.extend(record((0, 0), (1, 5), 0x0f, b""));
    bytes.extend(record((7, 0), (6, 2), 0, b""));
    bytes.extend(record((1, 2), (4, 2), 0xf0, b""));
    let odd = bytes.len();
    bytes.extend(record((8, 9), (8, 9), 0, b""));
    let game = read_one(&bytes);
    // An alternative to the main line's broken move has no place.
    assert_eq!(game.tree.main_line().len(), 2);
    assert_eq!((game.tree.len(), game.tree.variations()), (3, 1));
    assert_eq!(game.tree.comment(1), "中\n炮");
    let facts: Vec<_> = game.faults.iter().map(|f| (f.kind, f.variation, f.ply, f.place)).collect();
    let expected =
        [(FaultKind::Illegal, 0, 3, Place::Byte(broken)), (FaultKind::Unreadable, 2, 2, Place::Byte(odd))];
    assert_eq!(facts, expected);
}

/// Cut anywhere, a file gives the moves that are whole, and says that it is cut unless nothing is missing.
#[test]
fn cut_anywhere() {
    let whole = own("xqf/synthetic_v10.xqf");
    let expected = read_one(&whole).tree.main_line();
    for len in 0x400..whole.len() {
        let game = read_one(&whole[..len]);
        let moves = game.tree.main_line();
        assert_eq!(moves, expected[..moves.len()]);
        assert_eq!(moves.len(), (len.saturating_sub(0x408)) / 8);
        let fault = game.main_fault();
        assert_eq!(fault.is_none(), len == 0x400, "{len}");
        assert!(fault.is_none_or(|fault| fault.kind == FaultKind::Cut && fault.ply == moves.len() + 1));
    }
}

/// A file that is cut behind its whole main line lacks something all the same.
#[test]
fn a_cut_side_line_is_an_error_of_the_game() {
    let start = record((0, 0), (0, 0), 0xf0, b"");
    let bytes =
        [header(), start, record((7, 2), (4, 2), 0x0f, b""), record((1, 2), (4, 2), 0xf0, b"")].concat();
    let game = read_one(&bytes);
    assert_eq!((game.tree.main_line().len(), game.tree.len(), game.main_fault()), (1, 2, None));
    let cut = game.error().expect("a cut file");
    assert_eq!((cut.kind, cut.variation, cut.ply), (FaultKind::Cut, 1, 2));
}

#[test]
fn a_comment_longer_than_the_file_is_a_cut() {
    let mut bytes = header();
    bytes.extend(record((0, 0), (0, 0), 0xf0, b""));
    bytes.extend(record((7, 2), (4, 2), 0xf0, b"abc"));
    let at = bytes.len() - 7;
    bytes[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    let game = read_one(&bytes);
    assert_eq!(game.tree.len(), 1);
    assert_eq!(game.main_fault().expect("cut").kind, FaultKind::Cut);
    let start = [header(), record((0, 0), (0, 0), 0xf0, b"abc")].concat();
    let game = read_one(&start[..start.len() - 1]);
    assert_eq!((game.tree.len(), game.main_fault().expect("cut").kind), (0, FaultKind::Cut));
}

#[test]
fn texts_are_cut_between_characters() {
    let mut game = GameTree::new(Position::start());
    game.tags =
        vec![("Red".to_owned(), "一二三四五六七八九".to_owned()), ("Title".to_owned(), "𠮷x".repeat(30))];
    let back = read_one(&xqf::write(&game)).tree;
    assert_eq!(back.tag("Red"), Some("一二三四五六七"));
    assert_eq!(back.tag("Title"), Some("𠮷x".repeat(12).as_str()));
    // Another program cuts at byte 15, inside the eighth character.
    let mut bytes = header();
    bytes[0x130] = 15;
    bytes[0x131..0x140].copy_from_slice(b"\xd6\xd0\xd6\xd0\xd6\xd0\xd6\xd0\xd6\xd0\xd6\xd0\xd6\xd0\xd6");
    assert_eq!(read_one(&bytes).tree.tag("Red"), Some("中中中中中中中"));
}

#[test]
fn written_trees_come_back() {
    let mut chance = Chance(7);
    let starts =
        [xiangqi::fen::START, "4k4/9/9/9/9/9/4P4/9/9/3AKA2r b - - 0 1", "3k5/9/9/9/9/9/9/9/R8/4K4 w - - 3 9"];
    for i in 0..amount(600) {
        let start = Position::from_fen(starts[i % starts.len()]).expect("a position");
        let tree = random_tree(&mut chance, start, 60);
        let back = read_one(&xqf::write(&tree));
        assert_eq!(back.faults, []);
        assert!(same(&tree, &back.tree), "{:?}", tree.main_line());
    }
}

/// A plain file as a later version has it, hidden behind these keys: XQStudio's own steps, a second time.
fn keyed(plain: &[u8], version: u8, mask: u8, ors: [u8; 4], keys: [u8; 3]) -> Vec<u8> {
    let sum = 0u8.wrapping_sub(keys[0]).wrapping_sub(keys[1]).wrapping_sub(keys[2]);
    let mix = |key: u8, by: u8| {
        let key = u32::from(key);
        ((((((key * key) * 3 + 9) * 3 + 8) * 2 + 1) * 3 + 8) * u32::from(by)) as u8
    };
    let board = mix(keys[0], keys[0]);
    let from = mix(keys[1], board);
    let to = mix(keys[2], from);
    let comment = (u32::from(sum) * 256 + u32::from(keys[0])) % 32_000 + 767;
    let mut out = plain[..0x400].to_vec();
    out[2] = version;
    out[3] = mask;
    out[8..12].copy_from_slice(&ors);
    out[12..16].copy_from_slice(&[sum, keys[0], keys[1], keys[2]]);
    for i in 0..32 {
        let from = if version >= 12 { (i + usize::from(board) + 1) % 32 } else { i };
        out[0x10 + i] = plain[0x10 + from].wrapping_add(board);
    }
    let mut at = 0x400;
    while let Some(&[x, y, flags, unused, a, b, c, d]) = plain.get(at..at + 8) {
        let len = u32::from_le_bytes([a, b, c, d]);
        let followed = if flags & 0xf0 != 0 { 0x80 } else { 0 };
        let alternative = if flags & 0x0f != 0 { 0x40 } else { 0 };
        let has_comment = if len > 0 { 0x20 } else { 0 };
        let flags = followed | alternative | has_comment | (flags & 0x1f & sum);
        out.extend([x.wrapping_add(from), y.wrapping_add(to), flags, unused]);
        if len > 0 {
            out.extend((len + comment).to_le_bytes());
            out.extend(&plain[at + 8..at + 8 + len as usize]);
        }
        at += 8 + len as usize;
    }
    let stream = b"[(C) Copyright Mr. Dong Shiwei.]";
    let bytes = [sum, keys[0], keys[1], keys[2]];
    for (i, byte) in out.iter_mut().enumerate().skip(0x400) {
        *byte = byte.wrapping_add(stream[i % 32] & (bytes[i % 4] & mask | ors[i % 4]));
    }
    out
}

#[test]
fn every_version_and_any_keys() {
    let mut chance = Chance(19);
    let starts = [xiangqi::fen::START, "4k4/9/9/9/9/9/4P4/9/9/3AKA2r b - - 0 1"];
    for i in 0..amount(1000) {
        let start = Position::from_fen(starts[i % starts.len()]).expect("a position");
        let mut tree = random_tree(&mut chance, start, 40);
        tree.tags = vec![("Title".to_owned(), "七星聚会".to_owned())];
        let mut byte = || chance.next() as u8;
        let (version, mask) = ([11, 12, 15, 16, 17, 18][i % 6], byte());
        let (ors, keys) = (std::array::from_fn(|_| byte()), std::array::from_fn(|_| byte()));
        let back = read_one(&keyed(&xqf::write(&tree), version, mask, ors, keys));
        assert_eq!((back.faults.len(), back.warnings.len()), (0, 0), "{version} {mask} {ors:?} {keys:?}");
        assert!(same(&tree, &back.tree), "{version} {mask} {ors:?} {keys:?}");
        assert_eq!(tree.tags, back.tree.tags);
    }
}

#[test]
fn public_trees_come_back() {
    for entry in index("games/xqf/") {
        let Some(path) = shared(entry["file"].as_str().expect("file")) else { continue };
        let tree = read_one(&std::fs::read(path).expect("a file")).tree;
        let back = read_one(&xqf::write(&tree));
        assert_eq!(back.faults, []);
        assert!(same(&tree, &back.tree));
        assert_eq!(tree.tags, back.tree.tags);
        assert_eq!(tree.outcome, back.tree.outcome);
    }
}

/// A million plies in one line, written and read without a stack as deep.
#[test]
fn deep_trees_need_no_deep_stack() {
    let mut tree = GameTree::new(Position::start());
    let mut node = GameTree::ROOT;
    for i in 0..amount(1_000_000) {
        let text = ["a0a1", "a9a8", "a1a0", "a8a9"][i % 4];
        node = tree.append(node, text.parse().expect("a move"));
        if i % 4 == 0 {
            tree.append(tree.parent(node), "a0a2".parse().expect("a move"));
        }
    }
    let back = read_one(&xqf::write(&tree));
    assert_eq!(back.faults, []);
    assert_eq!((back.tree.len(), back.tree.variations()), (tree.len(), tree.variations()));
}

/// Noise, and real files with bytes changed, give a value or an error.
#[test]
fn hostile_bytes() {
    let mut chance = Chance(11);
    let samples = [own("xqf/synthetic_v10.xqf"), own("xqf/synthetic_v10_truncated.xqf")];
    let mut moves = 0;
    for i in 0..amount(20_000) {
        let mut bytes = samples[i % samples.len()].clone();
        if i % 3 == 0 {
            // Any version, any keys: the records are noise then.
            bytes[2] = chance.next() as u8;
            bytes[3..16].fill_with(|| chance.next() as u8);
        }
        for _ in 0..1 + chance.below(8) {
            let from = if i % 2 == 0 { 0x400 } else { 2 };
            let at = from + chance.below(bytes.len() - from);
            bytes[at] = chance.next() as u8;
        }
        bytes.truncate(chance.below(2 * bytes.len()).max(0x400));
        let game = read_one(&bytes);
        moves += game.tree.len();
        assert!(game.tree.len() <= bytes.len() / 4);
        let back = read_one(&xqf::write(&game.tree));
        assert!(same(&game.tree, &back.tree));
    }
    assert!(moves > 0, "damage never left a move");
}
