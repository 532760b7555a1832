//! What a tuning leaves: a table, and the way of every number as CSV and as a page with curves.

use std::fmt::Write;

use super::gains::{Settings, Trajectory};

/// A curve has so many points at most.
const MOST_POINTS: usize = 400;
/// Size of a curve, in pixels.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 90.0;

/// A table of name, start and now, and the numbers as lines for the next run's `--param`.
pub fn text(settings: &Settings, trajectory: &Trajectory) -> String {
    let width = settings.parameters.iter().map(|parameter| parameter.name.len()).max().unwrap_or(0).max(4);
    let mut text = format!("{:<width$}  {:>10}  {:>10}\n", "name", "start", "now");
    for (parameter, now) in settings.parameters.iter().zip(trajectory.now()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<width$}  {:>10}  {now:>10.2}", parameter.name, parameter.value);
    }
    text += "\nto paste (values):\n";
    for (parameter, now) in settings.parameters.iter().zip(trajectory.now()) {
        let _ = writeln!(text, "{}: {}", parameter.name, now.round());
    }
    text += "\nto go on from here (--param):\n";
    for (parameter, now) in settings.parameters.iter().zip(trajectory.now()) {
        let _ = writeln!(text, "{}", parameter.line((now * 100.0).round() / 100.0));
    }
    text
}

/// One line for each iteration: its number, the pairs so far, its result, and every number after it.
pub fn csv(settings: &Settings, trajectory: &Trajectory) -> String {
    let names: Vec<&str> = settings.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let mut text = format!("iteration,pairs,result,{}\n", names.join(","));
    for (i, state) in trajectory.states().iter().enumerate() {
        let result = i.checked_sub(1).map_or_else(String::new, |i| trajectory.results()[i].to_string());
        let values: Vec<String> = state.iter().map(|value| format!("{value:.4}")).collect();
        let _ = writeln!(text, "{i},{},{result},{}", i as u64 * settings.batch, values.join(","));
    }
    text
}

/// A page with a curve for each number; nothing is loaded from elsewhere.
pub fn html(settings: &Settings, trajectory: &Trajectory) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>chuhe-match spsa</title>\n<style>body{font:14px sans-serif;margin:1em} \
         div{display:inline-block;margin:.5em} svg{background:#f4f4f4;display:block} path{fill:none;stroke:#06c}</style>\n",
    );
    let (done, all) = (trajectory.iterations(), settings.iterations);
    let _ = writeln!(page, "<h1>{done} of {all} iterations of {} pairs</h1>", settings.batch);
    for (i, parameter) in settings.parameters.iter().enumerate() {
        let values: Vec<f64> = trajectory.states().iter().filter_map(|state| state.get(i).copied()).collect();
        let now = values.last().copied().unwrap_or(parameter.value);
        let name = parameter.name.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(page, "<div>{name}: {} → {now:.2}{}</div>", parameter.value, curve(&values, all));
    }
    page + "</html>\n"
}

/// The values over the whole run's width; the range of the curve is its own.
fn curve(values: &[f64], iterations: u64) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if most > least { most - least } else { 1.0 };
    let every = values.len().div_ceil(MOST_POINTS).max(1);
    let last = values.len().saturating_sub(1);
    let mut path = String::new();
    for (i, value) in values.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last) {
        let x = i as f64 / iterations.max(1) as f64 * WIDTH;
        let y = HEIGHT - (value - least) / range * HEIGHT;
        let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
    }
    format!(
        "<svg width=\"{WIDTH}\" height=\"{HEIGHT}\"><path d=\"{path}\"/><text x=\"3\" y=\"12\">{most:.2}</text><text x=\"3\" y=\"87\">{least:.2}</text></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spsa::Parameter;

    #[test]
    fn everything_is_told() {
        let lines = ["a<b,50,0,100,3,0.2", "flat,5,0,10,1,0.002"];
        let settings = Settings {
            parameters: lines.iter().map(|line| Parameter::parse(line).expect(line)).collect(),
            iterations: 1000,
            batch: 2,
            ahead: 0,
            seed: 1,
            alpha: 0.602,
            gamma: 0.101,
            stability: 0.1,
        };
        let mut way = Trajectory::new(&settings);
        (0..900).for_each(|_| way.add(&settings, 1));
        let told = text(&settings, &way);
        assert!(told.contains(&format!("a<b: {}\n", way.now()[0].round())), "{told}");
        let next = told.lines().last().expect("a line");
        assert_eq!(Parameter::parse(next).expect(next).name, "flat");
        let table = csv(&settings, &way);
        assert_eq!(table.lines().count(), 902);
        assert_eq!(table.lines().next(), Some("iteration,pairs,result,a<b,flat"));
        assert_eq!(table.lines().nth(1), Some("0,0,,50.0000,5.0000"));
        assert!(table.lines().nth(2).is_some_and(|line| line.starts_with("1,2,1,")), "{table}");
        let page = html(&settings, &way);
        assert!(page.contains("a&lt;b: 50 → ") && page.matches("<svg").count() == 2);
        assert!(page.matches('L').count() < 2 * (MOST_POINTS + 60) && !page.contains("NaN"));
    }
}
