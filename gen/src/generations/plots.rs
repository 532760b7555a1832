//! The plots of a loop's page, as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::ladder::{Curve, Generation, Ladder};

/// Width and height of a plot, in pixels.
const SIZE: (u32, u32) = (900, 320);
/// Around a plot and for its labels, in pixels.
const MARGIN: u32 = 12;
const LABELS: (u32, u32) = (36, 72);
/// Half the width of an error bar's caps, and of a column of times, in generations.
const CAP: f64 = 0.06;
const COLUMN: f64 = 0.35;
const LETTERS: (&str, u32) = ("sans-serif", 14);
/// Colours that are told apart by most eyes (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws into an SVG; `None` if that fails, which leaves a page without this plot.
fn svg(draw: impl FnOnce(&Area<'_>) -> Drawn) -> Option<String> {
    let mut text = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&area)).and_then(|()| Ok(area.present()?))
    };
    drawn.is_ok().then_some(text)
}

/// Lowest and highest with some room; never empty.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.08).max(1e-9 * high.abs()).max(1e-12);
    (low - room, high + room)
}

fn last_number(ladder: &Ladder) -> f64 {
    f64::from(ladder.generations.last().map_or(1, |last| last.number))
}

/// Elo from the start by generation, with 95 % intervals; nets not accepted stand alone.
pub(super) fn elo(ladder: &Ladder) -> Option<String> {
    let points: Vec<(f64, f64, f64, bool)> = ladder
        .generations
        .iter()
        .filter_map(|known| {
            let (elo, error) = ladder.cumulative(known)?;
            Some((f64::from(known.number), elo, error, known.accepted == Some(true)))
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let ends = points.iter().flat_map(|&(_, elo, error, _)| [elo - error, elo + error]);
    let (low, high) = range(ends.chain([0.0]));
    svg(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .x_label_area_size(LABELS.0)
            .y_label_area_size(LABELS.1)
            .build_cartesian_2d(-0.3..last_number(ladder) + 0.3, low..high)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(LETTERS)
            .axis_desc_style(LETTERS)
            .x_desc("generation")
            .y_desc("Elo")
            .x_label_formatter(&whole)
            .draw()?;
        let line = [(0.0, 0.0)].into_iter().chain(points.iter().filter(|p| p.3).map(|p| (p.0, p.1)));
        chart.draw_series([PathElement::new(line.collect::<Vec<_>>(), COLOURS[0].stroke_width(2))])?;
        for &(x, elo, error, accepted) in &points {
            let colour = if accepted { COLOURS[0] } else { COLOURS[1] };
            let (top, bottom) = (elo + error, elo - error);
            let bars = [
                vec![(x, bottom), (x, top)],
                vec![(x - CAP, top), (x + CAP, top)],
                vec![(x - CAP, bottom), (x + CAP, bottom)],
            ];
            chart.draw_series(bars.map(|bar| PathElement::new(bar, colour.stroke_width(1))))?;
            chart.draw_series([Circle::new((x, elo), 4, colour.filled())])?;
        }
        Ok(())
    })
}

/// Training (thin) and validation loss (dots) by share of the run, a colour for each of the last generations.
pub(super) fn losses(ladder: &Ladder) -> Option<String> {
    let mut curves: Vec<(u32, Curve)> =
        ladder.generations.iter().map(|known| (known.number, known.curve())).collect();
    curves.retain(|(_, curve)| !curve.is_empty());
    curves.drain(..curves.len().saturating_sub(COLOURS.len()));
    if curves.is_empty() {
        return None;
    }
    let all = curves.iter().flat_map(|(_, curve)| curve);
    let (low, high) =
        range(all.flat_map(|&(_, loss, validation)| [Some(loss), validation].into_iter().flatten()));
    let steps = curves.iter().flat_map(|(_, curve)| curve.last()).map(|row| row.0).fold(1.0, f64::max);
    svg(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .x_label_area_size(LABELS.0)
            .y_label_area_size(LABELS.1)
            .build_cartesian_2d(0.0..steps * 1.02, low..high)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(LETTERS)
            .axis_desc_style(LETTERS)
            .x_desc("step (dots: validation)")
            .y_desc("loss")
            .x_label_formatter(&whole)
            .draw()?;
        for ((number, curve), colour) in curves.iter().zip(COLOURS) {
            let line: Vec<_> = curve.iter().map(|&(step, loss, _)| (step, loss)).collect();
            chart
                .draw_series([PathElement::new(line, colour.stroke_width(1))])?
                .label(format!("generation {number}"))
                .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 12, y + 4)], colour.filled()));
            let dots = curve.iter().filter_map(|&(step, _, validation)| Some((step, validation?)));
            chart.draw_series(dots.map(|dot| Circle::new(dot, 3, colour.filled())))?;
        }
        legend(&mut chart)
    })
}

/// Time of each generation, by step.
pub(super) fn times(ladder: &Ladder) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for step in ladder.generations.iter().flat_map(|known| &known.steps) {
        if !names.contains(&step.name.as_str()) {
            names.push(&step.name);
        }
    }
    let highest = ladder.generations.iter().map(Generation::seconds).fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    // Minutes, or hours where there are many.
    let (unit, name) = if highest > 3.0 * 3600.0 { (3600.0, "hours") } else { (60.0, "minutes") };
    svg(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .x_label_area_size(LABELS.0)
            .y_label_area_size(LABELS.1)
            .build_cartesian_2d(0.4..last_number(ladder) + 0.6, 0.0..highest / unit * 1.08)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(LETTERS)
            .axis_desc_style(LETTERS)
            .x_desc("generation")
            .y_desc(name)
            .x_label_formatter(&whole)
            .draw()?;
        for (index, name) in names.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let columns = ladder.generations.iter().map(|known| {
                let x = f64::from(known.number);
                let below = known.steps.iter().take_while(|step| step.name != *name);
                let low: f64 = below.map(|step| step.seconds).sum::<f64>() / unit;
                let high = low + known.step(name).map_or(0.0, |step| step.seconds) / unit;
                Rectangle::new([(x - COLUMN, low), (x + COLUMN, high)], colour.filled())
            });
            chart
                .draw_series(columns.collect::<Vec<_>>())?
                .label(*name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 12, y + 4)], colour.filled()));
        }
        legend(&mut chart)
    })
}

/// Whole numbers alone get a label.
fn whole(x: &f64) -> String {
    if (x - x.round()).abs() < 1e-9 { format!("{x:.0}") } else { String::new() }
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn legend<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>) -> Drawn {
    let background = WHITE.mix(0.8);
    chart
        .configure_series_labels()
        .background_style(background)
        .border_style(BLACK.mix(0.3))
        .label_font(LETTERS)
        .draw()?;
    Ok(())
}
