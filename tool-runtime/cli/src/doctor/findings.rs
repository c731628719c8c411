//! Findings by subject.

use crate::{exit, print, table};
use Level::{Error, Fine, Warning};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
#[cfg(feature = "mcp-client")]
use tool_runtime_config::{McpConfigProblem, McpDiagnosis, McpDiagnosisLevel};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Fine,
    /// Something was not checked.
    #[cfg(any(feature = "install", not(feature = "export")))]
    Note,
    Warning,
    Error,
}

/// What a finding is about, in the order in which they are printed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// The tools of the program.
    Tools,
    /// The program as a server.
    Start,
    /// The files of MCP clients.
    #[cfg(feature = "install")]
    Clients,
    /// The configuration of external MCP servers.
    #[cfg(feature = "mcp-client")]
    Configuration,
    /// An external MCP server, or a hub.
    #[cfg(any(feature = "mcp-client", feature = "remote"))]
    Server(String),
}

impl Subject {
    fn name(&self) -> &str {
        match self {
            Self::Tools => "tools",
            Self::Start => "start",
            #[cfg(feature = "install")]
            Self::Clients => "clients",
            #[cfg(feature = "mcp-client")]
            Self::Configuration => "configuration",
            #[cfg(any(feature = "mcp-client", feature = "remote"))]
            Self::Server(name) => name,
        }
    }

    /// The member of JSON that has the name.
    fn key(&self) -> &'static str {
        match self {
            #[cfg(any(feature = "mcp-client", feature = "remote"))]
            Self::Server(_) => "server",
            _ => "about",
        }
    }
}

/// A finding.
pub(super) struct Finding {
    level: Level,
    text: String,
    /// The remedy.
    help: Option<String>,
}

/// Findings by subject.
#[derive(Default)]
pub(crate) struct Findings(BTreeMap<Subject, Vec<Finding>>);

impl Finding {
    fn new(level: Level, text: &str) -> Self {
        Self { level, text: text.to_owned(), help: None }
    }

    pub(super) fn fine(text: &str) -> Self {
        Self::new(Fine, text)
    }

    #[cfg(any(feature = "install", not(feature = "export")))]
    pub(super) fn note(text: &str) -> Self {
        Self::new(Level::Note, text)
    }

    pub(super) fn warning(text: &str) -> Self {
        Self::new(Warning, text)
    }

    pub(super) fn error(text: &str) -> Self {
        Self::new(Error, text)
    }

    /// Adds the remedy.
    pub(super) fn help(mut self, help: &str) -> Self {
        self.help = Some(help.to_owned());
        self
    }

    /// The level in the table and in JSON.
    fn words(&self) -> (&'static str, &'static str) {
        match self.level {
            Fine => ("ok     ", "ok"),
            #[cfg(any(feature = "install", not(feature = "export")))]
            Level::Note => ("note   ", "note"),
            Warning => ("warning", "warning"),
            Error => ("WRONG  ", "error"),
        }
    }

    fn object(&self) -> Value {
        let mut object = json!({ "level": self.words().1, "text": self.text });
        if let Some(help) = &self.help {
            object["help"] = json!(help);
        }
        object
    }
}

#[cfg(feature = "mcp-client")]
impl From<McpDiagnosis> for Finding {
    fn from(diagnosis: McpDiagnosis) -> Self {
        let McpDiagnosis { level, text, help, .. } = diagnosis;
        let level = match level {
            McpDiagnosisLevel::Fine => Fine,
            McpDiagnosisLevel::Warning => Warning,
            _ => Error,
        };
        Self { level, text, help }
    }
}

#[cfg(feature = "mcp-client")]
impl Finding {
    /// A problem of the configuration. The help is on its own line.
    pub(super) fn of_problem(problem: &McpConfigProblem, is_error: bool) -> Self {
        let text = problem.to_string();
        let text = text.strip_suffix(&format!("; {}", problem.help)).unwrap_or(&text);
        Self::new(if is_error { Error } else { Warning }, text).help(&problem.help)
    }
}

impl Findings {
    pub(super) fn add(&mut self, subject: Subject, finding: Finding) {
        self.0.entry(subject).or_default().push(finding);
    }

    /// Whether there are errors about a subject.
    #[cfg(any(feature = "mcp-client", all(test, feature = "remote")))]
    pub(super) fn has_errors_of(&self, subject: &Subject) -> bool {
        let found = self.0.get(subject);
        found.is_some_and(|found| found.iter().any(|finding| finding.level == Error))
    }

    /// Prints all findings, and gives the exit code.
    pub(crate) fn finish(&self, json: bool) -> ExitCode {
        match json {
            true => self.print_json(),
            false => self.print(),
        }
        ExitCode::from(if self.count(Error) > 0 { exit::ERROR } else { 0 })
    }

    fn count(&self, level: Level) -> usize {
        self.0.values().flatten().filter(|finding| finding.level == level).count()
    }

    fn print(&self) {
        for (subject, found) in &self.0 {
            print::line(&table::cell(subject.name()));
            for finding in found {
                print::line(&format!("  {}  {}", finding.words().0, finding.text));
                if let Some(help) = &finding.help {
                    print::line(&format!("           {help}"));
                }
            }
        }
        print::line(&self.conclusion());
    }

    fn conclusion(&self) -> String {
        match (self.count(Error), self.count(Warning)) {
            (0, 0) => "all is well".to_owned(),
            (0, 1) => "it works, with 1 warning".to_owned(),
            (0, warnings) => format!("it works, with {warnings} warnings"),
            (1, _) => "1 thing is wrong".to_owned(),
            (errors, _) => format!("{errors} things are wrong"),
        }
    }

    fn print_json(&self) {
        let object = |(subject, found): (&Subject, &Vec<Finding>)| {
            let findings = Value::from_iter(found.iter().map(Finding::object));
            json!({ subject.key(): subject.name(), "findings": findings })
        };
        print::line(&Value::from_iter(self.0.iter().map(object)).to_string());
    }
}
