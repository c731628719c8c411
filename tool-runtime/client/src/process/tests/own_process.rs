//! Tests that need a process of their own.

use std::env;
use std::process::{Command, Output};

const VALUE: &str = "TOOL_RUNTIME_TEST_ALONE";

/// The value of a process that [`run_alone`] has started. `None` in another one.
pub(super) fn value_of_own_process() -> Option<String> {
    env::var(VALUE).ok()
}

/// Runs the test `name`, relative to this folder, in a separate process, and returns the output of that.
pub(super) fn run_alone(name: &str, value: &str) -> Output {
    let mut command = Command::new(env::current_exe().expect("this test"));
    let (_crate, path) = module_path!().split_once("::").expect("a module");
    let path = path.replace("own_process", name);
    command.args(["--exact", "--nocapture", &path]).env(VALUE, value);
    command.output().expect("the test process starts")
}
