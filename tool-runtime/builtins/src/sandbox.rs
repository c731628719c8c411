//! What confines the programs that tools start: the choice of the operator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Confinement of all programs that the tools of a workspace start, chosen by the operator. No argument of a tool changes
/// it. See [`WorkspaceBuilder::sandbox`](crate::WorkspaceBuilder::sandbox).
///
/// ```
/// use tool_runtime_builtins::{Sandbox, SandboxParams, Workspace};
///
/// let sandbox = SandboxParams { network: false, ..SandboxParams::new(Sandbox::Landlock) };
/// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).sandbox(sandbox).build()?;
/// # Ok::<(), tool_runtime_builtins::WorkspaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxParams {
    /// What confines them.
    pub kind: Sandbox,
    /// Whether commands and language servers may use the network. `false` needs a sandbox. Chromium reaches the network
    /// only by the proxy of its tools.
    pub network: bool,
    /// Directories outside the workspace that commands and language servers may change. The directory for temporary
    /// files is always one of them.
    pub writable: Vec<PathBuf>,
}

impl SandboxParams {
    /// A sandbox with the network.
    pub fn new(kind: Sandbox) -> Self {
        Self { kind, network: true, writable: Vec::new() }
    }
}

impl Default for SandboxParams {
    fn default() -> Self {
        Self::new(Sandbox::Off)
    }
}

/// The kinds of confinement, on Linux. All let programs read the files of the user. Landlock and bubblewrap give them no
/// capabilities: under root, they change files that belong to root, or as their permissions say.
///
/// What programs may change:
///
/// | Program | `Off` | `Landlock` | `Bubblewrap` |
/// |---|---|---|---|
/// | commands of `Bash` and `terminal` | all files of the user | the roots, temporary files, `writable` | likewise, without settings of git, protected directories, profiles of browsers |
/// | git of `EnterWorktree` and `ExitWorktree` | the roots: it runs no program of the repository, and reads only its data | the roots | the roots, without protected directories |
/// | language servers of `LSP` | all files of the user | temporary files, `writable` | likewise |
/// | Chromium | its profile and downloads, as far as its own sandbox holds; none for root | its profile and downloads | likewise |
///
/// Tools for files change only the roots, without git's directories and protected directories, under every kind.
/// Settings of git are `.git/config` and `.git/hooks` of the roots, which name programs that run later, outside any
/// sandbox: see [`git_settings`](crate::WorkspaceBuilder::git_settings). Those of a repository that a command creates are
/// protected from the next command on; those of repositories deeper in a root are not, nor are those of a root for a
/// command in the background once somebody else has changed them.
///
/// What else commands and language servers can do:
///
/// | | `Off` | `Landlock` | `Bubblewrap` |
/// |---|---|---|---|
/// | change owner, mode, times and attributes of other files (`chmod`, `chown`, `touch`) | yes | **yes** | no |
/// | write to `/dev/shm`, and to other terminals of the user | yes | **yes** | no |
/// | change settings of git, protected directories | yes | **yes** | no |
/// | read protected directories, profiles of browsers | yes | yes | no |
/// | signal other processes | yes | no, from Linux 6.12 on | no |
/// | use the network although `network` is `false` | refused at start | no | no |
/// | use namespaces of the kernel | yes | yes | no |
/// | ask a service that listens at a socket of the file system, or with the network at an abstract one: Docker, systemd, D-Bus, tmux | yes | **yes** | **yes** |
/// | leave a process that outlives the pool, see below | yes | yes | no |
/// | leave a process when this one gets `SIGKILL` | yes | yes | no |
///
/// A sandbox does not hide such sockets: do not run this process as a user, root for instance, whom these services obey.
///
/// Landlock has no right for metadata, and cannot take a right away below a directory: choose
/// [`Bubblewrap`](Self::Bubblewrap) where modes of other files, or the settings of git, matter.
///
/// A process outlives the pool if it left its session, cleared its environment, and was orphaned because its shell ended
/// by itself. A program that holds a `Subreaper` (`tool_runtime::mcp`), as `main!` and `toolbox` do, ends these
/// processes when it ends in an orderly way. When it is killed, the shells get `SIGTERM`, and their children run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// Programs may do what this process may do.
    #[default]
    Off,
    /// Landlock of the kernel, 5.13 or later. Without `network`, programs can open no socket but those of the file system
    /// and of their own (seccomp), and Linux 6.7 is needed.
    Landlock,
    /// The program `bwrap`, 0.8 or newer: all other directories are mounted read-only. Without `network` programs have no network at
    /// all. Processes in the background end with the shell that started them.
    Bubblewrap,
}
