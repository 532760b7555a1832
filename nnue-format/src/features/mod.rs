//! Which input of the net a piece on a square is: the one home of feature numbers.
//!
//! ```text
//! Position ──view──► View {king, attack, mirror}      one per perspective
//!                      │
//! piece, square ──slot─┴─► bucket(view) * slots + slot = feature index
//! ```
//!
//! Everything is seen from a perspective: Black looks at the board with ranks flipped, so that
//! its own back rank is rank 0 and its own pieces are "own". A mirrored set also swaps left and
//! right where the [`View`] says so. A *slot* numbers a piece on a square it can reach
//! ([`xiangqi::zones`]); a *bucket* is what the view adds to it. Neither knows any weights.
//!
//! To add a set: one file with a value implementing [`FeatureMap`], and its line in [`ALL`].

mod half_ka_hm;
mod half_ka_hm_ab;
mod half_kp;
mod half_kp_hm;
pub mod mirror;
pub mod slots;

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use xiangqi::{Color, Piece, PieceKind, Position, Square};

use crate::error::ArchError;
use slots::SlotTable;

/// How one side sees the board: which part of the feature transformer its accumulator is summed
/// from. An accumulator is stale exactly when its `View` changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct View {
    /// Bucket of the own king's square, `0..king_buckets`.
    pub king: u8,
    /// Bucket of the own attacking pieces, `0..attack_buckets`.
    pub attack: u8,
    /// Are files swapped (a ↔ i)? Never in a set without mirroring.
    pub mirror: bool,
}

/// A way of numbering. Implemented by one value per file of this folder.
pub trait FeatureMap: Sync + fmt::Debug {
    /// The name on command lines and in architecture texts.
    fn name(&self) -> &'static str;

    /// How many king buckets there are.
    fn king_buckets(&self) -> usize;

    /// How many attack buckets there are (1: none).
    fn attack_buckets(&self) -> usize {
        1
    }

    /// Which pieces have slots, and their numbers.
    fn slots(&self) -> &'static SlotTable;

    /// Can anything but a move of the own king change the view? If so it must be computed anew
    /// after every move; if not, only after moves of the perspective's king.
    fn needs_board_view(&self) -> bool;

    /// The view of `perspective`.
    fn view(&self, position: &Position, perspective: Color) -> View;

    /// The rules of `view` in words. Part of the set's id: a change of a rule is a new set.
    fn rules(&self) -> &'static str;
}

/// King bucket and mirror of the mirrored sets.
fn mirrored_view(position: &Position, perspective: Color) -> View {
    let mirror = mirror::mirrored(position, perspective);
    let king = position.king(perspective).relative_to(perspective);
    let seen = if mirror { king.mirror_file() } else { king };
    View { king: slots::king_bucket_mirrored(seen).unwrap_or(0) as u8, attack: 0, mirror }
}

/// The rules of [`mirrored_view`]; [`mirror::RULE`] is hashed beside them.
const MIRRORED_RULES: &str = "king = rank * 2 + (file - d) after mirroring";

/// A feature set: a small handle, compared by name.
#[derive(Clone, Copy)]
pub struct FeatureSet(&'static dyn FeatureMap);

/// Every feature set, in the order of growing detail.
pub static ALL: [FeatureSet; 4] =
    [FeatureSet::HALF_KP, FeatureSet::HALF_KP_HM, FeatureSet::HALF_KA_HM, FeatureSet::HALF_KA_HM_AB];

impl FeatureSet {
    /// Own king square (9) × non-king pieces (674): 6,066 inputs a side.
    pub const HALF_KP: FeatureSet = FeatureSet(&half_kp::HalfKp);
    /// The same with left-right mirroring, 6 king squares: 4,044 inputs a side.
    pub const HALF_KP_HM: FeatureSet = FeatureSet(&half_kp_hm::HalfKpHm);
    /// 6 king buckets × 689 slots, both kings among them: 4,134 inputs a side.
    pub const HALF_KA_HM: FeatureSet = FeatureSet(&half_ka_hm::HalfKaHm);
    /// The same × 4 attack buckets: 16,536 inputs a side.
    pub const HALF_KA_HM_AB: FeatureSet = FeatureSet(&half_ka_hm_ab::HalfKaHmAb);

    /// The most features that can be active for one perspective: 30 pieces and 2 kings.
    pub const MAX_ACTIVE: usize = 32;

    /// The name: `half-kp`, `half-kp-hm`, `half-ka-hm`, `half-ka-hm-ab`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Inputs of the feature transformer for one perspective.
    pub fn inputs(self) -> usize {
        self.buckets() * self.slot_count()
    }

    /// King buckets × attack buckets.
    pub fn buckets(self) -> usize {
        self.0.king_buckets() * self.0.attack_buckets()
    }

    /// King buckets.
    pub fn king_buckets(self) -> usize {
        self.0.king_buckets()
    }

    /// Attack buckets (1: the set has none).
    pub fn attack_buckets(self) -> usize {
        self.0.attack_buckets()
    }

    /// Slots of one bucket; also the number of virtual features (see [`FeatureSet::virtual_index`]).
    pub fn slot_count(self) -> usize {
        self.0.slots().count()
    }

    /// The table of slots, for loops that cannot afford a call per piece.
    pub fn slots(self) -> &'static SlotTable {
        self.0.slots()
    }

    /// See [`FeatureMap::needs_board_view`].
    pub fn needs_board_view(self) -> bool {
        self.0.needs_board_view()
    }

    /// The view of `perspective` in this position.
    #[inline]
    pub fn view(self, position: &Position, perspective: Color) -> View {
        self.0.view(position, perspective)
    }

    /// The bucket of a view, `0..buckets`: `king * attack_buckets + attack`.
    #[inline]
    pub fn bucket(self, view: View) -> usize {
        view.king as usize * self.0.attack_buckets() + view.attack as usize
    }

    /// The feature of a piece on a square under a view, `0..inputs`; `None` where the set gives
    /// the piece no feature (a king in `half-kp`) and for a piece on a square it cannot reach.
    #[inline]
    pub fn index(self, view: View, perspective: Color, piece: Piece, square: Square) -> Option<usize> {
        let slot = self.0.slots().get(perspective, view.mirror, piece, square)?;
        Some(self.bucket(view) * self.slot_count() + slot)
    }

    /// Puts the features of a position for one perspective in `out` (cleared first), own pieces
    /// by kind and square, then the enemy's. At most [`FeatureSet::MAX_ACTIVE`] of them.
    pub fn active(self, position: &Position, perspective: Color, out: &mut Vec<usize>) {
        out.clear();
        let view = self.view(position, perspective);
        let base = self.bucket(view) * self.slot_count();
        let slots = self.0.slots();
        for color in [perspective, perspective.flip()] {
            for kind in PieceKind::ALL {
                let piece = Piece::new(color, kind);
                for square in position.pieces(color, kind) {
                    out.extend(slots.get(perspective, view.mirror, piece, square).map(|slot| base + slot));
                }
            }
        }
    }

    /// Appends the features of a position for `us` and then those for the other side to `out`, each in the order of
    /// squares, and gives the number of the first: the same features as [`FeatureSet::active`] for both, found in one
    /// pass over the pieces. `None`, and nothing appended, for a set whose numbers do not fit 16 bits.
    pub fn append_rows(self, position: &Position, us: Color, out: &mut Vec<u16>) -> Option<usize> {
        if self.inputs() > 1 << 16 {
            return None;
        }
        let sides = [us, us.flip()].map(|perspective| {
            let view = self.view(position, perspective);
            let base = self.bucket(view) * self.slot_count();
            (base as u16, self.slots().board(perspective, view.mirror))
        });
        let mut rows = [[0; Self::MAX_ACTIVE]; 2];
        let mut lengths = [0; 2];
        for square in position.occupied() {
            let Some(piece) = position.piece_on(square) else { continue };
            for ((row, length), (base, board)) in rows.iter_mut().zip(&mut lengths).zip(sides) {
                let slot = board[piece.index()][square.index()];
                // Written before it is known to be one: there are never more pieces than places.
                row[*length % Self::MAX_ACTIVE] = base.wrapping_add(slot);
                *length += usize::from(slot != slots::NONE);
            }
        }
        for (row, &length) in rows.iter().zip(&lengths) {
            out.extend_from_slice(&row[..length.min(Self::MAX_ACTIVE)]);
        }
        Some(lengths[0])
    }

    /// The virtual feature that a real feature shares with its like in every other bucket: the
    /// slot itself. A factorised trainer keeps one more row per slot and adds it to every bucket's
    /// row; `FloatNet::merge` folds them, and no file ever holds them.
    #[inline]
    pub fn virtual_index(self, feature: usize) -> usize {
        feature % self.slot_count()
    }

    /// Hash of all that defines the numbers: name, bucket counts, the slot table, the rules of the
    /// view. Eight bytes of SHA-256; computed, never typed.
    pub fn id(self) -> [u8; 8] {
        let mut hash = Sha256::new();
        hash.update(b"chuhe feature set\0");
        hash.update(self.name().as_bytes());
        hash.update([0, self.0.king_buckets() as u8, self.0.attack_buckets() as u8]);
        self.0.slots().hash_into(&mut hash);
        hash.update(self.0.rules().as_bytes());
        if self.needs_board_view() {
            hash.update(mirror::RULE.as_bytes());
        }
        let digest = hash.finalize();
        std::array::from_fn(|i| digest[i])
    }
}

impl PartialEq for FeatureSet {
    fn eq(&self, other: &FeatureSet) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FeatureSet {}

impl std::hash::Hash for FeatureSet {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FeatureSet {
    type Err = ArchError;

    fn from_str(text: &str) -> Result<FeatureSet, ArchError> {
        ALL.into_iter()
            .find(|set| set.name() == text)
            .ok_or_else(|| ArchError::UnknownFeatureSet { found: text.chars().take(40).collect() })
    }
}
