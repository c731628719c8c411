//! Reads the configuration from a file, with all of its mistakes and their lines.

use crate::config::{Config, Loaded};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;
use tool_runtime::mcp::McpConfigLoader;
use tool_runtime_core::seam::{check, is_secret_name};

pub(crate) use tool_runtime_policy::seam::Document;

/// The key of external servers, which have variables and checks of their own.
const SERVERS: &str = "mcpServers";

/// Shorter values are not masked: they occur in many texts.
const MIN_SECRET: usize = 4;

/// The shortest start of a secret that is masked where it is cut.
const MIN_CUT: usize = 8;

/// The schema of the configuration.
pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Config>().to_value()
});

/// Reads a file: its form is checked, and its variables have values.
///
/// # Errors
/// All mistakes.
pub(crate) fn read(file: &Path, loader: &McpConfigLoader) -> Result<Loaded, Vec<String>> {
    let texts = |problems: Vec<tool_runtime::policy::PolicyProblem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (document, mut value) = Document::read(file).map_err(texts)?;
    let declared = value.get("secrets").cloned().unwrap_or_default();
    let is_secret = |name: &str| {
        let is_declared = || declared.as_array().is_some_and(|all| all.iter().any(|it| it == name));
        is_secret_name(name) || is_declared()
    };
    let (mut problems, mut secrets) = (Vec::new(), Vec::new());
    let mut expand = |path: &str, text: &mut String| match loader.expand(text) {
        Ok(expanded) => {
            *text = expanded.text.expose().to_owned();
            let variables = expanded.variables.into_iter();
            let named = variables.filter(|(name, _)| is_secret(name));
            secrets.extend(named.map(|(name, value)| (name, value.expose().to_owned())));
        }
        Err(mistakes) => {
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
    }
    if !problems.is_empty() {
        return Err(masked(sorted(problems), &secrets));
    }
    match serde_json::from_value(value) {
        Ok(config) => Ok(Loaded { config, document: Some(document), secrets }),
        // The schema has no rule for it.
        Err(error) => Err(masked(vec![located(&document, "", &error.to_string()).1], &secrets)),
    }
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
