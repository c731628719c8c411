//! The one decision about confinement: what each program that a family starts may change and reach.
//!
//! Landlock and seccomp restrict a thread and what it starts, so a program is started on a thread of its own that is
//! restricted before. Nothing runs between `fork` and `exec` for it, and this process stays unrestricted. The thread has no
//! capabilities either, by which root could create the device of a disk in a root of the workspace, and write it.
//!
//! | Module | Topic |
//! |---|---|
//! | `directory` | directories that programs may change, opened at the start |
//! | `bubblewrap`, `landlock`, `network` | the means |
//! | `git_settings` | what bubblewrap keeps of a repository |
//! | `programs` | where programs are looked for |

mod bubblewrap;
mod directory;
mod git_settings;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod network;
mod programs;

pub(crate) use directory::private_directory;
pub(crate) use programs::NoProgram;

use crate::sandbox::{Sandbox, SandboxParams};
use crate::workspace::{Protected, Root};
use bubblewrap::Mounts;
use directory::Directory;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A program that a family starts.
#[derive(Clone, Debug)]
pub(crate) enum Child {
    /// A command of a model.
    Command,
    /// Git over the repository of a root. With hooks it runs programs of the repository, as a command does.
    Git {
        hooks: bool,
    },
    LanguageServer,
    Browser {
        downloads: Option<PathBuf>,
    },
}

/// What confines the programs of a workspace. Programs and directories are those of the start, since commands may
/// replace others of their names.
#[derive(Debug)]
pub(crate) struct Confinement {
    params: SandboxParams,
    roots: Vec<Directory>,
    /// The directory for temporary files, and those that the operator added.
    others: Vec<Directory>,
    /// The profiles of browsers.
    browsers: Option<Directory>,
    protected: Arc<Protected>,
    bubblewrap: Option<PathBuf>,
    /// Whether the system has what the settings need. Each family asks, and a program of bubblewrap is started for it.
    checked: OnceLock<Result<(), String>>,
}

/// What a program may change and reach.
struct Rules {
    writable: Vec<Directory>,
    network: bool,
    /// Whether it may create namespaces of the kernel.
    namespaces: bool,
}

impl Confinement {
    pub(crate) fn new(
        params: SandboxParams,
        roots: &[Arc<Root>],
        protected: Arc<Protected>,
    ) -> Self {
        let roots = roots.iter().map(|root| root.canonical_path().to_owned());
        let others = params.writable.iter().cloned().chain([std::env::temp_dir()]);
        let others: Vec<Directory> = others.filter_map(Directory::open).collect();
        let roots: Vec<Directory> = roots.filter_map(Directory::open).collect();
        let of_browsers = || Directory::open(directory::private_directory("browsers")?);
        let browsers = (params.kind != Sandbox::Off).then(of_browsers).flatten();
        let (bubblewrap, checked) = (None, OnceLock::new());
        let mut confinement =
            Self { params, roots, others, browsers, protected, bubblewrap, checked };
        if confinement.wraps() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            confinement.bubblewrap = confinement.look_up(Path::new("bwrap"), &path).ok();
        }
        confinement
    }

    /// Whether this system has what the settings need.
    ///
    /// # Errors
    /// The reason, and what to install or change.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.checked.get_or_init(|| self.look()).clone()
    }

    fn look(&self) -> Result<(), String> {
        match self.params.kind {
            Sandbox::Off if !self.params.network => {
                Err("`network = false` needs a sandbox; set its kind to `bubblewrap`".to_owned())
            }
            Sandbox::Off => Ok(()),
            #[cfg(target_os = "linux")]
            Sandbox::Landlock => landlock::check(self.params.network),
            #[cfg(not(target_os = "linux"))]
            Sandbox::Landlock => Err("Landlock exists on Linux alone; set `off`".to_owned()),
            Sandbox::Bubblewrap => bubblewrap::check(self.bubblewrap.as_deref()),
        }
    }

    /// Whether a program of bubblewrap starts all others.
    pub(crate) fn wraps(&self) -> bool {
        self.params.kind == Sandbox::Bubblewrap
    }

    /// Whether commands cannot change settings of git.
    pub(crate) fn keeps_git_settings(&self) -> bool {
        self.wraps() && !self.protected.allows_git_settings()
    }

    /// What the sandbox does not keep commands from, and an operator may expect.
    pub(crate) fn remark(&self) -> Option<String> {
        let is_unprotected = self.params.kind == Sandbox::Landlock
            && !self.protected.allows_git_settings()
            && self.roots.iter().any(|root| root.path.join(".git").exists());
        is_unprotected.then(|| {
            "Landlock does not keep commands from changing `.git/config` and `.git/hooks`, which name programs that run later, outside the sandbox; bubblewrap does".to_owned()
        })
    }

    /// Whether programs other than commands and git cannot change the roots.
    pub(crate) fn keeps_roots(&self) -> bool {
        let is_writable = |root: &Directory| {
            self.others.iter().any(|directory| root.path.starts_with(&directory.path))
        };
        self.is_on() && !self.roots.iter().any(is_writable)
    }

    /// Whether there is a sandbox.
    pub(crate) fn is_on(&self) -> bool {
        self.params.kind != Sandbox::Off
    }

    /// The program that starts another one, and its arguments before those of the other.
    ///
    /// # Errors
    /// The sandbox cannot confine programs.
    pub(crate) fn program(
        &self,
        child: &Child,
        program: PathBuf,
    ) -> io::Result<(PathBuf, Vec<OsString>)> {
        if !self.wraps() {
            return Ok((program, Vec::new()));
        }
        let missing = || {
            let text = "`bwrap` is missing outside the directories that commands may change";
            io::Error::other(text)
        };
        let bubblewrap = self.bubblewrap.clone().ok_or_else(missing)?;
        let rules = self.rules(child);
        rules.writable.iter().try_for_each(Directory::check)?;
        let mut mounts = Mounts::default();
        rules.writable.iter().for_each(|directory| mounts.write(&directory.path));
        self.take_away(child, &mut mounts)?;
        mounts.pin();
        let mut arguments = mounts.arguments(rules.network, rules.namespaces);
        arguments.extend(["--".into(), program.into_os_string()]);
        Ok((bubblewrap, arguments))
    }

    /// Restricts this thread, and all processes that it starts.
    #[cfg(target_os = "linux")]
    pub(crate) fn restrict_thread(&self, child: &Child) -> io::Result<()> {
        if !self.is_on() {
            return Ok(());
        }
        let rules = self.rules(child);
        if !self.wraps() {
            landlock::restrict_thread(&rules)?;
        }
        // Bubblewrap gives the program a network of its own, which it prepares by sockets.
        if rules.network { Ok(()) } else { network::deny(self.wraps()) }
    }

    /// A sandbox does not pass `check` on other systems, but for bubblewrap.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn restrict_thread(&self, _: &Child) -> io::Result<()> {
        Ok(())
    }

    /// What each program may do: see the table of [`Sandbox`].
    fn rules(&self, child: &Child) -> Rules {
        let (network, namespaces) = (self.params.network, false);
        let (roots, others) = (self.roots.iter(), self.others.iter());
        match child {
            Child::Command | Child::Git { hooks: true } => {
                let writable = roots.chain(others).cloned().collect();
                Rules { writable, network, namespaces }
            }
            Child::Git { hooks: false } => {
                Rules { writable: roots.cloned().collect(), network: false, namespaces }
            }
            Child::LanguageServer => {
                Rules { writable: others.cloned().collect(), network, namespaces }
            }
            Child::Browser { downloads } => {
                let downloads = downloads.clone().and_then(Directory::open);
                let writable = self.browsers.iter().cloned().chain(downloads).collect();
                // For its own sandbox.
                Rules { writable, network: true, namespaces: true }
            }
        }
    }

    /// Takes from a program in bubblewrap what it would have below its directories.
    ///
    /// # Errors
    /// Settings of git cannot be kept from commands.
    fn take_away(&self, child: &Child, mounts: &mut Mounts) -> io::Result<()> {
        // A link cannot be covered; what it leads to is another place.
        let places = self.protected.places();
        places.iter().filter(|place| !place.is_symlink()).for_each(|place| mounts.hide(place));
        if matches!(child, Child::Browser { .. }) {
            return Ok(());
        }
        self.browsers.iter().for_each(|directory| mounts.hide(&directory.path));
        // Git itself has to change its directories, and language servers cannot change the roots.
        if matches!(child, Child::Command) && !self.protected.allows_git_settings() {
            return self.roots.iter().try_for_each(|root| git_settings::keep(&root.path, mounts));
        }
        Ok(())
    }
}
