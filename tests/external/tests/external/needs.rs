//! Needs of tests, and what a machine lacks of them.

use crate::model_edits::missing_sources;
use libtest_mimic::{Completion, Trial};
use std::process::Command;
use std::sync::OnceLock;

/// A program, a right or a file that a test cannot do without.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// `bwrap`, and the right to make namespaces.
    Bubblewrap,
    /// Sources of crates in the registry folder of cargo.
    CrateSources,
    /// The kernel's Landlock.
    Landlock,
    /// The right to mount a file system.
    Mount,
    /// `nats-server`, version 2.11 or later.
    NatsServer,
    /// `nats-server`, and a Python with its client.
    NatsPython,
    /// `systemd-analyze`.
    SystemdAnalyze,
    /// `zsh`.
    Zsh,
}

impl Need {
    /// A test that is ignored, or fails with `REQUIRE_ALL`, where the need is not met.
    pub(crate) fn test<F>(self, name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial
    where
        F: Future<Output = ()>,
    {
        Trial::ignorable_test(name, move || {
            let Err(missing) = self.check() else {
                run(test());
                return Ok(Completion::Completed);
            };
            match std::env::var_os("REQUIRE_ALL") {
                Some(_) => Err(missing.into()),
                None => Ok(Completion::ignored_with(missing)),
            }
        })
    }

    /// Checks that the need is met. The error names what is missing and how to get it.
    fn check(self) -> Result<(), String> {
        match self {
            Self::Bubblewrap => {
                static BUBBLEWRAP: OnceLock<Result<(), String>> = OnceLock::new();
                BUBBLEWRAP.get_or_init(check_bubblewrap).clone()
            }
            Self::CrateSources => match missing_sources() {
                None => Ok(()),
                Some(name) => Err(format!("needs the sources of {name} (cargo fetch)")),
            },
            Self::SystemdAnalyze => crate::service::check_systemd(),
            #[cfg(target_os = "linux")]
            Self::Landlock => crate::sandboxes::check_landlock(),
            #[cfg(target_os = "linux")]
            Self::Mount => crate::full_disk::check_mount(),
            #[cfg(unix)]
            Self::NatsServer => crate::runners::check_server(),
            #[cfg(unix)]
            Self::NatsPython => {
                crate::runners::check_server().and_then(|()| crate::runners::check_python())
            }
            #[cfg(unix)]
            Self::Zsh => crate::completions::check_zsh(),
            #[cfg(not(unix))]
            Self::NatsServer | Self::NatsPython | Self::Zsh => Err("needs Unix".to_owned()),
            #[cfg(not(target_os = "linux"))]
            Self::Landlock | Self::Mount => Err("needs Linux".to_owned()),
        }
    }
}

fn check_bubblewrap() -> Result<(), String> {
    let namespace = ["--ro-bind", "/", "/", "--unshare-pid", "true"];
    match Command::new("bwrap").args(namespace).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let reason = String::from_utf8_lossy(&output.stderr);
            Err(format!("needs namespaces for bubblewrap ({})", reason.trim()))
        }
        Err(_) => Err("needs bubblewrap (apt-get install bubblewrap)".to_owned()),
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(test);
}
