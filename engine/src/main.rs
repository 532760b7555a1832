//! `chuhe`: the xiangqi engine.

fn main() -> std::process::ExitCode {
    let stdin = std::io::stdin().lock();
    let out = engine::uci::Output::new(std::io::stdout());
    match engine::uci::run(stdin, out, engine::eval::EvalSource::Hce) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::from(2),
    }
}
