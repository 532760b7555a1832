//! Which way of the transformer is faster here: a measurement at the start of a run.

use super::DeviceError;
use super::transformer::Transformer;
use std::fmt;
use std::time::Instant;

/// Passes before the measurement: libraries choose their algorithms, memory is allocated.
const WARM_UP: usize = 3;
/// Passes measured of each way; the median counts.
const STEPS: usize = 5;

/// Seconds of a pass by each way that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing(pub Vec<(Transformer, f64)>);

impl Timing {
    /// Measures `pass`, which returns when the device has done it. The ways by turns, so that a clock that changes
    /// meanwhile changes for all.
    ///
    /// # Errors
    /// Those of `pass`.
    pub fn measure(
        ways: &[Transformer],
        mut pass: impl FnMut(Transformer) -> Result<(), DeviceError>,
    ) -> Result<Timing, DeviceError> {
        let mut times = vec![Vec::new(); ways.len()];
        for number in 0..WARM_UP + STEPS {
            for (&way, times) in ways.iter().zip(&mut times) {
                let began = Instant::now();
                pass(way)?;
                if number >= WARM_UP {
                    times.push(began.elapsed().as_secs_f64());
                }
            }
        }
        let median = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        Ok(Timing(ways.iter().copied().zip(times.into_iter().map(median)).collect()))
    }

    /// The seconds of one way; infinity for one that was not measured.
    pub fn of(&self, way: Transformer) -> f64 {
        self.0.iter().find(|(found, _)| *found == way).map_or(f64::INFINITY, |(_, seconds)| *seconds)
    }

    /// The fastest way.
    pub fn faster(&self) -> Transformer {
        let fastest = self.0.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        fastest.map_or(Transformer::Bucketed, |(way, _)| *way)
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: a pass takes", self.faster())?;
        for (number, (way, seconds)) in self.0.iter().enumerate() {
            write!(f, "{} {:.3} ms {way}", if number == 0 { "" } else { "," }, seconds * 1e3)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_way_is_taken() {
        let [bucketed, sparse] = Transformer::ALL;
        for (seconds, faster) in [([2e-3, 1e-3], sparse), ([1e-3, 2e-3], bucketed)] {
            let timing = Timing(Transformer::ALL.into_iter().zip(seconds).collect());
            assert_eq!(timing.faster(), faster);
            assert!(timing.to_string().contains("2.000 ms"), "{timing}");
        }
        let mut calls = [0; 2];
        let timing = Timing::measure(&Transformer::ALL, |way| {
            calls[usize::from(way == sparse)] += 1;
            Ok(())
        });
        assert!(timing.unwrap().of(sparse).is_finite());
        assert_eq!(calls, [WARM_UP + STEPS; 2]);
        let one = Timing::measure(&[bucketed], |_| Ok(())).unwrap();
        assert_eq!((one.faster(), one.of(sparse)), (bucketed, f64::INFINITY));
        let failed = Timing::measure(&Transformer::ALL, |_| Err(DeviceError::NoGpu("none".to_owned())));
        assert!(failed.is_err());
    }
}
