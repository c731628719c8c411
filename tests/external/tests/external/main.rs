//! Tests with needs that a machine with only Rust, Node.js, Python and git does not meet. Such a test is reported as
//! ignored, with the reason. With `REQUIRE_ALL=1`, as in `.ci/run`, it fails.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[cfg(unix)]
mod completions;
#[cfg(unix)]
mod fleet;
#[cfg(target_os = "linux")]
mod full_disk;
#[cfg(target_os = "linux")]
mod in_place;
mod model_edits;
mod needs;
#[cfg(unix)]
mod runners;
#[cfg(target_os = "linux")]
mod sandboxes;
mod service;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if full_disk::is_program() {
        return full_disk::fill();
    }
    #[cfg(unix)]
    if runners::is_program() {
        return runners::serve();
    }
    #[cfg(target_os = "linux")]
    if sandboxes::is_program() {
        sandboxes::run_command();
        return ExitCode::SUCCESS;
    }
    libtest_mimic::run(&Arguments::from_args(), tests()).exit_code()
}

fn tests() -> Vec<Trial> {
    let mut tests = model_edits::tests();
    tests.extend(service::tests());
    #[cfg(target_os = "linux")]
    tests.extend([full_disk::tests(), in_place::tests(), sandboxes::tests()].into_iter().flatten());
    #[cfg(unix)]
    tests.extend([completions::tests(), fleet::tests(), runners::tests()].into_iter().flatten());
    tests
}
