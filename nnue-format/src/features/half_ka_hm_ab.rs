//! `half-ka-hm-ab`: `half-ka-hm` × 4 attack buckets = 16,536.
//!
//! The attack bucket says what the perspective's own side can still attack with:
//!
//! ```text
//!                       no own N or C   own N or C
//! no own rook                 0             1
//! an own rook                 2             3
//! ```
//!
//! The idea of attack buckets is Pikafish's.

use xiangqi::{Color, PieceKind, Position};

use super::slots::{self, SlotTable};
use super::{FeatureMap, View, mirrored_view};

/// The set's value.
#[derive(Debug)]
pub(super) struct HalfKaHmAb;

impl FeatureMap for HalfKaHmAb {
    fn name(&self) -> &'static str {
        "half-ka-hm-ab"
    }

    fn king_buckets(&self) -> usize {
        slots::OWN_KING_SLOTS
    }

    fn attack_buckets(&self) -> usize {
        4
    }

    fn slots(&self) -> &'static SlotTable {
        &slots::WITH_KINGS
    }

    fn needs_board_view(&self) -> bool {
        true
    }

    fn view(&self, position: &Position, perspective: Color) -> View {
        let has = |kind| !position.pieces(perspective, kind).is_empty();
        let attack =
            u8::from(has(PieceKind::Rook)) * 2 + u8::from(has(PieceKind::Knight) || has(PieceKind::Cannon));
        View { attack, ..mirrored_view(position, perspective) }
    }

    fn rules(&self) -> &'static str {
        "attack = 2 * (own R) + (own N or C); king = rank * 2 + (file - d) after mirroring"
    }
}
