//! `chuhe-train`: see [`trainer::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    trainer::torch::keep_memory();
    // Before any other call of torch, which looks for its CUDA part only once.
    if let Err(error) = trainer::torch::load_cuda() {
        eprintln!("chuhe-train: no CUDA: {error}");
    }
    trainer::cli::main(env!("CHUHE_COMMIT"))
}
