//! The servers, and how they are installed and started.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of a file that a limited server may write, in KiB.
const MAX_FILE: &str = "256";

/// A server of files.
#[derive(Clone, Debug)]
pub enum Server {
    /// The example `toolbox`: its program.
    Toolbox(PathBuf),
    /// npm `@modelcontextprotocol/server-filesystem`.
    Reference,
    /// The crate `rust-mcp-filesystem`.
    RustMcp,
}

const REFERENCE: &str = "@modelcontextprotocol/server-filesystem@2026.8.31";
const RUST_MCP: &str = "rust-mcp-filesystem@0.4.5";

impl Server {
    /// The name with the version.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Toolbox(_) => "toolbox",
            Self::Reference => REFERENCE,
            Self::RustMcp => RUST_MCP,
        }
    }

    /// Builds `toolbox`.
    ///
    /// # Panics
    /// It does not build.
    pub fn build_toolbox() -> Self {
        run(Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "toolbox"]));
        Self::Toolbox(target().join("debug/toolbox"))
    }

    /// Installs the server, unless it is installed.
    ///
    /// # Panics
    /// It cannot be installed.
    #[must_use]
    pub fn installed(self) -> Self {
        let directory = directory();
        if !self.program().exists() {
            std::fs::create_dir_all(&directory).expect("room for a directory");
            match self {
                Self::Toolbox(_) => {}
                Self::Reference => run(Command::new("npm")
                    .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"])
                    .arg(directory)
                    .arg(REFERENCE)),
                Self::RustMcp => run(Command::new(env!("CARGO"))
                    .args(["install", "--debug", "--locked", RUST_MCP, "--root"])
                    .arg(directory)),
            }
        }
        self
    }

    fn program(&self) -> PathBuf {
        match self {
            Self::Toolbox(program) => program.clone(),
            Self::Reference => directory()
                .join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"),
            Self::RustMcp => directory().join("bin/rust-mcp-filesystem"),
        }
    }

    /// The command that serves a directory. A limited one cannot write files of more than 256 KiB, as on a full disk.
    pub(crate) fn command(&self, root: &Path, is_limited: bool) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("bash");
        let limit = if is_limited { format!("ulimit -f {MAX_FILE}; ") } else { String::new() };
        command.args(["-c", &format!("{limit}exec \"$@\""), "server"]);
        match self {
            Self::Toolbox(_) => command.arg(self.program()).args(["serve", "--root"]).arg(root),
            Self::Reference => command.arg("node").arg(self.program()).arg(root),
            Self::RustMcp => command.arg(self.program()).arg("--allow-write").arg(root),
        };
        command.current_dir(root);
        command
    }
}

fn run(command: &mut Command) {
    let status = command.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    let status = status.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?} failed");
}

/// The target directory of this build.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    let target = program.ancestors().find(|folder| folder.join(".rustc_info.json").exists());
    target.expect("cargo writes a file on rustc into its target directory").to_owned()
}

fn directory() -> PathBuf {
    target().join("tmp/file-servers")
}
