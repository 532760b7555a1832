//! The net on an NVIDIA GPU.
//!
//! ```text
//! batch ─ pack: rows by bucket ─► pinned memory ─ copy beside the computation ─► device
//!   ─► feature transformer, bucketed or sparse ─► bias, clip, pairs ─► dense layers ─► loss ─► the same way back
//!   ─► Adam, clip, merge ─► 16-bit weights for the next step
//! ```
//!
//! Nothing in a step waits for the device. All of it is torch's operations, which run on any device, or kernels of our own
//! compiled at run time; the operations and, by way of a C++ compiler, the kernels run on a CPU too, which is how the tests
//! prove them without a GPU. docs/gpu.md says what was proved how.

pub mod check;
pub mod choose;
pub mod compute;
pub mod dense;
pub mod driver;
pub mod kernels;
pub mod launch;
mod library;
pub mod measure;
pub mod net;
pub mod nvrtc;
pub mod packed;
pub mod params;
pub mod stream;
pub mod transformer;

pub use compute::{Engine, Precision};
pub use net::DeviceNet;
pub use transformer::Transformer;

use driver::DriverError;
use nvrtc::NvrtcError;
use std::str::FromStr;
use tch::TchError;
use thiserror::Error;

/// What can go wrong on a device.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// There is none.
    #[error("no GPU: {0}")]
    NoGpu(String),
    /// A choice that cannot be had.
    #[error("{0}")]
    Option(String),
    /// What torch reports.
    #[error("torch: {0}")]
    Torch(#[from] TchError),
    /// What torch reports of a stream.
    #[error("torch: {0}")]
    Stream(String),
    /// The driver.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The compiler.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    /// A tensor that a kernel cannot take.
    #[error("kernels: {0}")]
    Tensor(String),
    /// More than a device's numbers can count.
    #[error("too large for a device: {0}")]
    TooLarge(String),
    /// A batch of another architecture.
    #[error("batch: {0}")]
    Row(String),
}

/// Where a run computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// This computer's CPU.
    #[default]
    Cpu,
    /// A GPU by its number; without one, that of the process's local rank.
    Cuda(Option<usize>),
}

impl DeviceChoice {
    /// The GPU for the process of a host that has this local rank (0 without ranks); none for the CPU.
    pub fn gpu(self, local_rank: usize) -> Option<usize> {
        match self {
            DeviceChoice::Cpu => None,
            DeviceChoice::Cuda(index) => Some(index.unwrap_or(local_rank)),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<DeviceChoice, DeviceError> {
        let wrong = || DeviceError::Option(format!("device {text:?}, expected cpu, cuda or cuda:N"));
        match text {
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(None)),
            _ => {
                let index = text.strip_prefix("cuda:").and_then(|index| index.parse().ok());
                Ok(DeviceChoice::Cuda(Some(index.ok_or_else(wrong)?)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        for (text, expected) in [("cpu", None), ("cuda", Some(3)), ("cuda:0", Some(0)), ("cuda:12", Some(12))]
        {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().gpu(3), expected, "{text}");
        }
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA"] {
            let error = text.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(error.contains("cuda:N") && error.contains(text), "{error}");
        }
    }
}
