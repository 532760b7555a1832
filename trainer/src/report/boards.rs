//! Pictures of boards as SVG: small, many on a page, coloured by the page's style.
//!
//! Squares of about the same value are one path, so that a board costs about a kilobyte. The lines of the board are
//! drawn once in a page ([`DEFINITIONS`]) and used by each. Styles reach what is used only by selectors that name nothing
//! outside of it.

use super::pictures::{Picture, PictureSet};
use pages::escape;
use std::fmt::Write;

/// Steps of strength that are told apart.
const LEVELS: usize = 12;

/// What [`board`] refers to; put it into the page once.
pub const DEFINITIONS: &str = concat!(
    "<style>.boards{display:grid;gap:8px;overflow-x:auto}",
    ".boards figure{padding:6px}.boards figcaption{font-size:.78em;font-weight:500;white-space:nowrap}",
    ".b .p{fill:var(--blue)}.b .n{fill:var(--red)}.gl{stroke:var(--soft);stroke-width:.035;fill:none;opacity:.7}",
    ".b .k{stroke:var(--ink);stroke-width:.12;fill:none}.gt text{font-size:.62px;fill:var(--soft);text-anchor:middle}",
    "</style>\n<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>",
    "<g id=\"grid\" class=\"gt\"><path class=\"gl\" d=\"M.5.5h8v9h-8zM.5 1.5h8M.5 2.5h8M.5 3.5h8M.5 4.5h8M.5 5.5h8M.5 6.5h8M.5 7.5h8",
    "M.5 8.5h8M1.5.5v4m0 1v4M2.5.5v4m0 1v4M3.5.5v4m0 1v4M4.5.5v4m0 1v4M5.5.5v4m0 1v4M6.5.5v4m0 1v4M7.5.5v4m0 1v4",
    "M3.5.5l2 2m-2 0l2-2M3.5 7.5l2 2m-2 0l2-2\"/>",
    "<text x=\".5\" y=\"10.7\">a</text><text x=\"2.5\" y=\"10.7\">c</text><text x=\"4.5\" y=\"10.7\">e</text>",
    "<text x=\"6.5\" y=\"10.7\">g</text><text x=\"8.5\" y=\"10.7\">i</text><text x=\"-.4\" y=\"9.7\">0</text>",
    "<text x=\"-.4\" y=\"6.7\">3</text><text x=\"-.4\" y=\"3.7\">6</text><text x=\"-.4\" y=\".7\">9</text></g></defs></svg>\n"
);

/// All boards of a set beside each other.
pub fn set(set: &PictureSet) -> String {
    let most = set.most();
    let boards: String = set.pictures.iter().map(|picture| board(picture, most)).collect();
    // A row for each side.
    let columns = set.pictures.len().div_ceil(2).max(1);
    format!(
        "<h3>{}</h3>\n<p class=\"note\">{}; full colour is {}</p>\n<div class=\"boards\" style=\"grid-template-columns:\
         repeat({columns},minmax(96px,160px))\">\n{boards}</div>\n",
        escape(&set.title),
        escape(&set.note),
        strength(most)
    )
}

/// One board; `most` is the value of the full colour.
pub fn board(picture: &Picture, most: f32) -> String {
    let name = escape(&picture.name);
    let mut svg = format!(
        "<figure><figcaption>{name}</figcaption><svg class=\"b\" role=\"img\" aria-label=\"{name}\" \
         viewBox=\"-.9 -.1 10 11\">"
    );
    for positive in [true, false] {
        for level in 1..=LEVELS {
            let path = squares(picture, most, positive, level);
            if !path.is_empty() {
                let class = if positive { 'p' } else { 'n' };
                let opacity = level as f32 / LEVELS as f32;
                let _ = write!(svg, "<path class=\"{class}\" opacity=\"{opacity:.2}\" d=\"{path}\"/>");
            }
        }
    }
    svg += "<use href=\"#grid\"/>";
    if let Some(king) = picture.king {
        let (x, y) = (king.file(), 9 - king.rank());
        let _ = write!(svg, "<circle class=\"k\" cx=\"{x}.5\" cy=\"{y}.5\" r=\".36\"/>");
    }
    svg + "</svg></figure>\n"
}

/// The squares of one level as a path; rank 9 is above.
fn squares(picture: &Picture, most: f32, positive: bool, level: usize) -> String {
    let mut path = String::new();
    for (square, value) in picture.values.iter().enumerate() {
        let Some(value) = value else { continue };
        let part = if most > 0.0 { value.abs() / most } else { 0.0 };
        if (*value >= 0.0) == positive && (part * LEVELS as f32).round() as usize == level {
            let (x, y) = (square % 9, 9 - square / 9);
            let _ = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    path
}

/// A value for people.
fn strength(value: f32) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xiangqi::Square;

    #[test]
    fn squares_lie_where_they_are_on_the_board() {
        let mut values = [None; 90];
        values[0] = Some(2.0);
        values[Square::at(8, 9).unwrap().index()] = Some(-1.0);
        values[Square::at(4, 1).unwrap().index()] = Some(0.001);
        let king = Square::at(4, 0);
        let picture = Picture { name: "own <rook>".to_owned(), values, king };
        let svg = board(&picture, 2.0);
        // a0 is the lower left corner, i9 the upper right one.
        assert!(svg.contains("<path class=\"p\" opacity=\"1.00\" d=\"M0 9h1v1h-1z\"/>"), "{svg}");
        assert!(svg.contains("<path class=\"n\" opacity=\"0.50\" d=\"M8 0h1v1h-1z\"/>"), "{svg}");
        assert!(svg.contains("cx=\"4.5\" cy=\"9.5\""), "{svg}");
        assert!(!svg.contains("M4 8") && svg.contains("own &lt;rook&gt;"), "{svg}");
        assert!(board(&picture, 0.0).contains("grid"));
    }
}
