//! How much less late moves are searched: integer tables computed at compile time.

use super::parameters as p;

/// Fixed point: so many parts are one ply.
pub(crate) const PLY: i32 = 1024;

/// `log2(n) * 1024`, by repeated squaring: each squaring yields one more binary digit.
const fn log2_fixed(n: u32) -> i32 {
    let mut whole = 0;
    while n >> (whole + 1) != 0 {
        whole += 1;
    }
    // 1 ≤ mantissa < 2 in 31-bit fixed point.
    let mut mantissa = ((n as u64) << 31) >> whole;
    let mut result = whole << 10;
    let mut digit = 512;
    while digit > 0 {
        mantissa = (mantissa * mantissa) >> 31;
        if mantissa >= 2 << 31 {
            mantissa >>= 1;
            result += digit;
        }
        digit >>= 1;
    }
    result
}

const SIZE: usize = 128;

/// `log2(i)`, fixed point, with 0 for 0.
const LOG2: [i32; SIZE] = {
    let mut table = [0; SIZE];
    let mut i = 1;
    while i < SIZE {
        table[i] = log2_fixed(i as u32);
        i += 1;
    }
    table
};

/// Reduction in [`PLY`]s for the `number`-th move (from 1) at a depth.
#[inline]
pub(crate) fn reduction(depth: i32, number: i32) -> i32 {
    let at = |n: i32| LOG2[(n.max(1) as usize).min(SIZE - 1)];
    at(depth) * at(number) / p::reduction_divisor() + p::reduction_offset()
}

/// Quiet moves that are looked at before the rest is dropped at shallow depth.
pub(crate) fn late_move_count(depth: i32, improving: bool) -> i32 {
    let base = p::late_move_base() + depth * depth;
    if improving { base } else { base / 2 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right() {
        assert_eq!((LOG2[1], LOG2[2], LOG2[64]), (0, 1024, 6144));
        // log2(3) = 1.58496, log2(100) = 6.64385
        assert_eq!((LOG2[3], LOG2[100]), (1623, 6803));
    }

    #[test]
    fn reductions_grow() {
        for depth in 2..60 {
            for number in 2..80 {
                assert!(reduction(depth, number) <= reduction(depth + 1, number));
                assert!(reduction(depth, number) <= reduction(depth, number + 1));
            }
        }
    }
}
