//! What a run needs of a net, whatever it is computed on.

use super::weights::{Parameter, WeightsError};
use super::{Model, ModelError, Parts};
use crate::data::Batch;
use crate::loss::Loss;
use crate::optim::UpdateStep;
use nnue_format::Architecture;
use std::marker::PhantomData;
use std::sync::Arc;
use tch::Tensor;

/// A net in training, on one device.
///
/// A step is [`gradients`](Net::gradients), then with several ranks a sum over [`gathered`](Net::gathered), then
/// [`update`](Net::update). None of the three waits for a device; what a step's loss was is asked with
/// [`losses`](Net::losses), on the CPU between the first and the last, on other devices whenever it is known.
pub trait Net {
    /// The architecture.
    fn architecture(&self) -> &Architecture;

    /// What computes, for people: `kernel avx2, 2 threads`.
    fn device(&self) -> String;

    /// Adds the gradient of `sum / divisor` over a batch to the gathered gradients, and its summed loss to those that
    /// [`losses`](Net::losses) hands out.
    ///
    /// # Errors
    /// [`ModelError`].
    fn gradients(&mut self, batch: &Batch, loss: &Loss, divisor: usize) -> Result<(), ModelError>;

    /// What the last [`gradients`](Net::gradients) gathered, to be changed in place.
    ///
    /// # Errors
    /// [`ModelError`].
    fn gathered(&mut self) -> Result<Gathered<'_>, ModelError>;

    /// One update of everything with the gathered gradients, which are zeroed. A net whose loss was not finite in this
    /// or an earlier step, and is not known to the caller yet, stays as it was before that step.
    ///
    /// # Errors
    /// [`ModelError`].
    fn update(&mut self, step: &UpdateStep) -> Result<(), ModelError>;

    /// The summed losses of the steps that were not asked for yet, in their order: of all of them with `wait`, else of
    /// those that are known by now. A net on the CPU knows that of the last [`gradients`](Net::gradients) at once.
    ///
    /// # Errors
    /// [`ModelError`].
    fn losses(&mut self, wait: bool) -> Result<Vec<f64>, ModelError>;

    /// The outputs for a batch in its order, 1.0 being 600 centipawns; changes nothing.
    ///
    /// # Errors
    /// [`ModelError`].
    fn outputs(&mut self, batch: &Batch) -> Result<Vec<f32>, ModelError>;

    /// A copy of every parameter and its state, row-major in this process's memory.
    ///
    /// # Errors
    /// [`ModelError`].
    fn parameters(&self) -> Result<Vec<Parameter>, ModelError>;

    /// Puts parameters back; all of the net's must be there.
    ///
    /// # Errors
    /// [`WeightsError`] names the one that is missing or does not fit.
    fn set_parameters(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError>;

    /// Where the time of all steps so far went; zeros where a step is not waited for.
    fn parts(&self) -> Parts;

    /// What there is to say to people and was not said yet, a line each.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The sums of a step, as tensors that share memory with the net: what ranks add up in place. Nothing in here may
/// outlive the borrow of the net, so take no shallow clones out of it.
pub struct Gathered<'net> {
    /// The summed loss, `[1]`, f64.
    pub loss: Tensor,
    /// The gradients, f32, on the net's device, in one order and shape on all ranks.
    pub gradients: Vec<Tensor>,
    net: PhantomData<&'net mut ()>,
}

impl Gathered<'_> {
    /// These tensors, lent by a net.
    pub fn new(loss: Tensor, gradients: Vec<Tensor>) -> Self {
        Gathered { loss, gradients, net: PhantomData }
    }
}

/// Makes the net of a run: architecture, factorised or not, seed of its first weights.
pub type NetChoice = Arc<dyn Fn(&Architecture, bool, u64) -> Result<Box<dyn Net>, ModelError> + Send + Sync>;

impl Net for Model {
    fn architecture(&self) -> &Architecture {
        Model::architecture(self)
    }

    fn device(&self) -> String {
        format!("kernel {}, {} threads", self.kernel().name(), rayon::current_num_threads())
    }

    fn gradients(&mut self, batch: &Batch, loss: &Loss, divisor: usize) -> Result<(), ModelError> {
        self.last_loss = Some(Model::gradients(self, batch, loss, divisor)?);
        Ok(())
    }

    fn gathered(&mut self) -> Result<Gathered<'_>, ModelError> {
        self.gathered_tensors()
    }

    fn update(&mut self, step: &UpdateStep) -> Result<(), ModelError> {
        Model::update(self, step)
    }

    fn losses(&mut self, _wait: bool) -> Result<Vec<f64>, ModelError> {
        Ok(self.last_loss.take().into_iter().collect())
    }

    fn outputs(&mut self, batch: &Batch) -> Result<Vec<f32>, ModelError> {
        Model::outputs(self, batch)
    }

    fn parameters(&self) -> Result<Vec<Parameter>, ModelError> {
        Ok(Model::parameters(self)?)
    }

    fn set_parameters(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError> {
        Model::set_parameters(self, parameters)
    }

    fn parts(&self) -> Parts {
        self.parts
    }
}
