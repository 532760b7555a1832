//! `chuhe`: the xiangqi engine.

fn main() -> std::process::ExitCode {
    engine::twin::become_twin();
    engine::cli::main()
}
