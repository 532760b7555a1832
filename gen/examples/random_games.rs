//! A record file of random legal games, to measure tools on: `random_games FILE POSITIONS [EACH]`. Of EACH games in a row (0: never) the last is
//! the first one again.

use std::path::Path;

use nnue_format::record::{GameRecord, Header, Writer, ends_block};
use rayon::prelude::*;
use xiangqi::judge::RuleSet;

#[path = "../tests/common/games.rs"]
mod games;

/// Games made at a time.
const BATCH: u64 = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, positions, each @ ..] = &args[..] else {
        return Err("usage: random_games FILE POSITIONS [EACH]".into());
    };
    let (wanted, each): (u64, u64) = (positions.parse()?, each.first().map_or(Ok(0), |each| each.parse())?);
    let header = Header {
        rules: RuleSet::Competition,
        seed: 1,
        engine_signature: 0,
        run_id: *b"random games\0\0\0\0",
        net_id: [0; 32],
        plan_len: 0,
        plan_crc: 0,
    };
    let mut writer = Writer::create(std::fs::File::create_new(Path::new(file))?, header, b"")?;
    let packer = writer.packer();
    let (mut made, mut from) = (0, 0);
    let (mut blocks, mut block, mut plies) = (Vec::new(), Vec::new(), 0);
    while made < wanted {
        let again =
            |number: u64| if each > 0 && number % each == each - 1 { number + 1 - each } else { number };
        let one = |number| GameRecord { number, ..games::random_game(1, again(number)) };
        let batch: Vec<GameRecord> = (from..from + BATCH).into_par_iter().map(one).collect();
        from += BATCH;
        for game in batch {
            if made >= wanted {
                break;
            }
            made += game.plies.len() as u64;
            plies += game.len();
            block.push(game);
            if ends_block(block.len(), plies) {
                plies = 0;
                blocks.push(std::mem::take(&mut block));
            }
        }
        let packed: Vec<_> = blocks.par_drain(..).map(|games: Vec<GameRecord>| packer.pack(&games)).collect();
        packed.into_iter().try_for_each(|block| block.and_then(|block| writer.push_packed(&block)))?;
    }
    if !block.is_empty() {
        writer.push_packed(&packer.pack(&block)?)?;
    }
    let (file, totals) = writer.finish()?;
    file.sync_all()?;
    println!("{} games, {} plies, {} positions", totals.games, totals.plies, totals.positions);
    Ok(())
}
