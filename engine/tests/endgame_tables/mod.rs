//! Endgames of few pieces, solved: for every position of a material whether Red forces mate, and in how many plies.
//! Independent of the search and of every evaluation; it knows moves and the two ways to lose, mate and stalemate.
//!
//! Repetition and the natural limit are not looked at. A mate found here stands all the same: along it the number of plies
//! falls with every ply, so that nothing repeats. A position that is not won here might still be won by a rule, where the
//! defender can but check or chase for ever; a bare king with advisors and bishops can do neither.
#![allow(dead_code, reason = "the test and the example each use their part")]

use std::collections::HashMap;
use std::rc::Rc;

use engine::protocol::flipped;
use xiangqi::{Color, Move, Piece, PieceKind, Position, Setup, Square};

/// Not won, as far as is known.
const OPEN: u8 = 0;
/// No position: pieces on one square, a king in check that cannot be, or the same position under another number.
const NONE: u8 = u8::MAX;

/// The pieces of both sides beside the kings, by kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Material {
    red: Vec<PieceKind>,
    black: Vec<PieceKind>,
}

impl Material {
    /// `KPP` and `KAAB`: Red, who is to win, and Black.
    pub(crate) fn parse(red: &str, black: &str) -> Result<Material, String> {
        let side = |text: &str| {
            let letters = text.strip_prefix('K').ok_or(format!("{text:?}: pieces begin with K"))?;
            let kinds =
                letters.chars().map(|c| PieceKind::from_letter(c).ok_or(format!("{text:?}: piece {c}?")));
            let mut kinds = kinds.collect::<Result<Vec<PieceKind>, String>>()?;
            kinds.sort_unstable_by_key(|kind| kind.index());
            Ok::<_, String>(kinds)
        };
        Ok(Material { red: side(red)?, black: side(black)? })
    }

    /// The same with colours exchanged.
    pub(crate) fn swapped(&self) -> Material {
        Material { red: self.black.clone(), black: self.red.clone() }
    }

    /// Can Red's pieces cross the river?
    pub(crate) fn red_attacks(&self) -> bool {
        self.red.iter().any(|kind| !matches!(kind, PieceKind::Advisor | PieceKind::Bishop))
    }

    /// Without one piece.
    fn without(&self, piece: Piece) -> Option<Material> {
        let mut less = self.clone();
        let side = if piece.color() == Color::Red { &mut less.red } else { &mut less.black };
        let at = side.iter().position(|&kind| kind == piece.kind())?;
        side.remove(at);
        Some(less)
    }

    /// Every piece, kings first on each side; equal ones beside each other.
    fn pieces(&self) -> Vec<Piece> {
        let side = |color: Color, kinds: &[PieceKind]| {
            let all = std::iter::once(PieceKind::King).chain(kinds.iter().copied());
            all.map(|kind| Piece::new(color, kind)).collect::<Vec<Piece>>()
        };
        let mut all = side(Color::Red, &self.red);
        all.extend(side(Color::Black, &self.black));
        all
    }
}

/// Where a piece can stand, numbered.
struct Places {
    piece: Piece,
    squares: Vec<Square>,
    numbers: [usize; Square::COUNT],
}

impl Places {
    fn of(piece: Piece) -> Places {
        let squares: Vec<Square> =
            Square::all().filter(|&square| xiangqi::zones::zone(piece).has(square)).collect();
        let mut numbers = [0; Square::COUNT];
        for (number, square) in squares.iter().enumerate() {
            numbers[square.index()] = number;
        }
        Places { piece, squares, numbers }
    }
}

/// One material, solved for Red.
pub(crate) struct Table {
    places: Vec<Places>,
    /// By number of the placement, then side to move: 0, or plies to mate and one.
    values: Vec<u8>,
    /// The materials that a capture leads to.
    less: HashMap<usize, Rc<Table>>,
    /// The longest mate, in plies.
    longest: u8,
}

/// Tables that were made, to be used again.
#[derive(Default)]
pub(crate) struct Solver {
    tables: HashMap<Material, Rc<Table>>,
}

impl Solver {
    /// The table of a material, and those of all that it can become.
    pub(crate) fn solve(&mut self, material: &Material) -> Rc<Table> {
        if let Some(table) = self.tables.get(material) {
            return Rc::clone(table);
        }
        let mut less = HashMap::new();
        for piece in material.pieces() {
            if let Some(smaller) = material.without(piece) {
                less.insert(piece.index(), self.solve(&smaller));
            }
        }
        let table = Rc::new(Table::solved(material, less));
        self.tables.insert(material.clone(), Rc::clone(&table));
        table
    }
}

impl Table {
    fn solved(material: &Material, less: HashMap<usize, Rc<Table>>) -> Table {
        let places: Vec<Places> = material.pieces().into_iter().map(Places::of).collect();
        let placements: usize = places.iter().map(|places| places.squares.len()).product();
        let longest = less.values().map(|table| table.longest).max().unwrap_or(0);
        let mut table = Table { places, values: vec![OPEN; 2 * placements], less, longest };
        for number in 0..table.values.len() {
            if table.position(number).is_none() {
                table.values[number] = NONE;
            }
        }
        if material.red_attacks() {
            table.iterate();
        }
        table
    }

    /// Mates in 0 plies, in 1, in 2, until none is added and no smaller table has a longer one.
    fn iterate(&mut self) {
        let (mut plies, mut idle) = (0, 0);
        while idle < 2 || plies <= self.longest {
            assert!(plies < NONE - 2, "a mate in more than 250 plies");
            let mover = if plies % 2 == 0 { Color::Black } else { Color::Red };
            let mut won = Vec::new();
            for number in (usize::from(mover == Color::Black)..self.values.len()).step_by(2) {
                if self.values[number] == OPEN && self.wins_in(number, plies) {
                    won.push(number);
                }
            }
            idle = if won.is_empty() { idle + 1 } else { 0 };
            if !won.is_empty() {
                self.longest = self.longest.max(plies);
            }
            won.into_iter().for_each(|number| self.values[number] = plies + 1);
            plies += 1;
        }
    }

    /// Is Red's mate there within so many plies, when all shorter ones are known?
    fn wins_in(&self, number: usize, plies: u8) -> bool {
        let Some(mut pos) = self.position(number) else { return false };
        let mover = pos.side_to_move();
        let moves = pos.legal_moves();
        let mut known = moves.iter().map(|&mv| self.after(&mut pos, mv).is_some_and(|left| left < plies));
        match mover {
            Color::Red => known.any(|known| known),
            Color::Black => known.all(|known| known),
        }
    }

    /// Plies to Red's mate after a move.
    fn after(&self, pos: &mut Position, mv: Move) -> Option<u8> {
        let undo = pos.make(mv);
        let captured = undo.change.and_then(|change| change.captured);
        let table = captured.map_or(Some(self), |piece| self.less.get(&piece.index()).map(Rc::as_ref));
        let plies = table.and_then(|table| table.plies_to_mate(pos));
        pos.unmake(&undo);
        plies
    }

    /// Plies to Red's mate; `None` where Red does not force one. The position must have the table's material.
    pub(crate) fn plies_to_mate(&self, pos: &Position) -> Option<u8> {
        match self.values[self.number(pos)] {
            OPEN | NONE => None,
            value => Some(value - 1),
        }
    }

    /// The longest mate of this material and all that it becomes, in plies.
    pub(crate) fn longest(&self) -> u8 {
        self.longest
    }

    /// How many numbers there are; some have no position.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The position of a number.
    pub(crate) fn position(&self, number: usize) -> Option<Position> {
        if self.values[number] == NONE {
            return None;
        }
        let mut setup = Setup::empty();
        setup.side_to_move = if number.is_multiple_of(2) { Color::Red } else { Color::Black };
        let mut rest = number / 2;
        let mut last: Option<(Piece, Square)> = None;
        for places in &self.places {
            let square = places.squares[rest % places.squares.len()];
            rest /= places.squares.len();
            let out_of_order = last.is_some_and(|(piece, before)| piece == places.piece && before >= square);
            if out_of_order || setup.board[square.index()].is_some() {
                return None;
            }
            setup.board[square.index()] = Some(places.piece);
            last = Some((places.piece, square));
        }
        Position::try_from_setup(&setup).ok()
    }

    /// The number of a position.
    fn number(&self, pos: &Position) -> usize {
        let (mut number, mut radix) = (0, 1);
        let mut count = 0;
        for (i, places) in self.places.iter().enumerate() {
            // The how-manieth of its kind it is.
            count = if i > 0 && self.places[i - 1].piece == places.piece { count + 1 } else { 0 };
            let (color, kind) = (places.piece.color(), places.piece.kind());
            let square = pos.pieces(color, kind).nth(count).expect("the table's material");
            number += radix * places.numbers[square.index()];
            radix *= places.squares.len();
        }
        2 * number + usize::from(pos.side_to_move() == Color::Black)
    }
}

/// A position of the material with Red to move, by numbers of chance; `None` where these give none.
pub(crate) fn random_position(material: &Material, mut chance: impl FnMut() -> u64) -> Option<Position> {
    let mut setup = Setup::empty();
    for places in material.pieces().into_iter().map(Places::of) {
        let square = places.squares[(chance() % places.squares.len() as u64) as usize];
        if setup.board[square.index()].replace(places.piece).is_some() {
            return None;
        }
    }
    Position::try_from_setup(&setup).ok()
}

/// The position with colours exchanged, turned round.
pub(crate) fn swapped(pos: &Position) -> Position {
    Position::try_from_setup(&flipped(&pos.to_setup())).expect("a position stays one with colours exchanged")
}

/// No check, and no capture for either side.
pub(crate) fn is_quiet(pos: &Position) -> bool {
    let captures = |pos: &Position| pos.legal_moves().iter().any(|mv| pos.piece_on(mv.to()).is_some());
    if pos.in_check() || captures(pos) {
        return false;
    }
    let mut passed = pos.clone();
    passed.make_null();
    !captures(&passed)
}
