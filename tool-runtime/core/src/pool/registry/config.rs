//! A configuration file of a pool's tools.

use super::ToolSpec;
use crate::pool::{Filter, Selector};
use crate::schema::nearest::nearest;
use crate::tool::tool::transform::ToolTransform;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The tools of a pool, from a file: specifications, and a filter over all tools.
///
/// The file is JSON, TOML (feature `toml`) or YAML (feature `yaml`), chosen by its name:
///
/// ```toml
/// deny = ["hint:destructive"]
/// tools = ["add", { name = "terminal", params = { shell = "/bin/sh" } }]
///
/// [transform."terminal.run"]
/// name = "shell"
/// arguments.command = { description = "One command.", schema = { maxLength = 1000 } }
/// arguments.timeout = { value = 30 }
/// ```
///
/// The keys of a transform are the fields of [`ToolTransform`] and
/// [`ArgumentTransform`](crate::tool::tool::transform::ArgumentTransform).
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::{PoolConfig, Registry};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut registry = Registry::new();
/// registry.tool(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))?;
/// let config = PoolConfig::from_json(r#"{ "tools": ["ping"], "deny": ["hint:open_world"] }"#)?;
/// let pool = ToolPool::builder().config(&registry, config).build().await?;
/// assert!(pool.tools().is_empty(), "without a hint, a tool may reach the open world");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PoolConfig {
    /// The tools. Default: none.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// Selects tools. Default: `None`, all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<Selector>>,
    /// Excludes tools. Default: empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Selector>,
    /// Changes of tools, by selector, applied in the order of the selectors' text. Default: empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transform: BTreeMap<String, ToolTransform>,
}

impl PoolConfig {
    /// Parses JSON text: an object, or only the list of tools.
    ///
    /// # Errors
    /// Syntax and schema errors, with line and column.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let parsed = if text.trim_start().starts_with('[') {
            serde_json::from_str(text).map(|tools| Self { tools, ..Self::default() })
        } else {
            serde_json::from_str(text)
        };
        parsed.map_err(|error| ConfigError::bad(&error))
    }

    /// Parses TOML text.
    ///
    /// # Errors
    /// Syntax and schema errors, with the line.
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::bad(&error))
    }

    /// Parses YAML text.
    ///
    /// # Errors
    /// Syntax and schema errors, with line and column.
    #[cfg(feature = "yaml")]
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        serde_norway::from_str(text).map_err(|error| ConfigError::bad(&error))
    }

    /// Reads a file whose name ends in `.json`, `.toml`, `.yaml` or `.yml`.
    ///
    /// # Errors
    /// The file cannot be read, its format is unknown, or its content is invalid. Each error names
    /// the file.
    pub fn from_file(file: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file).map_err(|error| {
            ConfigError::new(format!("it cannot be read: {error}")).for_file(file)
        })?;
        let form = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        parse(form, &text).map_err(|error| error.for_file(file))
    }

    /// Only the filter.
    pub fn filter(&self) -> Filter {
        Filter { allow: self.allow.clone(), deny: self.deny.clone() }
    }
}

fn parse(form: &str, text: &str) -> Result<PoolConfig, ConfigError> {
    match form {
        "json" => PoolConfig::from_json(text),
        #[cfg(feature = "toml")]
        "toml" => PoolConfig::from_toml(text),
        #[cfg(feature = "yaml")]
        "yaml" | "yml" => PoolConfig::from_yaml(text),
        #[cfg(not(feature = "toml"))]
        "toml" => Err(ConfigError::without("toml")),
        #[cfg(not(feature = "yaml"))]
        "yaml" | "yml" => Err(ConfigError::without("yaml")),
        _ => Err(ConfigError::new(
            "its form is not known by its name; end it in `.json`, `.toml` or `.yaml`".to_owned(),
        )),
    }
}

/// The reason why a configuration could not be read.
///
/// ```
/// use tool_runtime::pool::PoolConfig;
///
/// let error = PoolConfig::from_json(r#"{ "tool": ["ping"] }"#).unwrap_err();
/// assert!(error.to_string().starts_with("unknown field `tool`, expected one of `tools`"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", .file.as_deref().map(|file| format!("{}: ", file.display())).unwrap_or_default())]
pub struct ConfigError {
    file: Option<PathBuf>,
    reason: String,
}

crate::debug_as_message!(ConfigError);

/// The known field that is nearest to an unknown one, from the error text of a deserializer:
/// ``unknown field `a`, expected one of `b`, `c` ``.
fn meant(text: &str) -> Option<String> {
    let (_, names) = text.split_once("unknown field ")?;
    let mut names = names.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    nearest(unknown, names, 1).first().map(|near| (*near).to_owned())
}

impl ConfigError {
    fn new(reason: String) -> Self {
        Self { file: None, reason }
    }

    #[cfg(not(all(feature = "toml", feature = "yaml")))]
    fn without(feature: &str) -> Self {
        Self::new(format!(
            "this program cannot read that form; write JSON, or build it with the feature `{feature}` of `tool-runtime`"
        ))
    }

    fn bad(error: &dyn fmt::Display) -> Self {
        let mut reason = error.to_string().trim_end().to_owned();
        if let Some(near) = meant(&reason) {
            reason.push_str(&format!("; did you mean `{near}`?"));
        }
        Self::new(reason)
    }

    fn for_file(mut self, file: &Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// The file, if it came from one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}
