//! The program `bwrap`, which mounts all but some directories read-only.

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
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
];

/// In a user namespace of its own a program could leave the mounts behind: from another mount namespace, what is mounted
/// here can be renamed and so detached. Chromium needs one for its own sandbox.
const NO_NAMESPACES: &str = "--disable-userns";

/// Whether the program can confine others here.
///
/// # Errors
/// The reason, and what to install.
pub(super) fn check(program: Option<&Path>) -> Result<(), String> {
    let program = program.ok_or("`bwrap` is missing; install the package `bubblewrap`")?;
    let mut probe = std::process::Command::new(program);
    probe.args(ALWAYS).args([NO_NAMESPACES, "--unshare-net", "--", "true"]);
    let output = probe.output().map_err(|error| format!("`bwrap` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(format!("`bwrap` cannot confine commands here (0.8 or newer is needed): {}", reason.trim()))
}

/// The way a path is mounted. The variants are ordered: a later one is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mount {
    Writable,
    ReadOnly,
    Hidden,
}

/// The mounts of a program.
#[derive(Debug, Default)]
pub(super) struct Mounts(Vec<(PathBuf, Mount)>);

impl Mounts {
    /// Makes a directory writable, if it exists.
    pub(super) fn write(&mut self, path: &Path) {
        self.add(path, Mount::Writable);
    }

    /// Whether a path is in a writable directory.
    pub(super) fn are_writable(&self, path: &Path) -> bool {
        self.0.iter().any(|(top, mount)| *mount == Mount::Writable && path.starts_with(top))
    }

    /// Makes a path read-only, if it exists.
    pub(super) fn keep(&mut self, path: &Path) {
        self.add(path, Mount::ReadOnly);
    }

    /// Puts an empty directory over a directory, and over a file one that cannot be opened, if it exists.
    pub(super) fn hide(&mut self, path: &Path) {
        self.add(path, Mount::Hidden);
    }

    fn add(&mut self, path: &Path, mount: Mount) {
        if path.exists() {
            self.0.push((path.to_owned(), mount));
        }
    }

    /// Keeps the directories between a writable one and what is mounted below it at their paths: what is mounted cannot
    /// be renamed.
    pub(super) fn pin(&mut self) {
        let writable: Vec<PathBuf> =
            self.0.iter().filter(|it| it.1 == Mount::Writable).map(|it| it.0.clone()).collect();
        let mut between = Vec::new();
        for (path, _) in &self.0 {
            for directory in path.ancestors().skip(1) {
                let is_inside = |top: &PathBuf| directory.starts_with(top) && directory != top;
                if writable.iter().any(is_inside) {
                    between.push((directory.to_owned(), Mount::Writable));
                }
            }
        }
        self.0.append(&mut between);
    }

    /// The arguments of `bwrap` before the program.
    pub(super) fn arguments(mut self, network: bool, namespaces: bool) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
        if !namespaces {
            arguments.push(NO_NAMESPACES.into());
        }
        // What is mounted on a directory would cover what was mounted below it before. Of several on one path, the
        // strictest counts.
        self.0.sort_by(|(one, first), (other, second)| {
            let depth = |path: &Path| path.components().count();
            (depth(one), one, second).cmp(&(depth(other), other, first))
        });
        self.0.dedup_by(|(later, _), (earlier, _)| later == earlier);
        let hidden = self.0.iter().filter(|(_, mount)| *mount == Mount::Hidden);
        let hidden: Vec<PathBuf> = hidden.map(|(path, _)| path.clone()).collect();
        // What is below a hidden directory is not there.
        self.0.retain(|(path, _)| {
            !path.ancestors().skip(1).any(|above| hidden.iter().any(|hidden| hidden == above))
        });
        for (path, mount) in self.0 {
            match mount {
                Mount::Writable => bind("--bind-try", &path, &mut arguments),
                Mount::ReadOnly => bind("--ro-bind-try", &path, &mut arguments),
                Mount::Hidden if !path.is_dir() => {
                    arguments.extend(["--ro-bind".into(), "/dev/null".into(), path.into()]);
                }
                Mount::Hidden => {
                    for option in ["--tmpfs", "--remount-ro"] {
                        arguments.extend([option.into(), path.clone().into_os_string()]);
                    }
                }
            }
        }
        if !network {
            arguments.push("--unshare-net".into());
        }
        arguments
    }
}

fn bind(option: &str, path: &Path, arguments: &mut Vec<OsString>) {
    arguments.extend([option.into(), path.into(), path.into()]);
}
