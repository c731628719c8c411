//! The folders in which clients keep their files.

use std::env;
use std::path::{Path, PathBuf};

/// The folders of the user, and the project.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    pub(crate) home: PathBuf,
    /// Data of desktop applications: `~/Library/Application Support`, `%APPDATA%`, or `config`.
    pub(crate) applications: PathBuf,
    /// Configurations of programs: `$XDG_CONFIG_HOME`, by default `~/.config`.
    pub(crate) config: PathBuf,
    /// `$CODEX_HOME`, by default `~/.codex`.
    pub(crate) codex: PathBuf,
    /// What programs keep about their use: `$XDG_STATE_HOME`, by default `~/.local/state`.
    pub(crate) state: PathBuf,
    /// The working directory.
    pub(crate) project: PathBuf,
}

impl Folders {
    /// # Errors
    /// The user has no home directory, or the working directory is gone.
    pub(crate) fn find() -> Result<Self, String> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or("the home directory is not known; set HOME")?;
        let project =
            env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
        let config = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            applications: applications(&home, &config),
            codex: variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            state: variable("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local").join("state")),
            home,
            config,
            project,
        })
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn applications(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else if cfg!(windows) {
        variable("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"))
    } else {
        config.to_owned()
    }
}
