//! A copy of the net in the memory of every node whose threads read it: rows of weights are read at nearly every
//! node of a search, and another node's memory answers late.

use std::sync::Arc;

use nnue_infer::EngineNet;

use super::{Binding, PinGuard};
use crate::eval::EvalSource;

/// For each node of the binding what its threads evaluate with; `None` where no thread runs. Empty where one source
/// serves all: threads are not bound, or to one node, or there is no net.
pub(crate) fn for_nodes(source: &EvalSource, binding: &Binding) -> Vec<Option<EvalSource>> {
    let threads = binding.threads_by_node();
    let EvalSource::Net(net) = source else { return Vec::new() };
    if threads.iter().filter(|&&count| count > 0).count() < 2 {
        return Vec::new();
    }
    let copy =
        |(node, count): (usize, usize)| (count > 0).then(|| EvalSource::Net(on_node(net, binding, node)));
    threads.into_iter().enumerate().map(copy).collect()
}

/// Copied by a thread that runs on the node: memory is where it is first written.
fn on_node(net: &Arc<EngineNet>, binding: &Binding, node: usize) -> Arc<EngineNet> {
    std::thread::scope(|scope| {
        let work = || {
            // Where it is refused, the copy is as good as the original.
            let _bound = binding.cpus_of_node(node).map(PinGuard::bind);
            Arc::new(EngineNet::clone(net))
        };
        let copied = std::thread::Builder::new().spawn_scoped(scope, work);
        copied.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(|| Arc::clone(net))
    })
}

#[cfg(test)]
mod tests {
    use nnue_format::{Architecture, QuantisedNet};
    use nnue_infer::Backend;
    use xiangqi::Position;

    use super::super::{NumaPolicy, Topology};
    use super::*;
    use crate::eval::Evaluation;

    fn source() -> EvalSource {
        let arch: Architecture = "half-kp 2x128-8-8-1 crelu".parse().expect("an architecture");
        let net = EngineNet::new(&QuantisedNet::random(&arch, 1), Backend::Scalar).expect("a net");
        EvalSource::Net(Arc::new(net))
    }

    fn binding(policy: &NumaPolicy, threads: usize) -> Binding {
        let machine = Topology::of(vec![vec![0], vec![1], vec![2]], vec![0, 1, 2]);
        Binding::new(policy, &machine, threads).expect("CPUs that are there")
    }

    #[test]
    fn nodes_with_threads_have_copies_that_evaluate_alike() {
        let source = source();
        let copies = for_nodes(&source, &binding(&NumaPolicy::System, 2));
        if !Topology::here().can_bind() {
            assert!(copies.is_empty());
            return;
        }
        let [Some(EvalSource::Net(first)), Some(EvalSource::Net(second)), None] = &copies[..] else {
            panic!("{copies:?}");
        };
        assert!(!Arc::ptr_eq(first, second));
        let position = Position::start();
        let value = |source: &EvalSource| {
            let mut evaluation = Evaluation::new(source);
            evaluation.reset(&position);
            evaluation.evaluate_raw(&position)
        };
        for copy in copies.iter().flatten() {
            assert_eq!(value(copy), value(&source));
        }
    }

    #[test]
    fn one_source_serves_where_copies_bring_nothing() {
        assert!(for_nodes(&source(), &binding(&NumaPolicy::System, 1)).is_empty());
        assert!(for_nodes(&source(), &binding(&NumaPolicy::None, 3)).is_empty());
        assert!(for_nodes(&EvalSource::Hce, &binding(&NumaPolicy::System, 3)).is_empty());
    }
}
