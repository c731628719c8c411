//! Loads configurations from several inputs, with variables from several sources.

use super::file;
use super::findings::{Findings, Location};
use super::problem::{McpConfigError, McpConfigProblem};
use super::read::Expanded;
use super::sources::{Source, Sources};
use super::wrapper::{self, ServerEntry};
use super::{McpConfig, json, read, toml, yaml};
use serde_json::Value;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Loads a [`McpConfig`] from one or several inputs. Variables are looked up in their sources in the order of
/// addition.
///
/// Without a source no `${VAR}` has a value. `${env:VAR}` reads only the [`environment`](Self::environment).
///
/// ```
/// use tool_runtime::mcp::{McpConfig, McpTransportConfig};
///
/// let config = McpConfig::loader()
///     .variables([("ROOT", "/srv")])
///     .environment()
///     .json(r#"{ "mcpServers": { "fs": { "command": "npx", "args": ["files", "${ROOT}/data"] } } }"#)
///     .load()?;
/// let McpTransportConfig::Stdio(fs) = &config.servers["fs"].transport else { panic!("stdio") };
/// assert_eq!(fs.args[1].expose(), "/srv/data");
/// # Ok::<(), tool_runtime::mcp::McpConfigError>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "a loader does nothing until `load`"]
pub struct McpConfigLoader {
    sources: Sources,
    inputs: Vec<Input>,
}

#[derive(Clone)]
enum Input {
    Text(Format, String),
    Value(Value),
    Part { path: PathBuf, value: Value },
    File { path: PathBuf, is_optional: bool },
}

/// The format of a string.
#[derive(Clone, Copy)]
enum Format {
    Json,
    Toml,
    Yaml,
}

impl Format {
    /// The format by the extension of a file. Default: JSON.
    fn from_path(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }

    fn parse(self, text: &str, location: &Location, findings: &mut Findings) -> Option<Value> {
        match self {
            Self::Json => json::parse(text, location, findings),
            Self::Toml => toml::parse(text, location, findings),
            Self::Yaml => yaml::parse(text, location, findings),
        }
    }
}

impl McpConfigLoader {
    /// Adds variables.
    pub fn variables<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.sources.push(Source::Variables(variables.collect()));
        self
    }

    /// Adds a function that returns the values of variables, for example from a secret store.
    pub fn source(
        mut self,
        source: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.sources.push(Source::LookUp(std::sync::Arc::new(source)));
        self
    }

    /// Adds a copy of the environment of this process. `${workspaceFolder}`, which editors set, is its current directory,
    /// unless a variable has this name.
    pub fn environment(self) -> Self {
        self.with_source(Source::environment())
    }

    /// Sets the command-line option that error messages suggest for variables.
    #[doc(hidden)]
    pub fn option(mut self, option: &'static str) -> Self {
        self.sources.given_by(option);
        self
    }

    pub(super) fn with_source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// Reads JSON text.
    pub fn json(self, text: impl Into<String>) -> Self {
        self.input(Input::Text(Format::Json, text.into()))
    }

    /// Reads TOML text. Without the feature `toml`, loading reports a problem.
    pub fn toml(self, text: impl Into<String>) -> Self {
        self.input(Input::Text(Format::Toml, text.into()))
    }

    /// Reads YAML text. Without the feature `yaml`, loading reports a problem.
    pub fn yaml(self, text: impl Into<String>) -> Self {
        self.input(Input::Text(Format::Yaml, text.into()))
    }

    /// Reads a value.
    pub fn value(self, value: Value) -> Self {
        self.input(Input::Value(value))
    }

    /// Reads a file: TOML if its name ends in `.toml`, YAML if it ends in `.yaml` or `.yml`, JSON
    /// otherwise.
    pub fn file(self, path: impl Into<PathBuf>) -> Self {
        self.input(Input::File { path: path.into(), is_optional: false })
    }

    /// Reads `.mcp.json` in the directory of a project, if the file exists.
    pub fn project(self, folder: impl AsRef<Path>) -> Self {
        self.input(Input::File { path: folder.as_ref().join(".mcp.json"), is_optional: true })
    }

    /// Reads the servers of a part of a file.
    #[doc(hidden)]
    pub fn part_of(self, path: impl Into<PathBuf>, value: Value) -> Self {
        self.input(Input::Part { path: path.into(), value })
    }

    /// The text with the values of its variables, and the variables that it has.
    ///
    /// # Errors
    /// Each mistake and its remedy. None shows a value.
    #[doc(hidden)]
    pub fn expand(&self, text: &str) -> Result<Expanded, Vec<(String, String)>> {
        read::expand(text, &self.sources)
    }

    fn input(mut self, input: Input) -> Self {
        self.inputs.push(input);
        self
    }

    /// Loads all inputs. Two inputs may contain the same server only with equal entries.
    ///
    /// # Errors
    /// All problems, with files and keys.
    pub fn load(self) -> Result<McpConfig, McpConfigError> {
        let (config, problems) = self.load_with_all_problems();
        if problems.is_empty() { Ok(config) } else { Err(McpConfigError { problems }) }
    }

    /// Loads all inputs, and leaves out servers with invalid entries. [`McpConfig::left_out`] has their problems.
    ///
    /// ```
    /// use tool_runtime::mcp::McpConfig;
    ///
    /// let text = r#"{ "mcpServers": { "web": { "url": "ws://example.com" }, "fs": { "command": "npx" } } }"#;
    /// let config = McpConfig::loader().json(text).load_usable()?;
    /// assert!(config.servers.contains_key("fs"));
    /// assert_eq!(config.left_out()[0].server.as_deref(), Some("web"));
    /// # Ok::<(), tool_runtime::mcp::McpConfigError>(())
    /// ```
    ///
    /// # Errors
    /// Problems of a whole file, or of the entry of a required server.
    pub fn load_usable(self) -> Result<McpConfig, McpConfigError> {
        let (mut config, problems, required) = self.load_with_problems();
        let concerns_all = |problem: &McpConfigProblem| match &problem.server {
            None => true,
            Some(server) => required.contains(server),
        };
        if problems.iter().any(concerns_all) {
            return Err(McpConfigError { problems });
        }
        config.left_out = problems;
        Ok(config)
    }

    /// Loads all inputs: the valid servers, and the problems of files and of other servers.
    #[doc(hidden)]
    pub fn load_with_all_problems(self) -> (McpConfig, Vec<McpConfigProblem>) {
        let (config, problems, _) = self.load_with_problems();
        (config, problems)
    }

    /// The configuration, its problems, and the names of required servers.
    fn load_with_problems(self) -> (McpConfig, Vec<McpConfigProblem>, BTreeSet<String>) {
        let mut findings = Findings::default();
        let mut entries: BTreeMap<String, (Location, Value)> = BTreeMap::new();
        for input in self.inputs {
            for found in input.entries(&mut findings) {
                add(found, &mut entries, &mut findings);
            }
        }
        let mut config = McpConfig::new();
        for (name, (location, entry)) in entries {
            if let Some(server) = read::server(&location, &entry, &self.sources, &mut findings) {
                config.servers.insert(name, server);
            }
        }
        if !config.servers.is_empty() && config.servers.values().all(|server| !server.enabled) {
            findings.warn(
                &Location::from_file(None),
                "every server is disabled",
                "enable one of them",
            );
        }
        let Findings { problems, warnings, required } = findings;
        config.servers.retain(|name, _| !problems.iter().any(|problem| problem.is_about(name)));
        config.warnings = warnings;
        (config, problems, required)
    }
}

/// Adds an entry, unless another entry has its name.
fn add(
    found: ServerEntry,
    entries: &mut BTreeMap<String, (Location, Value)>,
    findings: &mut Findings,
) {
    match entries.entry(found.name) {
        Entry::Vacant(vacant) => {
            vacant.insert((found.location, found.entry));
        }
        Entry::Occupied(known) if known.get().1 == found.entry => {}
        Entry::Occupied(known) => {
            let text = format!("another entry has this name in {}", known.get().0.origin());
            findings.problem(&found.location, text, "rename or remove one of the two");
        }
    }
}

impl Input {
    fn entries(self, findings: &mut Findings) -> Vec<ServerEntry> {
        let (location, value) = match self {
            Self::Text(format, text) => {
                let location = Location::from_file(None);
                let value = format.parse(&text, &location, findings);
                (location, value)
            }
            Self::Value(value) => (Location::from_file(None), Some(value)),
            Self::Part { path, value } => (Location::from_file(Some(&path)), Some(value)),
            Self::File { path, is_optional } => {
                (Location::from_file(Some(&path)), read_file(&path, is_optional, findings))
            }
        };
        value.map(|value| wrapper::entries(value, &location, findings)).unwrap_or_default()
    }
}

fn read_file(path: &Path, is_optional: bool, findings: &mut Findings) -> Option<Value> {
    let location = Location::from_file(Some(path));
    let is_packed = |extension: &std::ffi::OsStr| extension == "mcpb" || extension == "dxt";
    if path.extension().is_some_and(is_packed) {
        let help = "unpack it, and name its `manifest.json`";
        findings.problem(&location, "this is a packed bundle", help);
        return None;
    }
    match if is_optional { file::read_regular(path) } else { file::read(path) } {
        Ok(text) => Format::from_path(path).parse(&text, &location, findings),
        Err(error) if error.kind() == ErrorKind::NotFound && is_optional => None,
        Err(error) => {
            let is_text = error.kind() == ErrorKind::InvalidData;
            let help = if is_text { "save it as UTF-8" } else { "correct the path" };
            findings.problem(&location, format!("it cannot be read: {error}"), help);
            None
        }
    }
}

/// Number of inputs, and kinds of variable sources.
impl fmt::Debug for McpConfigLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpConfigLoader")
            .field("sources", &self.sources)
            .field("inputs", &self.inputs.len())
            .finish()
    }
}
