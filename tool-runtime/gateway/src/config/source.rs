//! Where the configuration is from: a file, and options of the command line.

use super::document::{self, Document, Loaded};
use super::{Config, Family, Log, Policy, Runners};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tool_runtime::cli::ProgramArguments;
use tool_runtime::mcp::{McpConfig, McpConfigLoader};

/// The files that are read without `--config`: the first that exists.
const NAMES: [&str; 4] =
    ["tool-gateway.toml", "tool-gateway.yaml", "tool-gateway.yml", "tool-gateway.json"];

/// The folder of questions, for commands about it, if the configuration has none.
const INBOX: &str = "inbox";

/// Where the configuration is from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// `None`: there is no file.
    pub(crate) file: Option<PathBuf>,
    arguments: ProgramArguments,
}

/// The subjects of commands without a pool.
pub(crate) struct Paths {
    pub(crate) log: Option<PathBuf>,
    pub(crate) inbox: PathBuf,
    pub(crate) hub: Option<String>,
    /// Whether metrics are served.
    pub(crate) metrics: bool,
    /// Whether the inbox takes names that nobody verified.
    pub(crate) trusts_names: bool,
}

impl Source {
    pub(crate) fn new(arguments: &ProgramArguments) -> Self {
        let given = arguments.value("config").map(PathBuf::from);
        let file =
            given.or_else(|| NAMES.map(PathBuf::from).into_iter().find(|name| name.exists()));
        Self { file, arguments: arguments.clone() }
    }

    /// The same source with another file.
    pub(crate) fn with_file(&self, file: &str) -> Self {
        Self { file: Some(file.into()), ..self.clone() }
    }

    /// The configuration.
    ///
    /// # Errors
    /// The file cannot be read, or has no values.
    pub(crate) fn load(&self) -> Result<Loaded, Vec<String>> {
        let mut loaded = match &self.file {
            Some(file) => document::read(file, &self.loader())?,
            None => Loaded::default(),
        };
        let folder = self.folder();
        for path in loaded.config.paths() {
            *path = folder.join(&*path);
        }
        let problems = self.apply_options(&mut loaded.config);
        loaded.problems.extend(problems.into_iter().map(|problem| (None, problem)));
        if loaded.config.tools.roots.is_empty() {
            let is_here = folder.as_os_str().is_empty();
            loaded.config.tools.roots.push(if is_here { ".".into() } else { folder.to_owned() });
        }
        Ok(loaded)
    }

    /// A loader with the variables of the command line, then those of the environment.
    pub(crate) fn loader(&self) -> McpConfigLoader {
        let given = self.arguments.variables();
        McpConfig::loader().variables(given).environment().option("--var")
    }

    /// Files that options of commands name.
    pub(crate) fn files_of_options(&self) -> Vec<PathBuf> {
        let options = ["auth-token-file", "tls-cert", "tls-key", "mcp-config", "pins"];
        let files = options.iter().flat_map(|option| self.arguments.rest_values(option));
        files.map(PathBuf::from).collect()
    }

    /// Whether the command is a call.
    pub(crate) fn is_call(&self) -> bool {
        self.arguments.command() == Some("call")
    }

    /// Whether the command may call tools. Others leave the log alone, which another process may write.
    pub(crate) fn may_call(&self) -> bool {
        let others = [
            "check",
            "list",
            "schema",
            "report",
            "status",
            "pin",
            "policy",
            "doctor",
            "completions",
        ];
        !self.arguments.command().is_some_and(|command| others.contains(&command))
    }

    /// The subjects of commands, also if the configuration has mistakes: variables of other keys may have values only for
    /// the gateway.
    pub(crate) fn paths(&self) -> Paths {
        let document = self.file.as_ref().map(|file| Document::read(file));
        let value = match document {
            Some(Ok((_, value))) => value,
            Some(Err(problems))
                if matches!(self.arguments.command(), Some("log" | "approvals")) =>
            {
                problems.iter().for_each(|problem| eprintln!("warning: {problem}"));
                Value::Null
            }
            _ => Value::Null,
        };
        let loader = self.loader();
        let of_file = |pointer: &str| {
            let text = value.pointer(pointer)?.as_str()?;
            Some(loader.expand(text).ok()?.text.expose().to_owned())
        };
        let path = |option: &str, pointer: &str| {
            let given = self.arguments.value(option).map(PathBuf::from);
            given.or_else(|| Some(self.folder().join(of_file(pointer)?)))
        };
        Paths {
            log: path("log", "/log/file"),
            inbox: path("inbox", "/approvals/inbox").unwrap_or_else(|| INBOX.into()),
            hub: self.arguments.value("hub").map(str::to_owned).or_else(|| of_file("/runners/hub")),
            metrics: value.pointer("/http/metrics").and_then(Value::as_bool) == Some(true),
            trusts_names: value.pointer("/approvals/trust_names").and_then(Value::as_bool)
                == Some(true),
        }
    }

    /// The folder of the file. Empty: this one.
    fn folder(&self) -> &Path {
        self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// Options of the command line replace keys. Returns their mistakes.
    fn apply_options(&self, config: &mut Config) -> Vec<String> {
        let path = |option: &str| self.arguments.value(option).map(PathBuf::from);
        let paths =
            |option: &str| self.arguments.values(option).map(PathBuf::from).collect::<Vec<_>>();
        let mut problems = Vec::new();
        if let Some(list) = self.arguments.value("families") {
            let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            let mut family = |name: &str| {
                let family = serde_json::from_value::<Family>(Value::from(name)).ok();
                if family.is_none() {
                    problems.push(format!("`--families`: `{name}` is not a family of tools; `tool-gateway --help` lists them"));
                }
                family
            };
            config.tools.families = names.filter_map(&mut family).collect();
        }
        if self.arguments.has("root") {
            config.tools.roots = paths("root");
        }
        if self.arguments.has("skills") {
            config.tools.skills = paths("skills");
        }
        config.tools.data = path("data").or(config.tools.data.take());
        config.approvals.inbox = path("inbox").or(config.approvals.inbox.take());
        if let Some(file) = path("policy") {
            config.policy = Some(Policy { file });
        }
        if let Some(file) = path("log") {
            let others = config.log.take();
            let others = others.unwrap_or_else(|| Log::new(file.clone()));
            config.log = Some(Log { file, ..others });
        }
        if let Some(hub) = self.arguments.value("hub").map(str::to_owned) {
            let trust = config.runners.take().is_some_and(|runners| runners.trust);
            config.runners = Some(Runners { hub, trust });
        }
        problems
    }
}

impl Log {
    fn new(file: PathBuf) -> Self {
        Self { file, keep_days: None, durable: false, optional: false, head_file: None }
    }
}

impl Config {
    /// The paths that are relative to the file.
    fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let Self { http, policy, approvals, log, tools, mcp_config, .. } = self;
        let http = http.iter_mut().flat_map(|http| {
            let tls = http.tls.iter_mut().flat_map(|tls| [&mut tls.certificate, &mut tls.key]);
            tls.chain(&mut http.tokens_file)
        });
        let policy = policy.iter_mut().map(|policy| &mut policy.file);
        let log =
            log.iter_mut().flat_map(|log| std::iter::once(&mut log.file).chain(&mut log.head_file));
        let lists = [mcp_config, &mut tools.roots, &mut tools.protect, &mut tools.skills];
        let lists = lists.into_iter().flatten();
        let sandbox = tools.sandbox.writable.iter_mut();
        http.chain(policy)
            .chain(&mut approvals.inbox)
            .chain(log)
            .chain(lists)
            .chain(&mut tools.data)
            .chain(sandbox)
    }
}
