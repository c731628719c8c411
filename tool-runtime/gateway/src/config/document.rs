//! Reads the configuration from a file, with all of its mistakes and their lines.

use super::Config;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use tool_runtime::mcp::McpConfigLoader;
use tool_runtime_core::seam::{check, is_secret_name};

pub(crate) use tool_runtime_policy::seam::Document;

/// The key of external servers, which have variables and checks of their own.
const SERVERS: &str = "mcpServers";

/// The sections that are checked together.
const SECTIONS: [&str; 2] = ["http", "approvals"];

/// Shorter values are not masked: they occur in many texts.
const MIN_SECRET: usize = 4;

/// The shortest start of a secret that is masked where it is cut.
const MIN_CUT: usize = 8;

/// A configuration that was read. Sections with mistakes are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The mistakes of its form, with their lines.
    pub(crate) problems: Vec<(Option<usize>, String)>,
    /// The sections with mistakes.
    pub(crate) broken: BTreeSet<String>,
    /// For mistakes with lines.
    pub(crate) document: Option<Document>,
    /// The values of variables with the names of secrets.
    pub(crate) secrets: Vec<(String, String)>,
}

/// The schema of the configuration.
pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    remove_examples(&mut schema);
    schema
});

/// Removes the examples in Rust of what libraries describe.
fn remove_examples(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("description")
                && let Some((before, _)) = text.split_once("```")
            {
                *text = before.trim_end().to_owned();
            }
            members.values_mut().for_each(remove_examples);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_examples),
        _ => {}
    }
}

/// Reads a file: its form is checked, and its variables have values. Sections with mistakes are left out, so that the others
/// can be checked further.
///
/// # Errors
/// It cannot be read, or has no values.
pub(super) fn read(file: &Path, loader: &McpConfigLoader) -> Result<Loaded, Vec<String>> {
    let texts = |problems: Vec<tool_runtime::policy::PolicyProblem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (document, mut value) = Document::read(file).map_err(texts)?;
    let declared = value.get("secrets").cloned().unwrap_or_default();
    let is_secret = |name: &str| {
        let is_declared = || declared.as_array().is_some_and(|all| all.iter().any(|it| it == name));
        is_secret_name(name) || is_declared()
    };
    let (mut problems, mut secrets, mut broken) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut expand = |path: &str, text: &mut String| match loader.expand(text) {
        Ok(expanded) => {
            *text = expanded.text.expose().to_owned();
            let variables = expanded.variables.into_iter();
            let named = variables.filter(|(name, _)| is_secret(name));
            secrets.extend(named.map(|(name, value)| (name, value.expose().to_owned())));
        }
        Err(mistakes) => {
            broken.insert(section(path).to_owned());
            let mistakes = mistakes.into_iter();
            problems.extend(mistakes.map(|(text, help)| {
                located(&document, path, &format!("`{path}`: {text}; {help}"))
            }));
        }
    };
    if let Value::Object(keys) = &mut value {
        keys.retain(|key, _| key != "$schema");
        for (key, value) in keys.iter_mut().filter(|(key, _)| *key != SERVERS) {
            each_text(key, value, &mut expand);
        }
    }
    let issues = check(&SCHEMA, &value);
    for issue in &issues {
        // The words of the check are those for the arguments of a call.
        let text = issue.message().replacen("unknown argument", "unknown key", 1);
        let text = text.replacen("the arguments are", "the keys are", 1);
        problems.push(located(&document, issue.path(), &text));
        broken.insert(section(issue.path()).to_owned());
    }
    if let Value::Object(keys) = &mut value {
        keys.retain(|key, _| is_known(key) && !broken.contains(key));
    }
    let config = serde_json::from_value(value).unwrap_or_else(|error| {
        // The schema has no rule for it, or the file is not an object.
        if problems.is_empty() {
            problems.push(located(&document, "", &error.to_string()));
        }
        broken.extend(SECTIONS.map(str::to_owned));
        Config::default()
    });
    Ok(Loaded { config, problems, broken, document: Some(document), secrets })
}

/// Whether there is such a section.
pub(crate) fn is_known(section: &str) -> bool {
    SCHEMA["properties"].get(section).is_some()
}

/// The section of a path: `http` of `http.limits.body`.
fn section(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// A mistake with its file and line. The text says where it is.
pub(crate) fn located(document: &Document, path: &str, text: &str) -> (Option<usize>, String) {
    let (file, line) = (document.file().display(), document.line(path));
    let text = match line {
        Some(line) => format!("{file}:{line}: {text}"),
        None => format!("{file}: {text}"),
    };
    (line, text)
}

/// The mistakes in the order of the file, then those of other files.
pub(crate) fn sorted(mut problems: Vec<(Option<usize>, String)>) -> Vec<String> {
    problems.sort_by_key(|(line, _)| line.unwrap_or(usize::MAX));
    problems.into_iter().map(|(_, text)| text).collect()
}

/// Mistakes without secrets: a value that stands in the wrong place is quoted, perhaps cut, perhaps with escapes.
pub(crate) fn masked(problems: Vec<String>, secrets: &[(String, String)]) -> Vec<String> {
    let mut forms: Vec<(&str, String)> = Vec::new();
    for (name, value) in secrets.iter().filter(|(_, value)| value.len() >= MIN_SECRET) {
        let escaped = Value::from(value.as_str()).to_string();
        forms.push((name, escaped.trim_matches('"').to_owned()));
        forms.push((name, value.clone()));
    }
    forms.sort_by_key(|(_, form)| std::cmp::Reverse(form.len()));
    let mask = |text: String| {
        forms.iter().fold(text, |text, (name, form)| {
            let ends = form.char_indices().map(|(end, _)| end).chain([form.len()]);
            let starts = ends.filter(|end| *end >= MIN_CUT.min(form.len())).map(|end| &form[..end]);
            match starts.rev().find(|start| text.contains(start)) {
                Some(start) => text.replace(start, &format!("${{{name}}}")),
                None => text,
            }
        })
    };
    problems.into_iter().map(mask).collect()
}

/// Changes each text of a value.
fn each_text(path: &str, value: &mut Value, change: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => change(path, text),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                each_text(&format!("{path}[{index}]"), item, change);
            }
        }
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                each_text(&format!("{path}.{key}"), member, change);
            }
        }
        _ => {}
    }
}
