//! Exchange files: any bytes give positions, games and told faults, always to an end; what is read is written and read
//! again as the same.

use datagen::exchange::{
    Conventions, ExchangeError, FirstRank, OutSample, RawSample, Sample, View, csv, jsonl, packed, plain,
};
use datagen::import::data::{Joiner, games};
use nnue_format::record::{GameRecord, Walk};
use xiangqi::judge::RuleSet;

use crate::check_message;

const SIDE: Conventions =
    Conventions { first_rank: FirstRank::Zero, scores: View::SideToMove, results: View::SideToMove };

/// Any bytes as each of the exchange formats.
pub fn exchange(data: &[u8]) {
    for first_rank in FirstRank::ALL {
        let conventions = Conventions { first_rank, ..SIDE };
        let found = samples(plain::Reader::new(data), &conventions, data.len());
        let mut text = Vec::new();
        for sample in &found {
            plain::write(&mut text, &out(sample), first_rank).expect("written to memory");
        }
        check_same(&found, &samples(plain::Reader::new(&text[..]), &conventions, text.len()));
        let found = samples(csv::Reader::new(data), &conventions, data.len());
        let mut lines = csv::Writer::default();
        found.iter().for_each(|sample| lines.push(&out(sample), first_rank).expect("written to memory"));
        let text = [csv::head().into_bytes(), lines.finish().expect("written to memory")].concat();
        check_same(&found, &samples(csv::Reader::new(&text[..]), &conventions, text.len()));
        check_games(found);
    }
    for layout in packed::Layout::ALL {
        _ = packed::Layout::detect(data, data.len() as u64);
        check_games(samples(packed::Reader::new(data, layout), &SIDE, data.len()));
    }
    json_lines(data);
}

fn samples(
    raw: impl Iterator<Item = Result<RawSample, ExchangeError>>,
    conventions: &Conventions,
    length: usize,
) -> Vec<Sample> {
    let mut found = Vec::new();
    for (i, raw) in raw.enumerate() {
        assert!(i <= length, "reading does not end");
        match raw.and_then(|raw| raw.check(conventions)) {
            Ok(sample) => found.push(sample),
            Err(error) => check_message(&error),
        }
    }
    found
}

fn out(sample: &Sample) -> OutSample<'_> {
    let Sample { position, mv, score, ply, result, .. } = sample;
    OutSample { position, mv: *mv, score: *score, ply: ply.unwrap_or_default() as usize, result: *result }
}

fn check_same(a: &[Sample], b: &[Sample]) {
    let parts = |sample: &Sample| (sample.position.fen(), sample.mv, sample.score, sample.result);
    assert!(a.iter().map(parts).eq(b.iter().map(parts)), "written and read again, they are other positions");
}

/// Positions joined into games: none is lost, and every move can be made.
fn check_games(samples: Vec<Sample>) {
    let (count, mut joiner, mut plies) = (samples.len(), Joiner::default(), 0);
    let mut take = |run: Vec<Sample>| {
        let (games, faults) = games(&run, RuleSet::Competition);
        faults.iter().for_each(|fault| check_message(fault));
        plies += faults.len() + games.iter().map(check_game).sum::<usize>();
    };
    for sample in samples {
        let (run, fault) = joiner.push(sample);
        fault.iter().for_each(|fault| check_message(fault));
        take(run);
    }
    take(joiner.finish());
    assert_eq!(plies, count, "positions were lost");
}

fn check_game(game: &GameRecord) -> usize {
    let mut walk: Walk<'_> = game.positions().expect("a start");
    while let Some(step) = walk.next() {
        step.expect("a possible move");
    }
    game.plies.len()
}

fn json_lines(data: &[u8]) {
    for item in jsonl::Reader::new(data) {
        match item {
            Err(error) => check_message(&error),
            Ok(jsonl::Item::File(line)) => _ = line.header(),
            Ok(jsonl::Item::Game(game, _)) => {
                let line = jsonl::line_of(&game);
                let again = jsonl::Reader::new(line.as_bytes()).next();
                let Some(Ok(jsonl::Item::Game(again, _))) = again else { panic!("our own line: {again:?}") };
                assert_eq!(again, game);
            }
        }
    }
}
