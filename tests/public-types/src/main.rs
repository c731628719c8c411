//! Runs the stable rustdoc with its JSON output, which is unstable, for `foreign_types`. Only this
//! process gets `RUSTC_BOOTSTRAP`: for a whole build it would compile every dependency once more.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let rustdoc = Command::new("rustdoc")
        .env("RUSTC_BOOTSTRAP", "1")
        .args(std::env::args_os().skip(1))
        .status()
        .expect("rustdoc starts");
    if rustdoc.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
