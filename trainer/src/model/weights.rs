//! The model's parameters in the order and shapes that checkpoints and nets have: row-major, named.

use super::Model;
use super::dense::{self, LAYERS};
use super::table::{Factor, Table};
use crate::backend::cpu::{AlignedVec, tile};
use crate::optim::param::{History, Param, state};
use ndarray::{Array2, ArrayBase, Axis, DataMut, Dimension};
use nnue_format::{Architecture, FloatNet};
use tch::TchError;
use thiserror::Error;

/// A tensor of an optimiser's state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTensor {
    /// What it is: one of [`crate::optim::param::state`].
    pub name: String,
    /// Its elements, row-major in the shape of its parameter.
    pub values: Vec<f32>,
}

/// A parameter with the state of its optimiser, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: `ft.weight`, `ft.factor`, `ft.bias`, `psqt.weight`, `psqt.factor`, `stack3.dense1.weight` and so on.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The weights.
    pub weights: Vec<f32>,
    /// What its optimiser remembers; empty before the first step of a run.
    pub state: Vec<StateTensor>,
}

impl Parameter {
    /// Have the weights this many elements, and is there a whole state of as many or none?
    ///
    /// # Errors
    /// [`WeightsError`] names what is missing or does not fit.
    pub fn check(&self, shape: &[usize]) -> Result<(), WeightsError> {
        let len: usize = shape.iter().product();
        let named =
            self.state.iter().map(|tensor| (format!("{}.{}", self.name, tensor.name), &tensor.values));
        for (name, values) in [(self.name.clone(), &self.weights)].into_iter().chain(named) {
            if values.len() != len {
                return Err(WeightsError::Shape { name, found: values.len(), expected: shape.to_vec() });
            }
        }
        let missing = [state::FIRST, state::SECOND].into_iter().find(|name| self.state(name).is_none());
        match missing {
            Some(name) if !self.state.is_empty() => {
                Err(WeightsError::Missing(format!("{}.{name}", self.name)))
            }
            _ => Ok(()),
        }
    }

    /// A tensor of the optimiser's state by its name.
    pub fn state(&self, name: &str) -> Option<&[f32]> {
        self.state.iter().find(|tensor| tensor.name == name).map(|tensor| &tensor.values[..])
    }
}

/// A parameter that a checkpoint lacks or has in another shape.
#[derive(Debug, Error)]
pub enum WeightsError {
    /// Not there.
    #[error("parameter {0} is missing")]
    Missing(String),
    /// Another shape.
    #[error("parameter {name} has {found} elements, the architecture asks for {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Elements found.
        found: usize,
        /// Shape expected.
        expected: Vec<usize>,
    },
    /// What torch reports.
    #[error("torch: {0}")]
    Torch(#[from] TchError),
}

/// A parameter's place inside the model.
enum Place {
    Own(Which),
    Factor(Which),
    Bias,
    Dense { stack: usize, layer: usize },
}

#[derive(Clone, Copy)]
enum Which {
    Ft,
    Psqt,
}

impl Model {
    fn places(&self) -> Vec<(String, Vec<usize>, Place)> {
        let mut places = Vec::new();
        for (name, which, table) in
            [("ft", Which::Ft, Some(&self.table)), ("psqt", Which::Psqt, self.psqt.as_ref())]
        {
            let Some(table) = table else { continue };
            let own = vec![table.features(), table.columns()];
            places.push((format!("{name}.weight"), own, Place::Own(which)));
            if table.factor.is_some() {
                let shared = vec![table.slots(), table.columns()];
                places.push((format!("{name}.factor"), shared, Place::Factor(which)));
            }
        }
        places.push(("ft.bias".to_owned(), vec![self.bias.weights.len()], Place::Bias));
        let shapes = dense::shapes(&self.arch);
        for stack in 0..self.dense.stacks.len() {
            for (layer, shape) in shapes.iter().enumerate() {
                let name = format!("stack{stack}.{}", LAYERS[layer]);
                places.push((name, shape.clone(), Place::Dense { stack, layer }));
            }
        }
        places
    }

    /// A copy of every parameter and its state.
    ///
    /// # Errors
    /// [`TchError`].
    pub fn parameters(&self) -> Result<Vec<Parameter>, TchError> {
        let mut parameters = Vec::new();
        for (name, shape, place) in self.places() {
            let rows = |values: &[f32]| tile::to_rows(values, shape[0], shape[1]);
            let plain = |values: &[f32]| values.to_vec();
            let (weights, state) = match place {
                Place::Own(which) => {
                    let own = &self.table_of(which).own;
                    (rows(&own.weights), saved(&own.history, rows))
                }
                Place::Factor(which) => match &self.table_of(which).factor {
                    Some(Factor { param, .. }) => (rows(&param.weights), saved(&param.history, rows)),
                    None => continue,
                },
                Place::Bias => (self.bias.weights.to_vec(), saved(&self.bias.history, plain)),
                Place::Dense { stack, layer } => {
                    let param = &self.dense.stacks[stack][layer];
                    (param.weights.to_vec(), saved(&param.history, plain))
                }
            };
            parameters.push(Parameter { name, shape, weights, state });
        }
        Ok(parameters)
    }

    /// Puts parameters back; all of the model's must be there. One without any state begins anew; otherwise its state
    /// must be whole.
    ///
    /// # Errors
    /// [`WeightsError`] names the one that is missing or does not fit.
    pub fn set_parameters(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError> {
        for (name, shape, place) in self.places() {
            let Some(from) = parameters.iter().find(|parameter| parameter.name == name) else {
                return Err(WeightsError::Missing(name));
            };
            from.check(&shape)?;
            let tiled = |values: &[f32]| tile::from_rows(values, shape[0], shape[1]);
            match place {
                Place::Own(which) => set(&mut self.table_mut(which).own, from, tiled),
                Place::Factor(which) => {
                    if let Some(factor) = &mut self.table_mut(which).factor {
                        set(&mut factor.param, from, tiled);
                    }
                }
                Place::Bias => set(&mut self.bias, from, AlignedVec::from_slice),
                Place::Dense { stack, layer } => {
                    set(&mut self.dense.stacks[stack][layer], from, AlignedVec::from_slice);
                }
            }
        }
        self.stacks.clear();
        self.table.merge();
        if let Some(psqt) = &mut self.psqt {
            psqt.merge();
        }
        Ok(())
    }

    /// The net as nnue-format knows it.
    ///
    /// # Errors
    /// [`WeightsError::Torch`].
    pub fn float_net(&self) -> Result<FloatNet, WeightsError> {
        float_net(&self.arch, &self.parameters()?)
    }

    fn table_of(&self, which: Which) -> &Table {
        match (which, &self.psqt) {
            (Which::Psqt, Some(psqt)) => psqt,
            _ => &self.table,
        }
    }

    fn table_mut(&mut self, which: Which) -> &mut Table {
        match (which, &mut self.psqt) {
            (Which::Psqt, Some(psqt)) => psqt,
            _ => &mut self.table,
        }
    }
}

/// A history by the names of its tensors, in another layout.
fn saved(history: &History, layout: impl Fn(&[f32]) -> Vec<f32>) -> Vec<StateTensor> {
    let tensor =
        |(name, values): (&str, &[f32])| StateTensor { name: name.to_owned(), values: layout(values) };
    history.saved().map(tensor).collect()
}

fn set(param: &mut Param, from: &Parameter, layout: impl Fn(&[f32]) -> AlignedVec) {
    param.weights.copy_from_slice(&layout(&from.weights));
    param.history = restored(from, param.weights.len(), layout);
}

fn restored(from: &Parameter, len: usize, layout: impl Fn(&[f32]) -> AlignedVec) -> History {
    History::restored(len, |name| from.state(name).map(&layout))
}

/// The float net of a checkpoint's parameters; missing factors mean a net without them.
///
/// # Errors
/// [`WeightsError`] when another parameter is missing or has too few or too many elements.
pub fn float_net(arch: &Architecture, parameters: &[Parameter]) -> Result<FloatNet, WeightsError> {
    let mut net = FloatNet::zeros(arch);
    let slots = arch.features().slot_count();
    let find = |name: &str| parameters.iter().find(|parameter| parameter.name == name);
    let need = |name: &str| find(name).ok_or_else(|| WeightsError::Missing(name.to_owned()));
    let layers = &mut net.layers;
    fill(&mut layers.ft_weights, need("ft.weight")?)?;
    fill(&mut layers.ft_biases, need("ft.bias")?)?;
    if arch.psqt() {
        fill(&mut layers.psqt, need("psqt.weight")?)?;
    }
    for (name, columns, factor) in [
        ("ft.factor", arch.l1(), &mut net.ft_factor),
        ("psqt.factor", arch.psqt_columns(), &mut net.psqt_factor),
    ] {
        if let Some(parameter) = find(name) {
            fill(factor.insert(Array2::zeros((slots, columns))), parameter)?;
        }
    }
    for stack in 0..arch.stack_count() {
        let need = |layer: &str| need(&format!("stack{stack}.{layer}"));
        let axis = Axis(0);
        fill(&mut layers.dense1_weights.index_axis_mut(axis, stack), need("dense1.weight")?)?;
        fill(&mut layers.dense1_biases.index_axis_mut(axis, stack), need("dense1.bias")?)?;
        fill(&mut layers.dense2_weights.index_axis_mut(axis, stack), need("dense2.weight")?)?;
        fill(&mut layers.dense2_biases.index_axis_mut(axis, stack), need("dense2.bias")?)?;
        fill(&mut layers.out_weights.index_axis_mut(axis, stack), need("out.weight")?)?;
        fill(&mut layers.out_biases.slice_mut(ndarray::s![stack..=stack]), need("out.bias")?)?;
    }
    Ok(net)
}

/// Copies a parameter into a matrix of as many elements, in row-major order.
fn fill<S, D>(to: &mut ArrayBase<S, D>, from: &Parameter) -> Result<(), WeightsError>
where
    S: DataMut<Elem = f32>,
    D: Dimension,
{
    if to.len() != from.weights.len() {
        return Err(WeightsError::Shape {
            name: from.name.clone(),
            found: from.weights.len(),
            expected: to.shape().to_vec(),
        });
    }
    to.iter_mut().zip(&from.weights).for_each(|(to, from)| *to = *from);
    Ok(())
}
