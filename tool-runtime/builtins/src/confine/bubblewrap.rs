//! The program `bwrap`, which mounts all but some directories read-only.

use super::Rules;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Files outside can be read, and devices cannot. Programs have no capabilities, also under root, which could remount
/// what is read-only, and see no other processes, through whose `/proc` directories files outside can be written.
/// Settings of the kernel are read-only: root needs no capability to write them, and one names a program that the kernel
/// runs. All processes of a program end with it, and with this process.
const ALWAYS: &[&str] = &[
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--ro-bind-try",
    "/proc/sys",
    "/proc/sys",
    "--ro-bind-try",
    "/proc/sysrq-trigger",
    "/proc/sysrq-trigger",
    "--ro-bind-try",
    "/proc/fs",
    "/proc/fs",
    "--unshare-user-try",
    "--unshare-pid",
    "--unshare-ipc",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
];

/// Whether the program can confine others here.
///
/// # Errors
/// The reason, and what to install.
pub(super) fn check(program: Option<&Path>) -> Result<(), String> {
    let program = program.ok_or("`bwrap` is missing; install the package `bubblewrap`")?;
    let mut probe = std::process::Command::new(program);
    probe.args(ALWAYS).args(["--unshare-net", "--", "true"]);
    let output = probe.output().map_err(|error| format!("`bwrap` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(format!("`bwrap` cannot confine commands here: {}", reason.trim()))
}

/// The arguments of `bwrap` before those that take something away.
pub(super) fn arguments(rules: &Rules) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    for directory in &rules.writable {
        bind("--bind-try", &directory.path, &mut arguments);
    }
    if !rules.network {
        arguments.push("--unshare-net".into());
    }
    arguments
}

/// Makes the settings of git in a root read-only, and keeps the repository in its place.
pub(super) fn keep_git_settings(root: &Path, arguments: &mut Vec<OsString>) {
    let repository = root.join(".git");
    let Ok(found) = repository.symlink_metadata() else { return };
    if !found.is_dir() {
        // The file of a worktree or of a submodule names its repository. A link cannot be mounted on.
        if found.is_file() {
            bind("--ro-bind", &repository, arguments);
        }
        return;
    }
    // What is mounted cannot be renamed.
    bind("--bind", &repository, arguments);
    let hooks = repository.join("hooks");
    // Not every repository has it, and a command could create it. It cannot if this fails.
    let _ = std::fs::create_dir(&hooks);
    for settings in [hooks, repository.join("config"), repository.join("config.worktree")] {
        bind("--ro-bind-try", &settings, arguments);
    }
}

/// Puts empty directories over others.
pub(super) fn hide<'p>(
    directories: impl IntoIterator<Item = &'p PathBuf>,
    arguments: &mut Vec<OsString>,
) {
    for directory in directories.into_iter().filter(|directory| directory.is_dir()) {
        for option in ["--tmpfs", "--remount-ro"] {
            arguments.extend([option.into(), directory.clone().into_os_string()]);
        }
    }
}

fn bind(option: &str, path: &Path, arguments: &mut Vec<OsString>) {
    arguments.extend([option.into(), path.into(), path.into()]);
}
