//! The throwaway workspace under the target directory.

use crate::sources::{self, Kind};
use std::fs;
use std::path::{Path, PathBuf};

/// The throwaway workspace.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Writes its manifests and its sources.
    pub(crate) fn write(sizes: &[usize]) -> Self {
        let workspace = Self { root: target_directory().join("compile-cost") };
        let members: Vec<String> =
            crates(sizes).map(|(kind, size)| format!("{:?}", name(kind, size))).collect();
        write(
            &workspace.root.join("Cargo.toml"),
            &WORKSPACE.replace("MEMBERS", &members.join(", ")),
        );
        // The versions that the workspace was tested with.
        let lock = repository().join("Cargo.lock");
        fs::copy(lock, workspace.root.join("Cargo.lock")).expect("the workspace has a lock file");
        for (kind, size) in crates(sizes) {
            let manifest = workspace.root.join(name(kind, size)).join("Cargo.toml");
            write(&manifest, &self::manifest(kind, size));
            workspace.write_source(kind, size, 0);
        }
        workspace
    }

    /// Writes the source of a crate; `edit` selects the body of one function.
    pub(crate) fn write_source(&self, kind: Kind, size: usize, edit: usize) {
        let file = self.root.join(name(kind, size)).join("src/main.rs");
        write(&file, &sources::server(kind, size, edit));
    }

    /// Its directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The release binary of a crate.
    pub(crate) fn binary(&self, kind: Kind, size: usize) -> PathBuf {
        self.root.join("target/release").join(name(kind, size))
    }
}

/// A crate's name.
pub(crate) fn name(kind: Kind, size: usize) -> String {
    format!("{kind}-{size}")
}

fn crates(sizes: &[usize]) -> impl Iterator<Item = (Kind, usize)> {
    let each_kind = |size: &usize| Kind::ALL.map(|kind| (kind, *size));
    sizes.iter().flat_map(each_kind)
}

fn target_directory() -> PathBuf {
    let binary = std::env::current_exe().expect("this binary has a path");
    let target = binary.ancestors().nth(2).expect("it lies in a profile's directory");
    target.to_owned()
}

fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).expect("the package is two levels deep");
    root.to_owned()
}

fn write(file: &Path, text: &str) {
    let directory = file.parent().expect("a file is in a directory");
    fs::create_dir_all(directory).expect("the target directory can be written");
    fs::write(file, text).expect("the target directory can be written");
}

const WORKSPACE: &str = r#"[workspace]
resolver = "3"
members = [MEMBERS]

[profile.release]
strip = true
"#;

fn manifest(kind: Kind, size: usize) -> String {
    let package = format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n{EDGES}",
        name(kind, size)
    );
    let runtime = repository().join("tool-runtime");
    match kind {
        Kind::Ours => format!("{package}tool-runtime = {{ path = {runtime:?} }}\n"),
        Kind::Library => {
            format!("{package}tool-runtime = {{ path = {runtime:?}, {LIBRARY} }}\n{TOKIO}")
        }
        Kind::Rmcp => format!("{package}{RMCP}{TOKIO}"),
    }
}

const EDGES: &str = r#"schemars = "1"
serde = { version = "1", features = ["derive"] }
"#;

const LIBRARY: &str = r#"default-features = false, features = ["macros", "linked", "mcp-server"]"#;

const RMCP: &str = r#"rmcp = { version = "3.9", default-features = false, features = ["server", "macros", "transport-io"] }
"#;

const TOKIO: &str = r#"tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
"#;
