//! A pair of values: one for the middlegame, one for the endgame.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A middlegame and an endgame value, in hundredths of a pawn that stands on its first square.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tapered {
    /// With all pieces on the board.
    pub mg: i32,
    /// With all rooks, knights and cannons gone.
    pub eg: i32,
}

/// `s(mg, eg)`: short, since tables are full of it.
pub(crate) const fn s(mg: i32, eg: i32) -> Tapered {
    Tapered { mg, eg }
}

impl Tapered {
    /// Nothing.
    pub const ZERO: Tapered = s(0, 0);

    /// The value at a phase: `full` is the phase of all pieces, 0 that of none.
    pub const fn at(self, phase: i32, full: i32) -> i32 {
        (self.mg * phase + self.eg * (full - phase)) / full
    }
}

impl Add for Tapered {
    type Output = Tapered;
    #[inline]
    fn add(self, other: Tapered) -> Tapered {
        s(self.mg + other.mg, self.eg + other.eg)
    }
}

impl Sub for Tapered {
    type Output = Tapered;
    #[inline]
    fn sub(self, other: Tapered) -> Tapered {
        s(self.mg - other.mg, self.eg - other.eg)
    }
}

impl AddAssign for Tapered {
    #[inline]
    fn add_assign(&mut self, other: Tapered) {
        *self = *self + other;
    }
}

impl SubAssign for Tapered {
    #[inline]
    fn sub_assign(&mut self, other: Tapered) {
        *self = *self - other;
    }
}

impl Neg for Tapered {
    type Output = Tapered;
    #[inline]
    fn neg(self) -> Tapered {
        s(-self.mg, -self.eg)
    }
}

impl Mul<i32> for Tapered {
    type Output = Tapered;
    #[inline]
    fn mul(self, factor: i32) -> Tapered {
        s(self.mg * factor, self.eg * factor)
    }
}
