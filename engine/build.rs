//! Tells the program which compiler makes it, for `chuhe speedtest`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = std::process::Command::new(compiler).arg("--version").output();
    let text = said.ok().and_then(|said| String::from_utf8(said.stdout).ok()).unwrap_or_default();
    // `rustc 1.95.0 (…)`: the date and the commit follow from the version.
    let version = text.split(" (").next().unwrap_or_default().trim();
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=CHUHE_COMPILER={version}, {target}");
}
