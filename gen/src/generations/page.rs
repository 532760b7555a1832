//! The page of a loop: the ladder, three plots, and every step, in one file without scripts.

use std::fmt::Write as _;

use super::journal::Ended;
use super::ladder::{Generation, Ladder, StepState, clock};
use super::plots;

/// While a generation is unfinished the page asks for itself again, in seconds.
const REFRESH: u32 = 60;

const STYLE: &str = "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:100em;padding:0 1em;color:#222}\
    table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
    th,td{padding:.25em .6em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}\
    th{background:#f4f4f4}td.text,th.text{text-align:left}code{font-size:.85em;word-break:break-all}\
    .good{color:#176f2c}.bad{color:#a3271f}svg{max-width:100%;height:auto}pre{overflow:auto;background:#f8f8f8;padding:.6em}";

/// The page of a ladder; `wanted` generations are asked for.
pub fn page(ladder: &Ladder, wanted: u32) -> String {
    let judged = ladder.generations.iter().filter(|known| known.accepted.is_some()).count();
    let unfinished = judged < wanted as usize;
    let refresh = if unfinished {
        format!("<meta http-equiv=\"refresh\" content=\"{REFRESH}\">")
    } else {
        String::new()
    };
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">{refresh}<title>Chuhe: generations</title>\
         <style>{STYLE}</style></head><body>\n<h1>Generations</h1>\n\
         <p>{judged} of {wanted} generations judged; as of {}.</p>\n",
        utc(ladder.at)
    );
    html.push_str(&table(ladder));
    let charts = [
        ("Elo from the start", plots::elo(ladder)),
        ("Training loss", plots::losses(ladder)),
        ("Time", plots::times(ladder)),
    ];
    for (title, chart) in charts {
        if let Some(svg) = chart {
            let _ = write!(html, "<h2>{title}</h2>\n{svg}\n");
        }
    }
    html.push_str("<p>Errors are half widths of 95 % intervals. Elo from the start is the sum of the matches up to a net.</p>\n");
    ladder.generations.iter().rev().for_each(|generation| html.push_str(&details(generation)));
    html.push_str("</body></html>\n");
    html
}

fn table(ladder: &Ladder) -> String {
    let mut html = "<div style=\"overflow-x:auto\"><table><thead><tr><th>generation</th><th class=\"text\">played by</th><th>positions</th><th>bytes</th>\
        <th>B/pos</th><th>positions/s</th><th>validation loss</th><th class=\"text\">net</th><th class=\"text\">SPRT</th>\
        <th>Elo</th><th>LL, LD, DD+WL, WD, WW</th><th>Elo from the start</th><th>time</th><th class=\"text\">state</th>\
        </tr></thead><tbody>\n"
        .to_owned();
    for generation in &ladder.generations {
        html.push_str(&row(ladder, generation));
    }
    html + "</tbody></table></div>\n"
}

fn row(ladder: &Ladder, generation: &Generation) -> String {
    let dash = || "–".to_owned();
    let (positions, bytes) = (generation.positions(), generation.bytes());
    let density = bytes.zip(positions).map(|(bytes, n)| bytes as f64 / n.max(1) as f64);
    let elo = |(elo, error): (f64, f64)| format!("{elo:+.1} ± {error:.1}");
    let contest = generation.contest();
    let player = match (generation.player.generation, &generation.player.net) {
        (Some(number), _) => format!("net {number}"),
        (None, Some(_)) => "the start net".to_owned(),
        (None, None) => "hand-crafted".to_owned(),
    };
    let colour = match generation.accepted {
        Some(true) => " good",
        Some(false) => " bad",
        None => "",
    };
    let numbers = [
        positions.map_or_else(dash, grouped),
        bytes.map_or_else(dash, grouped),
        density.map_or_else(dash, |ratio| format!("{ratio:.3}")),
        generation.positions_per_second().map_or_else(dash, |rate| grouped(rate.round() as u64)),
        generation.validation_loss().map_or_else(dash, |loss| format!("{loss:.6}")),
    ];
    let mut html = format!("<tr><td>{}</td><td class=\"text\">{player}</td>", generation.number);
    numbers.iter().for_each(|number| html += &format!("<td>{number}</td>"));
    let id = generation.net_id().map_or_else(dash, |id| escape(&id.chars().take(12).collect::<String>()));
    let sprt = contest
        .as_ref()
        .map_or_else(dash, |contest| format!("{} ({:+.2})", escape(&contest.state), contest.llr));
    let pairs =
        contest.as_ref().map_or_else(dash, |contest| contest.pentanomial.map(|n| n.to_string()).join(", "));
    let _ = writeln!(
        html,
        "<td class=\"text\"><code>{id}</code></td><td class=\"text\">{sprt}</td><td>{}</td><td>{pairs}</td><td>{}</td>\
         <td>{}</td><td class=\"text{colour}\">{}</td></tr>",
        contest.as_ref().map_or_else(dash, |contest| elo((contest.elo, contest.error))),
        ladder.cumulative(generation).map_or_else(dash, elo),
        clock(generation.seconds()),
        escape(&generation.state()),
    );
    html
}

fn details(generation: &Generation) -> String {
    let mut html = format!(
        "<details><summary>Generation {}: {}</summary>\n<p>{}</p>\n<table><thead><tr><th class=\"text\">step</th>\
         <th class=\"text\">state</th><th>time</th><th class=\"text\">command</th></tr></thead><tbody>\n",
        generation.number,
        escape(&generation.state()),
        escape(&generation.why)
    );
    generation.steps.iter().for_each(|step| html.push_str(&step_row(step)));
    html.push_str("</tbody></table>\n<ul>\n");
    for output in generation.steps.iter().flat_map(|step| &step.outputs) {
        let (path, bytes) = (escape(&output.path), grouped(output.bytes));
        let _ =
            writeln!(html, "<li>{path}: {bytes} bytes, SHA-256 <code>{}</code></li>", escape(&output.sha256));
    }
    let settings = serde_json::to_string_pretty(&generation.settings).unwrap_or_default();
    let _ = writeln!(
        html,
        "</ul>\n<details><summary>Settings</summary><pre>{}</pre></details></details>",
        escape(&settings)
    );
    html
}

fn step_row(step: &StepState) -> String {
    let (class, word) = match step.ended {
        None => ("", "runs"),
        Some(Ended::Done) => (" good", "done"),
        Some(Ended::Interrupted) => ("", "interrupted"),
        Some(Ended::Failed) => (" bad", "failed"),
    };
    let message =
        step.message.as_ref().map_or_else(String::new, |text| format!("<pre>{}</pre>", escape(text)));
    format!(
        "<tr><td class=\"text\">{}</td><td class=\"text{class}\">{word}</td><td>{}</td>\
         <td class=\"text\" style=\"white-space:normal\"><code>{}</code>{message}</td></tr>\n",
        escape(&step.name),
        clock(step.seconds),
        escape(&step.command.join(" ")),
    )
}

/// Text inside an element or an attribute.
fn escape(text: &str) -> String {
    let escaped = |c| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        c => String::from(c),
    };
    text.chars().map(escaped).collect()
}

/// `1 234 567` with thin blanks.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A time of seconds since 1970, as `2026-03-01 12:34 UTC` (days to dates: Howard Hinnant, "chrono-compatible
/// low-level date algorithms").
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", second / 3600, second / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_and_text() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_772_368_496, "2026-03-01 12:34 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
        ] {
            assert_eq!(utc(seconds), text);
        }
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
