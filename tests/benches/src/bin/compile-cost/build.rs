//! Builds one crate of the throwaway workspace, whose dependencies are built already, and measures the
//! CPU time.

use crate::sources::Kind;
use crate::workspace::{Workspace, name};
use benches::clock;
use std::fmt;
use std::process::Command;

/// The kind of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Check,
    Debug,
    /// Again, after a change in one function's body.
    Edit,
    Release,
}

impl Profile {
    pub(crate) const ALL: [Self; 4] = [Self::Check, Self::Debug, Self::Edit, Self::Release];

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Check => &["check"],
            Self::Debug | Self::Edit => &["build"],
            Self::Release => &["build", "--release"],
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Check => "check",
            Self::Debug => "debug build",
            Self::Edit => "debug build after an edit",
            Self::Release => "release build",
        })
    }
}

/// Builds a crate, and its dependencies if necessary.
pub(crate) fn run(workspace: &Workspace, kind: Kind, size: usize, profile: Profile) {
    cargo(workspace, kind, size, profile.arguments());
}

/// CPU seconds of compiler and linker for the crate alone.
pub(crate) fn time(workspace: &Workspace, kind: Kind, size: usize, profile: Profile) -> f64 {
    if profile == Profile::Edit {
        workspace.write_source(kind, size, 0);
        run(workspace, kind, size, profile);
        workspace.write_source(kind, size, 1);
    } else {
        clean(workspace, kind, size, profile);
    }
    let total = cpu_seconds(|| run(workspace, kind, size, profile));
    // Nothing is left to compile: this is the time of cargo itself.
    total - cpu_seconds(|| run(workspace, kind, size, profile))
}

fn cpu_seconds(work: impl FnOnce()) -> f64 {
    let before = clock::children();
    work();
    (clock::children() - before).as_secs_f64()
}

fn clean(workspace: &Workspace, kind: Kind, size: usize, profile: Profile) {
    match profile {
        Profile::Release => cargo(workspace, kind, size, &["clean", "--release"]),
        _ => cargo(workspace, kind, size, &["clean"]),
    }
}

fn cargo(workspace: &Workspace, kind: Kind, size: usize, arguments: &[&str]) {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .current_dir(workspace.root())
        .args(arguments)
        .args(["--offline", "--quiet", "--package", &name(kind, size)])
        .arg("--target-dir")
        .arg(workspace.root().join("target"));
    if arguments[0] != "clean" {
        cargo.arg("-j1");
    }
    let output = cargo.output().expect("cargo can be run");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo {arguments:?} failed for {}: {printed}",
        name(kind, size)
    );
}
