//! Reads a server that is started by a command.

use super::Reader;
use super::entry::{Entry, Member};
use super::{env_file, keys};
use crate::file;
use crate::findings::Location;
use crate::findings::ValueProblem;
use crate::text::McpText;
use crate::transport::StdioConfig;
use serde_json::Value;
use std::collections::BTreeMap;
use tool_runtime_core::vocabulary::Secret;

impl Reader<'_> {
    pub(super) fn stdio(&mut self, entry: &mut Entry<'_>) -> Option<StdioConfig> {
        self.unfold(entry);
        let command = entry.one_of(&["command", "cmd"], self.findings);
        let args = entry.one_of(&["args"], self.findings);
        let line = command.and_then(|command| self.line(&command, args.as_ref()));
        let env = self.env(entry);
        let cwd = entry.one_of(&["cwd", "working_directory"], self.findings);
        let cwd = cwd.map(|member| self.path(&member.location, member.value));
        let (command, args) = line?;
        Some(StdioConfig { args, env, cwd, ..StdioConfig::new(command) })
    }

    /// Moves the members of a command that is an object into the entry (older versions of Zed).
    fn unfold(&mut self, entry: &mut Entry<'_>) {
        let Some(command) = entry.take_if("command", Value::is_object) else { return };
        let Some(object) = command.value.as_object() else { return };
        let mut inner = Entry::read(&command.location, object, keys::COMMAND, self.findings);
        if !inner.has(&["path"]) {
            let help = r#"write `"command": "npx"`, or the command that starts it"#;
            self.findings.problem(&command.location, "it names no program", help);
        }
        for (key, meant) in [("path", "command"), ("args", "args"), ("env", "env")] {
            if let Some(member) = inner.one_of(&[key], self.findings) {
                entry.put(meant, member, self.findings);
            }
        }
    }

    /// The command and its arguments, which may be one list.
    fn line(
        &mut self,
        command: &Member<'_>,
        args: Option<&Member<'_>>,
    ) -> Option<(McpText, Vec<Secret>)> {
        let mut items = match args {
            Some(args) => self.list(&args.location, args.value).unwrap_or_default(),
            None => Vec::new(),
        };
        let mut first = (command.location.clone(), command.value);
        if command.value.is_array() {
            if args.is_some_and(|args| !args.is_empty()) {
                let text = "it is a list with arguments, and there are `args` as well";
                self.findings.problem(
                    &command.location,
                    text,
                    "keep all arguments in one of the two",
                );
            }
            let mut line = self.list(&command.location, command.value)?;
            if line.is_empty() {
                let help = r#"write the program that starts the server, such as `"npx"`"#;
                self.findings.problem(&command.location, "the command is empty", help);
                return None;
            }
            first = line.remove(0);
            items = line;
        }
        let args = items.iter().map(|(location, arg)| self.secret(location, arg)).collect();
        Some((self.path(&first.0, first.1), args))
    }

    /// A path, in which `~/` is the user's home directory.
    pub(super) fn path(&mut self, location: &Location, value: &Value) -> McpText {
        let path = self.text(location, value);
        let is_home = path.as_str() == "~";
        let Some(rest) = path.as_str().strip_prefix("~/").or(is_home.then_some("")) else {
            return path;
        };
        match self.sources.home() {
            Some(home) => {
                let home = format!("{}/{rest}", home.trim_end_matches('/'));
                McpText::expanded(home, path.redacted())
            }
            None => {
                let text = "`~` cannot be expanded, because no source has the variable `HOME`";
                let help = "set `HOME`, or write the path in full";
                self.lacks(location, ValueProblem::new(text, help));
                path
            }
        }
    }

    /// Reads the variables of `env` and `env_vars`, then those of files that are not set yet.
    pub(super) fn env(&mut self, entry: &mut Entry<'_>) -> BTreeMap<McpText, Secret> {
        let mut env = BTreeMap::new();
        if let Some(member) = entry.one_of(&["env", "environment", "envs"], self.findings) {
            self.map(&member, &mut env);
        }
        if let Some(member) = entry.one_of(&["env_vars", "env_keys"], self.findings) {
            self.passed_on(&member, &mut env);
        }
        if let Some(member) = entry.one_of(&["env_file"], self.findings) {
            for (name, value) in self.env_file(&member) {
                env.entry(McpText::from(name)).or_insert(value);
            }
        }
        env
    }

    /// Reads names and values. Null counts as absent.
    pub(super) fn map(&mut self, member: &Member<'_>, into: &mut BTreeMap<McpText, Secret>) {
        let Some(object) = self.object(&member.location, member.value) else { return };
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let location = member.location.key(name);
            let name = self.expanded(&location, name);
            let value = self.secret(&location, value);
            if let Some(name) = name {
                self.put(&location, name, value, into);
            }
        }
    }

    pub(super) fn put(
        &mut self,
        location: &Location,
        name: McpText,
        value: Secret,
        into: &mut BTreeMap<McpText, Secret>,
    ) {
        if into.insert(name, value).is_some() {
            self.findings.problem(location, "it is given twice", "keep one of the two");
        }
    }

    /// Reads `env_vars`: names of inherited variables.
    fn passed_on(&mut self, member: &Member<'_>, into: &mut BTreeMap<McpText, Secret>) {
        for (location, item) in self.list(&member.location, member.value).unwrap_or_default() {
            let Some(name) = self.passed_name(&location, item) else { continue };
            let value = self.variable(&location, &name);
            self.put(&location, McpText::from(name), value, into);
        }
    }

    fn passed_name(&mut self, location: &Location, item: &Value) -> Option<String> {
        let Value::Object(object) = item else {
            return self.string(location, item).map(str::to_owned);
        };
        let mut entry = Entry::read(location, object, keys::ENV_VAR, self.findings);
        let source = self.plain(&mut entry, &["source"]);
        if source.is_some_and(|source| source != "local") {
            let text = "the variables of another machine cannot be passed on";
            self.findings.problem(location, text, "write `local`, or leave `source` out");
        }
        let name = self.plain(&mut entry, &["name"]);
        if name.is_none() {
            self.findings.problem(
                location,
                "it names no variable",
                r#"write `{ "name": "TOKEN" }`"#,
            );
        }
        name
    }

    /// Reads the variables of a file. Its path is relative to the configuration file.
    fn env_file(&mut self, member: &Member<'_>) -> Vec<(String, Secret)> {
        let path = self.path(&member.location, member.value);
        let folder = member.location.folder().unwrap_or_else(|| "".as_ref());
        let variables = match file::read_regular(&folder.join(path.as_str())) {
            Ok(text) => env_file::variables(&text),
            Err(error) => {
                let text = format!("the file cannot be read: {error}");
                Err(ValueProblem::new(text, "correct the path, or remove the key"))
            }
        };
        variables.unwrap_or_else(|problem| {
            self.lacks(&member.location, problem);
            Vec::new()
        })
    }
}
