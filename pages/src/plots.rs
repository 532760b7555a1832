//! Plots as SVG, drawn to be put into a page: no background, and every colour one of a few that the page's style
//! gives another value in the dark ([`STYLE`]).
//!
//! Small on purpose: 360 wide, so that letters keep their size on a phone; a wide window shows several in a row.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Axes and letters.
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Lines across the plot.
const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

/// What a series is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// The first choice; wins.
    Blue,
    /// Draws.
    Grey,
    /// Losses, Red.
    Red,
    /// A second one on the same scale.
    Green,
    /// A third.
    Orange,
    /// A fourth.
    Violet,
}

impl Hue {
    /// The colours in which several of a kind are told apart, in this order.
    pub const APART: [Hue; 6] = [Hue::Blue, Hue::Red, Hue::Green, Hue::Orange, Hue::Violet, Hue::Grey];

    const fn color(self) -> RGBColor {
        match self {
            Hue::Blue => RGBColor(0x2f, 0x6f, 0xb5),
            Hue::Grey => RGBColor(0x88, 0x88, 0x88),
            Hue::Red => RGBColor(0xc2, 0x41, 0x3b),
            Hue::Green => RGBColor(0x3a, 0x8f, 0x5c),
            Hue::Orange => RGBColor(0xd0, 0x7a, 0x12),
            Hue::Violet => RGBColor(0x8a, 0x5a, 0xc2),
        }
    }

    /// The name of its colour in the page's style.
    pub const fn variable(self) -> &'static str {
        match self {
            Hue::Blue => "--blue",
            Hue::Grey => "--grey",
            Hue::Red => "--red",
            Hue::Green => "--green",
            Hue::Orange => "--orange",
            Hue::Violet => "--violet",
        }
    }
}

/// The colours by day and by night, and what makes drawn colours follow them.
pub const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fff;--card:#f7f7f5;--ink:#222;--soft:#666;--grid:#ddd;--blue:#2f6fb5;--grey:#888;\
--red:#c2413b;--green:#3a8f5c;--orange:#d07a12;--violet:#8a5ac2}\n\
@media(prefers-color-scheme:dark){:root{--paper:#15171a;--card:#1d2024;--ink:#e6e6e3;--soft:#a0a0a0;--grid:#3a3d42;\
--blue:#6aa7e8;--grey:#9a9a9a;--red:#ec7d75;--green:#6cc28e;--orange:#eaa04a;--violet:#b795e6}}\n\
svg{display:block;width:100%;height:auto}\n\
svg text,svg [fill=\"#222222\"]{fill:var(--ink)}\nsvg [stroke=\"#222222\"]{stroke:var(--ink)}\n\
svg [stroke=\"#DDDDDD\"]{stroke:var(--grid)}\n\
svg [fill=\"#2F6FB5\"]{fill:var(--blue)}\nsvg [stroke=\"#2F6FB5\"]{stroke:var(--blue)}\n\
svg [fill=\"#888888\"]{fill:var(--grey)}\nsvg [stroke=\"#888888\"]{stroke:var(--grey)}\n\
svg [fill=\"#C2413B\"]{fill:var(--red)}\nsvg [stroke=\"#C2413B\"]{stroke:var(--red)}\n\
svg [fill=\"#3A8F5C\"]{fill:var(--green)}\nsvg [stroke=\"#3A8F5C\"]{stroke:var(--green)}\n\
svg [fill=\"#D07A12\"]{fill:var(--orange)}\nsvg [stroke=\"#D07A12\"]{stroke:var(--orange)}\n\
svg [fill=\"#8A5AC2\"]{fill:var(--violet)}\nsvg [stroke=\"#8A5AC2\"]{stroke:var(--violet)}\n";

const WIDTH: u32 = 360;
const HEIGHT: u32 = 240;
/// Letters, in the plot's units.
const LETTERS: i32 = 14;

/// A plot that could not be drawn: a fault of this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a plot could not be drawn: {0}")]
pub struct PlotError(String);

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError(error.to_string())
}

/// What the axes say.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// What the plot shows, for those who hear the page.
    pub title: &'a str,
    /// The name of the x axis, with its unit.
    pub x: &'a str,
    /// The name of the y axis, with its unit.
    pub y: &'a str,
}

/// A bar: from x, to x, height.
pub type Bar = (f64, f64, f64);

/// One line or cloud of points of a plot.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its colour.
    pub hue: Hue,
    /// Points or a line through them?
    pub dots: bool,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws on an empty sheet, and names it.
fn drawn(
    title: &str,
    height: u32,
    draw: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    draw(&area)?;
    area.present().map_err(failed)?;
    drop(area);
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    Ok(svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1))
}

/// Numbers on axes: short, without needless zeros.
fn number(value: &f64) -> String {
    if value.abs() >= 10_000.0 {
        return format!("{}k", value / 1000.0);
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A plot with bars and lines over the same axes. `top` is the greatest y, or the data's own.
///
/// # Errors
/// [`PlotError`].
pub fn plot(
    axes: Axes<'_>,
    bars: &[Bar],
    hue: Hue,
    lines: &[Series],
    top: Option<f64>,
) -> Result<String, PlotError> {
    let ys = bars.iter().map(|bar| bar.2).chain(points(lines).map(|point| point.1));
    let highest = top.unwrap_or_else(|| ys.fold(0.0, f64::max) * 1.05);
    let highest = if highest > 0.0 { highest } else { 1.0 };
    draw(axes, bars, hue, lines, (0.0, highest), &number)
}

/// What the y axis of [`curves`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From 0 to the greatest value.
    FromZero,
    /// From the smallest value to the greatest, but for the few that lie far above all others, as at the start of
    /// a training.
    Fit,
    /// The same in equal factors; values that are not above 0 are left out.
    Log,
}

/// Share of the values of a [`Span::Fit`] that it shows at least.
const SHOWN: f64 = 0.97;

/// A plot of lines.
///
/// # Errors
/// [`PlotError`].
pub fn curves(axes: Axes<'_>, lines: &[Series], span: Span) -> Result<String, PlotError> {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.points.retain(|(x, y)| x.is_finite() && y.is_finite() && (span != Span::Log || *y > 0.0));
        if span == Span::Log {
            line.points.iter_mut().for_each(|point| point.1 = point.1.log10());
        }
    }
    let mut ys: Vec<f64> = points(&lines).map(|point| point.1).collect();
    ys.sort_by(f64::total_cmp);
    let (Some(&lowest), Some(&most)) = (ys.first(), ys.last()) else {
        return draw(axes, &[], Hue::Blue, &[], (0.0, 1.0), &number);
    };
    let nearly = ys[((ys.len() - 1) as f64 * SHOWN) as usize];
    let highest = match span {
        // Twice what nearly all need is not far above.
        Span::Fit if most - lowest > 2.0 * (nearly - lowest) && nearly > lowest => nearly,
        _ => most,
    };
    let room = match span {
        Span::FromZero => 0.05 * highest.abs(),
        _ => 0.05 * (highest - lowest),
    };
    // A level line still has a height to be drawn in.
    let room = if room > 0.0 { room } else { (0.05 * highest.abs()).max(1e-9) };
    let low = if span == Span::FromZero { lowest.min(0.0) } else { lowest - room };
    let high = highest + room;
    for line in &mut lines {
        // Clipped, not left out: a line that leaves the plot is seen to.
        line.points.iter_mut().for_each(|point| point.1 = point.1.min(high));
    }
    match span {
        Span::Log => draw(axes, &[], Hue::Blue, &lines, (low, high), &|y| coarse(10f64.powf(*y))),
        _ => draw(axes, &[], Hue::Blue, &lines, (low, high), &fine),
    }
}

fn points(lines: &[Series]) -> impl Iterator<Item = (f64, f64)> + '_ {
    lines.iter().flat_map(|series| series.points.iter().copied())
}

/// Numbers on the y axes of curves: as [`number`], with small ones in full.
fn fine(value: &f64) -> String {
    // What sums of steps leave of a zero.
    if value.abs() >= 1.0 || value.abs() < 1e-12 {
        return number(value);
    }
    if value.abs() >= 1e-3 {
        let text = format!("{value:.5}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let text = format!("{value:.1e}");
    text.replace(".0e", "e")
}

/// A number above 0 with two digits, as there are on an axis of equal factors.
fn coarse(value: f64) -> String {
    let text = format!("{value:.1e}");
    match text.parse::<f64>() {
        Ok(rounded) if (1e-3..1e5).contains(&rounded) => fine(&rounded),
        _ => text.replace(".0e", "e"),
    }
}

fn draw(
    axes: Axes<'_>,
    bars: &[Bar],
    hue: Hue,
    lines: &[Series],
    (low, high): (f64, f64),
    y_label: &dyn Fn(&f64) -> String,
) -> Result<String, PlotError> {
    let xs = bars.iter().flat_map(|bar| [bar.0, bar.1]).chain(points(lines).map(|point| point.0));
    let (left, right) = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let (left, right) = if left < right { (left, right) } else { (0.0, 1.0) };
    drawn(axes.title, HEIGHT, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(14)
            .x_label_area_size(40)
            .y_label_area_size(62)
            .build_cartesian_2d(left..right, low..high)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_labels(6)
            .y_labels(6)
            .x_desc(axes.x)
            .y_desc(axes.y)
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", LETTERS).into_font().color(&INK))
            .axis_desc_style(("sans-serif", LETTERS).into_font().color(&INK))
            .x_label_formatter(&number)
            .y_label_formatter(y_label)
            .draw()
            .map_err(failed)?;
        let boxes = bars
            .iter()
            .filter(|bar| bar.2 > 0.0)
            .map(|&(from, to, height)| Rectangle::new([(from, 0.0), (to, height)], hue.color().filled()));
        chart.draw_series(boxes).map_err(failed)?;
        for Series { hue, dots, points } in lines {
            let color = hue.color();
            if *dots {
                let circles = points.iter().map(|&point| Circle::new(point, 2, color.filled()));
                chart.draw_series(circles).map_err(failed)?;
            } else {
                let line = LineSeries::new(points.iter().copied(), color.stroke_width(2));
                chart.draw_series(line).map_err(failed)?;
            }
        }
        Ok(())
    })
}

/// A part of the board, each square with its share in percent; `shares` in the order of squares from the lower
/// left corner on, rank by rank.
#[derive(Clone, Copy, Debug)]
pub struct Board<'a> {
    /// What it shows, for those who hear the page.
    pub title: &'a str,
    /// The first file (0: a) and how many there are.
    pub files: (u8, u8),
    /// The first rank and how many there are.
    pub ranks: (u8, u8),
    /// Shares in percent.
    pub shares: &'a [f64],
    /// Decimal places shown.
    pub places: usize,
}

/// Draws squares in the strength of their shares.
///
/// # Errors
/// [`PlotError`].
pub fn board(board: Board<'_>, hue: Hue) -> Result<String, PlotError> {
    let (files, ranks) = (i32::from(board.files.1).max(1), i32::from(board.ranks.1));
    let margin = 22;
    let side = (WIDTH as i32 - 2 * margin) / files;
    // Squares of the palace need not be as wide as the page; those of the board need no height to be read.
    let high = if files > 3 { 30 } else { 44 };
    let height = ranks * high + 2 * margin;
    let most = board.shares.iter().copied().fold(0.0, f64::max);
    let center = Pos::new(HPos::Center, VPos::Center);
    let size = if files > 3 { LETTERS - 2 } else { LETTERS };
    let letters = ("sans-serif", size).into_font().color(&INK).pos(center);
    drawn(board.title, height as u32, |area| {
        let text = |text: String, x: i32, y: i32| {
            area.draw(&Text::new(text, (x, y), letters.clone())).map_err(failed)
        };
        for (place, share) in (0..).zip(board.shares) {
            let (file, rank) = (place % files, place / files);
            let (x, y) = (margin + file * side, margin + (ranks - 1 - rank) * high);
            let strength = if most > 0.0 { 0.85 * share / most } else { 0.0 };
            let corners = [(x + 1, y + 1), (x + side - 1, y + high - 1)];
            area.draw(&Rectangle::new(corners, hue.color().mix(strength).filled())).map_err(failed)?;
            area.draw(&Rectangle::new(corners, GRID.stroke_width(1))).map_err(failed)?;
            let places = board.places;
            text(format!("{share:.places$}"), x + side / 2, y + high / 2)?;
        }
        for file in 0..files {
            let name = char::from(b'a' + board.files.0 + file as u8).to_string();
            text(name, margin + file * side + side / 2, height - margin / 2)?;
        }
        for rank in 0..ranks {
            let name = (i32::from(board.ranks.0) + rank).to_string();
            text(name, margin / 2, margin + (ranks - 1 - rank) * high + high / 2)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: Axes<'_> = Axes { title: "a < \"b\" & c", x: "x (cm)", y: "y (%)" };

    #[test]
    fn plots_use_the_colours_of_the_style_alone() {
        let bars = [(0.0, 1.0, 3.0), (1.0, 2.0, 1.5)];
        let hues = Hue::APART;
        let lines: Vec<Series> = hues
            .into_iter()
            .flat_map(|hue| {
                [false, true].map(|dots| Series { hue, dots, points: vec![(0.0, 1.0), (2.0, 2.0)] })
            })
            .collect();
        let mut svg = plot(AXES, &bars, Hue::Green, &lines, None).expect("drawn");
        svg += &board(
            Board { title: "t", files: (3, 3), ranks: (0, 3), shares: &[11.1; 9], places: 1 },
            Hue::Red,
        )
        .expect("drawn");
        let mut rest = svg.as_str();
        while let Some(at) = rest.find("=\"#") {
            let color = &rest[at + 2..at + 9];
            let known = STYLE.contains(&format!("[fill=\"{color}\"]"))
                || STYLE.contains(&format!("[stroke=\"{color}\"]"));
            assert!(known, "{color} has no colour by night");
            rest = &rest[at + 9..];
        }
        assert!(svg.contains("aria-label=\"a &lt; &quot;b&quot; &amp; c\""), "{svg}");
        assert!(svg.contains("x (cm)") && svg.contains("y (%)"));
    }

    #[test]
    fn nothing_can_be_plotted() {
        assert!(plot(AXES, &[], Hue::Blue, &[], None).is_ok());
        for span in [Span::FromZero, Span::Fit, Span::Log] {
            assert!(curves(AXES, &[], span).is_ok());
            let level = Series { hue: Hue::Red, dots: false, points: vec![(1.0, 0.0), (2.0, 0.0)] };
            assert!(curves(AXES, &[level], span).is_ok());
        }
        let flat = [(5.0, 5.0, 0.0)];
        assert!(plot(AXES, &flat, Hue::Blue, &[], None).is_ok());
        assert!(
            board(
                Board { title: "t", files: (0, 9), ranks: (0, 10), shares: &[0.0; 90], places: 1 },
                Hue::Blue
            )
            .is_ok()
        );
    }

    #[test]
    fn a_curve_shows_its_body() {
        // A thousand values near 0.03 behind a first one of 5: the axis ends far below 5.
        let points: Vec<(f64, f64)> = (0..1000)
            .map(|x| (f64::from(x), if x == 0 { 5.0 } else { 0.03 - 1e-5 * f64::from(x) }))
            .collect();
        let line = Series { hue: Hue::Blue, dots: false, points };
        let labels = |svg: &str| -> Vec<f64> {
            svg.split("</text>").filter_map(|part| part.rsplit('\n').nth(1)?.trim().parse().ok()).collect()
        };
        let svg = curves(AXES, std::slice::from_ref(&line), Span::Fit).expect("drawn");
        assert!(labels(&svg).contains(&0.02) && !labels(&svg).contains(&5.0), "{svg}");
        let svg = curves(AXES, &[line], Span::FromZero).expect("drawn");
        assert!(labels(&svg).contains(&5.0), "{svg}");
        assert_eq!(
            [0.03, 1e-5, 2.5e-4, 0.0, 3.0, 20_000.0].map(|value| fine(&value)),
            ["0.03", "1e-5", "2.5e-4", "0", "3", "20k"]
        );
    }

    #[test]
    fn numbers_on_axes() {
        let found = [0.0, -0.0, 0.25, 100.0, -2000.0, 20_000.0, 12_500.0].map(|value| number(&value));
        assert_eq!(found, ["0", "0", "0.25", "100", "-2000", "20k", "12.5k"]);
    }
}
