//! `half-kp-hm`: `half-kp` with left-right mirroring, 6 king squares × 674 = 4,044.

use xiangqi::{Color, Position};

use super::slots::{self, SlotTable};
use super::{FeatureMap, View, mirrored_view};

/// The set's value.
#[derive(Debug)]
pub(super) struct HalfKpHm;

impl FeatureMap for HalfKpHm {
    fn name(&self) -> &'static str {
        "half-kp-hm"
    }

    fn king_buckets(&self) -> usize {
        slots::OWN_KING_SLOTS
    }

    fn slots(&self) -> &'static SlotTable {
        &slots::WITHOUT_KINGS
    }

    fn needs_board_view(&self) -> bool {
        true
    }

    fn view(&self, position: &Position, perspective: Color) -> View {
        mirrored_view(position, perspective)
    }

    fn rules(&self) -> &'static str {
        super::MIRRORED_RULES
    }
}
