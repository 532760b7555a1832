//! Does a score depend on what it must not, or should not, depend on?

use serde::Serialize;
use xiangqi::Position;

use super::{Static, mean};
use crate::protocol::{flipped, mirrored};

/// What exchanging colours, and left and right, does to scores.
#[derive(Clone, Debug, Serialize)]
pub struct Symmetry {
    /// Positions looked at.
    pub positions: usize,
    /// Positions whose score changes when colours are exchanged and the board is turned: no evaluation may do that.
    pub colour_differences: usize,
    /// Mean change when left and right are exchanged, in centipawns: how much is learnt twice and differently. Sets of
    /// mirrored features make none.
    pub mirror_mean: f64,
    /// The greatest such change, in centipawns.
    pub mirror_worst: i32,
}

impl Symmetry {
    pub(super) fn of(judge: &mut Static, positions: &[Position]) -> Symmetry {
        let mut colour_differences = 0;
        let mut changes = Vec::with_capacity(positions.len());
        for pos in positions {
            let (score, setup) = (judge.score(pos), pos.to_setup());
            // Both are positions wherever the first is one.
            if let Ok(exchanged) = Position::try_from_setup(&flipped(&setup)) {
                colour_differences += usize::from(judge.score(&exchanged) != score);
            }
            if let Ok(mirrored) = Position::try_from_setup(&mirrored(&setup)) {
                changes.push((judge.score(&mirrored) - score).abs());
            }
        }
        Symmetry {
            positions: positions.len(),
            colour_differences,
            mirror_mean: mean(changes.iter().map(|&change| f64::from(change))),
            mirror_worst: changes.into_iter().max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nnue_format::QuantisedNet;
    use nnue_infer::{Backend, EngineNet};

    use super::*;
    use crate::bench::POSITIONS;
    use crate::eval::EvalSource;

    fn symmetry(arch: &str) -> Symmetry {
        let net = QuantisedNet::random(&arch.parse().unwrap(), 3);
        let net = Arc::new(EngineNet::new(&net, Backend::best()).unwrap());
        let positions: Vec<Position> = POSITIONS.iter().map(|fen| Position::from_fen(fen).unwrap()).collect();
        Symmetry::of(&mut Static::new(&EvalSource::Net(net)), &positions)
    }

    /// Features without mirroring tell left from right, those with it do not; colours nobody does.
    #[test]
    fn features_are_as_symmetric_as_they_say() {
        let plain = symmetry("classic");
        assert_eq!((plain.positions, plain.colour_differences), (POSITIONS.len(), 0));
        assert!(plain.mirror_mean > 1.0 && plain.mirror_worst > 1, "{plain:?}");
        let mirrored = symmetry("half-ka-hm-ab 2x128-16-32-1 pairwise 16-stacks psqt");
        assert_eq!((mirrored.colour_differences, mirrored.mirror_worst), (0, 0), "{mirrored:?}");
    }
}
