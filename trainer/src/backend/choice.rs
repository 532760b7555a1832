//! What a net is computed with, as command lines say it.

use super::cpu::kernel::{Kernel, KernelError, KernelKind};
use super::cuda::{DeviceChoice, DeviceNet, Engine, Transformer};
use crate::model::net::{Net, NetChoice};
use crate::model::{Model, ModelError};
use std::rc::Rc;
use std::sync::Arc;

/// Device, and for each device the way to compute; nothing in here changes what is computed, but for rounding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compute {
    /// Which device.
    pub device: DeviceChoice,
    /// The CPU's kernel; none takes the best.
    pub kernel: Option<KernelKind>,
    /// The GPU's way of the feature transformer; none measures.
    pub transformer: Option<Transformer>,
    /// Number of the process among those of its host; 0 without ranks.
    pub local_rank: usize,
}

impl Compute {
    /// The kernel asked for, or the best.
    ///
    /// # Errors
    /// [`KernelError`] when this CPU lacks it.
    pub fn kernel(&self) -> Result<Box<dyn Kernel>, KernelError> {
        self.kernel.map_or_else(|| Ok(KernelKind::best()), KernelKind::get)
    }

    /// Makes nets.
    pub fn nets(self) -> NetChoice {
        Arc::new(move |arch, factorised, seed| -> Result<Box<dyn Net>, ModelError> {
            Ok(match self.device.gpu(self.local_rank) {
                None => Box::new(Model::new(arch, factorised, seed, self.kernel()?)),
                Some(index) => {
                    let engine = Rc::new(Engine::cuda(index)?);
                    Box::new(DeviceNet::new(arch, factorised, seed, engine, self.transformer)?)
                }
            })
        })
    }
}
