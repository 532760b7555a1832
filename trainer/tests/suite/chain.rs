//! The whole chain learns what is there to learn.

use crate::support::{arch, batch};
use trainer::backend::cpu::kernel::{AdamStep, KernelKind};
use trainer::loss::Loss;
use trainer::model::Model;

#[test]
fn one_batch_is_learnt_to_nothing() {
    let arch = arch("half-ka-hm 2x128-16-16-1 pairwise 8-stacks psqt");
    let batch = batch(&arch, 31, 96);
    let mut model = Model::new(&arch, true, 5, KernelKind::best());
    let mut last = f64::INFINITY;
    for step in 1..=400 {
        let rate = 2e-3 * (1.0 - (step as f64 / 410.0));
        last = model.gradients(&batch, &Loss::default(), batch.len()).unwrap() / batch.len() as f64;
        model.update(&AdamStep::at(step, rate, (0.9, 0.99), 1e-8, 0.0, f32::INFINITY).into()).unwrap();
    }
    assert!(last < 1e-6, "a loss of {last} is left");
}
