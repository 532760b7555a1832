//! A plan in words: for people, and to say where two plans differ.

use serde::Serializer;

use super::{BookPlan, Count, OpeningPlan, Plan, Variety};

pub(super) fn net_as_text<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&net_text(bytes))
}

pub(super) fn as_hex<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex(bytes))
}

/// A net id in hexadecimal, or "none".
pub fn net_text(id: &[u8; 32]) -> String {
    if *id == [0; 32] { "none".to_owned() } else { hex(id) }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn or_none(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

impl Plan {
    /// The settings with their names, for people.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let (games, positions) = match self.count {
            Count::Games(n) => (Some(n.to_string()), None),
            Count::Positions(n) => (None, Some(n)),
            Count::WholeBook => (Some("one from each opening of the book".to_owned()), None),
        };
        let limit = &self.limit;
        let OpeningPlan { book, min_plies, max_plies, balance, balance_nodes } = self.opening;
        let a = &self.adjudication;
        let movetime = limit.movetime_ms.map(|ms| format!("{ms} (games cannot be played again)"));
        vec![
            ("games", or_none(games)),
            ("positions", or_none(positions)),
            ("nodes", or_none(limit.nodes)),
            ("soft nodes", or_none(limit.soft_nodes)),
            ("depth", or_none(limit.depth)),
            ("movetime (ms)", or_none(movetime)),
            ("seed", self.seed.to_string()),
            ("net", net_text(&self.net)),
            ("engine signature", self.engine_signature.to_string()),
            ("hash (MiB)", self.hash_mib.to_string()),
            ("book", or_none(book.map(book_text))),
            ("random plies", format!("{min_plies}..{max_plies}")),
            ("balance", format!("±{balance} at {balance_nodes} nodes")),
            ("other moves", variety_text(&self.variety)),
            ("resign", format!("{} for {} plies", a.resign_score, a.resign_plies)),
            ("resign at mate", if a.resign_mate { "yes" } else { "no" }.to_owned()),
            ("draw", format!("±{} for {} plies from ply {}", a.draw_score, a.draw_plies, a.draw_from)),
            ("max plies", a.max_plies.to_string()),
            ("rules", self.rules.clone()),
        ]
    }

    /// Where another plan differs: "seed: 1 there, 2 here".
    pub fn differences(&self, there: &Plan) -> Vec<String> {
        let pairs = self.settings().into_iter().zip(there.settings());
        pairs
            .filter(|(here, there)| here != there)
            .map(|((name, here), (_, there))| format!("{name}: {there} there, {here} here"))
            .collect()
    }
}

fn book_text(book: BookPlan) -> String {
    let BookPlan { sha256, openings, plies, wrap } = book;
    let cut = plies.map_or_else(String::new, |plies| format!(", cut to {plies} plies"));
    let use_of = if wrap { "used again and again" } else { "each used once" };
    format!("{openings} openings{cut}, {use_of}, SHA-256 {}", hex(&sha256))
}

fn variety_text(variety: &Variety) -> String {
    let &Variety { lines, margin, plies, random_per_mille, random_plies } = variety;
    let where_to = |plies: u32| match plies {
        0 => "throughout".to_owned(),
        plies => format!("in the first {plies} plies"),
    };
    let best = (lines > 1).then(|| format!("of the best {lines} within {margin} {}", where_to(plies)));
    let random = (random_per_mille > 0)
        .then(|| format!("{random_per_mille} of 1000 random {}", where_to(random_plies)));
    match (best, random) {
        (None, None) => "none".to_owned(),
        (best, random) => [best, random].into_iter().flatten().collect::<Vec<_>>().join(", "),
    }
}
