//! Records: 2,214 bytes of fields, then the moves.

use xiangqi::{Color, Move, Piece, PieceKind, Position, Setup, Square};

use crate::error::{FaultKind, GameFault, Place, ReadGame, shown};
use crate::preorder::{Cut, Growth};
use crate::start::start_position;
use crate::tree::{GameTree, Outcome};

use super::stream::{Stream, Taken};
use super::utf16;

/// Where the moves begin.
const LEN: usize = 2214;
/// The result: 0 unknown, 1 Red has won, 2 Black has won, 3 drawn, 4 several.
const RESULT: usize = 2076;
/// Who moves first: 1 Red, 2 Black.
const SIDE: usize = 2112;
const BLACK_FIRST: u8 = 2;
/// The board: a byte for each square, Black's back rank first.
const BOARD: usize = 2120;

/// Text fields: the tag, where it begins, its bytes.
const FIELDS: [(&str, usize, usize); 20] = [
    ("Title", 180, 128),
    ("Source", 564, 64),
    ("Event", 692, 64),
    ("Round", 756, 64),
    ("Group", 820, 32),
    ("Board", 852, 32),
    ("Date", 884, 64),
    ("Site", 948, 64),
    ("TimeControl", 1012, 64),
    ("Red", 1076, 64),
    ("RedTeam", 1140, 64),
    ("RedTime", 1204, 64),
    ("RedElo", 1268, 32),
    ("Black", 1300, 64),
    ("BlackTeam", 1364, 64),
    ("BlackTime", 1428, 64),
    ("BlackElo", 1492, 32),
    ("Referee", 1524, 64),
    ("Annotator", 1652, 64),
    ("Author", 1780, 64),
];

/// Kinds of pieces by the low half of their byte, from 1; the high half is 1 for Red and 2 for Black.
const KINDS: [PieceKind; 7] = [
    PieceKind::Rook,
    PieceKind::Knight,
    PieceKind::Bishop,
    PieceKind::Advisor,
    PieceKind::King,
    PieceKind::Cannon,
    PieceKind::Pawn,
];

/// The record in these bytes, which begin at a byte of the file: a game by its number there.
pub(super) fn read(game: usize, bytes: &[u8], at: usize) -> ReadGame {
    let Some((head, _)) = bytes.split_first_chunk::<LEN>() else {
        let found = format!("{} bytes", bytes.len());
        let why = format!("the file ends inside the {LEN} bytes of the record's fields");
        return without_start(
            game,
            GameTree::new(Position::start()),
            FaultKind::Cut,
            at + bytes.len(),
            &found,
            why,
        );
    };
    let mut stream = Stream::new(bytes, LEN, at);
    let root = stream.next();
    let first = first_move(&root, &stream);
    let board = &head[BOARD..BOARD + Square::COUNT];
    // Libraries have introductions: records with a comment and nothing else.
    let is_text = first.is_none() && board.iter().all(|&byte| byte == 0);
    let start = if is_text { Ok(Position::start()) } else { start(board, first, head[SIDE]) };
    let mut tree = GameTree::new(start.as_ref().map_or_else(|_| Position::start(), Clone::clone));
    tree.tags = tags(head);
    tree.outcome = Outcome::from_code(head[RESULT]);
    if let Err(why) = start {
        let found: String = board.iter().take(20).map(|byte| format!("{byte:02x}")).collect();
        return without_start(game, tree, FaultKind::Start, at + BOARD, &found, why);
    }
    let mut growth = Growth::new(game, tree);
    read_moves(&mut growth, root, &mut stream);
    let mut read = growth.finish();
    if is_text {
        read.warnings.push("a text without board and moves".to_owned());
    }
    read
}

/// The first move behind a start.
fn first_move(root: &Taken, stream: &Stream<'_>) -> Option<Move> {
    let has_moves = match root {
        Taken::Step(root) => root.followed,
        Taken::Zeros(_) => true,
        Taken::Cut(_) => false,
    };
    if has_moves { stream.clone().next().step()?.mv } else { None }
}

fn start(board: &[u8], first: Option<Move>, side: u8) -> Result<Position, String> {
    let hint = if side == BLACK_FIRST { Color::Black } else { Color::Red };
    start_position(setup(board)?, first, hint).map_err(|error| error.to_string())
}

fn read_moves(growth: &mut Growth, root: Taken, stream: &mut Stream<'_>) {
    match root {
        Taken::Step(root) => {
            growth.comment_on_start(&root.comment);
            if !root.followed {
                return;
            }
        }
        // Zeros are a root without a comment, which moves follow.
        Taken::Zeros(_) => {}
        Taken::Cut(cut) => return growth.cut(&Cut { step: None, ..cut }),
    }
    // The last move was no line's last.
    let mut open = true;
    loop {
        match stream.next() {
            Taken::Step(step) if growth.take(&step) => open = step.followed,
            Taken::Step(_) => return,
            Taken::Zeros(at) => {
                if growth.has_promises() || !open {
                    let found = "four zeros".to_owned();
                    let why = "the moves end where a variation was promised";
                    growth.cut(&Cut { at, found, why, step: None });
                }
                return;
            }
            Taken::Cut(cut) => return growth.cut(&cut),
        }
    }
}

fn without_start(
    game: usize,
    tree: GameTree,
    kind: FaultKind,
    at: usize,
    found: &str,
    why: String,
) -> ReadGame {
    let mut read = ReadGame::new(tree);
    let place = Place::Byte(at);
    read.add_fault(GameFault { kind, game, variation: 0, ply: 0, place, found: shown(found), why });
    read
}

fn setup(board: &[u8]) -> Result<Setup, String> {
    let mut setup = Setup::empty();
    for (i, &byte) in board.iter().enumerate() {
        let Some(square) = Square::from_index(i).map(Square::flip_rank) else { continue };
        setup.board[square.index()] = match byte {
            0 => None,
            _ => Some(piece(byte).ok_or_else(|| format!("{byte:#04x} on {square} is no piece"))?),
        };
    }
    Ok(setup)
}

fn piece(byte: u8) -> Option<Piece> {
    let color = match byte >> 4 {
        1 => Color::Red,
        2 => Color::Black,
        _ => return None,
    };
    let kind = usize::from(byte & 15).checked_sub(1).and_then(|i| KINDS.get(i))?;
    Some(Piece::new(color, *kind))
}

/// The program writes its memory as it is: what looks like no text is none.
fn tags(head: &[u8; LEN]) -> Vec<(String, String)> {
    let read = |&(tag, at, len): &(&str, usize, usize)| (tag.to_owned(), utf16(&head[at..at + len]));
    let is_text =
        |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_control() || c == '\u{fffd}');
    FIELDS.iter().map(read).filter(|(_, text)| is_text(text)).collect()
}
