//! The binaries of the workspace, built with cargo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The binary of a package, built if necessary.
///
/// # Panics
/// A package of the workspace does not build, or none has this binary.
pub fn built(package: &str) -> PathBuf {
    static BINARIES: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let binaries = BINARIES.get_or_init(build);
    binaries.get(package).unwrap_or_else(|| panic!("no package has the binary `{package}`")).clone()
}

/// Builds all binaries with the features that `cargo test` has built the dependencies with. With those of one package,
/// cargo would compile the dependencies again for each.
fn build() -> BTreeMap<String, PathBuf> {
    let arguments = ["build", "--quiet", "--bins", "--tests", "--message-format", "json"];
    let output = cargo(&arguments).output().expect("cargo starts");
    let reason = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the workspace does not build:\n{reason}");
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    messages.filter_map(|message: serde_json::Value| binary(&message)).collect()
}

/// The name and the file of a binary that is no test.
fn binary(message: &serde_json::Value) -> Option<(String, PathBuf)> {
    let is_program = message["target"]["kind"][0] == "bin" && message["profile"]["test"] == false;
    let name = message["target"]["name"].as_str().filter(|_| is_program)?;
    Some((name.to_owned(), message["executable"].as_str()?.into()))
}

/// Cargo in the root of the workspace, without the variables that `cargo test` sets for a test: build scripts that read
/// them would run again, and their crates be compiled again.
pub fn cargo(arguments: &[&str]) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root);
    for (name, _) in std::env::vars_os() {
        let is_of_a_package = |name: &str| {
            ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        };
        if name.to_str().is_some_and(is_of_a_package) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Directory of files that outlive a test: `tmp` beside the built binaries.
pub(crate) fn scratch() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    let target = program.ancestors().find(|folder| folder.join(".rustc_info.json").exists());
    target.expect("cargo writes a file on rustc into its target directory").join("tmp")
}
