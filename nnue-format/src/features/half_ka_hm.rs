//! `half-ka-hm`: 6 king buckets × 689 slots (674, own king 6, enemy king 9) = 4,134.

use xiangqi::{Color, Position};

use super::slots::{self, SlotTable};
use super::{FeatureMap, View, mirrored_view};

/// The set's value.
#[derive(Debug)]
pub(super) struct HalfKaHm;

impl FeatureMap for HalfKaHm {
    fn name(&self) -> &'static str {
        "half-ka-hm"
    }

    fn king_buckets(&self) -> usize {
        slots::OWN_KING_SLOTS
    }

    fn slots(&self) -> &'static SlotTable {
        &slots::WITH_KINGS
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
