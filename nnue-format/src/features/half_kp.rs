//! `half-kp`: own king square (9) × all other pieces but the enemy king (674) = 6,066.

use xiangqi::{Color, Position};

use super::slots::{self, SlotTable};
use super::{FeatureMap, View};

/// The set's value.
#[derive(Debug)]
pub(super) struct HalfKp;

impl FeatureMap for HalfKp {
    fn name(&self) -> &'static str {
        "half-kp"
    }

    fn king_buckets(&self) -> usize {
        9
    }

    fn slots(&self) -> &'static SlotTable {
        &slots::WITHOUT_KINGS
    }

    fn needs_board_view(&self) -> bool {
        false
    }

    fn view(&self, position: &Position, perspective: Color) -> View {
        let king = position.king(perspective).relative_to(perspective);
        View { king: slots::king_bucket_plain(king).unwrap_or(0) as u8, ..View::default() }
    }

    fn rules(&self) -> &'static str {
        "king = rank * 3 + (file - d)"
    }
}
