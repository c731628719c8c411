//! Findings by server.

use crate::{print, table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tool_runtime_config::{McpConfigProblem, McpDiagnosis, McpDiagnosisLevel};

/// A finding about a server, or about the configuration.
pub(super) struct Finding {
    level: McpDiagnosisLevel,
    text: String,
    /// The remedy.
    pub(super) help: Option<String>,
}

/// Findings by server, those about the configuration first.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<Option<String>, Vec<Finding>>);

use McpDiagnosisLevel::{Error, Fine, Warning};

impl Finding {
    fn new(level: McpDiagnosisLevel, text: &str) -> Self {
        Self { level, text: text.to_owned(), help: None }
    }

    pub(super) fn fine(text: &str) -> Self {
        Self::new(Fine, text)
    }

    pub(super) fn warning(text: &str) -> Self {
        Self::new(Warning, text)
    }

    pub(super) fn error(text: &str) -> Self {
        Self::new(Error, text)
    }

    /// The level in the table and in JSON.
    fn words(&self) -> (&'static str, &'static str) {
        match self.level {
            Fine => ("ok     ", "ok"),
            Warning => ("warning", "warning"),
            _ => ("WRONG  ", "error"),
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

impl From<McpDiagnosis> for Finding {
    fn from(diagnosis: McpDiagnosis) -> Self {
        let McpDiagnosis { level, text, help, .. } = diagnosis;
        Self { level, text, help }
    }
}

impl Findings {
    pub(super) fn add(&mut self, server: Option<&str>, finding: Finding) {
        self.0.entry(server.map(str::to_owned)).or_default().push(finding);
    }

    /// Adds a problem of the configuration. The help is on its own line.
    pub(super) fn add_problem(&mut self, level: McpDiagnosisLevel, problem: &McpConfigProblem) {
        let text = problem.to_string();
        let text = text.strip_suffix(&format!("; {}", problem.help)).unwrap_or(&text);
        let finding = Finding { help: Some(problem.help.clone()), ..Finding::new(level, text) };
        self.add(problem.server.as_deref(), finding);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.count(Error) > 0
    }

    /// Whether a server has errors.
    pub(super) fn has_errors_of(&self, server: &str) -> bool {
        let found = self.0.get(&Some(server.to_owned()));
        found.is_some_and(|found| found.iter().any(|finding| finding.level == Error))
    }

    fn count(&self, level: McpDiagnosisLevel) -> usize {
        self.0.values().flatten().filter(|finding| finding.level == level).count()
    }

    pub(super) fn print(&self) {
        for (server, found) in &self.0 {
            print::line(&table::cell(server.as_deref().unwrap_or("configuration")));
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

    pub(super) fn print_json(&self) {
        let object = |(server, found): (&Option<String>, &Vec<Finding>)| {
            let findings = Value::from_iter(found.iter().map(Finding::object));
            let server = server.iter().map(|server| ("server".to_owned(), json!(server)));
            Value::Object(server.chain([("findings".to_owned(), findings)]).collect::<Map<_, _>>())
        };
        print::line(&Value::from_iter(self.0.iter().map(object)).to_string());
    }
}
