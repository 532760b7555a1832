//! Pieces that pages are put together from.

use crate::plots::{Hue, STYLE};

const PAGE_STYLE: &str = "\
*{box-sizing:border-box}\nbody{margin:0 auto;max-width:1240px;padding:16px;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,sans-serif}\nh1{font-size:1.5em;margin:.2em 0}\nh2{font-size:1.2em;margin:1.6em 0 .4em;\
border-bottom:1px solid var(--grid)}\nnav{display:flex;flex-wrap:wrap;gap:4px 14px;margin:.8em 0}\na{color:var(--blue)}\n\
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px}\n\
.tile,figure{background:var(--card);border-radius:8px;padding:10px 12px;margin:0}\n\
.tile b{display:block;font-size:1.25em;font-variant-numeric:tabular-nums}\n.tile,.note,figcaption small{color:var(--soft)}\n\
.tile b{color:var(--ink)}\n.tile,.note{font-size:.87em}\n\
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,350px),1fr));gap:12px;margin:12px 0}\n\
figcaption{font-weight:600;font-size:.93em}\nfigcaption small{display:block;font-weight:400}\n\
.named{display:inline-block}.key{display:inline-block;width:.75em;height:.75em;border-radius:2px;margin:0 .3em 0 .8em}\n\
.table{overflow-x:auto}\ntable{border-collapse:collapse;font-size:.87em;font-variant-numeric:tabular-nums}\n\
th,td{text-align:right;padding:2px 9px;border-bottom:1px solid var(--grid);white-space:nowrap}\nth:first-child,\
td:first-child{text-align:left;padding-left:0}\nth{color:var(--soft);font-weight:500}\ntd.wide{width:150px;min-width:90px}\n\
.bar{height:.75em;background:var(--blue);border-radius:2px}\ncode{overflow-wrap:anywhere}\n";

/// Text for a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// `1,234,567`
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with so many decimal places, or a dash.
pub fn decimals(value: Option<f64>, places: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.places$}"))
}

/// A table; the first row has the headings. Cells are HTML.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut out = "<div class=\"table\"><table>\n".to_owned();
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        let cells: String = row
            .iter()
            .map(|cell| {
                let class = if cell.starts_with("<div class=\"bar\"") { " class=\"wide\"" } else { "" };
                format!("<{tag}{class}>{cell}</{tag}>")
            })
            .collect();
        out += &format!("<tr>{cells}</tr>\n");
    }
    out + "</table></div>\n"
}

/// A row of text.
pub fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A bar for a table, of a share from 0 to 1.
pub fn bar(share: f64, hue: Hue) -> String {
    let width = (share * 100.0).clamp(0.0, 100.0);
    format!("<div class=\"bar\" style=\"width:{width:.1}%;background:var({})\"></div>", hue.variable())
}

/// A plot with its heading, a note and the key to its colours.
pub fn figure(heading: &str, note: &str, key: &[(Hue, &str)], svg: &str) -> String {
    let key: String = key
        .iter()
        .map(|(hue, name)| {
            let square = format!("<span class=\"key\" style=\"background:var({})\"></span>", hue.variable());
            format!("<span class=\"named\">{square}{name}</span>")
        })
        .collect();
    format!("<figure>\n<figcaption>{heading}<small>{note}{key}</small></figcaption>\n{svg}</figure>\n")
}

/// Figures side by side, as many as the window has room for.
pub fn plots(figures: &[String]) -> String {
    format!("<div class=\"plots\">\n{}</div>\n", figures.concat())
}

/// The figures that everybody asks for first, each with its name.
pub fn tiles(figures: &[(String, String)]) -> String {
    let tiles: String = figures
        .iter()
        .map(|(figure, name)| format!("<div class=\"tile\"><b>{figure}</b>{name}</div>\n"))
        .collect();
    format!("<div class=\"tiles\">\n{tiles}</div>\n")
}

/// A part of a page.
pub struct Section<'a> {
    /// What a link to it ends with.
    pub id: &'a str,
    /// Its heading.
    pub heading: &'a str,
    /// HTML.
    pub body: String,
}

/// A whole page: a heading, what stands above everything, and sections with links to them.
pub fn page(title: &str, heading: &str, above: &str, sections: &[Section<'_>]) -> String {
    let link = |section: &Section<'_>| format!("<a href=\"#{}\">{}</a>\n", section.id, section.heading);
    let links: String = sections.iter().map(link).collect();
    let bodies: String = sections
        .iter()
        .map(|Section { id, heading, body }| {
            format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{body}</section>\n")
        })
        .collect();
    let (title, heading) = (escape(title), escape(heading));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n\
         <style>\n{STYLE}{PAGE_STYLE}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n{above}<nav>\n{links}</nav>\n{bodies}\
         </body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_text() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert_eq!(decimals(None, 2), "–");
    }

    #[test]
    fn pages_link_to_their_sections() {
        let section = Section { id: "files", heading: "Files", body: "<p>none</p>".to_owned() };
        let page = page("a & b", "a < b", "", &[section]);
        assert!(page.contains("<title>a &amp; b</title>") && page.contains("<h1>a &lt; b</h1>"));
        assert!(page.contains("<a href=\"#files\">Files</a>") && page.contains("<section id=\"files\">"));
        assert!(!page.contains("src=") && !page.contains("http"), "nothing to fetch");
    }
}
