//! DhtmlXQ texts and pages as people have them, damaged ones, and ones written here.

mod common;

use std::time::{Duration, Instant};

use common::{Chance, amount, comments, final_fen, index, own, random_tree, same, shared};
use game_files::{FaultKind, GameTree, Outcome, Place, ReadGame, dhtmlxq};
use xiangqi::{Color, Position};

fn read_one(text: &str) -> ReadGame {
    let mut games = dhtmlxq::read(text.as_bytes()).expect("a game");
    assert_eq!(games.len(), 1, "{text}");
    games.remove(0)
}

fn moves(game: &ReadGame) -> String {
    let moves: Vec<String> = game.tree.main_line().iter().map(ToString::to_string).collect();
    moves.join(" ")
}

/// Kind, variation, ply and place of each fault.
fn facts(game: &ReadGame) -> Vec<(FaultKind, usize, usize, Place)> {
    game.faults.iter().map(|f| (f.kind, f.variation, f.ply, f.place)).collect()
}

/// The index counts what stands in the file; a tree holds legal moves only. In this file the sixth move of one
/// variation is not, and three stand behind it.
const BROKEN_SIDE_LINE: (&str, usize) = ("games/dhtmlxq/opening_tree_stripped.txt", 4);

/// The largest file has 1,446 variations and half a megabyte; read in 0.1 s of a 2020s core.
const LONGEST_READ: Duration = Duration::from_secs(2);

#[test]
fn every_public_file_reads_as_its_index_says() {
    for entry in index("games/dhtmlxq/") {
        let file = entry["file"].as_str().expect("file");
        let Some(path) = shared(file) else { continue };
        let bytes = std::fs::read(path).expect("a file");
        let begin = Instant::now();
        let mut games = dhtmlxq::read(&bytes).expect(file);
        assert!(begin.elapsed() < LONGEST_READ, "{file}: {:?}", begin.elapsed());
        assert_eq!(games.len() as u64, entry["games"].as_u64().unwrap_or(1), "{file}");
        let game = games.remove(0);
        let number = |field: &str| entry[field].as_u64().expect(field) as usize;
        assert_eq!(game.tree.start().fen(), entry["start"].as_str().expect("start"), "{file}");
        assert_eq!(game.tree.main_line().len(), number("main_plies"), "{file}");
        assert_eq!(final_fen(&game), entry["main_final_fen"].as_str().expect("fen"), "{file}");
        assert_eq!(game.tree.variations(), number("variations"), "{file}");
        let lost = if file == BROKEN_SIDE_LINE.0 { BROKEN_SIDE_LINE.1 } else { 0 };
        assert_eq!(game.tree.len() + lost, number("nodes"), "{file}");
        let bad = entry["bad"].as_array().expect("bad");
        // The index counts plies from 0.
        let bad: Vec<_> =
            bad.iter().map(|bad| (bad[0].as_u64(), bad[1].as_u64().map(|ply| ply + 1))).collect();
        let found = game.faults.iter().map(|f| (Some(f.variation as u64), Some(f.ply as u64)));
        assert_eq!(found.collect::<Vec<_>>(), bad, "{file}");
        assert_eq!(game.faults.len(), number("variations") - number("variations_legal"), "{file}");
        let back = dhtmlxq::read(dhtmlxq::write(&game.tree).as_bytes()).expect("written here").remove(0);
        assert_eq!(back.faults, []);
        assert!(same(&game.tree, &back.tree), "{file}");
    }
}

/// The same files that may be kept with the tests.
#[test]
fn kept_files_read_whole() {
    let pages = [
        ("page_116.html", 85),
        ("page_125.html", 81),
        ("page_133.html", 125),
        ("page_138.html", 45),
        ("page_44.html", 127),
        ("page_45.html", 76),
        ("page_65.html", 73),
        ("page_69.html", 120),
        ("page_80.html", 43),
        ("page_85.html", 95),
    ];
    let others = [("game_variations.ubb", 9), ("seven_stars_stripped.txt", 85)];
    for (name, plies) in pages.into_iter().chain(others) {
        let games = dhtmlxq::read(&own(&format!("dhtmlxq/{name}"))).expect(name);
        assert_eq!((games.len(), games[0].tree.main_line().len()), (1, plies), "{name}");
        assert_eq!(games[0].faults, [], "{name}");
    }
    let page = &dhtmlxq::read(&own("dhtmlxq/page_45.html")).expect("a game")[0].tree;
    assert_eq!(page.tag("Red"), Some("LIU DianZhong"));
    assert_eq!(page.tag("BlackTeam"), Some("China-Hubei"));
    assert_eq!(page.outcome, Outcome::RedWins);
}

#[test]
fn variations_branch_off_where_they_say() {
    let game = read_one(
        "[DhtmlXQ_movelist]7747706279678070[/DhtmlXQ_movelist]
         [DhtmlXQ_move_2_4_3]8081[/DhtmlXQ_move_2_4_3]
         [DhtmlXQ_move_0_2_1]1022 7967 1927[/DhtmlXQ_move_0_2_1]
         [DhtmlXQ_move_1_3_2]1927[/DhtmlXQ_move_1_3_2]
         [DhtmlXQ_comment0]start[/DhtmlXQ_comment0][DhtmlXQ_comment1]one||two[/DhtmlXQ_comment1]
         [DhtmlXQ_comment1_2]\\u4e2d[/DhtmlXQ_comment1_2][DhtmlXQ_comment_2_3]three[/DhtmlXQ_comment_2_3]",
    );
    assert_eq!(moves(&game), "h2e2 h9g7 h0g2 i9h9");
    let tree = &game.tree;
    // The third move of variation 1 is the other side's; nothing branches off behind it.
    assert_eq!(facts(&game), [(FaultKind::Illegal, 1, 4, Place::Line(3))]);
    let first = tree.children(GameTree::ROOT)[0];
    let [_, one] = tree.children(first)[..] else { panic!("no variation at ply 2") };
    let [_, two] = tree.children(one)[..] else { panic!("no variation at ply 3") };
    let three = tree.children(two)[0];
    assert_eq!(tree.mv(three).expect("a move").to_string(), "i9i8");
    let comments = [GameTree::ROOT, first, one, two].map(|node| tree.comment(node));
    assert_eq!(comments, ["start", "one\ntwo", "中", "three"]);
}

#[test]
fn variations_that_hang_nowhere_are_named() {
    let game = read_one(
        "[DhtmlXQ_movelist]7747[/DhtmlXQ_movelist][DhtmlXQ_move_0_2_1]7062[/DhtmlXQ_move_0_2_1]
         [DhtmlXQ_move_9_1_2]1747[/DhtmlXQ_move_9_1_2][DhtmlXQ_move_4_3_3]1[/DhtmlXQ_move_4_3_3]
         [DhtmlXQ_move_3_2_4]1[/DhtmlXQ_move_3_2_4][DhtmlXQ_move_0_1_5]17471[/DhtmlXQ_move_0_1_5]
         [DhtmlXQ_move_0_1]1747[/DhtmlXQ_move_0_1][DhtmlXQ_comment7]x[/DhtmlXQ_comment7]",
    );
    let expected = [
        (FaultKind::Unreadable, 5, 2, Place::Line(3)),
        (FaultKind::Structure, 1, 2, Place::Line(1)),
        (FaultKind::Structure, 2, 1, Place::Line(2)),
        (FaultKind::Structure, 3, 3, Place::Line(2)),
        (FaultKind::Structure, 4, 2, Place::Line(3)),
    ];
    assert_eq!(facts(&game), expected);
    assert_eq!((game.tree.len(), game.tree.variations(), game.warnings.len()), (2, 1, 2));
}

#[test]
fn side_and_board_are_read_off_the_fields() {
    let board =
        "[DhtmlXQ_binit]9999999940999999999999999999999900999999419999999999999999999999[/DhtmlXQ_binit]";
    let turned = board.replace("40999", "49999").replace("41999", "30999");
    let black = read_one(&format!("{turned}[DhtmlXQ_movelist]0001[/DhtmlXQ_movelist]"));
    assert_eq!(black.tree.start().fen(), "r2k5/9/9/9/9/9/9/9/9/4K4 b - - 0 1");
    let red = read_one(&format!("{turned}[DhtmlXQ_movelist]4948[/DhtmlXQ_movelist]"));
    assert_eq!(red.tree.start().side_to_move(), Color::Red);
    // The FEN goes first; what is no position is not.
    let fen = "[DhtmlXQ_fen]3k5/9/9/9/9/9/9/9/9/4K4 b - - 7 9[/DhtmlXQ_fen]";
    assert_eq!(read_one(&format!("{turned}{fen}")).tree.start().no_capture_plies(), 7);
    let bad_fen = "[DhtmlXQ_fen]4k4/9/9/9/9/9/9/9/9/4K4 b[/DhtmlXQ_fen]";
    assert_eq!(read_one(&format!("{turned}{bad_fen}")).tree.start().side_to_move(), Color::Red);
    let none = read_one(&format!("\n{board}[DhtmlXQ_movelist]4948[/DhtmlXQ_movelist]"));
    assert_eq!(facts(&none), [(FaultKind::Start, 0, 0, Place::Line(2))]);
    let short = read_one("[DhtmlXQ_binit]0919[/DhtmlXQ_binit]");
    assert!(short.main_fault().expect("a fault").why.contains("64 digits"));
}

#[test]
fn pages_hold_several_games_in_any_wrapping() {
    let text = "<p>[DhtmlXQiFrame][DhtmlXQ_title]A[/DhtmlXQ_name][DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]
        [/DhtmlXQiFrame]</p>[DhtmlXQ][DhtmlXQ_blacktime][/DhtmlXQ_time][DhtmlXQ_movelist]7747\n 7062
        [/DhtmlXQ_movelist][/DhtmlXQ]<script>var x='[DhtmlXQ_movelist][/DhtmlXQ_movelist]'</script>
        [DhtmlXQ_movelist]7747706279[/DhtmlXQ_movelist][DhtmlXQ][DhtmlXQ_title]no game[/DhtmlXQ_title]";
    let games = dhtmlxq::read(text.as_bytes()).expect("games");
    let lines: Vec<String> = games.iter().map(moves).collect();
    assert_eq!(lines, ["h2e2", "h2e2 h9g7", "h2e2 h9g7"]);
    assert_eq!(games[0].tree.tag("Title"), Some("A"));
    assert_eq!(facts(&games[2]), [(FaultKind::Unreadable, 0, 3, Place::Line(5))]);
    let error = dhtmlxq::read(b"[DhtmlXQ_title]no game[/DhtmlXQ_title]").expect_err("no game");
    assert_eq!(error.place, Place::Line(1));
}

/// Pages of dpxq.com: fields in the text, moves in a script, in one of three shapes.
#[test]
fn pages_of_the_site() {
    let board =
        "[DhtmlXQ_binit]8979695949392919097717866646260600102030405060708012720323436383[/DhtmlXQ_binit]<br>";
    let moves_in_a_script = [
        "var m = '[0_1_0]77477062[/0_1_0][0_2_1]1022[/0_2_1]';",
        "var m = ''+'[DhtmlXQ_move'+'list]7747'+'7062[/DhtmlXQ_move'+'list][DhtmlXQ_move_0_2_1]1022[/DhtmlXQ_move_0_2_1]'",
        "'[DhtmlXQ_movelist]77477062[/DhtmlXQ_movelist]\n[DhtmlXQ_move_0_2_1]1022[/DhtmlXQ_move_0_2_1]'",
    ];
    let name = "[DhtmlXQ_redname]许银川[/DhtmlXQ_redname]<br>";
    for script in moves_in_a_script {
        for text in [
            format!("<div>{name}{board}</div><script>{script}</script>"),
            format!("[DhtmlXQ]{name}{board}[DhtmlXQ_movelist][/DhtmlXQ_movelist][/DhtmlXQ]{script}"),
            format!("{script}[DhtmlXQiFrame]{board}{name}[/DhtmlXQiFrame]"),
        ] {
            let game = read_one(&text);
            assert_eq!((moves(&game).as_str(), game.tree.len()), ("h2e2 h9g7", 3), "{text}");
            assert_eq!(game.tree.tag("Red"), Some("许银川"), "{text}");
            assert_eq!((game.faults.len(), game.warnings.len()), (0, 0), "{text}");
        }
    }
    // Two games that say where they begin stay two.
    let two =
        format!("[DhtmlXQ]{board}[/DhtmlXQ][DhtmlXQ][DhtmlXQ_movelist]7747[/DhtmlXQ_movelist][/DhtmlXQ]");
    assert_eq!(dhtmlxq::read(two.as_bytes()).expect("games").len(), 2);
}

/// The same page in every encoding.
#[test]
fn encodings() {
    let text = "[DhtmlXQ_red]许银川[/DhtmlXQ_red][DhtmlXQ_result]红胜[/DhtmlXQ_result][DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]";
    let gbk = encoding_rs::GB18030.encode(text).0.into_owned();
    let bom = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    for bytes in [text.as_bytes(), &gbk, &bom] {
        let game = dhtmlxq::read(bytes).expect("a game").remove(0);
        assert_eq!((game.tree.tag("Red"), game.tree.outcome), (Some("许银川"), Outcome::RedWins));
    }
}

#[test]
fn cut_texts_say_so() {
    let text =
        "[DhtmlXQ_binit]8979695949392919097717866646260600102030405060708012720323436383[/DhtmlXQ_binit]
        [DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist]";
    let list = text.find("7747").expect("moves");
    for len in list..list + 12 {
        let game = read_one(&text[..len]);
        let plies = (len - list) / 4;
        assert_eq!(game.tree.len(), plies);
        assert_eq!(facts(&game), [(FaultKind::Cut, 0, plies + 1, Place::Line(2))]);
    }
}

#[test]
fn written_trees_come_back() {
    let mut chance = Chance(3);
    let starts =
        [xiangqi::fen::START, "4k4/9/9/9/9/9/4P4/9/9/3AKA2r b - - 0 1", "3k5/9/9/9/9/9/9/9/R8/4K4 w - - 3 9"];
    for i in 0..amount(600) {
        let start = Position::from_fen(starts[i % starts.len()]).expect("a position");
        let mut tree = random_tree(&mut chance, start.clone(), 60);
        tree.tags = vec![("Red".to_owned(), "[甲]||\n乙".to_owned()), ("Strange".to_owned(), "1".to_owned())];
        tree.outcome = [Outcome::Unknown, Outcome::RedWins, Outcome::BlackWins, Outcome::Draw][i % 4];
        let back = read_one(&dhtmlxq::write(&tree));
        assert_eq!((back.faults.len(), back.warnings.len()), (0, 0));
        assert!(same(&tree, &back.tree), "{}", dhtmlxq::write(&tree));
        assert_eq!((back.tree.start(), back.tree.outcome), (&start, tree.outcome));
        assert_eq!(back.tree.tag("Red"), tree.tag("Red"));
        assert_eq!(back.tree.tag("Strange"), tree.tag("Strange"));
    }
}

/// Variations that jump between both ends of a long line are read on one way back: a quadratic reader would
/// play 400 million moves here.
#[test]
fn scattered_variations_cost_no_replay() {
    let mut text = String::from("[DhtmlXQ_movelist]");
    let plies = 20_000;
    for i in 0..plies {
        text.push_str(["0908", "0001", "0809", "0100"][i % 4]);
    }
    text.push_str("[/DhtmlXQ_movelist]");
    for i in 0..plies / 2 {
        let ply = 1 + if i % 2 == 0 { 4 * (i / 4) } else { plies - 4 - 4 * (i / 4) };
        text.push_str(&format!("[DhtmlXQ_move_0_{ply}_{}]0907[/DhtmlXQ_move]", i + 1));
    }
    let begin = Instant::now();
    let game = read_one(&text);
    assert!(begin.elapsed() < LONGEST_READ, "{:?}", begin.elapsed());
    assert_eq!((game.faults.len(), game.tree.len(), comments(&game.tree)), (0, plies + plies / 2, 0));
}

/// Noise between and inside marks, and real texts with bytes changed, give a value or an error.
#[test]
fn hostile_bytes() {
    let mut chance = Chance(13);
    let samples = [own("dhtmlxq/game_variations.ubb"), own("dhtmlxq/page_45.html")];
    let marks: [&[u8]; 8] = [
        b"[DhtmlXQ_",
        b"[/DhtmlXQ_",
        b"]",
        b"[DhtmlXQ]",
        b"move_0_2_1]",
        b"comment99999999999999999999]",
        b"\\ud800",
        b"9999",
    ];
    let mut moves = 0;
    for i in 0..amount(20_000) {
        let mut bytes = samples[i % samples.len()].clone();
        for _ in 0..1 + chance.below(8) {
            let at = chance.below(bytes.len());
            match chance.below(3) {
                0 => bytes[at] = chance.next() as u8,
                1 => bytes[at] = b'0' + chance.below(10) as u8,
                _ => drop(bytes.splice(at..at, marks[chance.below(marks.len())].iter().copied())),
            }
        }
        if chance.below(4) == 0 {
            bytes.truncate(chance.below(bytes.len()));
        }
        let Ok(games) = dhtmlxq::read(&bytes) else { continue };
        for game in &games {
            moves += game.tree.len();
            let back = read_one(&dhtmlxq::write(&game.tree));
            assert!(same(&game.tree, &back.tree));
        }
    }
    assert!(moves > 0, "damage never left a move");
}
