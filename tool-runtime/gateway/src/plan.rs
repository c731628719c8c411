//! The parts of a valid configuration. Making a plan has no effect: `check` makes one, too.

mod http;
mod tools;

pub(crate) use http::HttpPlan;
pub(crate) use tools::BuiltinTools;

use crate::config::{Config, Http, Loaded, Source};
use crate::document::{self, Document};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tool_runtime::ToolPool;
use tool_runtime::http::BearerTokens;
use tool_runtime::mcp::{McpConfigLoader, McpManager, McpState};
use tool_runtime::policy::LivePolicy;
use tool_runtime::pool::{Filter, Selector};
use tool_runtime::skills::SkillLibrary;

/// Shorter tokens may be guessed.
const MIN_TOKEN: usize = 12;

/// The parts of a valid configuration.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// The values of the file.
    pub(crate) values: Value,
    pub(crate) policy: Option<LivePolicy>,
    pub(crate) filter: Option<Filter>,
    pub(crate) http: Option<HttpPlan>,
    /// The files of the gateway, which built-in tools do not touch.
    pub(crate) own_files: Vec<PathBuf>,
    pub(crate) builtins: BuiltinTools,
    pub(crate) skills: Option<SkillLibrary>,
    /// Values to be masked.
    pub(crate) secrets: Vec<(String, String)>,
    /// What is valid, and perhaps not meant.
    pub(crate) warnings: Vec<String>,
}

/// Mistakes, each with its file and line.
pub(crate) struct Problems<'a> {
    document: Option<&'a Document>,
    /// The lines in the file of the configuration. Mistakes of other files have none.
    list: Vec<(Option<usize>, String)>,
}

impl Problems<'_> {
    /// Adds a mistake in the value at a path.
    pub(crate) fn add(&mut self, path: &str, text: impl std::fmt::Display) {
        let text = format!("`{path}`: {text}");
        self.list.push(match self.document {
            Some(document) => document::located(document, path, &text),
            None => (None, text),
        });
    }

    /// Adds a mistake of another file.
    fn add_other(&mut self, problem: impl std::fmt::Display) {
        self.list.push((None, problem.to_string()));
    }

    /// The value, unless it is a mistake.
    pub(crate) fn accept<T, E: std::fmt::Display>(
        &mut self,
        path: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.add(path, error)).ok()
    }
}

impl Plan {
    /// Reads the configuration, and checks all that it names.
    ///
    /// # Errors
    /// All mistakes.
    pub(crate) fn load(source: &Source) -> Result<Self, Vec<String>> {
        let Loaded { config, values, problems, broken, document, mut secrets } = source.load()?;
        let mut problems = Problems { document: document.as_ref(), list: problems };
        let mut warnings = Vec::new();
        let policy = config.policy.as_ref().map(|policy| LivePolicy::open(&policy.file));
        let policy = policy.and_then(|policy| match policy {
            Ok(policy) => Some(policy),
            Err(error) => {
                // They have files and lines of their own.
                error.problems().iter().for_each(|problem| problems.add_other(problem));
                None
            }
        });
        let filter = filter(&config, &mut problems);
        let http = config.http.as_ref().map(|http| http::plan(http, &mut problems, &mut warnings));
        let own_files = own_files(source, &config);
        let builtins = BuiltinTools::new(&config.tools, &own_files, &mut problems, &mut warnings);
        let skills = tools::skills(&config.tools, &mut problems);
        for name in &config.secrets {
            match std::env::var(name) {
                Ok(value) => secrets.push((name.clone(), value)),
                Err(_) => problems.add("secrets", format_args!("the variable `{name}` is not set")),
            }
        }
        check_paths(&config, &mut problems);
        // They are checked together.
        if !broken.contains("http") && !broken.contains("approvals") {
            check_inbox(&config, &mut problems);
        }
        check_servers(source, &config, &mut problems, &mut warnings);
        if !problems.list.is_empty() {
            return Err(document::masked(document::sorted(problems.list), &secrets));
        }
        secrets.extend(token_secrets(&config));
        warnings.extend(exposed(&config));
        warnings.extend(guessable(&config));
        Ok(Self {
            config,
            values,
            policy,
            filter,
            http,
            own_files,
            builtins,
            skills,
            secrets,
            warnings,
        })
    }

    /// What is about no tool of a pool: rules, and patterns of `tools`. Servers that are not connected lack their tools.
    pub(crate) fn unused(&self, pool: &ToolPool) -> Vec<String> {
        let rules = self.policy.iter().flat_map(|policy| policy.unused_patterns(pool));
        let report = pool.report();
        let patterns = report.unmatched.iter();
        let patterns = patterns.map(|pattern| format!("the pattern `{pattern}` picks no tool"));
        patterns.chain(rules).chain(absent_servers(pool)).collect()
    }

    /// The files that this user cannot write, each with the key that names it.
    pub(crate) fn unwritable(&self) -> Vec<String> {
        let Config { log, approvals, tools, .. } = &self.config;
        let log = log.iter().filter(|log| !log.optional).flat_map(|log| {
            let is_lines = log.file.extension().is_some_and(|extension| extension == "jsonl");
            let written = if is_lines { Written::File } else { Written::Database };
            let head = log.head_file.iter();
            let head = head.map(|head| ("log.head_file", head, Written::Replaced));
            std::iter::once(("log.file", &log.file, written)).chain(head)
        });
        let inbox = approvals.inbox.iter();
        let inbox = inbox.map(|inbox| ("approvals.inbox", inbox, Written::Folder));
        let data = tools.data.iter().map(|data| ("tools.data", data, Written::Folder));
        let all = log.chain(inbox).chain(data);
        let unwritable = all.filter_map(|(key, path, written)| {
            let error = writable(path, written).err()?;
            let path = absolute(path);
            Some(format!("`{key}`: this user cannot write `{path}`: {error}"))
        });
        unwritable.collect()
    }

    /// A line for each part.
    pub(crate) fn summary(&self) -> Vec<String> {
        let Self { config, policy, .. } = self;
        let servers = config.mcp_servers.len();
        let families = config.tools.families.len();
        let mut lines = vec![match &config.http {
            Some(http) => format!("serves over HTTP at {}", http.listen),
            None => "serves on standard input and output".to_owned(),
        }];
        lines.push(format!(
            "external MCP servers: {servers}, and those of {} other files",
            config.mcp_config.len()
        ));
        lines.push(format!("families of built-in tools: {families}"));
        lines.push(match (policy, &config.policy) {
            (Some(_), Some(policy)) => format!("policy: {}", absolute(&policy.file)),
            _ => "policy: none, so that every call is allowed".to_owned(),
        });
        lines.push(match &config.approvals.inbox {
            Some(inbox) => format!("inbox: {}", absolute(inbox)),
            None => "inbox: none".to_owned(),
        });
        lines.push(match &config.log {
            Some(log) => format!("log: {}", absolute(&log.file)),
            None => "log: none".to_owned(),
        });
        lines
    }
}

/// The external servers that are not connected.
pub(crate) fn absent_servers(pool: &ToolPool) -> Vec<String> {
    let servers = McpManager::of_pool(pool).into_iter().flat_map(|manager| manager.status());
    let absent = servers.filter(|server| !server.is_ready() && server.state != McpState::Disabled);
    absent
        .map(|server| {
            let reason = server.state.reason().unwrap_or("it did not answer in time");
            format!("the MCP server `{}` is not connected: {reason}", server.name)
        })
        .collect()
}

/// A path for people, who may not know the working directory.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// What a path is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// A file that is continued.
    File,
    /// A file in a folder with others of it: a database and its journals.
    Database,
    /// A file that another one replaces.
    Replaced,
    /// A folder of files.
    Folder,
}

/// Tests the rights of what is written. Nothing is.
#[cfg(unix)]
fn writable(path: &Path, written: Written) -> std::io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let path = std::path::absolute(path)?;
    let test = |path: &Path| accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS);
    let exists = path.exists();
    if exists && written != Written::Replaced {
        test(&path)?;
    }
    if exists && matches!(written, Written::File | Written::Folder) {
        return Ok(());
    }
    match path.ancestors().skip(1).find(|folder| folder.exists()) {
        Some(folder) => Ok(test(folder)?),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn writable(_: &Path, _: Written) -> std::io::Result<()> {
    Ok(())
}

fn filter(config: &Config, problems: &mut Problems<'_>) -> Option<Filter> {
    let mut selectors = |key: &str, patterns: &[String]| -> Vec<Selector> {
        let each = patterns.iter().enumerate();
        each.filter_map(|(index, text)| {
            problems.accept(&format!("tools.{key}[{index}]"), text.parse())
        })
        .collect()
    };
    let allow = selectors("allow", &config.tools.allow);
    let deny = selectors("deny", &config.tools.deny);
    Filter::from_lists(allow, deny)
}

/// The inbox over HTTP, and how people learn of its questions.
fn check_inbox(config: &Config, problems: &mut Problems<'_>) {
    let Config { http, approvals, .. } = config;
    let is_wanted = |http: &&Http| http.inbox == Some(true);
    if let Some(http) = http.as_ref().filter(is_wanted) {
        if approvals.inbox.is_none() {
            problems.add("http.inbox", "there is no inbox; set `approvals.inbox` to a folder");
        }
        if !http.has_authentication() {
            problems.add("http.inbox", "people answer by their tokens; add `tokens_file` or `jwt`");
        }
    }
    let Some(notify) = &approvals.notify else { return };
    if approvals.inbox.is_none() {
        problems.add("approvals.notify", "there is no inbox; set `approvals.inbox` to a folder");
    }
    if notify.command.is_empty() && notify.webhook.is_none() {
        problems.add(
            "approvals.notify",
            "write `command = [\"program\"]` or `webhook = \"https://..\"`",
        );
    }
    if let Some(address) = &notify.webhook {
        let is_http =
            reqwest::Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if !is_http {
            // It may have a secret.
            problems.add("approvals.notify.webhook", "it is not an address; write `https://..`");
        }
    }
}

/// Files that are written need their folders.
fn check_paths(config: &Config, problems: &mut Problems<'_>) {
    let log = config.log.iter();
    let log = log.flat_map(|log| {
        let head = log.head_file.iter().map(|file| ("log.head_file", file));
        std::iter::once(("log.file", &log.file)).chain(head)
    });
    for (key, file) in log {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(missing) = folder.filter(|folder| !folder.is_dir()) {
            problems.add(
                key,
                format_args!("the folder `{}` does not exist; create it", missing.display()),
            );
        }
    }
    let head = config.log.as_ref().and_then(|log| log.head_file.as_ref().map(|head| (log, head)));
    if let Some((_, head)) = head.filter(|(log, head)| log.file.parent() == head.parent()) {
        let head = head.display();
        problems.add("log.head_file", format_args!("`{head}` is in the folder of the log, where it proves nothing; choose another folder"));
    }
    if config.log.as_ref().is_some_and(|log| log.keep_days == Some(0)) {
        problems.add(
            "log.keep_days",
            "records would be removed at once; write at least 1, or leave it out",
        );
    }
    if let Some(inbox) =
        config.approvals.inbox.as_ref().filter(|inbox| inbox.exists() && !inbox.is_dir())
    {
        problems.add("approvals.inbox", format_args!("`{}` is not a folder", inbox.display()));
    }
}

/// Checks the entries of external servers.
fn check_servers(
    source: &Source,
    config: &Config,
    problems: &mut Problems<'_>,
    warnings: &mut Vec<String>,
) {
    let loader = with_servers(source.loader(), source, config);
    let (servers, found) = loader.load_with_all_problems();
    warnings.extend(servers.warnings().iter().map(ToString::to_string));
    for problem in &found {
        match problem.file == source.file {
            true => problems.add(&problem.key, format_args!("{}; {}", problem.text, problem.help)),
            false => problems.add_other(problem),
        }
    }
}

/// The tokens of callers, which are masked.
fn token_secrets(config: &Config) -> Vec<(String, String)> {
    let Some(http) = &config.http else { return Vec::new() };
    let file = http.tokens_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let texts = http.tokens.iter().chain(&file);
    let tokens = texts.flat_map(|text| BearerTokens::secrets_in(text));
    tokens.map(|token| ("TOKEN".to_owned(), token.to_owned())).collect()
}

/// A warning about tokens that may be guessed.
fn guessable(config: &Config) -> Option<String> {
    let tokens = token_secrets(config);
    let count = tokens.iter().filter(|(_, token)| token.len() < MIN_TOKEN).count();
    (count > 0).then(|| {
        format!("tokens shorter than {MIN_TOKEN} characters, which may be guessed: {count}; `openssl rand -hex 16` makes one")
    })
}

/// Warnings about files by which other users of this machine could become callers, or read what makes one.
#[cfg(unix)]
fn exposed(config: &Config) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let http = config
        .http
        .iter()
        .flat_map(|http| http.tokens_file.iter().chain(http.tls.iter().map(|tls| &tls.key)));
    let others = |path: &PathBuf, rights: u32| {
        let mode = std::fs::metadata(path).ok()?.permissions().mode();
        let path = path.display();
        let text =
            format!("other users can use `{path}`: take their rights away by `chmod o= {path}`");
        (mode & rights != 0).then_some(text)
    };
    let read = http.filter_map(|path| others(path, 0o007));
    let written = config.policy.iter().filter_map(|policy| others(&policy.file, 0o002));
    read.chain(written).collect()
}

#[cfg(not(unix))]
fn exposed(_: &Config) -> Vec<String> {
    Vec::new()
}

/// The files of the gateway, which no built-in tool may read or change.
fn own_files(source: &Source, config: &Config) -> Vec<PathBuf> {
    let Config { http, policy, approvals, log, mcp_config, .. } = config;
    let tokens = http.iter().flat_map(|http| {
        http.tokens_file.iter().chain(http.tls.iter().map(|tls| &tls.key)).cloned()
    });
    let policy = policy.iter().map(|policy| policy.file.clone());
    let log = log.iter().flat_map(|log| {
        // SQLite has two more files.
        let beside = ["", "-wal", "-shm"].map(|end| {
            let mut name = log.file.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        });
        beside.into_iter().chain(log.head_file.clone())
    });
    let files = source.file.iter().chain(mcp_config).chain(&approvals.inbox).cloned();
    let files = files.chain(source.files_of_options());
    files.chain(tokens).chain(policy).chain(log).collect()
}

/// Adds the external servers of a configuration to a loader.
pub(crate) fn with_servers(
    loader: McpConfigLoader,
    source: &Source,
    config: &Config,
) -> McpConfigLoader {
    let loader = config.mcp_config.iter().fold(loader, |loader, file| loader.file(file));
    match (&source.file, config.mcp_servers.is_empty()) {
        (Some(file), false) => loader.part_of(file, json!({ "mcpServers": config.mcp_servers })),
        _ => loader,
    }
}
