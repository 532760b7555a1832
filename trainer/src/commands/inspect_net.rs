//! What a net file is.

use super::print_json;
use anyhow::Result;
use nnue_format::QuantisedNet;
use nnue_format::quant::{DENSE_WEIGHT_MAX, PSQT_MAX};
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// The integers of one layer.
#[derive(Serialize)]
struct Layer {
    name: &'static str,
    shape: Vec<usize>,
    smallest: i64,
    greatest: i64,
    /// Share that is 0.
    zero: f64,
    /// Share that lies on the limit of its type or format; `None` where that is not one number.
    at_limit: Option<f64>,
}

fn layer(
    name: &'static str,
    shape: &[usize],
    values: impl Iterator<Item = i64>,
    limit: Option<i64>,
) -> Layer {
    let (mut smallest, mut greatest) = (i64::MAX, i64::MIN);
    let (mut count, mut zero, mut at_limit) = (0u64, 0u64, 0u64);
    for value in values {
        (smallest, greatest) = (smallest.min(value), greatest.max(value));
        count += 1;
        zero += u64::from(value == 0);
        at_limit += u64::from(limit.is_some_and(|limit| value.abs() >= limit));
    }
    let share = |part: u64| part as f64 / count.max(1) as f64;
    let (smallest, greatest) = if count == 0 { (0, 0) } else { (smallest, greatest) };
    let (zero, at_limit) = (share(zero), limit.map(|_| share(at_limit)));
    Layer { name, shape: shape.to_vec(), smallest, greatest, zero, at_limit }
}

fn layers(net: &QuantisedNet) -> Vec<Layer> {
    let l = &net.layers;
    let dense = Some(i64::from(DENSE_WEIGHT_MAX));
    let psqt = Some(i64::from(PSQT_MAX));
    vec![
        layer("ft_weights", l.ft_weights.shape(), l.ft_weights.iter().map(|&w| w.into()), None),
        layer("ft_biases", l.ft_biases.shape(), l.ft_biases.iter().map(|&w| w.into()), None),
        layer("psqt", l.psqt.shape(), l.psqt.iter().map(|&w| w.into()), psqt),
        layer("dense1_weights", l.dense1_weights.shape(), l.dense1_weights.iter().map(|&w| w.into()), dense),
        layer("dense1_biases", l.dense1_biases.shape(), l.dense1_biases.iter().map(|&w| w.into()), None),
        layer("dense2_weights", l.dense2_weights.shape(), l.dense2_weights.iter().map(|&w| w.into()), dense),
        layer("dense2_biases", l.dense2_biases.shape(), l.dense2_biases.iter().map(|&w| w.into()), None),
        layer("out_weights", l.out_weights.shape(), l.out_weights.iter().map(|&w| w.into()), dense),
        layer("out_biases", l.out_biases.shape(), l.out_biases.iter().map(|&w| w.into()), None),
    ]
}

pub(super) fn inspect(path: &Path, json: bool) -> Result<()> {
    let (file, id) = nnue_format::net::read(path)?;
    let about = &file.description;
    let layers = layers(&file.net);
    if json {
        return print_json(&json!({
            "file": path,
            "id": id.to_string(),
            "architecture": file.net.arch.to_string(),
            "architecture_id": file.net.arch.id().to_string(),
            "author": about.author,
            "program": about.program,
            "data_digest": about.data_digest,
            "parent": about.parent,
            "comment": about.comment,
            "config": about.config,
            "layers": layers,
        }));
    }
    println!("net         {}", path.display());
    println!("id          {id}");
    println!("shape       {} (id {})", file.net.arch, file.net.arch.id());
    for (name, text) in [
        ("author", &about.author),
        ("program", &about.program),
        ("data", &about.data_digest),
        ("parent", &about.parent),
        ("comment", &about.comment),
    ] {
        if !text.is_empty() {
            println!("{name:<11} {text}");
        }
    }
    println!(
        "  {:<16} {:<16} {:>9} {:>9} {:>8} {:>9}",
        "layer", "shape", "smallest", "greatest", "zero", "at limit"
    );
    for layer in layers.iter().filter(|layer| layer.shape.iter().all(|&length| length > 0)) {
        let shape = format!("{:?}", layer.shape);
        let at_limit = layer.at_limit.map_or("–".to_owned(), |share| format!("{:.2} %", 100.0 * share));
        println!(
            "  {:<16} {shape:<16} {:>9} {:>9} {:>6.1} % {at_limit:>9}",
            layer.name,
            layer.smallest,
            layer.greatest,
            100.0 * layer.zero
        );
    }
    if !about.config.trim().is_empty() {
        println!("\n{}", about.config.trim_end());
    }
    Ok(())
}
