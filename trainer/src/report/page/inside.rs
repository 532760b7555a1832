//! The parts of the page that look into the net.

use super::pair;
use crate::report::boards;
use crate::report::net::{NetView, Quantisation};
use crate::watch::{Activations, Histogram, Statistics, Weights};
use pages::{Axes, Bar, Hue, PlotError, escape, figure, grouped, plot, plots_of, strings, table};

/// The bins of a histogram as bars in percent.
fn bars(histogram: &Histogram) -> Vec<Bar> {
    let all = histogram.count().max(1) as f64;
    let bin =
        |(i, &count): (usize, &u64)| (histogram.edge(i), histogram.edge(i + 1), 100.0 * count as f64 / all);
    histogram.counts.iter().enumerate().map(bin).collect()
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

pub(super) fn weights(statistics: &Statistics) -> Result<String, PlotError> {
    let mut rows =
        vec![strings(["weights", "number", "norm", "mean", "deviation", "largest", "limit", "on the limit"])];
    rows.extend(statistics.weights.iter().map(|found| {
        vec![
            found.name.clone(),
            grouped(found.count as u64),
            format!("{:.3}", found.norm),
            format!("{:.5}", found.mean),
            format!("{:.5}", found.deviation),
            format!("{:.4}", found.largest),
            format!("{:.4}", found.limit),
            percent(found.at_limit),
        ]
    }));
    let note = "<p class=\"note\">Factors are added to the rows they belong to. The limit is what a net file can hold; \
                training clips to it. A large share on the limit says that the scale is too small or the learning \
                rate too high.</p>\n";
    let figures: Result<Vec<String>, PlotError> = statistics
        .weights
        .iter()
        .filter(|found| found.name.ends_with("weight"))
        .map(|found: &Weights| {
            let axes = Axes { title: &found.name, x: "weight", y: "share (%)" };
            let svg = plot(axes, &bars(&found.histogram), Hue::Blue, &[], None)?;
            let note = format!(
                "six deviations wide; {} to {}",
                short(found.histogram.min),
                short(found.histogram.max)
            );
            Ok(figure(&found.name, &note, &[], &svg))
        })
        .collect();
    Ok(table(&rows) + note + &plots_of(&figures?))
}

fn short(value: f64) -> String {
    format!("{value:.3}")
}

pub(super) fn activations(statistics: &Statistics) -> Result<String, PlotError> {
    let mut rows = vec![strings(["layer", "neurons", "dead", "always full", "zero", "full"])];
    rows.extend(statistics.activations.iter().map(|layer| {
        vec![
            layer.name.clone(),
            grouped(layer.neurons as u64),
            grouped(layer.dead as u64),
            grouped(layer.always_full as u64),
            percent(layer.zero),
            percent(layer.full),
        ]
    }));
    let note = "<p class=\"note\">On the positions in the checkpoint. Dead neurons are 0 in all of them, full ones at the \
                clip; zero and full are shares of all activations. <code>ft</code> are the clipped sums of both sides, \
                before they are multiplied in pairs; of the dense layers, those of all output stacks that \
                occur.</p>\n";
    let mut figures = Vec::new();
    for layer in &statistics.activations {
        figures.push(spread(layer)?);
        let axes =
            Axes { title: &layer.name, x: "share of the positions in which it is 0", y: "neurons (%)" };
        let svg = plot(axes, &bars(&layer.zero_by_neuron), Hue::Grey, &[], None)?;
        figures.push(figure(&format!("{}: neurons by how often they are 0", layer.name), "", &[], &svg));
    }
    Ok(table(&rows) + note + &plots_of(&figures))
}

fn spread(layer: &Activations) -> Result<String, PlotError> {
    let axes = Axes { title: &layer.name, x: "activation", y: "share (%)" };
    let svg = plot(axes, &bars(&layer.histogram), Hue::Green, &[], None)?;
    let note = format!("those between 0 and {:.3}", layer.limit);
    Ok(figure(&format!("{}: activations", layer.name), &note, &[], &svg))
}

pub(super) fn quantisation(net: &NetView) -> Result<String, PlotError> {
    match (&net.quantisation, &net.not_quantised) {
        (Some(found), _) => errors(found),
        (None, Some(why)) => {
            Ok(format!("<p><strong>This net cannot be exported: {}</strong></p>\n", escape(why)))
        }
        (None, None) => Ok(String::new()),
    }
}

fn errors(found: &Quantisation) -> Result<String, PlotError> {
    let rows = [
        strings(["", "centipawns"]),
        pair("mean error", format!("{:.3} (an export allows {})", found.mean, found.bound[0])),
        pair("99 % are below", format!("{:.3}", found.percentile_99)),
        pair("worst", format!("{:.3} (an export allows {})", found.worst, found.bound[1])),
        pair("shift", format!("{:+.3}", found.shift)),
    ];
    let axes = Axes { title: "Quantisation errors", x: "integers less floats (centipawns)", y: "share (%)" };
    let svg = plot(axes, &bars(&found.histogram), Hue::Violet, &[], None)?;
    let note = format!("{} positions that did not settle the biases", grouped(found.positions as u64));
    let mut worst = vec![strings(["worst positions", "float", "integer", "difference"])];
    worst.extend(found.worst_positions.iter().map(|position| {
        vec![
            format!("<code>{}</code>", escape(&position.fen)),
            format!("{:.1}", position.float),
            format!("{:.1}", position.integer),
            format!("{:+.2}", position.integer - position.float),
        ]
    }));
    let note_below = "<p class=\"note\">The float net of the checkpoint against the reference evaluator on its integers, \
                      quantised as an export does it.</p>\n";
    let figure = figure("Errors", &note, &[], &svg);
    Ok(table(&rows) + &plots_of(&[figure]) + note_below + &table(&worst))
}

/// The feature transformer on boards.
pub(super) fn rows(net: &NetView) -> String {
    let pictures = &net.pictures;
    let mut html = boards::DEFINITIONS.to_owned();
    html += "<p class=\"note\">Boards are as the side that looks sees them: its own pieces start below, file a is at the \
             left. Sets with mirroring (<code>-hm</code>) see its king on the files d and e. Squares without a colour are \
             near zero, or the piece cannot stand there.</p>\n";
    let (all, buckets) = pictures.strengths.split_at(pictures.strengths.len().min(1));
    all.iter().for_each(|set| html += &boards::set(set));
    html += &folded(&format!("Each of the {} king buckets", buckets.len()), buckets);
    if let Some(set) = &pictures.psqt {
        html += &boards::set(set);
    }
    html + &folded("The neurons that the next layer listens to most", &pictures.neurons)
}

fn folded(summary: &str, sets: &[crate::report::pictures::PictureSet]) -> String {
    let sets: String = sets.iter().map(boards::set).collect();
    format!("<details><summary>{summary}</summary>\n{sets}</details>\n")
}
