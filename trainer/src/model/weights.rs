//! The model's parameters in the order and shapes that checkpoints and nets have: row-major, named.

use super::Model;
use super::dense::{self, LAYERS};
use super::shared::{slice, slice_mut};
use super::table::Table;
use crate::backend::cpu::tile;
use crate::optim::Param;
use ndarray::{Array2, ArrayBase, Axis, DataMut, Dimension};
use nnue_format::{Architecture, FloatNet};
use tch::TchError;
use thiserror::Error;

/// A parameter with the state of its optimiser, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: `ft.weight`, `ft.factor`, `ft.bias`, `psqt.weight`, `psqt.factor`, `stack3.dense1.weight` and so on.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The weights.
    pub weights: Vec<f32>,
    /// Adam's mean of gradients.
    pub first: Vec<f32>,
    /// Adam's mean of squared gradients.
    pub second: Vec<f32>,
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
            let tiled = |param: &Param| {
                let rows = |v: &[f32]| tile::to_rows(v, shape[0], shape[1]);
                (rows(&param.weights), rows(&param.first), rows(&param.second))
            };
            let (weights, first, second) = match place {
                Place::Own(which) => tiled(&self.table_of(which).own),
                Place::Factor(which) => match &self.table_of(which).factor {
                    Some(factor) => tiled(&factor.param),
                    None => continue,
                },
                Place::Bias => {
                    let bias = &self.bias;
                    (bias.weights.to_vec(), bias.first.to_vec(), bias.second.to_vec())
                }
                Place::Dense { stack, layer } => {
                    let leaf = &self.dense.stacks[stack][layer];
                    (slice(&leaf.tensor)?.to_vec(), leaf.first.to_vec(), leaf.second.to_vec())
                }
            };
            parameters.push(Parameter { name, shape, weights, first, second });
        }
        Ok(parameters)
    }

    /// Puts parameters back; all of the model's must be there.
    ///
    /// # Errors
    /// [`WeightsError`] names the one that is missing or does not fit.
    pub fn set_parameters(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError> {
        for (name, shape, place) in self.places() {
            let Some(from) = parameters.iter().find(|parameter| parameter.name == name) else {
                return Err(WeightsError::Missing(name));
            };
            let len: usize = shape.iter().product();
            for part in [&from.weights, &from.first, &from.second] {
                if part.len() != len {
                    return Err(WeightsError::Shape { name, found: part.len(), expected: shape });
                }
            }
            match place {
                Place::Own(which) => set_tiled(&mut self.table_mut(which).own, from, &shape),
                Place::Factor(which) => {
                    if let Some(factor) = &mut self.table_mut(which).factor {
                        set_tiled(&mut factor.param, from, &shape);
                    }
                }
                Place::Bias => {
                    self.bias.weights.copy_from_slice(&from.weights);
                    self.bias.first.copy_from_slice(&from.first);
                    self.bias.second.copy_from_slice(&from.second);
                }
                Place::Dense { stack, layer } => {
                    let leaf = &mut self.dense.stacks[stack][layer];
                    slice_mut(&mut leaf.tensor)?.copy_from_slice(&from.weights);
                    leaf.first.copy_from_slice(&from.first);
                    leaf.second.copy_from_slice(&from.second);
                }
            }
        }
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

fn set_tiled(param: &mut Param, from: &Parameter, shape: &[usize]) {
    let tiled = |values: &[f32]| tile::from_rows(values, shape[0], shape[1]);
    param.weights.copy_from_slice(&tiled(&from.weights));
    param.first.copy_from_slice(&tiled(&from.first));
    param.second.copy_from_slice(&tiled(&from.second));
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
