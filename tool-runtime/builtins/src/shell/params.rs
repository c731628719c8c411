//! Settings of the operator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Settings of the tools that run commands, chosen by the operator. No argument of a tool changes them.
///
/// ```
/// use tool_runtime_builtins::shell::{CommandLimits, ShellParams};
///
/// let limits = CommandLimits { memory: 4 << 30, ..CommandLimits::default() };
/// let params = ShellParams { limits, ..ShellParams::default() };
/// assert_eq!(params.shell, std::path::Path::new("/bin/bash"));
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShellParams {
    /// The shell's program, which takes `-c`. The tool `terminal` needs bash.
    pub shell: PathBuf,
    /// What commands may use of the machine.
    pub limits: CommandLimits,
    /// Names of secrets of the pool that commands may use, as variables of these names. `Bash` exports a secret to
    /// the commands that name it, `terminal` exports all when its shell starts. The pool masks them in the
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
            limits: CommandLimits::default(),
            secrets: Vec::new(),
            max_jobs: 16,
            max_terminals: 4,
        }
    }
}

impl ShellParams {
    /// Whether this system has what the settings need.
    ///
    /// # Errors
    /// The reason, and what to install or change.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.shell.is_file() {
            return Ok(());
        }
        let shell = self.shell.display();
        Err(format!("`{shell}` does not exist; install bash, or set `shell`"))
    }
}

/// What commands may use of the machine, on Linux. Zero is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandLimits {
    /// Processes and threads that a command may add to those of the machine (`RLIMIT_NPROC`). The kernel does not limit
    /// root. Default: 4096.
    pub processes: u64,
    /// Bytes of memory that each process may have besides its files (`RLIMIT_DATA`). AddressSanitizer reserves more than
    /// any machine has: it needs zero. Default: three quarters of the machine's memory.
    pub memory: u64,
    /// Bytes of a file that a process may write (`RLIMIT_FSIZE`); the signal 25 ends one that writes more. Default: 16
    /// GiB.
    pub file: u64,
    /// Bytes of outputs that are stored, of all commands: older ones are deleted. One output is stored up to a quarter of
    /// it. Default: 1 GiB.
    pub stored_output: u64,
}

impl Default for CommandLimits {
    fn default() -> Self {
        #[cfg(target_os = "linux")]
        let memory = {
            let machine = rustix::system::sysinfo();
            (u64::from(machine.mem_unit) * machine.totalram as u64) / 4 * 3
        };
        #[cfg(not(target_os = "linux"))]
        let memory = 0;
        Self { processes: 4096, memory, file: 16 << 30, stored_output: 1 << 30 }
    }
}
