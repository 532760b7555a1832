//! `chuhe`: the xiangqi engine.

fn main() -> std::process::ExitCode {
    engine::cli::main()
}
