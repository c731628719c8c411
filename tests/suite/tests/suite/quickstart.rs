//! The binaries of the examples, as a newcomer builds them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The quickstart, built once per test run.
pub(super) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("quickstart"))
}

/// An example; cargo builds it once.
pub(super) fn built(example: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", example, "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{example} does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let executable = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back();
    executable.expect("cargo names the executable")
}
