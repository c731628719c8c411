//! Confinement of commands on Linux.
//!
//! Landlock restricts a thread and what it starts, so a command is started on a thread of its own that is restricted
//! before. Nothing runs between `fork` and `exec` for it, and this process stays unrestricted. The thread has no
//! capabilities either, by which root could create the device of a disk in a root of the workspace, and write it. Landlock
//! has no right for metadata: `chmod`, `chown` and `touch` work outside, unlike in bubblewrap.

use super::params::Sandbox;
use std::io;
use std::path::PathBuf;

/// The files that commands may change.
#[derive(Clone, Debug)]
pub(super) struct Confinement {
    /// Directories.
    pub(super) writable: Vec<PathBuf>,
    pub(super) network: bool,
}

/// The program of bubblewrap in the search path.
pub(super) fn bubblewrap() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join("bwrap"))
        .find(|file| file.is_file())
}

pub(super) fn check_bubblewrap() -> Result<(), String> {
    let program = bubblewrap().ok_or("`bwrap` is missing; install the package `bubblewrap`")?;
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
pub(super) fn bubblewrap_arguments(confinement: &Confinement) -> Vec<PathBuf> {
    let mut arguments: Vec<PathBuf> = BUBBLEWRAP.iter().map(PathBuf::from).collect();
    for directory in &confinement.writable {
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
pub(super) fn restrict_thread(sandbox: Sandbox, confinement: &Confinement) -> io::Result<()> {
    match sandbox {
        Sandbox::Landlock => linux::restrict_thread(confinement),
        Sandbox::Off | Sandbox::Bubblewrap => Ok(()),
    }
}

/// A pool with a sandbox was not built.
#[cfg(not(target_os = "linux"))]
pub(super) fn restrict_thread(_: Sandbox, _: &Confinement) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Confinement;
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset,
        RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
        path_beneath_rules,
    };
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    use std::io;
    use std::path::Path;

    /// Devices that programs write to.
    const DEVICES: &[&str] =
        &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

    /// Whether the kernel can confine commands.
    pub(in super::super) fn check_landlock(network: bool) -> Result<(), String> {
        let confinement = Confinement { writable: Vec::new(), network };
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
        let writable = confinement.writable.iter().map(AsRef::as_ref);
        let paths = writable.chain(DEVICES.iter().map(Path::new));
        ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(known)?
            .scope(Scope::Signal)?
            .create()?
            .add_rules(path_beneath_rules(paths, known))
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn check_landlock(_: bool) -> Result<(), String> {
    Err("Landlock exists on Linux alone; set `sandbox` to `off`".to_owned())
}
