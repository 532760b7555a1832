//! What our reports are made of: one HTML file each, without scripts, with nothing to fetch, readable on a phone and in
//! the dark. Knows nothing of what is reported.

pub mod parts;
pub mod plots;

pub use parts::{bar, decimals, escape, figure, grouped, page, plots as plots_of, strings, table, tiles};
pub use plots::{Axes, Bar, Board, Hue, PlotError, STYLE, Series, Span, board, curves, plot};
