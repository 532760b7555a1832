//! The endgames that `chuhe net examine` judges nets by are what they are said to be, and the verdicts on material that
//! books give hold, as far as every position of a material can be looked at within a test.

mod endgame_tables;

use endgame_tables::{Material, Solver, is_quiet, swapped};
use engine::examine::endgames::{Proof, Verdict, cases};
use xiangqi::Color;

/// Positions of a table that has no more numbers than this are checked in the ordinary tests.
const SMALL: usize = 200_000;

/// The share of quiet positions with Red to move that Red wins: Red is not in check, and no side can capture.
fn won_share(solver: &mut Solver, red: &str, black: &str) -> f64 {
    let table = solver.solve(&Material::parse(red, black).unwrap());
    let (mut won, mut all) = (0_u32, 0_u32);
    for number in (0..table.len()).step_by(2) {
        let Some(pos) = table.position(number).filter(is_quiet) else { continue };
        all += 1;
        won += u32::from(table.plies_to_mate(&pos).is_some());
    }
    assert!(all > 1000, "{red}-{black}: {all} quiet positions");
    f64::from(won) / f64::from(all)
}

/// `tests/data/vectors/endgame_material.json`, EM01, EM02, EM10, EM16, EM25: one piece against the bare king.
#[test]
fn one_piece_against_the_bare_king_is_as_books_say() {
    let mut solver = Solver::default();
    assert!(won_share(&mut solver, "KR", "K") > 0.999, "a rook wins");
    assert!(won_share(&mut solver, "KN", "K") > 0.98, "a knight wins");
    assert!(won_share(&mut solver, "KC", "K") < 0.001, "a cannon without an advisor does not win");
    let pawn = solver.solve(&Material::parse("KP", "K").unwrap());
    // A pawn on the last rank wins by zugzwang at the most where the mate is near.
    let (mut low, mut bottom) = ([0_u32; 2], [0_u32; 2]);
    for number in (0..pawn.len()).step_by(2) {
        let Some(pos) = pawn.position(number).filter(is_quiet) else { continue };
        let square = pos.pieces(Color::Red, xiangqi::PieceKind::Pawn).first().unwrap();
        let won = usize::from(pawn.plies_to_mate(&pos).is_some());
        match square.rank() {
            9 => bottom[won] += 1,
            5..=8 => low[won] += 1,
            _ => {}
        }
    }
    let share = |counts: [u32; 2]| f64::from(counts[1]) / f64::from(counts[0] + counts[1]);
    assert!(share(low) > 0.5, "a pawn that is not on the last rank wins: {low:?}");
    assert!(share(bottom) < 0.1, "a pawn on the last rank does not: {bottom:?}");
}

/// Every case of a material that is small enough stands in its table with the verdict that it has.
#[test]
fn cases_proved_by_tables_are_in_them() {
    let mut solver = Solver::default();
    let mut checked = 0;
    for case in cases().iter().filter(|case| case.proof == Proof::Table) {
        let (red, black) = case.material.split_once('-').expect("two sides");
        let material = Material::parse(red, black).unwrap();
        if numbers(&case.material) > SMALL {
            continue;
        }
        let plies = solver.solve(&material).plies_to_mate(&case.position);
        match case.verdict {
            Verdict::Win => assert_eq!(plies.map(u32::from), case.plies, "{}", case.id),
            Verdict::Draw => {
                assert_eq!(plies, None, "{}", case.id);
                let other = solver.solve(&material.swapped());
                assert_eq!(other.plies_to_mate(&swapped(&case.position)), None, "{}", case.id);
            }
        }
        checked += 1;
    }
    assert!(checked >= 40, "{checked} cases were looked at");
}

/// How many numbers the table of a material has.
fn numbers(material: &str) -> usize {
    material.chars().fold(2, |product, letter| {
        product
            * match letter {
                'K' => 9,
                'A' => 5,
                'B' => 7,
                'P' => 55,
                '-' => 1,
                _ => 90,
            }
    })
}
