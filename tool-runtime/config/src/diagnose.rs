//! Diagnoses servers without connecting to them.

use super::McpConfig;
use super::command::{self, Missing};
use super::findings::Findings;
use super::foreign;
use super::server::McpServerConfig;
use super::text::McpText;
use super::transport::{McpTransportConfig, StdioConfig};
use super::validate;
use std::path::{Path, PathBuf};

/// A finding about a configured server, without connecting to it. Values that could be secret are not shown.
///
/// ```
/// use tool_runtime::mcp::{McpConfig, McpDiagnosisLevel, McpServerConfig};
///
/// let config = McpConfig::new().with("fs", McpServerConfig::stdio("no-such-program-here"));
/// let diagnosis = &config.diagnose()[0];
/// assert_eq!((diagnosis.server.as_str(), diagnosis.level), ("fs", McpDiagnosisLevel::Error));
/// assert!(diagnosis.text.starts_with("there is no program `no-such-program-here`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpDiagnosis {
    /// The server's name.
    pub server: String,
    /// The level.
    pub level: McpDiagnosisLevel,
    /// The finding.
    pub text: String,
    /// The remedy, if there is one.
    pub help: Option<String>,
}

/// The level of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum McpDiagnosisLevel {
    /// The entry is valid, or the server is disabled.
    Fine,
    /// The server works; the entry should be improved.
    Warning,
    /// The server cannot work.
    Error,
}

use McpDiagnosisLevel::{Error, Fine, Warning};

impl McpConfig {
    /// Checks every server without connecting: its command, its working directory, its settings. At least one finding per
    /// server, sorted by their names.
    pub fn diagnose(&self) -> Vec<McpDiagnosis> {
        let mut diagnoses = Vec::new();
        for (name, server) in &self.servers {
            let mut checks = ServerChecks { server: name, diagnoses: &mut diagnoses };
            if server.enabled {
                checks.check_config(server);
                checks.check_target(server);
            } else {
                checks.add(Fine, "disabled, not checked", None);
            }
        }
        diagnoses
    }
}

/// The checks of one server.
struct ServerChecks<'a> {
    server: &'a str,
    diagnoses: &'a mut Vec<McpDiagnosis>,
}

impl ServerChecks<'_> {
    fn add(&mut self, level: McpDiagnosisLevel, text: impl Into<String>, help: Option<String>) {
        let (server, text) = (self.server.to_owned(), text.into());
        self.diagnoses.push(McpDiagnosis { server, level, text, help });
    }

    /// Problems of the configuration.
    fn check_config(&mut self, server: &McpServerConfig) {
        let mut findings = Findings::default();
        validate(self.server, server, &mut findings);
        for (level, found) in [(Error, findings.problems), (Warning, findings.warnings)] {
            for problem in found {
                self.add(level, format!("`{}`: {}", problem.key, problem.text), Some(problem.help));
            }
        }
    }

    fn check_target(&mut self, server: &McpServerConfig) {
        match &server.transport {
            McpTransportConfig::Stdio(stdio) => {
                self.check_cwd(stdio);
                self.check_program(stdio);
            }
            McpTransportConfig::Http(_) => {
                let is_valid = self.diagnoses.iter().all(|known| known.server != self.server);
                if is_valid {
                    self.add(Fine, "its address and headers are well formed", None);
                }
            }
        }
    }

    fn check_cwd(&mut self, stdio: &StdioConfig) {
        let Some(cwd) = stdio.cwd.as_ref().filter(|cwd| !cwd.as_str().is_empty()) else { return };
        if !Path::new(cwd.as_str()).is_dir() {
            let text = format!("the directory `{}` does not exist", cwd.redacted());
            let help = variable_syntax_help(cwd)
                .unwrap_or_else(|| "create it, or correct `cwd`".to_owned());
            self.add(Error, text, Some(help));
        }
    }

    fn check_program(&mut self, stdio: &StdioConfig) {
        let (command, path) = (&stdio.command, stdio.env.get("PATH"));
        let own_path = path.map(|path| path.expose());
        match command::find(command.as_str(), own_path, stdio.cwd.as_ref()) {
            Ok(file) => {
                let text =
                    format!("its program is {}", render_path(command, &file, own_path.is_some()));
                self.add(Fine, text, None);
            }
            // `check_config` has reported this already.
            Err(_) if command::check(command, stdio.cwd.as_ref()).is_err() => {}
            Err(Missing::NotExecutable) => {
                let text = format!("`{}` exists but is not executable", command.redacted());
                self.add(Error, text, Some("make it executable with `chmod +x`".to_owned()));
            }
            Err(Missing::Folder) => {
                let text = format!("`{}` is a directory, not a program", command.redacted());
                self.add(Error, text, Some("name a file in it".to_owned()));
            }
            Err(Missing::NoFile) => {
                let text = format!("there is no file `{}`", command.redacted());
                let help = variable_syntax_help(command)
                    .unwrap_or_else(|| "correct the path in `command`".to_owned());
                self.add(Error, text, Some(help));
            }
            Err(Missing::NotIn(folders)) => {
                let display = command.redacted();
                let looked = render_directories(&folders, own_path.is_some());
                let text = format!("there is no program `{display}`: {looked}");
                let help = variable_syntax_help(command);
                let help = help.unwrap_or_else(|| install_help(command.as_str()));
                self.add(Error, text, Some(help));
            }
        }
    }
}

/// The path of the file, or the unexpanded command if the path could show an expanded value.
fn render_path(command: &McpText, file: &Path, is_own_path: bool) -> String {
    let is_plain = command.as_str() == command.redacted() && !is_own_path;
    if is_plain { format!("`{}`", file.display()) } else { format!("`{}`", command.redacted()) }
}

/// The searched directories. An entry's own `PATH` may hold secrets and is not shown.
fn render_directories(folders: &[PathBuf], is_own_path: bool) -> String {
    if is_own_path {
        return format!("searched in the entry's `PATH` ({} directories)", folders.len());
    }
    if folders.is_empty() {
        return "`PATH` is empty".to_owned();
    }
    let mut folders: Vec<String> =
        folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    folders.dedup();
    format!("searched in {}", folders.join(", "))
}

/// The remedy for a path with the variable syntax of another program.
fn variable_syntax_help(path: &McpText) -> Option<String> {
    let syntax = foreign::syntax(path.as_str())?;
    Some(format!("{syntax} not expanded; write `${{NAME}}` if a variable is meant"))
}

/// The remedy for a program that is not installed.
fn install_help(program: &str) -> String {
    match program {
        "npx" | "npm" | "node" => "install Node.js, or write the program's whole path".to_owned(),
        "uvx" | "uv" => "install uv, or write the program's whole path".to_owned(),
        "docker" => "install Docker, or write the program's whole path".to_owned(),
        _ => "install it, or write its whole path in `command`".to_owned(),
    }
}
