//! Laws of the record file, over random games and random damage.

use std::io::Cursor;

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xiangqi::judge::RuleSet;
use xiangqi::{Position, Score};

use super::*;

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn below(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    rng.next_u64() % n.max(1)
}

/// A game of random legal moves with scores as a search might give them, and now and then any score.
fn random_game(rng: &mut Xoshiro256PlusPlus, number: u64, max_plies: u64) -> GameRecord {
    const FEN: &str = "2bakab2/9/2n1c4/p1p1p1p1p/9/9/P1P1P1P1P/2N1C4/9/2BAKAB2 b - - 3 10";
    let start = match below(rng, 4) {
        0 => Start::Fen(FEN.to_owned()),
        _ => Start::Standard,
    };
    let mut position = start.position().expect("a good start");
    let opening_plies = below(rng, 10).min(max_plies);
    let scored_plies = below(rng, max_plies - opening_plies + 1);
    let (mut opening, mut plies, mut drift) = (Vec::new(), Vec::new(), 0i32);
    for i in 0..opening_plies + scored_plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let mv = moves[below(rng, moves.len() as u64) as usize];
        if i < opening_plies {
            opening.push(mv);
        } else {
            drift = -(drift + below(rng, 61) as i32 - 30);
            let score = match below(rng, 50) {
                0 => below(rng, 64_001) as i32 - 32_000,
                1 => Score::mate_in(below(rng, 100) as i32).0,
                2 => -(Score::RULE_WIN - below(rng, 100) as i32),
                _ => drift,
            };
            let flags = PlyFlags::from_bits(below(rng, 9) == 0, below(rng, 5) == 0);
            plies.push(PlyRecord { mv, score: Score(score), flags });
        }
        position.make(mv);
    }
    let pick = |n: usize, value: u64| value as usize % n;
    let outcome = Outcome::ALL[pick(Outcome::ALL.len(), rng.next_u64())];
    let reason = Reason::ALL[pick(Reason::ALL.len(), rng.next_u64())];
    GameRecord { number, start, opening, plies, outcome, reason, rules: RuleSet::Competition }
}

fn random_games(seed: u64, count: u64, max_plies: u64) -> Vec<GameRecord> {
    let mut rng = rng(seed);
    let mut number = below(&mut rng, 1000);
    let mut games = Vec::new();
    for _ in 0..count {
        games.push(random_game(&mut rng, number, max_plies));
        number += 1 + u64::from(below(&mut rng, 5) == 0) * below(&mut rng, 1 << 40);
    }
    games
}

fn header() -> Header {
    Header {
        rules: RuleSet::Competition,
        seed: 0x0123_4567_89ab_cdef,
        engine_signature: 1_234_567,
        run_id: *b"a run of a test.",
        net_id: [7; 32],
        plan_len: 0,
        plan_crc: 0,
    }
}

/// A file in which every block holds `per_block` games.
fn file_of(games: &[GameRecord], per_block: usize) -> Vec<u8> {
    let mut writer = Writer::create(Vec::new(), header(), b"a plan").expect("a writer");
    for (i, game) in games.iter().enumerate() {
        writer.push(game).expect("a possible game");
        if (i + 1) % per_block == 0 {
            writer.end_block().expect("written to memory");
        }
    }
    let (bytes, totals) = writer.finish().expect("written to memory");
    assert_eq!(totals.games, games.len() as u64);
    bytes
}

/// All whole games and all errors of a file.
fn read(bytes: &[u8]) -> (Vec<GameRecord>, Vec<ReadError>) {
    let (mut games, mut errors) = (Vec::new(), Vec::new());
    for item in Reader::new(Cursor::new(bytes)).expect("memory can be read").games() {
        match item {
            Ok(game) => games.push(game),
            Err(error) => errors.push(error),
        }
        assert!(errors.len() <= bytes.len() + 1, "a reader that makes no headway");
    }
    (games, errors)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn round_trip(seed: u64, count in 0u64..40, max_plies in 0u64..150, per_block in 1usize..50) {
        let games = random_games(seed, count, max_plies);
        let bytes = file_of(&games, per_block);
        let (found, errors) = read(&bytes);
        prop_assert!(errors.is_empty(), "{:?}", errors);
        prop_assert_eq!(found, games);
    }

    #[test]
    fn walk_is_the_games(seed: u64) {
        let games = random_games(seed, 12, 80);
        let bytes = file_of(&games, 5);
        let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
        let mut walked = Vec::new();
        while let Some(block) = reader.next_block() {
            block.unwrap().walk(|head, position, ply| walked.push((head.number, position.fen(), *ply))).unwrap();
        }
        let mut expected = Vec::new();
        for game in &games {
            let mut walk = game.positions().unwrap();
            while let Some(step) = walk.next() {
                let (position, ply) = step.unwrap();
                expected.push((game.number, position.fen(), ply));
            }
        }
        prop_assert_eq!(walked, expected);
    }
}

#[test]
fn header_plan_and_footer_come_back() {
    let games = random_games(3, 9, 50);
    let bytes = file_of(&games, 4);
    let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
    let expected = Header { plan_len: 6, plan_crc: crc32c::crc32c(b"a plan"), ..header() };
    assert_eq!(reader.header(), Some(&expected));
    assert_eq!(reader.plan(), b"a plan");
    let footer = reader.footer_at_end().unwrap();
    assert_eq!(footer.header, expected);
    assert_eq!(footer.index.len(), 3);
    assert_eq!(footer.totals.positions, games.iter().map(|game| game.plies.len() as u64).sum::<u64>());
    assert_eq!(footer.totals.plies, games.iter().map(|game| game.len() as u64).sum::<u64>());
    for (i, entry) in footer.index.iter().enumerate() {
        let block = reader.block_at(entry.offset).unwrap();
        let expected = &games[i * 4..(i * 4 + 4).min(9)];
        assert_eq!(block.games().unwrap(), expected);
        let from_there = &bytes[entry.offset as usize..];
        let same = RawBlock::from_bytes(from_there, entry.offset).unwrap();
        assert_eq!(same.games().unwrap(), expected);
        let len = block.head.block_len() as usize;
        for cut in [0, 7, 8, BLOCK_HEAD_LEN - 1, BLOCK_HEAD_LEN, len - 1] {
            assert!(RawBlock::from_bytes(&from_there[..cut], entry.offset).is_err(), "{cut} bytes");
        }
        assert!(RawBlock::from_bytes(&from_there[..len], entry.offset).is_ok());
    }
    while let Some(block) = reader.next_block() {
        block.unwrap();
    }
    assert_eq!(reader.footer(), Some(&footer));
}

/// A block without marks has nothing in the columns of marks; with one, the column ends with it.
#[test]
fn columns_of_marks_end_with_the_last_mark() {
    let column = |name: &str| COLUMN_NAMES.iter().position(|&column| column == name).unwrap();
    let lengths = |marked: &[usize]| {
        let mut rng = rng(31);
        let mut games = std::iter::repeat_with(|| random_game(&mut rng, 0, 100));
        let mut game = games.find(|game| game.plies.len() > 8).unwrap();
        let mut flags = vec![PlyFlags::NONE; game.plies.len()];
        marked.iter().for_each(|&ply| flags[ply] = PlyFlags::SKIP);
        game.plies.iter_mut().zip(flags).for_each(|(ply, flags)| ply.flags = flags);
        let bytes = file_of(std::slice::from_ref(&game), 1);
        assert_eq!(read(&bytes).0, [game]);
        let block = Reader::new(Cursor::new(&bytes)).unwrap().next_block().unwrap().unwrap();
        assert_eq!(block.head.columns[column("not_best")], (0, 0));
        block.head.columns[column("skips")].0
    };
    assert_eq!([lengths(&[]), lengths(&[0]), lengths(&[7]), lengths(&[3, 8])], [0, 1, 1, 2]);
}

/// Blocks packed apart are the blocks that a writer makes of the same games.
#[test]
fn packed_blocks_are_the_writers_own() {
    let games = random_games(33, 40, 60);
    let mut writer = Writer::create(Vec::new(), header(), b"a plan").unwrap();
    let packer = writer.packer();
    for block in games.chunks(7) {
        writer.push_packed(&packer.pack(block).unwrap()).unwrap();
    }
    assert_eq!(writer.finish().unwrap().0, file_of(&games, 7));
    let other = GameRecord { rules: RuleSet::Asian, ..games[0].clone() };
    assert!(matches!(packer.pack(&[other]), Err(WriteError::Rules { .. })));
    let many = vec![GameRecord { opening: vec![], plies: vec![], ..games[0].clone() }; MAX_BLOCK_GAMES + 1];
    assert!(matches!(packer.pack(&many), Err(WriteError::Block { .. })));
    assert!(
        packer.pack(&many[1..]).is_ok() && ends_block(MAX_BLOCK_GAMES, 0) && !ends_block(1, BLOCK_PLIES - 1)
    );
}

#[test]
fn another_version_is_one_error_that_names_both() {
    let mut bytes = file_of(&random_games(32, 3, 20), 1);
    for (version, what) in [(1u16, "anew"), (VERSION + 1, "newer")] {
        bytes[8..10].copy_from_slice(&version.to_le_bytes());
        mend_checksums(&mut bytes);
        let (games, errors) = read(&bytes);
        assert!(games.is_empty());
        let [error @ ReadError::Version { found, expected: VERSION }] = &errors[..] else {
            panic!("{errors:?}")
        };
        assert_eq!(*found, version);
        assert!(error.to_string().contains(what), "{error}");
        assert!(matches!(recover(Cursor::new(&bytes)), Err(ReadError::Version { .. })));
    }
}

#[test]
fn cut_at_every_byte_gives_whole_blocks_and_one_error() {
    let games = random_games(5, 6, 12);
    let bytes = file_of(&games, 2);
    let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
    let mut block_ends = Vec::new();
    while let Some(block) = reader.next_block() {
        block.unwrap();
        block_ends.push(reader.offset() as usize);
    }
    for cut in 0..bytes.len() {
        let (found, errors) = read(&bytes[..cut]);
        let whole = block_ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(found, games[..whole * 2], "cut at {cut}");
        assert_eq!(errors.len(), 1, "cut at {cut}: {errors:?}");
        assert!(matches!(errors[0], ReadError::Cut { .. }), "cut at {cut}: {errors:?}");
        assert!(errors[0].offset() <= cut as u64);
    }
}

#[test]
fn every_flipped_byte_is_noticed_and_costs_one_block() {
    let games = random_games(6, 6, 12);
    let bytes = file_of(&games, 2);
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff, 1 << (at % 8)] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            let (found, errors) = read(&bytes);
            assert!(!errors.is_empty(), "byte {at} ^ {flip:02x} was not noticed");
            assert!(errors.iter().any(|error| error.offset() <= at as u64), "byte {at}: {errors:?}");
            assert!(
                found.len() >= games.len() - 2,
                "byte {at} ^ {flip:02x} cost {} games: {errors:?}",
                6 - found.len()
            );
            assert!(found.iter().all(|game| games.contains(game)), "byte {at} ^ {flip:02x} changed a game");
        }
    }
}

#[test]
fn damaged_header_is_found_again_in_the_footer() {
    let games = random_games(8, 3, 20);
    let mut bytes = file_of(&games, 2);
    bytes[20] ^= 4;
    let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
    assert!(reader.header_damaged());
    assert_eq!(reader.header().map(|header| header.seed), Some(0x0123_4567_89ab_cdef));
    assert!(matches!(reader.next_block(), Some(Err(ReadError::Checksum { offset: 0, .. }))));
}

#[test]
fn blocks_of_another_run_are_refused() {
    let games = random_games(9, 4, 20);
    let ours = file_of(&games, 2);
    let mut other = header();
    other.run_id[0] ^= 1;
    let mut writer = Writer::create(Vec::new(), other, b"a plan").unwrap();
    games.iter().for_each(|game| _ = writer.push(game).unwrap());
    let theirs = writer.finish().unwrap().0;
    let mut mixed = theirs[..HEADER_LEN + 6].to_vec();
    mixed.extend_from_slice(&ours[HEADER_LEN + 6..]);
    let (found, errors) = read(&mixed);
    assert!(found.is_empty());
    assert!(
        errors.iter().filter(|error| matches!(error, ReadError::Foreign { .. })).count() == 2,
        "{errors:?}"
    );
}

#[test]
fn bytes_behind_the_footer_are_reported() {
    let mut bytes = file_of(&random_games(10, 2, 20), 2);
    let end = bytes.len() as u64;
    bytes.extend_from_slice(b"more");
    let (found, errors) = read(&bytes);
    assert_eq!(found.len(), 2);
    assert!(matches!(errors[..], [ReadError::Trailing { offset, length: 4 }] if offset == end), "{errors:?}");
}

#[test]
fn a_cut_file_continued_equals_an_undisturbed_one() {
    let games = random_games(11, 8, 30);
    let whole = file_of(&games, 2);
    let mut rng = rng(12);
    for _ in 0..40 {
        let cut = (HEADER_LEN + 6) as u64 + below(&mut rng, (whole.len() - HEADER_LEN - 6) as u64);
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &whole[..cut as usize]).unwrap();
        let (mut writer, recovered) = Writer::reopen(file).unwrap();
        assert!(!recovered.finished);
        let done = recovered.totals.games as usize;
        for (i, game) in games.iter().enumerate().skip(done) {
            writer.push(game).unwrap();
            if (i + 1) % 2 == 0 {
                writer.end_block().unwrap();
            }
        }
        let (mut file, totals) = writer.finish().unwrap();
        assert_eq!(totals.games, 8);
        let mut bytes = Vec::new();
        std::io::Seek::rewind(&mut file).unwrap();
        std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        assert_eq!(bytes, whole);
    }
}

#[test]
fn what_cannot_be_continued_says_so() {
    let games = random_games(13, 4, 30);
    let whole = file_of(&games, 2);
    for bytes in
        [&whole[..0], &whole[..40], &whole[..HEADER_LEN + 3], b"something else entirely, of no known kind"]
    {
        assert!(recover(Cursor::new(bytes)).is_err());
    }
    let finished = recover(Cursor::new(&whole)).unwrap();
    assert!(finished.finished && finished.damage.is_none());
    assert_eq!(finished.totals.games, 4);
}

#[test]
fn impossible_games_are_not_written() {
    let mut rng = rng(14);
    let good = random_game(&mut rng, 1, 40);
    let check = |game: &GameRecord, fits: fn(&GameError) -> bool| {
        let mut writer = Writer::create(Vec::new(), header(), b"").unwrap();
        match writer.push(game) {
            Err(WriteError::Game { number: 1, source }) => assert!(fits(&source), "{source}"),
            other => panic!("expected an error, found {other:?}"),
        }
        writer.push(&good).expect("the writer is as good as before");
        let bytes = writer.finish().unwrap().0;
        assert_eq!(read(&bytes).0, std::slice::from_ref(&good));
    };
    let ply =
        |mv: &str, score| PlyRecord { mv: mv.parse().unwrap(), score: Score(score), flags: PlyFlags::NONE };
    let game =
        |plies: Vec<PlyRecord>| GameRecord { start: Start::Standard, opening: vec![], plies, ..good.clone() };
    check(&game(vec![ply("h2e2", 0), ply("h2e2", 0)]), |error| {
        matches!(error, GameError::Move { ply: 1, .. })
    });
    check(&game(vec![ply("h2e2", 32_001)]), |error| matches!(error, GameError::Score { ply: 0, .. }));
    let long = ["b0c2", "b9c7", "c2b0", "c7b9"].map(|mv| ply(mv, 0)).repeat(MAX_GAME_PLIES / 4 + 1);
    check(&game(long), |error| matches!(error, GameError::Plies { .. }));
    let start = Start::Fen("no position".to_owned());
    check(&GameRecord { start, ..good.clone() }, |error| matches!(error, GameError::Start { .. }));
    // Red leaves his king in check; Black must not take it.
    let start = Start::Fen("3k5/9/9/9/4r4/9/9/9/4A4/4K4 w - - 0 1".to_owned());
    let plies = vec![ply("e1d2", 0), ply("e5e0", 0)];
    check(&GameRecord { start, opening: vec![], plies, ..good.clone() }, |error| {
        matches!(error, GameError::Move { ply: 1, .. })
    });
}

/// Random bytes, alone and in place of a part of a good file, never make a reader panic or hang, and
/// checksums recomputed over them let the decoder see them too.
#[test]
fn random_bytes_give_errors() {
    let count = if std::env::var_os("CHUHE_FULL").is_some() { 200_000 } else { 20_000 };
    let good = file_of(&random_games(15, 6, 20), 2);
    let mut rng = rng(16);
    for i in 0..count {
        let mut bytes = match i % 4 {
            0 => Vec::new(),
            1 => good[..HEADER_LEN + 6].to_vec(),
            _ => good.clone(),
        };
        if i % 4 < 2 {
            let length = below(&mut rng, 400);
            let marker = [&BLOCK_MARKER[..], &FOOTER_MARKER, &MAGIC, &[]][below(&mut rng, 4) as usize];
            bytes.extend_from_slice(marker);
            bytes.extend((0..length).map(|_| rng.next_u64() as u8));
        } else {
            for _ in 0..1 + below(&mut rng, 8) {
                let at = below(&mut rng, bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
        }
        if i % 2 == 1 {
            mend_checksums(&mut bytes);
        }
        _ = read(&bytes);
        _ = recover(Cursor::new(&bytes));
        _ = Reader::new(Cursor::new(&bytes)).map(|mut reader| reader.footer_at_end());
    }
}

/// Columns made up whole, with good checksums: what zstd accepts must not harm the decoder.
#[test]
fn made_up_columns_give_errors_or_games() {
    let count = if std::env::var_os("CHUHE_FULL").is_some() { 100_000 } else { 10_000 };
    let mut rng = rng(17);
    let mut decoded = 0;
    for _ in 0..count {
        let mut payload = Vec::new();
        let mut head = Vec::new();
        let small = below(&mut rng, 4) != 0;
        for column in COLUMN_NAMES {
            let length = below(&mut rng, 60);
            let limit = match column {
                // Any other start is a FEN, which chance does not write.
                "starts" if small => 1,
                "opening_moves" => 256,
                _ if small => 1 + below(&mut rng, 30),
                _ => 256,
            };
            let raw: Vec<u8> = (0..length).map(|_| below(&mut rng, limit) as u8).collect();
            let packed = if raw.is_empty() { Vec::new() } else { zstd::bulk::compress(&raw, 1).unwrap() };
            head.extend_from_slice(&(raw.len() as u32).to_le_bytes());
            head.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            payload.extend_from_slice(&packed);
        }
        let mut bytes = file_of(&[], 1)[..HEADER_LEN + 6].to_vec();
        let begin = bytes.len();
        bytes.extend_from_slice(&BLOCK_MARKER);
        for field in [payload.len() as u32, 1 + below(&mut rng, 3) as u32, 1000, 1000] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.extend_from_slice(&0u64.to_le_bytes());
        bytes.extend_from_slice(&header().run_tag().to_le_bytes());
        bytes.extend_from_slice(&[0, COLUMN_COUNT as u8, 0, 0]);
        bytes.extend_from_slice(&head);
        let crc = crc32c::crc32c(&bytes[begin..]);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&payload);
        bytes.extend_from_slice(&crc32c::crc32c(&payload).to_le_bytes());
        let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
        let block = reader.next_block().unwrap().expect("good checksums");
        _ = block.games();
        _ = block.walk(|_, position, ply| {
            decoded += 1;
            assert!(position.is_pseudo_legal(ply.mv));
        });
    }
    assert!(decoded > count / 10, "only {decoded} plies came through: the test tests nothing");
}

/// Puts right checksums wherever a header or a block head stands.
fn mend_checksums(bytes: &mut [u8]) {
    let mend = |bytes: &mut [u8], begin: usize, length: usize| {
        if let Some(part) = bytes.get_mut(begin..begin + length + 4) {
            let crc = crc32c::crc32c(&part[..length]);
            part[length..].copy_from_slice(&crc.to_le_bytes());
        }
    };
    mend(bytes, 0, HEADER_LEN - 4);
    let mut at = 0;
    while let Some(place) = bytes[at..].windows(8).position(|window| window == BLOCK_MARKER) {
        at += place;
        mend(bytes, at, BLOCK_HEAD_LEN - 4);
        if let Some(&[a, b, c, d]) = bytes.get(at + 8..at + 12) {
            let length = u32::from_le_bytes([a, b, c, d]) as usize;
            if length < bytes.len() {
                mend(bytes, at + BLOCK_HEAD_LEN, length);
            }
        }
        at += 8;
    }
}

/// The bytes of a small file; docs/record-format.md shows them.
#[test]
fn golden_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/two_games.rec");
    let found = file_of(&golden_games(), 2);
    if std::env::var_os("CHUHE_BLESS").is_some() {
        std::fs::write(path, &found).expect("the golden file can be written");
    }
    let golden = std::fs::read(path).expect("nnue-format/tests/golden/two_games.rec is there");
    // zstd's encoder may change its mind with a new version; the reader must not.
    let (games, errors) = read(&golden);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(games, golden_games());
    assert_eq!(
        found, golden,
        "the format changed: raise VERSION, or CHUHE_BLESS=1 if only zstd's choices did"
    );
}

fn golden_games() -> Vec<GameRecord> {
    let ply = |(mv, score): (&str, i32)| PlyRecord {
        mv: mv.parse().unwrap(),
        score: Score(score),
        flags: PlyFlags::from_bits(mv == "b7b0", mv == "a0b0"),
    };
    let moves = |text: &str| text.split(' ').map(|mv| mv.parse().unwrap()).collect::<Vec<_>>();
    let rules = RuleSet::Competition;
    let mate = "3k5/9/9/9/9/9/9/9/R8/1R3K3 w - - 0 1";
    let (outcome, reason) = (Outcome::BlackLoses, Reason::Checkmate);
    vec![
        GameRecord {
            number: 0,
            start: Start::Standard,
            opening: moves("h2e2 h9g7"),
            plies: [("h0g2", 35), ("b7b0", -52), ("a0b0", 420), ("g7e8", -700)].map(ply).to_vec(),
            outcome: Outcome::Draw,
            reason: Reason::DrawAdjudication,
            rules,
        },
        GameRecord {
            number: 2,
            start: Start::Fen(mate.to_owned()),
            opening: vec![],
            plies: [("a1a8", 31_997), ("d9e9", -31_998), ("b0b9", 31_999)].map(ply).to_vec(),
            outcome,
            reason,
            rules,
        },
    ]
}

#[test]
fn golden_games_are_legal() {
    for game in golden_games() {
        let mut position: Position = game.start.position().unwrap();
        for mv in game.moves() {
            assert!(position.is_pseudo_legal(mv) && position.is_legal(mv), "{mv} in {}", position.fen());
            position.make(mv);
        }
    }
}

/// The document shows the golden file as it is.
#[test]
fn document_shows_the_golden_file() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let document = std::fs::read_to_string(format!("{root}/docs/record-format.md")).unwrap();
    let dump = document.split_once("```hexdump\n").unwrap().1.split_once("```").unwrap().0;
    let mut shown = Vec::new();
    for line in dump.lines() {
        let (offset, bytes) = line.split_once("  ").unwrap();
        assert_eq!(usize::from_str_radix(offset, 16).unwrap(), shown.len());
        shown.extend(bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    let golden = std::fs::read(format!("{root}/nnue-format/tests/golden/two_games.rec")).unwrap();
    assert_eq!(shown, golden);
}
