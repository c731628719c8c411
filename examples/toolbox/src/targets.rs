//! The targets of `RemoteTrigger`, from a file.

use crate::BoxError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use tool_runtime::cli::ProgramArguments;
use tool_runtime_builtins::schedule::Target;

/// A target, as the file has it: `{"builds": {"url": "https://..", "key_variable": "BUILDS_KEY"}}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The address that webhooks are sent to.
    url: String,
    /// The variable of the environment that has the key of signatures.
    key_variable: String,
    /// Seconds for one attempt.
    timeout: Option<u64>,
    /// The most attempts of a delivery.
    attempts: Option<u32>,
}

/// The targets of `--targets`. Empty without the option.
pub(crate) fn targets(arguments: &ProgramArguments) -> Result<Vec<Target>, BoxError> {
    let file = arguments.value("targets").unwrap_or_default();
    let target = |(name, entry): (String, Entry)| {
        let key = std::env::var(&entry.key_variable).map_err(|_| {
            let variable = &entry.key_variable;
            invalid(file, &format_args!("the key of `{name}` is not in the variable `{variable}`"))
        })?;
        let target = Target::new(name, entry.url, key);
        let target = entry.attempts.into_iter().fold(target, Target::attempts);
        let timeout = entry.timeout.map(Duration::from_secs);
        Ok(timeout.into_iter().fold(target, Target::timeout))
    };
    entries(arguments)?.into_iter().map(target).collect()
}

/// The variables with their keys.
pub(crate) fn key_variables(arguments: &ProgramArguments) -> Result<Vec<String>, BoxError> {
    Ok(entries(arguments)?.into_values().map(|entry| entry.key_variable).collect())
}

fn entries(arguments: &ProgramArguments) -> Result<BTreeMap<String, Entry>, BoxError> {
    let Some(file) = arguments.value("targets") else { return Ok(BTreeMap::new()) };
    let text = std::fs::read_to_string(file).map_err(|error| invalid(file, &error))?;
    serde_json::from_str(&text).map_err(|error| invalid(file, &error))
}

fn invalid(file: &str, error: &dyn std::fmt::Display) -> BoxError {
    format!("the targets in `{file}`: {error}").into()
}
