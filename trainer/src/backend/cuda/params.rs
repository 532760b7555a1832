//! Parameters, gradients and the optimiser's state on a device, all f32.
//!
//! ```text
//! gradient   table [features, columns] │ bias [l1] │ dense1 │ bias │ dense2 │ bias │ out │ bias      one buffer
//! merged     [features, columns], engine's precision: own + shared rows, what the transformer reads
//! ```
//!
//! The columns are those of `kernels.cu`: L1 sums, then the PSQT in two parts whose sum is its value, so that its
//! precision is 16 bits of mantissa and not 8.

use super::DeviceError;
use super::compute::Engine;
use super::dense::{Layers, Shape};
use super::kernels::{Sizes, TableState};
use crate::model::dense::{LAYERS, LIMITS};
use crate::model::weights::{Parameter, StateTensor, WeightsError};
use crate::optim::UpdateStep;
use crate::optim::param::state;
use crate::optim::update::Lookahead;
use nnue_format::Architecture;
use nnue_format::arch::Activation;
use nnue_format::quant::{FT_CLIP, clip};
use tch::{Device, Kind, TchError, Tensor};

/// Weights and both moments.
type State = [Tensor; 3];

/// A table of the transformer: a row for each feature, and in a factorised net a row for each slot.
struct Table {
    name: &'static str,
    width: usize,
    from: usize,
    split: usize,
    limit: f32,
    own: State,
    shared: Option<State>,
}

/// All parameters of a net.
pub struct Params {
    /// Sizes of the transformer.
    pub sizes: Sizes,
    /// Sizes of the dense layers.
    pub shape: Shape,
    /// What the transformer reads.
    pub merged: Tensor,
    features: usize,
    slots: usize,
    tables: Vec<Table>,
    flat: State,
    limits: Tensor,
    /// Lengths of the flat parameters; every other one, from the first, is a bias.
    segments: [usize; 7],
    /// Lookahead's slow weights, flat ones first, then by table own and shared; none before its first step.
    slow: Option<Vec<Tensor>>,
}

impl Params {
    /// Zeros.
    ///
    /// # Errors
    /// What torch reports, as when the device's memory is full.
    pub fn zeros(engine: &Engine, arch: &Architecture, factorised: bool) -> Result<Params, DeviceError> {
        let (set, l1, psqt) = (arch.features(), arch.l1(), arch.psqt_columns());
        let (features, slots) = (set.inputs(), set.slot_count());
        let columns = l1 + (2 * psqt).next_multiple_of(8);
        let pairwise = arch.activation() == Activation::Pairwise;
        let sizes = Sizes { l1, psqt, columns, pairwise, clip: FT_CLIP };
        let shape = Shape::new(arch);
        let table = |name, width: usize, from, split, limit| -> Result<Table, DeviceError> {
            let own = zeros(engine.device, &[features, width])?;
            let shared = if factorised { Some(zeros(engine.device, &[slots, width])?) } else { None };
            Ok(Table { name, width, from, split, limit, own, shared })
        };
        let mut tables = vec![table("ft", l1, 0, 0, clip::FT_WEIGHT)?];
        if psqt > 0 {
            tables.push(table("psqt", psqt, l1, psqt, clip::PSQT)?);
        }
        let merged = [features as i64, columns as i64];
        let merged = Tensor::f_zeros(merged, (engine.precision.kind(), engine.device))?;
        let sizes_of = segments(l1, &shape);
        let mut limits = vec![clip::FT_BIAS; l1];
        for (len, limit) in sizes_of[1..].iter().zip(LIMITS) {
            limits.extend(std::iter::repeat_n(limit, *len));
        }
        let flat = zeros(engine.device, &[limits.len()])?;
        let limits = Tensor::from_slice(&limits).f_to_device(engine.device)?;
        let segments = sizes_of;
        Ok(Params { sizes, shape, merged, features, slots, tables, flat, limits, segments, slow: None })
    }

    /// Elements of a gradient buffer.
    pub fn gradient_len(&self) -> usize {
        self.features * self.sizes.columns + self.limits.numel()
    }

    /// The transformer's part of a gradient buffer, `[features, columns]`.
    ///
    /// # Errors
    /// What torch reports.
    pub fn table_of(&self, gradient: &Tensor) -> Result<Tensor, TchError> {
        let (features, columns) = (self.features as i64, self.sizes.columns as i64);
        gradient.f_narrow(0, 0, features * columns)?.f_view([features, columns])
    }

    /// The rest of a gradient buffer, in the order of the flat parameters.
    ///
    /// # Errors
    /// What torch reports.
    pub fn flat_of(&self, gradient: &Tensor) -> Result<Tensor, TchError> {
        let start = (self.features * self.sizes.columns) as i64;
        gradient.f_narrow(0, start, self.limits.numel() as i64)
    }

    /// The biases of the transformer.
    ///
    /// # Errors
    /// What torch reports.
    pub fn bias(&self) -> Result<Tensor, TchError> {
        self.flat[0].f_narrow(0, 0, self.sizes.l1 as i64)
    }

    /// The dense layers.
    ///
    /// # Errors
    /// What torch reports.
    pub fn layers(&self) -> Result<Layers, TchError> {
        self.layers_of(&self.flat[0])
    }

    /// The dense layers' part of a flat tensor.
    ///
    /// # Errors
    /// What torch reports.
    pub fn layers_of(&self, flat: &Tensor) -> Result<Layers, TchError> {
        let Shape { stacks, inputs, l2, l3 } = self.shape;
        let mut start = self.sizes.l1 as i64;
        let mut part = |shape: &[i64]| {
            let len = shape.iter().product();
            start += len;
            flat.f_narrow(0, start - len, len)?.f_view(shape)
        };
        Ok(Layers {
            first: [part(&[stacks * l2, inputs])?, part(&[stacks * l2])?],
            second: [part(&[stacks * l3, l2])?, part(&[stacks * l3])?],
            out: [part(&[stacks, l3])?, part(&[stacks])?],
        })
    }

    /// One Adam update with a gradient buffer, unless `ok` is 0.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn update(
        &mut self,
        engine: &Engine,
        gradient: &Tensor,
        ok: &Tensor,
        step: &UpdateStep,
    ) -> Result<(), DeviceError> {
        if step.lookahead.is_some() && self.slow.is_none() {
            let copies: Result<_, TchError> = self.weights().into_iter().map(Tensor::f_detach_copy).collect();
            self.slow = Some(copies?);
        }
        if let Some(max_norm) = step.max_norm {
            self.clip_norm(gradient, max_norm)?;
        }
        self.update_flat(engine, &self.flat_of(gradient)?, ok, step)?;
        self.update_tables(engine, &self.table_of(gradient)?, ok, step)?;
        if let Some(Lookahead { part, now: true }) = step.lookahead {
            for (weights, slow) in self.weights().into_iter().zip(self.slow.iter().flatten()) {
                let next = slow.f_add(&weights.f_sub(slow)?.f_mul_scalar(f64::from(part))?)?;
                engine.keep_if(ok, [(slow, &next), (weights, &next)])?;
            }
            self.merge_all(engine)?;
        }
        Ok(())
    }

    /// All weights, in the order of the slow ones.
    fn weights(&self) -> Vec<&Tensor> {
        let tables = self.tables.iter().flat_map(|table| [Some(&table.own), table.shared.as_ref()]);
        [Some(&self.flat)].into_iter().chain(tables).flatten().map(|state| &state[0]).collect()
    }

    /// Scales a gradient down to a norm, without the device being waited for. A norm that is not a number scales nothing.
    fn clip_norm(&self, gradient: &Tensor, max_norm: f64) -> Result<(), DeviceError> {
        let table = self.table_of(gradient)?;
        let mut square = self.flat_of(gradient)?.f_square()?.f_sum(Kind::Double)?;
        for part in &self.tables {
            let state = part.view(&part.own);
            let high = table.f_narrow(1, state.from as i64, state.width as i64)?;
            let whole = match state.split {
                0 => high,
                split => {
                    high.f_add(&table.f_narrow(1, (state.from + split) as i64, state.width as i64)?)?
                }
            };
            square = square.f_add(&whole.f_square()?.f_sum(Kind::Double)?)?;
        }
        let norm = square.f_sqrt()?;
        let scale = norm.f_reciprocal()?.f_mul_scalar(max_norm)?;
        let scale = scale.f_where_self(&norm.f_gt(max_norm)?, &norm.f_ones_like()?)?;
        let _ = gradient.shallow_clone().f_mul_(&scale.f_to_kind(Kind::Float)?)?;
        Ok(())
    }

    /// Biases and dense layers: at once where all have the same settings.
    fn update_flat(
        &self,
        engine: &Engine,
        gradient: &Tensor,
        ok: &Tensor,
        step: &UpdateStep,
    ) -> Result<(), DeviceError> {
        let all = [self.limits.numel()];
        let lengths = if step.dense == step.biases { &all[..] } else { &self.segments[..] };
        let mut start = 0;
        for (number, &len) in lengths.iter().enumerate() {
            let part = |tensor: &Tensor| tensor.f_narrow(0, start, len as i64);
            let [w, m, v] = [part(&self.flat[0])?, part(&self.flat[1])?, part(&self.flat[2])?];
            let (g, limits) = (part(gradient)?, part(&self.limits)?);
            let step = if number.is_multiple_of(2) { &step.biases } else { &step.dense };
            match &engine.kernels {
                Some(kernels) => kernels.adam_flat([&w, &g, &m, &v, &limits], ok, step)?,
                None => engine.adam([&w, &m, &v], &g, Some(&limits), ok, step)?,
            }
            start += len as i64;
        }
        Ok(())
    }

    fn update_tables(
        &self,
        engine: &Engine,
        table_gradient: &Tensor,
        ok: &Tensor,
        step: &UpdateStep,
    ) -> Result<(), DeviceError> {
        let step = &step.feature_transformer;
        for table in &self.tables {
            let own = table.view(&table.own);
            let shared = table.shared.as_ref().map(|shared| table.view(shared));
            if let Some(kernels) = &engine.kernels {
                if let Some(shared) = &shared {
                    kernels.adam_shared(shared, table_gradient, ok, step)?;
                }
                let weights = shared.as_ref().map(|shared| shared.state[0]);
                let places = (table_gradient, &self.merged);
                kernels.adam_table(&own, weights, places, ok, (step, table.limit))?;
                continue;
            }
            let g = engine.table_gradient(table_gradient, &own)?;
            engine.adam(own.state, &g, None, ok, step)?;
            if let Some(shared) = &shared {
                let g = g.f_reshape([-1, self.slots as i64, table.width as i64])?;
                let g = g.f_sum_dim_intlist(&[0i64][..], false, Kind::Float)?;
                engine.adam(shared.state, &g, None, ok, step)?;
            }
            let merged = self.merge(table)?;
            let limit = f64::from(table.limit);
            let kept = merged.f_clamp(-limit, limit)?;
            // What the clip takes off, the own row loses; where nothing is taken its bits stay.
            let clipped = kept.f_ne_tensor(&merged)?.f_logical_and(&merged.f_eq_tensor(&merged)?)?;
            let reduced = match &shared {
                Some(shared) => kept.f_sub(&self.by_feature(shared.state[0])?)?,
                None => kept.shallow_clone(),
            };
            let weights = reduced.f_where_self(&clipped, own.state[0])?;
            engine.keep_if(ok, [(own.state[0], &weights)])?;
            engine.write_merged(&self.merged, &kept, (table.from, table.split))?;
        }
        Ok(())
    }

    /// Writes the merged rows anew, after weights were set from outside.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn merge_all(&self, engine: &Engine) -> Result<(), DeviceError> {
        for table in &self.tables {
            engine.write_merged(&self.merged, &self.merge(table)?, (table.from, table.split))?;
        }
        Ok(())
    }

    /// own + shared rows, `[features, width]`.
    fn merge(&self, table: &Table) -> Result<Tensor, DeviceError> {
        Ok(match &table.shared {
            Some(shared) => table.own[0].f_add(&self.by_feature(&shared[0])?)?,
            None => table.own[0].shallow_clone(),
        })
    }

    /// The shared row of every feature.
    fn by_feature(&self, shared: &Tensor) -> Result<Tensor, TchError> {
        let buckets = (self.features / self.slots) as i64;
        shared.f_repeat([buckets, 1])
    }

    /// Every parameter by name and shape, with its weights and moments on the device.
    fn named(&self) -> Result<Vec<Named>, TchError> {
        let mut named = Vec::new();
        let mut slow = self.slow.iter().flatten();
        let flat_slow = slow.next();
        let mut copy = |state: &State| {
            let history = [state::FIRST, state::SECOND].into_iter().zip([&state[1], &state[2]]);
            let history = history.chain(slow.next().map(|slow| (state::SLOW, slow)));
            let history = history.map(|(name, tensor)| (name, tensor.shallow_clone())).collect();
            (state[0].shallow_clone(), history)
        };
        for table in &self.tables {
            let own = copy(&table.own);
            named.push((format!("{}.weight", table.name), vec![self.features, table.width], own));
            if let Some(shared) = &table.shared {
                let shape = vec![self.slots, table.width];
                named.push((format!("{}.factor", table.name), shape, copy(shared)));
            }
        }
        let Shape { stacks, inputs, l2, l3 } = self.shape;
        let part = |start: i64, len: i64| -> Result<(Tensor, History), TchError> {
            let [w, m, v] = &self.flat;
            let history = [(state::FIRST, Some(m)), (state::SECOND, Some(v)), (state::SLOW, flat_slow)];
            let history = history.into_iter().filter_map(|(name, tensor)| Some((name, tensor?)));
            let history = history.map(|(name, tensor)| Ok((name, tensor.f_narrow(0, start, len)?)));
            Ok((w.f_narrow(0, start, len)?, history.collect::<Result<_, TchError>>()?))
        };
        let l1 = self.sizes.l1;
        named.push(("ft.bias".to_owned(), vec![l1], part(0, l1 as i64)?));
        let shapes = [vec![l2, inputs], vec![l2], vec![l3, l2], vec![l3], vec![1, l3], vec![1]];
        for stack in 0..stacks {
            let mut start = l1 as i64;
            for (layer, shape) in LAYERS.iter().zip(&shapes) {
                let len: i64 = shape.iter().product();
                let shape = shape.iter().map(|&size| size as usize).collect();
                named.push((format!("stack{stack}.{layer}"), shape, part(start + stack * len, len)?));
                start += stacks * len;
            }
        }
        Ok(named)
    }

    /// A copy of every parameter and its state.
    ///
    /// # Errors
    /// What torch reports.
    pub fn parameters(&self) -> Result<Vec<Parameter>, TchError> {
        let values = |tensor: &Tensor| -> Result<Vec<f32>, TchError> {
            Vec::try_from(&tensor.f_to_device(Device::Cpu)?.f_reshape([-1])?)
        };
        let named = self.named()?.into_iter();
        named
            .map(|(name, shape, (weights, history))| {
                let mut saved = Vec::new();
                for (name, tensor) in &history {
                    saved.push(StateTensor { name: (*name).to_owned(), values: values(tensor)? });
                }
                Ok(Parameter { name, shape, weights: values(&weights)?, state: saved })
            })
            .collect()
    }

    /// Puts parameters back, but for the merged rows.
    ///
    /// # Errors
    /// [`WeightsError`] names the one that is missing or does not fit.
    pub fn set_parameters(&mut self, parameters: &[Parameter]) -> Result<(), WeightsError> {
        let looks_ahead = parameters.iter().any(|parameter| parameter.state(state::SLOW).is_some());
        let copies: Result<_, TchError> = self.weights().into_iter().map(Tensor::f_detach_copy).collect();
        self.slow = if looks_ahead { Some(copies?) } else { None };
        for (name, shape, (mut weights, history)) in self.named()? {
            let Some(from) = parameters.iter().find(|parameter| parameter.name == name) else {
                return Err(WeightsError::Missing(name));
            };
            from.check(&shape)?;
            let size = weights.size();
            weights.f_copy_(&Tensor::from_slice(&from.weights).f_view(&size[..])?)?;
            for (name, mut to) in history {
                // Without a state the optimiser begins anew; slow weights begin as the weights.
                match from.state(name) {
                    Some(values) => to.f_copy_(&Tensor::from_slice(values).f_view(&size[..])?)?,
                    None if name == state::SLOW => to.f_copy_(&weights)?,
                    None => drop(to.f_zero_()?),
                }
            }
        }
        Ok(())
    }
}

/// What an optimiser remembers of a parameter, by name.
type History = Vec<(&'static str, Tensor)>;
/// Name, shape, weights and history of a parameter.
type Named = (String, Vec<usize>, (Tensor, History));

impl Table {
    fn view<'a>(&self, state: &'a State) -> TableState<'a> {
        let [w, m, v] = state;
        TableState { state: [w, m, v], from: self.from, split: self.split, width: self.width }
    }
}

fn zeros(device: Device, shape: &[usize]) -> Result<State, TchError> {
    let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    let tensor = || Tensor::f_zeros(&shape[..], (Kind::Float, device));
    Ok([tensor()?, tensor()?, tensor()?])
}

/// Lengths of the flat parameters: biases of the transformer, then the layers of all stacks.
fn segments(l1: usize, shape: &Shape) -> [usize; 7] {
    let Shape { stacks, inputs, l2, l3 } = *shape;
    let dense = [stacks * l2 * inputs, stacks * l2, stacks * l3 * l2, stacks * l3, stacks * l3, stacks];
    let mut all = [l1; 7];
    for (to, len) in all[1..].iter_mut().zip(dense) {
        *to = len as usize;
    }
    all
}
