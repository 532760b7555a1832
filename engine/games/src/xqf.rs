//! XQF, the files of 象棋演播室 (XQStudio): a header of 1,024 bytes and a tree of moves with comments.
//!
//! Version 10 is plain and was published by its author; the later ones hide board, moves and comments
//! behind keys that lie in the header. Layout, sources and what is tolerated: `docs/game-files.md`.

mod header;
mod keys;
mod records;
mod write;

use xiangqi::{Position, SetupError};

use crate::error::{FaultKind, FileError, GameFault, Place, ReadGame, shown};
use crate::preorder::{Cut, Growth};
use crate::start::start_position;
use crate::tree::GameTree;
use header::Header;
use records::Records;

pub use write::write;

/// Reads an XQF file of any version: one game.
///
/// Works in time and memory proportional to the file (at most 64 bytes for each of its own, and as much
/// again while a list grows).
///
/// # Errors
/// Where there is no whole XQF header. Anything wrong behind it is a fault of the game.
pub fn read(bytes: &[u8]) -> Result<Vec<ReadGame>, FileError> {
    let header = Header::read(bytes)?;
    let mut game = read_game(bytes, &header);
    game.warnings.extend(header.warnings);
    Ok(vec![game])
}

fn read_game(bytes: &[u8], header: &Header) -> ReadGame {
    let mut records = Records::new(bytes, &header.keys);
    let root = records.next();
    let first = match &root {
        Ok(root) if root.followed => records.clone().next().ok().and_then(|step| step.mv),
        _ => None,
    };
    let start = start_position(header.setup(), first, header.side_to_move);
    let mut game = Growth::new(1, tree(header, start.as_ref().ok()));
    if let Err(error) = start {
        return no_start(game.finish(), header, &error);
    }
    match root {
        Ok(step) => {
            game.comment_on_start(&step.comment);
            if step.followed {
                read_moves(&mut records, &mut game);
            }
        }
        // A header alone is a game without moves; XQStudio itself writes an empty record.
        Err(Cut { at, .. }) if at == bytes.len() && at == header::LEN => {}
        Err(cut) => game.cut(&Cut { step: None, ..cut }),
    }
    game.finish()
}

fn read_moves(records: &mut Records<'_>, game: &mut Growth) {
    loop {
        match records.next() {
            Ok(step) if game.take(&step) => {}
            Ok(_) => return,
            Err(cut) => return game.cut(&cut),
        }
    }
}

fn tree(header: &Header, start: Option<&Position>) -> GameTree {
    let mut tree = GameTree::new(start.cloned().unwrap_or_else(Position::start));
    tree.tags = header.tags.clone();
    tree.outcome = header.outcome;
    tree
}

fn no_start(mut game: ReadGame, header: &Header, error: &SetupError) -> ReadGame {
    game.add_fault(GameFault {
        kind: FaultKind::Start,
        game: 1,
        variation: 0,
        ply: 0,
        place: Place::Byte(header::BOARD),
        found: shown(&header.setup().fen()),
        why: format!("the board is no position: {error}"),
    });
    game
}
