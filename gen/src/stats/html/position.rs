//! Positions: the board, moves, and how different they are.

use pages::{
    Axes, Board, Hue, PlotError, Series, bar, board, decimals, figure, grouped, plot, plots_of, strings,
    table,
};
use xiangqi::{Color, PieceKind};

use super::parts::{histogram_figure, result_points};
use super::play::FEWEST;
use crate::stats::Survey;
use crate::stats::counts::{Counts, MOST_BALANCE, Results};
use crate::stats::distinct::{CLASS_ENDS, Distinct};
use crate::stats::json::ratio;
use crate::stats::openings::DEPTHS;
use crate::stats::text::percent;

/// Squares of a palace, and the shares of a king's standing there.
fn palace(counts: &Counts, color: Color) -> Vec<f64> {
    let first = if color == Color::Red { 0 } else { 7 };
    let all = counts.positions().max(1) as f64;
    let places = (first..first + 3).flat_map(|rank| (3..6).map(move |file| rank * 9 + file));
    places.map(|square| 100.0 * counts.kings[color.index()][square] as f64 / all).collect()
}

pub(super) fn pieces(counts: &Counts) -> Result<String, PlotError> {
    let positions = counts.positions();
    let all = positions.max(1) as f64;
    let surplus: Vec<(f64, f64, f64)> = (-MOST_BALANCE..)
        .zip(&counts.balance)
        .map(|(x, found)| (x as f64 - 0.5, x as f64 + 0.5, 100.0 * found.iter().sum::<u64>() as f64 / all))
        .filter(|bar| bar.2 > 0.0)
        .collect();
    let x = "surplus of material (rook 10)";
    let material =
        plot(Axes { title: "Material", x, y: "share of positions (%)" }, &surplus, Hue::Blue, &[], None)?;
    let rows: Vec<(f64, Results)> =
        (-MOST_BALANCE..).zip(&counts.balance).map(|(x, found)| (x as f64, *found)).collect();
    let series: Vec<Series> = result_points(&rows, FEWEST)
        .into_iter()
        .zip([Hue::Blue, Hue::Grey, Hue::Red])
        .map(|(points, hue)| Series { hue, dots: true, points })
        .collect();
    let results = plot(
        Axes { title: "Results by material", x, y: "share of positions (%)" },
        &[],
        Hue::Blue,
        &series,
        Some(100.0),
    )?;
    let kings: Vec<String> =
        [(Color::Red, "Red's king", Hue::Red), (Color::Black, "Black's king", Hue::Blue)]
            .into_iter()
            .map(|(color, title, hue)| {
                let ranks = if color == Color::Red { (0, 3) } else { (7, 3) };
                let shares = palace(counts, color);
                let svg = board(Board { title, files: (3, 3), ranks, shares: &shares, places: 1 }, hue)?;
                Ok(figure(title, "share of positions (%)", &[], &svg))
            })
            .collect::<Result<_, PlotError>>()?;
    let mut rows =
        vec![strings(["pieces a position", "king", "advisor", "bishop", "knight", "rook", "cannon", "pawn"])];
    for color in Color::ALL {
        let mean = |kind: PieceKind| {
            let by_count = &counts.kinds[color.index()][kind.index()];
            let sum: u64 = by_count.iter().zip(0u64..).map(|(&positions, pieces)| positions * pieces).sum();
            decimals(ratio(sum as f64, positions), 2)
        };
        let cells = PieceKind::ALL.into_iter().map(mean);
        rows.push([format!("{color:?} (mean)")].into_iter().chain(cells).collect());
    }
    let key = [(Hue::Blue, "won"), (Hue::Grey, "drawn"), (Hue::Red, "lost")];
    let mut figures = vec![
        histogram_figure(
            "Pieces on the board",
            "pieces of both sides",
            "positions",
            &counts.pieces,
            Hue::Blue,
        )?,
        figure("Material", "of the side to move: rook 10, knight, cannon 5, others 1", &[], &material),
        figure("Results by material", "of the side to move", &key, &results),
    ];
    figures.extend(kings);
    Ok(table(&rows) + &plots_of(&figures))
}

pub(super) fn moves(counts: &Counts) -> Result<String, PlotError> {
    let positions = counts.positions();
    let [[_, captures], [checks, both]] = counts.checks_captures;
    let shares = [
        ("the move captures", captures + both),
        ("the side to move is in check", checks + both),
        ("both", both),
        ("the move is not the search's best", counts.not_best),
        ("Red is to move", counts.red_to_move),
    ];
    let mut rows = vec![strings(["of all positions", "share"])];
    rows.extend(shares.iter().map(|(name, n)| vec![(*name).to_owned(), percent(*n, positions)]));
    let mut kinds = vec![strings(["kind", "moves", "", "is captured", ""])];
    let (moved, captured) = (counts.moved.iter().sum(), counts.captured.iter().sum());
    let names = ["king", "advisor", "bishop", "knight", "rook", "cannon", "pawn"];
    for (i, name) in names.into_iter().enumerate() {
        let cells = |n: u64, all: u64, hue| [percent(n, all), bar(ratio(n as f64, all).unwrap_or(0.0), hue)];
        let cells = cells(counts.moved[i], moved, Hue::Blue).into_iter().chain(cells(
            counts.captured[i],
            captured,
            Hue::Red,
        ));
        kinds.push([name.to_owned()].into_iter().chain(cells).collect());
    }
    let all = positions.max(1) as f64;
    let whole_board = |title: &str, squares: &[u64], hue: Hue| {
        let shares: Vec<f64> = squares.iter().map(|&n| 100.0 * n as f64 / all).collect();
        let svg = board(Board { title, files: (0, 9), ranks: (0, 10), shares: &shares, places: 1 }, hue)?;
        Ok::<_, PlotError>(figure(title, "share of moves (%), both sides; Red below", &[], &svg))
    };
    let figures = [
        histogram_figure(
            "Rank of the move played",
            "rank among the pseudo-legal moves, from 0",
            "moves",
            &counts.ranks,
            Hue::Blue,
        )?,
        histogram_figure("Choices", "pseudo-legal moves", "positions", &counts.choices, Hue::Blue)?,
        whole_board("Where moves come from", &counts.origins, Hue::Green)?,
        whole_board("Where moves go", &counts.destinations, Hue::Blue)?,
    ];
    Ok(table(&rows) + "<br/>\n" + &table(&kinds) + &plots_of(&figures))
}

pub(super) fn diversity(survey: &Survey) -> Result<String, PlotError> {
    let found = &survey.diversity;
    let row = |name: String, distinct: &Distinct| {
        let again =
            distinct.repeated_share().map_or("–".to_owned(), |share| format!("{:.2} %", share * 100.0));
        let mut different = grouped(distinct.distinct());
        if !distinct.is_exact() {
            different += &format!(" ± {:.1} % (estimated)", 100.0 * distinct.relative_error());
        }
        vec![name, grouped(distinct.total()), different, again, grouped(distinct.most_frequent().into())]
    };
    let mut rows = vec![strings(["", "of", "different", "come again", "the most frequent, times"])];
    rows.push(row("games".to_owned(), &found.games));
    rows.push(row("first scored positions".to_owned(), &found.starts));
    rows.push(row("positions".to_owned(), &found.positions));
    for (plies, distinct) in DEPTHS.iter().zip(&found.depths) {
        rows.push(row(format!("positions after {plies} plies"), distinct));
    }
    let points: Vec<(f64, f64)> = DEPTHS
        .iter()
        .zip(&found.depths)
        .filter_map(|(&plies, distinct)| Some((plies as f64, 100.0 * (1.0 - distinct.repeated_share()?))))
        .collect();
    let series = [false, true].map(|dots| Series { hue: Hue::Green, dots, points: points.clone() });
    let title = "How fast games part";
    let parting = plot(
        Axes { title, x: "plies from the start of the game", y: "different positions (% of games)" },
        &[],
        Hue::Green,
        &series,
        Some(100.0),
    )?;
    let mut times = vec![strings(["a position comes", "different positions", "share"])];
    let classes = found.positions.classes();
    let all: u64 = classes.iter().sum();
    let mut from = 1;
    for (i, &n) in classes.iter().enumerate() {
        let name = match CLASS_ENDS.get(i) {
            Some(&end) if end == from => format!("{end} time{}", if end == 1 { "" } else { "s" }),
            Some(&end) => format!("{from} to {end} times"),
            None => format!("{from} times and more"),
        };
        from = CLASS_ENDS.get(i).map_or(from, |end| end + 1);
        times.push(vec![name, grouped(n), percent(n, all)]);
    }
    let note = "<p class=\"note\">Positions are compared by board and side to move. Figures marked as estimated rest on a \
                fair sample of the different things, with the standard error given; all others are exact.</p>\n";
    let figures = [figure(title, "100 %: no two games have the same position there", &[], &parting)];
    Ok(table(&rows) + &plots_of(&figures) + &table(&times) + note)
}
