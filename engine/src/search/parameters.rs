//! The numbers that the search is tuned by: each once, with its range and the step in which a tuner moves it.
//!
//! Without the cargo feature `tune` each is a constant function. With it each can be set while the program runs, for
//! `chuhe-match spsa`; such a build is a little slower and is not for play.

/// A tunable number as it is built in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name: that of the function which yields it.
    pub name: &'static str,
    /// The value without tuning.
    pub default: i32,
    /// The least value that makes sense.
    pub min: i32,
    /// The greatest value that makes sense.
    pub max: i32,
    /// By how much a tuner changes it at first.
    pub step: i32,
}

/// Why a parameter was not set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetError {
    /// There is none of this name.
    #[error("no search parameter is called {0:?}; search::parameters::ALL has all of them")]
    Unknown(String),
    /// The value is out of its range.
    #[error("{value} for the search parameter {name}, which goes from {min} to {max}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// What was asked for.
        value: i32,
        /// The least value.
        min: i32,
        /// The greatest value.
        max: i32,
    },
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident: $default:expr, $min:literal..=$max:literal, $step:literal;)*) => {
        /// Every parameter, in the order of this file.
        pub const ALL: &[Parameter] = &[$(Parameter {
            name: stringify!($name), default: $default, min: $min, max: $max, step: $step,
        }),*];

        $(
            $(#[$doc])*
            #[cfg(not(feature = "tune"))]
            #[inline(always)]
            pub(crate) const fn $name() -> i32 {
                $default
            }

            $(#[$doc])*
            #[cfg(feature = "tune")]
            #[inline(always)]
            pub(crate) fn $name() -> i32 {
                tuned::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        #[cfg(feature = "tune")]
        #[expect(non_upper_case_globals, reason = "a static is called as the function that reads it")]
        mod tuned {
            use std::sync::atomic::AtomicI32;

            $(pub(super) static $name: AtomicI32 = AtomicI32::new($default);)*

            pub(super) fn named(name: &str) -> Option<&'static AtomicI32> {
                match name {
                    $(stringify!($name) => Some(&$name),)*
                    _ => None,
                }
            }
        }
    };
}

// name: default, least..=greatest, step of a tuner. Margins and values are in centipawns, depths and counts in
// plies or moves, reductions in parts of a ply (1024 are one), histories in their own unit (up to 16384).
parameters! {
    /// Razoring goes up to this depth …
    razor_depth: 3, 0..=6, 1;
    /// … with these margins at depths 1, 2 and 3 or more.
    razor_margin_1: 280, 100..=800, 30;
    razor_margin_2: 520, 200..=1200, 40;
    razor_margin_3: 900, 300..=1800, 60;
    /// Reverse futility goes up to this depth; the margin is for each ply.
    reverse_futility_depth: 8, 3..=14, 1;
    reverse_futility_margin: 85, 30..=200, 8;
    reverse_futility_improving: 85, 0..=250, 10;
    reverse_futility_worsening: 30, 0..=150, 6;
    /// The null move: from this depth on, where the static evaluation is above beta by
    /// `null_move_base - null_move_slope * depth`.
    null_move_depth: 3, 1..=6, 1;
    null_move_base: 80, -100..=400, 15;
    null_move_slope: 20, 0..=60, 4;
    /// It is searched `null_move_reduction + depth / null_move_divisor` less deep, and a ply less for each
    /// `null_move_eval_step` above beta.
    null_move_reduction: 3, 1..=6, 1;
    null_move_divisor: 3, 2..=8, 1;
    null_move_eval_step: 160, 50..=400, 15;
    /// From this depth on it is verified.
    null_verification_depth: 12, 8..=20, 1;
    /// ProbCut: from this depth on, with beta raised by the margin.
    probcut_depth: 5, 3..=9, 1;
    probcut_margin: 180, 60..=400, 15;
    /// A table's score this far above beta is enough though it is four plies less deep.
    small_probcut_margin: 200, 80..=500, 15;
    /// Quiet moves past their count are dropped up to this depth.
    late_move_depth: 8, 3..=14, 1;
    late_move_base: 4, 1..=12, 1;
    /// Futility of quiet moves: up to this (reduced) depth.
    futility_depth: 7, 3..=14, 1;
    futility_base: 110, 20..=300, 12;
    futility_step: 95, 30..=250, 10;
    /// So much history is worth a centipawn of hope.
    futility_history: 160, 40..=600, 15;
    /// So much history prunes a quiet move as if it were searched a ply deeper.
    history_per_pruned_ply: 12_000, 3000..=40_000, 800;
    /// Futility of captures, likewise; what is taken is added.
    capture_futility_depth: 6, 2..=12, 1;
    capture_futility_base: 130, 20..=400, 15;
    capture_futility_step: 110, 30..=300, 12;
    capture_futility_history: 100, 20..=600, 12;
    /// Moves with a bad history are dropped up to this depth.
    history_pruning_depth: 4, 1..=10, 1;
    history_pruning_step: 3600, 1000..=9000, 300;
    /// Moves that lose material are dropped up to these depths.
    see_quiet_depth: 7, 3..=14, 1;
    see_quiet_step: 22, 5..=80, 3;
    see_capture_depth: 6, 3..=14, 1;
    see_capture_step: 110, 30..=300, 10;
    see_capture_history: 90, 20..=600, 12;
    /// Singular extensions: from this depth on.
    singular_depth: 7, 4..=10, 1;
    singular_step: 2, 1..=6, 1;
    double_margin: 25, 0..=100, 4;
    /// Most double extensions in one line.
    doubles_most: 6, 1..=20, 1;
    /// Checks are searched so much deeper, up to twice the depth of the root.
    check_extension: 1, 0..=1, 1;
    /// Without a table move a node is searched a ply less from this depth on.
    internal_reduction_depth: 4, 2..=8, 1;
    /// Late moves: `log2(depth) * log2(number) / reduction_divisor + reduction_offset` (logarithms in 1024ths).
    reduction_divisor: 4400, 2500..=9000, 200;
    reduction_offset: 700, -500..=1800, 80;
    reduce_cut_node: 1400, 0..=3000, 120;
    reduce_not_improving: 700, 0..=2000, 100;
    reduce_table_capture: 600, 0..=2000, 100;
    spare_pv: 1100, 0..=3000, 120;
    spare_check: 900, 0..=2500, 100;
    spare_killer: 900, 0..=2500, 100;
    spare_capture: 900, 0..=2500, 100;
    reduce_cutoffs: 900, 0..=2500, 100;
    /// A first move is searched a ply less where its reduction, more so without a table move, is above this.
    reduce_unknown: 1000, 0..=2500, 100;
    reduce_unreduced: 3200, 1000..=6000, 200;
    /// A reduced move that is better by this is searched a ply deeper, one better by less than that a ply less.
    deeper_margin: 30, 5..=150, 6;
    shallower_margin: 5, 0..=40, 2;
    /// Below this depth moves after one that raised alpha are searched so much less.
    raised_depth: 12, 2..=20, 1;
    raised_reduction: 1, 0..=3, 1;
    /// A node is searched a ply more where the move to it was reduced by so many plies and did not help …
    hindsight_more: 3, 1..=6, 1;
    /// … and a ply less where it was reduced by so many and lost more than the margin.
    hindsight_less: 2, 1..=6, 1;
    hindsight_margin: 90, 20..=300, 10;
    /// So much history is worth a ply.
    history_per_ply: 11_000, 4000..=30_000, 700;
    /// What a refutation earns in the histories: `history_square * depth² + history_slope * depth`, up to
    /// `history_most`.
    history_square: 16, 0..=40, 2;
    history_slope: 96, 0..=400, 15;
    history_most: 1700, 500..=4000, 120;
    /// What the moves lose that did not refute, in the same way.
    malus_square: 16, 0..=40, 2;
    malus_slope: 96, 0..=400, 15;
    malus_most: 1400, 500..=4000, 120;
    /// What the last move earns where nothing helps against it, in 64ths of a bonus.
    previous_share: 40, 0..=128, 5;
    /// Correction histories: the weight of each part, in 4096ths; an error counts `depth / correction_slowness`.
    correction_pawns: 140, 0..=500, 15;
    correction_guards: 100, 0..=500, 15;
    correction_pieces: 140, 0..=500, 15;
    correction_moves: 120, 0..=500, 15;
    correction_slowness: 6, 2..=24, 1;
    /// A capture is not looked at in quiescence when even this much above what it takes does not reach alpha.
    delta_margin: 160, 40..=400, 15;
    /// So many plies past the horizon quiescence looks at quiet checks, too.
    quiet_check_plies: 1, 0..=6, 1;
    /// Quiet replies to a check that quiescence looks at once a reply that does not lose is known.
    quiet_replies: 3, 1..=8, 1;
    /// What a check, and a centipawn of a piece that leaves danger, is worth among the histories of quiet moves.
    order_check: 10_000, 0..=40_000, 1000;
    order_danger: 20, 0..=60, 2;
    /// Captures are ordered by `capture_value * value + history / capture_history`.
    capture_value: 16, 4..=40, 2;
    capture_history: 4, 1..=16, 1;
}

/// Sets a parameter for all searches of this process.
///
/// # Errors
/// Where there is no such parameter or the value is out of its range.
#[cfg(feature = "tune")]
pub fn set(name: &str, value: i32) -> Result<(), SetError> {
    let parameter = ALL.iter().find(|parameter| parameter.name == name);
    let (Some(&Parameter { name, min, max, .. }), Some(place)) = (parameter, tuned::named(name)) else {
        return Err(SetError::Unknown(name.to_owned()));
    };
    if !(min..=max).contains(&value) {
        return Err(SetError::OutOfRange { name, value, min, max });
    }
    place.store(value, std::sync::atomic::Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_defaults() {
        for (i, parameter) in ALL.iter().enumerate() {
            let Parameter { name, default, min, max, step } = *parameter;
            assert!(min <= default && default <= max, "{name}: {default} of {min}..={max}");
            assert!(0 < step && step <= max - min, "{name}: step {step}");
            assert!(ALL[..i].iter().all(|other| other.name != name), "{name} is there twice");
        }
    }

    #[cfg(feature = "tune")]
    #[test]
    fn what_is_set_is_read() {
        // Of no use to any search in the tests beside this one: two values for which it reads the same.
        assert_eq!(set("doubles_most", doubles_most()), Ok(()));
        assert!(matches!(set("doubles_most", 1000), Err(SetError::OutOfRange { max: 20, .. })));
        assert_eq!(set("nothing", 1), Err(SetError::Unknown("nothing".to_owned())));
    }
}
