//! Confinement of commands on Linux.
//!
//! Landlock restricts a thread and what it starts, so a command is started on a thread of its own that is restricted
//! before. Nothing runs between `fork` and `exec` for it, and this process stays unrestricted. The thread has no
//! capabilities either, by which root could create the device of a disk in a root of the workspace, and write it. Landlock
//! has no right for metadata: `chmod`, `chown` and `touch` work outside, unlike in bubblewrap.

use super::params::{Sandbox, ShellParams};
use crate::workspace::Workspace;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// What confines commands. The program and the directories are those of the start, since commands may replace others of
/// their names.
#[derive(Debug)]
pub(super) struct Confinement {
    sandbox: Sandbox,
    /// The program of bubblewrap.
    program: Option<PathBuf>,
    /// The directories that commands may change.
    writable: Vec<Writable>,
    network: bool,
}

#[derive(Debug)]
struct Writable {
    path: PathBuf,
    handle: File,
}

impl Confinement {
    pub(super) fn new(workspace: &Workspace, params: &ShellParams) -> Self {
        let mut writable = Vec::new();
        if params.sandbox != Sandbox::Off {
            let roots = workspace.roots().iter().map(|root| root.canonical_path().to_owned());
            let others = params.writable.iter().cloned().chain([std::env::temp_dir()]);
            writable = roots.chain(others).filter_map(Writable::open).collect();
        }
        let is_safe =
            |file: &PathBuf| writable.iter().all(|it: &Writable| !file.starts_with(&it.path));
        let program = bubblewraps().find(is_safe);
        Self { sandbox: params.sandbox, program, writable, network: params.network }
    }

    /// The program that starts a shell, and its arguments before the command.
    ///
    /// # Errors
    /// The sandbox cannot confine commands.
    pub(super) fn program(&self, shell: PathBuf) -> io::Result<(PathBuf, Vec<OsString>)> {
        if self.sandbox != Sandbox::Bubblewrap {
            return Ok((shell, Vec::new()));
        }
        let program = self.program.clone().ok_or_else(|| {
            io::Error::other(
                "`bwrap` is missing outside of the directories that commands may change",
            )
        })?;
        for directory in &self.writable {
            directory.check()?;
        }
        let arguments = bubblewrap_arguments(self).into_iter().chain([shell]);
        Ok((program, arguments.map(OsString::from).collect()))
    }
}

impl Writable {
    /// `None`: it does not exist, so that commands cannot change it.
    fn open(path: PathBuf) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let handle = File::open(&path).ok()?;
        Some(Self { path, handle })
    }

    /// Checks that the path leads to the directory that was opened.
    fn check(&self) -> io::Result<()> {
        let (now, opened) = (rustix::fs::stat(&self.path)?, rustix::fs::fstat(&self.handle)?);
        if (now.st_dev, now.st_ino) == (opened.st_dev, opened.st_ino) {
            return Ok(());
        }
        let path = self.path.display();
        Err(io::Error::other(format!(
            "`{path}` is another directory than at the start; restart the program"
        )))
    }
}

/// The programs of bubblewrap in the search path, without symbolic links.
fn bubblewraps() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let directories = directories.into_iter().filter(|directory| directory.is_absolute());
    let files = directories.filter_map(|directory| directory.join("bwrap").canonicalize().ok());
    files.filter(|file| file.is_file())
}

pub(super) fn check_bubblewrap() -> Result<(), String> {
    let program =
        bubblewraps().next().ok_or("`bwrap` is missing; install the package `bubblewrap`")?;
    let mut probe = std::process::Command::new(program);
    probe.args(BUBBLEWRAP).args(["--unshare-net", "--", "true"]);
    let output = probe.output().map_err(|error| format!("`bwrap` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(format!("`bwrap` cannot confine commands here: {}", reason.trim()))
}

/// Files outside can be read, and devices cannot. Commands have no capabilities, also under root, which could remount
/// what is read-only, and see no other processes, through whose `/proc` directories files outside can be written.
/// Settings of the kernel are read-only: root needs no capability to write them, and one names a program that the kernel
/// runs. All processes of a command end with its shell, and with this process.
const BUBBLEWRAP: &[&str] = &[
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

/// The arguments of `bwrap` before the command.
fn bubblewrap_arguments(confinement: &Confinement) -> Vec<PathBuf> {
    let mut arguments: Vec<PathBuf> = BUBBLEWRAP.iter().map(PathBuf::from).collect();
    for Writable { path: directory, .. } in &confinement.writable {
        arguments.extend(["--bind-try".into(), directory.clone(), directory.clone()]);
    }
    if !confinement.network {
        arguments.push("--unshare-net".into());
    }
    arguments.push("--".into());
    arguments
}

#[cfg(target_os = "linux")]
pub(super) use linux::check_landlock;

/// Restricts this thread, and all processes that it starts, if commands are confined by Landlock.
#[cfg(target_os = "linux")]
pub(super) fn restrict_thread(confinement: &Confinement) -> io::Result<()> {
    match confinement.sandbox {
        Sandbox::Landlock => linux::restrict_thread(confinement),
        Sandbox::Off | Sandbox::Bubblewrap => Ok(()),
    }
}

/// A pool with a sandbox was not built.
#[cfg(not(target_os = "linux"))]
pub(super) fn restrict_thread(_: &Confinement) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Confinement, Sandbox};
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, Ruleset,
        RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
        path_beneath_rules,
    };
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    use std::io;

    /// Devices that programs write to.
    const DEVICES: &[&str] =
        &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

    /// Whether the kernel can confine commands.
    pub(in super::super) fn check_landlock(network: bool) -> Result<(), String> {
        let sandbox = Sandbox::Landlock;
        let confinement = Confinement { sandbox, program: None, writable: Vec::new(), network };
        match ruleset(&confinement) {
            Ok(_) => Ok(()),
            Err(error) if network => Err(format!(
                "the kernel does not offer Landlock ({error}); use Linux 5.13 or later, or `sandbox = \"bubblewrap\"`"
            )),
            Err(error) => Err(format!(
                "the kernel cannot deny the network by Landlock ({error}); use Linux 6.7 or later, or `sandbox = \"bubblewrap\"`"
            )),
        }
    }

    pub(super) fn restrict_thread(confinement: &Confinement) -> io::Result<()> {
        let restricted = ruleset(confinement).and_then(RulesetCreated::restrict_self);
        restricted.map_err(io::Error::other)?;
        let none = CapabilitySet::empty();
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        Ok(set_capabilities(None, sets)?)
    }

    /// Writing is required of the kernel, and TCP if there is to be no network. Later rights, which older kernels
    /// lack, are used where they exist.
    fn ruleset(confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
        let (required, known) = (AccessFs::from_write(ABI::V1), AccessFs::from_write(ABI::V3));
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(required)?;
        if !confinement.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        let writable = confinement.writable.iter().map(|directory| {
            let is_file = directory.handle.metadata().is_ok_and(|metadata| !metadata.is_dir());
            let access = if is_file { known & AccessFs::from_file(ABI::V3) } else { known };
            Ok::<_, RulesetError>(PathBeneath::new(&directory.handle, access))
        });
        ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(known)?
            .scope(Scope::Signal)?
            .create()?
            .add_rules(writable)?
            .add_rules(path_beneath_rules(DEVICES, known))
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn check_landlock(_: bool) -> Result<(), String> {
    Err("Landlock exists on Linux alone; set `sandbox` to `off`".to_owned())
}
