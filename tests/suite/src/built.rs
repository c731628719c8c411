//! The binaries of the workspace, built with cargo.

use std::path::PathBuf;
use std::process::Command;

/// The binary of a package, built if necessary.
///
/// # Panics
/// The package does not build.
pub fn built(package: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", package, "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{package} does not build:\n{}",
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

/// Directory of files that outlive a test: `tmp` beside the built binaries.
pub(crate) fn scratch() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.expect("cargo marks its target directory").join("tmp")
}
