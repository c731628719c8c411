//! Settings of the operator.

use super::sandbox;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// Settings of the tools that run commands, chosen by the operator. No argument of a tool changes them.
///
/// ```
/// use tool_runtime_builtins::shell::{Sandbox, ShellParams};
///
/// let params = ShellParams { sandbox: Sandbox::Landlock, network: false, ..ShellParams::default() };
/// assert_eq!(params.shell, std::path::Path::new("/bin/bash"));
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShellParams {
    /// The shell's program, which takes `-c`. The tool `terminal` needs bash.
    pub shell: PathBuf,
    /// Confinement of commands.
    pub sandbox: Sandbox,
    /// Whether commands may use the network. `false` needs a sandbox.
    pub network: bool,
    /// Directories outside of the workspace that commands in a sandbox may change. The directory for temporary
    /// files is always one of them.
    pub writable: Vec<PathBuf>,
    /// Names of secrets of the pool that commands may use, as variables of these names. `Bash` exports a secret to
    /// the commands whose texts name it, `terminal` exports all when its shell starts. The pool masks them in the
    /// output. A command can encode a secret so that it is not recognised, or send it somewhere.
    pub secrets: Vec<String>,
    /// The most background jobs that run at a time, of all callers.
    pub max_jobs: usize,
    /// The most terminals, one for each principal. The one that was idle for the longest time ends for a new one.
    pub max_terminals: usize,
}

impl Default for ShellParams {
    fn default() -> Self {
        Self {
            shell: "/bin/bash".into(),
            sandbox: Sandbox::Off,
            network: true,
            writable: Vec::new(),
            secrets: Vec::new(),
            max_jobs: 16,
            max_terminals: 4,
        }
    }
}

/// Confinement of commands, on Linux. Both kinds let commands read all files of the user, and give them no
/// capabilities: under root, they change files in the roots that belong to root, or as their permissions say.
///
/// | Commands can | `Off` | `Landlock` | `Bubblewrap` |
/// |---|---|---|---|
/// | change contents and names of files outside | yes | no | no |
/// | change owner, mode, times and attributes of files outside (`chmod`, `chown`, `touch`) | yes | **yes** | no |
/// | signal other processes | yes | no, from Linux 6.12 on | no |
/// | use the network although `network = false` | refused at start | UDP and local sockets | no |
/// | ask a service to do so that listens at a socket of the file system: Docker, systemd, D-Bus, tmux | yes | **yes** | **yes** |
/// | leave a process that outlives the pool, see below | yes | yes | no |
/// | leave a process when this one gets `SIGKILL` | yes | yes | no |
///
/// A sandbox does not hide such sockets: do not run this process as a user, root for instance, whom these services obey.
///
/// Landlock has no right for metadata: choose [`Bubblewrap`](Self::Bubblewrap) where modes and owners of other files
/// matter.
///
/// A process outlives the pool if it left its session, cleared its environment, and was orphaned because its shell ended
/// by itself. A program that holds a `Subreaper` (`tool_runtime::mcp`), as `main!` and `toolbox` do, ends these
/// processes when it ends in an orderly way. When it is killed, the shells get `SIGTERM`, and their children run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// Commands may do what this process may do.
    #[default]
    Off,
    /// Landlock of the kernel, 5.13 or later: commands change files only in the roots, the directory for temporary
    /// files and `writable`; metadata they change everywhere. Without `network` TCP is denied, which needs Linux 6.7;
    /// UDP is not.
    Landlock,
    /// The program `bwrap`: all other directories are mounted read-only. Without `network` commands have no
    /// network at all. Processes in the background end with the shell that started them.
    Bubblewrap,
}

impl ShellParams {
    /// Whether this system has what the settings need.
    ///
    /// # Errors
    /// The reason, and what to install or change.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.shell.is_file() {
            let shell = self.shell.display();
            return Err(format!("`{shell}` does not exist; install bash, or set `shell`"));
        }
        match self.sandbox {
            Sandbox::Off if !self.network => {
                Err("`network = false` needs a sandbox; set `sandbox` to `bubblewrap`".to_owned())
            }
            Sandbox::Off => Ok(()),
            Sandbox::Landlock => sandbox::check_landlock(self.network),
            Sandbox::Bubblewrap => sandbox::check_bubblewrap(),
        }
    }
}
