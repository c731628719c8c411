//! Reads front matter as a skill.

use crate::front_matter::FrontMatter;
use crate::report::SkillProblem;
use crate::servers::{self, Servers};
use crate::skill::Skill;
use serde_json::Value;
use std::path::Path;
use tool_runtime_core::pool::DeclaredTools;
use tool_runtime_core::seam::{nearest, printable};
use tool_runtime_core::vocabulary::matching::Declarations;

const ALLOWED: &str = "allowed-tools";
const DISALLOWED: &str = "disallowed-tools";
pub(crate) const SERVERS: &str = "mcpServers";

/// Keys of the public format and of the programs that extend it.
const KNOWN: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "version",
    ALLOWED,
    DISALLOWED,
    SERVERS,
    "agent",
    "aliases",
    "argument-hint",
    "arguments",
    "context",
    "disable-model-invocation",
    "effort",
    "hooks",
    "model",
    "paths",
    "shell",
    "user-invocable",
    "when_to_use",
];

const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// Collects findings while the keys are read.
pub(crate) struct Reader<'a> {
    front: &'a FrontMatter,
    /// The name, if it is valid.
    pub(crate) name: Option<String>,
    pub(crate) problems: Vec<SkillProblem>,
    pub(crate) warnings: Vec<SkillProblem>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(front: &'a FrontMatter) -> Self {
        Self { front, name: None, problems: Vec::new(), warnings: Vec::new() }
    }

    /// Reads a skill. `None` if there are problems.
    pub(crate) fn skill(&mut self, folder: &Path) -> Option<Skill> {
        let name = self.read_name(folder);
        self.name.clone_from(&name);
        self.check_folder(name.as_deref(), folder);
        let description = self.description();
        let allow = self.declarations(ALLOWED);
        let deny = self.declarations(DISALLOWED).unwrap_or_default();
        let is_for_models = !self.flag("disable-model-invocation");
        self.flag("user-invocable");
        let servers = self.servers(folder, allow.as_ref());
        self.check_keys();
        self.warn_of_repairs();
        if !self.problems.is_empty() {
            return None;
        }
        let mut tools = DeclaredTools::default().deny(deny);
        tools.allow = allow;
        let mut front_matter = self.front.values.clone();
        front_matter.shift_remove(SERVERS);
        Some(Skill {
            name: name?,
            description: description?,
            folder: folder.to_owned(),
            text: self.front.body.clone(),
            tools,
            is_for_models,
            servers,
            front_matter,
        })
    }

    fn problem(&mut self, path: &[&str], text: impl Into<String>) {
        self.problems.push(SkillProblem::at(self.front.line(path), text));
    }

    fn warn(&mut self, path: &[&str], text: impl Into<String>) {
        self.warnings.push(SkillProblem::at(self.front.line(path), text));
    }

    /// The name, or that of the folder if there is none.
    fn read_name(&mut self, folder: &Path) -> Option<String> {
        let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = match folder.filter(|_| !self.front.values.contains_key("name")) {
            Some(folder) => {
                let text = format!(
                    "it has no `name`; that of the folder is used; write `name: {}`",
                    printable(&folder)
                );
                self.warn(&[], text);
                folder
            }
            None => self.text("name", "NAME")?,
        };
        let display = printable(&name);
        if let Some(problem) = name_problem(&name) {
            self.problem(&["name"], format!("`{display}` is not a valid name: {problem}"));
            return None;
        }
        if let Some(rule) = name_warning(&name) {
            let text =
                format!("the name `{display}` works here, but not in other programs: {rule}");
            self.warn(&["name"], text);
        }
        Some(name)
    }

    fn check_folder(&mut self, name: Option<&str>, folder: &Path) {
        let folder = folder.file_name().map(|name| name.to_string_lossy());
        if let (Some(name), Some(folder)) = (name, folder)
            && name != folder
        {
            let folder = printable(&folder);
            let text = format!(
                "the folder is `{folder}` and the name is `{name}`; rename one of them, other programs require the same"
            );
            self.warn(&["name"], text);
        }
    }

    fn description(&mut self) -> Option<String> {
        let description = self.text("description", "WHAT IT DOES AND WHEN TO USE IT")?;
        let length = description.chars().count();
        if length > MAX_DESCRIPTION {
            let text = format!(
                "the description has {length} characters; other programs take {MAX_DESCRIPTION}"
            );
            self.warn(&["description"], text);
        }
        Some(description)
    }

    /// A required text.
    fn text(&mut self, key: &str, example: &str) -> Option<String> {
        match self.front.values.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => {
                return Some(text.trim().to_owned());
            }
            None => self.problem(&[], format!("it has no `{key}`; write `{key}: {example}`")),
            Some(Value::String(_) | Value::Null) => {
                self.problem(&[key], format!("`{key}` is empty; write `{key}: {example}`"));
            }
            Some(_) => self.problem(&[key], format!("`{key}` is not text; quote it")),
        }
        None
    }

    fn declarations(&mut self, key: &str) -> Option<Declarations> {
        let value = self.front.values.get(key)?;
        let declarations = serde_json::from_value(value.clone()).ok();
        if declarations.is_none() {
            let text = format!(
                "`{key}` is neither a string nor a list of strings; write `{key}: Read, Bash(git *)`, or `{key}: []` for no tool"
            );
            self.problem(&[key], text);
        }
        let malformed = |declarations: &Declarations| -> Vec<String> {
            let problem = |declaration: &tool_runtime_core::vocabulary::matching::Declaration| {
                let problem = declaration.problem()?;
                Some(format!(
                    "`{}` in `{key}` has no effect: {problem}",
                    printable(declaration.as_str())
                ))
            };
            declarations.iter().filter_map(problem).collect()
        };
        let problems = declarations.as_ref().map(malformed).unwrap_or_default();
        problems.into_iter().for_each(|problem| self.warn(&[key], problem));
        declarations
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.front.values.get(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            // Booleans of YAML 1.1.
            Some(Value::String(text)) if text == "yes" || text == "no" => text == "yes",
            Some(_) => {
                self.problem(&[key], format!("`{key}` is neither `true` nor `false`"));
                false
            }
        }
    }

    fn servers(&mut self, folder: &Path, allow: Option<&Declarations>) -> Servers {
        let Some(value) = self.front.values.get(SERVERS) else { return Servers::default() };
        let (servers, findings) = servers::read(value, folder);
        for finding in findings {
            let path: Vec<&str> = finding.key.split('.').collect();
            match finding.is_warning {
                true => self.warn(&path, finding.text),
                false => self.problem(&path, finding.text),
            }
        }
        for server in servers.names() {
            if allow.is_some_and(|allow| !names_server(allow, &server)) {
                let text = format!(
                    "`{ALLOWED}` allows no tool of the server `{server}`; add `mcp__{server}`"
                );
                self.warn(&[SERVERS, &server], text);
            }
        }
        servers
    }

    fn warn_of_repairs(&mut self) {
        for key in &self.front.repaired {
            let text = format!(
                "`{key}` needs quotation marks in YAML, and was read as if it had some; add them"
            );
            self.warn(&[key], text);
        }
    }

    /// Warns about unknown keys. One that is almost `allowed-tools` is a problem: without that key,
    /// the skill would have every tool.
    fn check_keys(&mut self) {
        for key in self.front.values.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
            let near = nearest(key, KNOWN.iter().copied(), 1);
            let display = printable(key);
            match near.first() {
                Some(near) if [ALLOWED, DISALLOWED].contains(near) => {
                    let text = format!(
                        "`{display}` is not a known key and would restrict nothing; write `{near}`"
                    );
                    self.problem(&[key], text);
                }
                Some(near) => {
                    let text = format!("`{display}` is not a known key; did you mean `{near}`?");
                    self.warn(&[key], text);
                }
                None => {
                    let text =
                        format!("`{display}` is not a known key; put your own below `metadata`");
                    self.warn(&[key], text);
                }
            }
        }
    }
}

/// Whether a list of allowed tools may name tools of a server.
fn names_server(allow: &Declarations, server: &str) -> bool {
    let of_server = mcp_name(server);
    allow.iter().any(|declaration| {
        let name = declaration.name();
        name.starts_with(&of_server) || name.contains('*') || name.starts_with(server)
    })
}

/// The name of a server in declarations.
pub(crate) fn mcp_name(server: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let folded: String = server.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
    format!("mcp__{folded}")
}

/// The reason why a name cannot be used.
fn name_problem(name: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_alphanumeric() || "-_.: ".contains(c);
    if !name.chars().all(is_allowed) {
        return Some("write lower-case letters, digits and hyphens".to_owned());
    }
    let length = name.chars().count();
    (length > MAX_NAME).then(|| format!("it has {length} characters, and {MAX_NAME} are allowed"))
}

/// The rule of the public format that a name breaks.
fn name_warning(name: &str) -> Option<&'static str> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(is_allowed) {
        return Some("write lower-case letters, digits and hyphens");
    }
    let is_odd = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    is_odd.then_some("a hyphen stands between two letters or digits")
}
