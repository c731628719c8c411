//! The configuration, as its file has it.

pub(crate) mod document;
mod source;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use tool_runtime_builtins::SandboxParams;
use tool_runtime_builtins::browser::BrowserParams;
use tool_runtime_builtins::code::CodeParams;
use tool_runtime_builtins::shell::ShellParams;
use tool_runtime_builtins::web::WebParams;

pub(crate) use source::Source;

/// The configuration of a gateway. Every text may have `${VAR}` and `${VAR:-default}`. Paths are relative to the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The title that MCP clients show to people.
    pub(crate) title: Option<String>,
    /// Tells models how to use the tools together.
    pub(crate) instructions: Option<String>,
    /// Serve over HTTP. Without this section, on standard input and output.
    pub(crate) http: Option<Http>,
    /// Rules about calls.
    pub(crate) policy: Option<Policy>,
    /// Whom questions about calls are put to.
    pub(crate) approvals: Approvals,
    /// The log of calls.
    pub(crate) log: Option<Log>,
    /// Built-in tools, and which tools are offered.
    pub(crate) tools: Tools,
    /// Tools that run on other machines.
    pub(crate) runners: Option<Runners>,
    /// Names of variables of the environment whose values are masked in all that leaves the gateway.
    pub(crate) secrets: Vec<String>,
    /// Files of external MCP servers, besides `mcpServers`.
    pub(crate) mcp_config: Vec<PathBuf>,
    /// External MCP servers by name, each with `command` or `url`.
    #[serde(rename = "mcpServers")]
    pub(crate) mcp_servers: Map<String, Value>,
}

impl Config {
    /// Its values, by key: those of the file, of options, and defaults.
    pub(crate) fn values(&self) -> Value {
        serde_json::to_value(self).expect("keys and paths are texts")
    }
}

/// Serving over HTTP.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Http {
    /// `127.0.0.1:8080`, or only a port of this machine. Port 0 is any free one.
    pub(crate) listen: String,
    /// Names by which clients reach the gateway, besides those of this machine.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    /// Web pages that may send requests, as `https://example.com`.
    #[serde(default)]
    pub(crate) origins: Vec<String>,
    /// A file with lines `NAME:TOKEN scopes=..`, read again when it changes.
    pub(crate) tokens_file: Option<PathBuf>,
    /// Such lines themselves: `${TOKENS}`.
    pub(crate) tokens: Option<String>,
    /// A certificate, to serve over TLS.
    pub(crate) tls: Option<Tls>,
    /// JSON Web Tokens of an issuer.
    pub(crate) jwt: Option<Jwt>,
    /// Let every client that reaches the address call every tool, even from other machines.
    #[serde(default)]
    pub(crate) insecure_no_auth: bool,
    /// Serve the inbox at `/inbox` and `/approvals`, for callers with the scope `approve`. Default: true, if there is an inbox and
    /// callers authenticate.
    pub(crate) inbox: Option<bool>,
    /// Serve metrics for Prometheus at `/metrics`; where callers authenticate, to those with the scope `metrics`. Default: false.
    #[serde(default)]
    pub(crate) metrics: bool,
    /// Sessions for clients of versions before 2026-07-28. Default: true.
    #[serde(default = "yes")]
    pub(crate) sessions: bool,
    /// Limits on what clients may use.
    #[serde(default)]
    pub(crate) limits: Limits,
}

impl Http {
    /// Whether callers authenticate.
    pub(crate) fn has_authentication(&self) -> bool {
        self.tokens.is_some() || self.tokens_file.is_some() || self.jwt.is_some()
    }
}

/// JSON Web Tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jwt {
    /// The URL of the issuer, whose metadata names its keys.
    pub(crate) issuer: String,
    /// The URL of this gateway, which tokens have as their audience.
    pub(crate) audience: String,
    /// The URL of the keys, if the metadata of the issuer does not name it.
    pub(crate) jwks_url: Option<String>,
    /// Scopes that each token must have.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
}

/// A certificate. Changed files count without a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    /// The file of the certificate and of those of its issuers, in PEM.
    pub(crate) certificate: PathBuf,
    /// The file of its key, in PEM.
    pub(crate) key: PathBuf,
}

/// Limits on what clients may use. What is not set has the default of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    /// Connections at a time.
    pub(crate) connections: Option<usize>,
    /// Requests at a time.
    pub(crate) requests: Option<usize>,
    /// Requests of a caller at a time.
    pub(crate) requests_per_principal: Option<usize>,
    /// Bytes of the body of a request.
    pub(crate) body: Option<usize>,
}

/// Rules about calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    /// A file, or a folder with a file for each caller. A changed file counts two seconds later, unless it has mistakes.
    pub(crate) file: PathBuf,
}

/// Whom questions about calls are put to: the first that can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Approvals {
    /// The user of the client that calls, by a form. Default: true.
    pub(crate) caller: bool,
    /// The person at the terminal of the gateway. Default: true.
    pub(crate) terminal: bool,
    /// People who answer in the inbox, which is this folder.
    pub(crate) inbox: Option<PathBuf>,
    /// Minutes after which a question of the inbox is denied, unless a rule has a shorter time. Default: 15.
    pub(crate) expiry_minutes: Option<u64>,
    /// Whether an answer may count for later calls, if the person says so. Default: true.
    pub(crate) remember: bool,
    /// Whether `approvals approve --as NAME` may answer in any name. Default: false.
    pub(crate) trust_names: bool,
    /// How people learn of a question in the inbox.
    pub(crate) notify: Option<Notify>,
}

/// How people learn of a question. Its text, tool, caller and rule are sent, not its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Notify {
    /// A program and its arguments, which gets the question as JSON on its standard input.
    pub(crate) command: Vec<String>,
    /// An address that gets the question as JSON, with `text` for a chat.
    pub(crate) webhook: Option<String>,
    /// The address of the page of the inbox, for the text: `https://tools.example.com/inbox`.
    pub(crate) page: Option<String>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            caller: true,
            terminal: true,
            inbox: None,
            expiry_minutes: None,
            remember: true,
            trust_names: false,
            notify: None,
        }
    }
}

/// The log of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    /// A SQLite file, or lines of JSON if its name ends in `.jsonl`: one process writes that, so that `call` needs another
    /// `--log` while the gateway serves.
    pub(crate) file: PathBuf,
    /// Days after which records are removed. Default: never.
    pub(crate) keep_days: Option<u64>,
    /// Whether a call waits until its records are on the disk. Default: false.
    #[serde(default)]
    pub(crate) durable: bool,
    /// Whether calls run although they cannot be recorded. Default: false.
    #[serde(default)]
    pub(crate) optional: bool,
    /// A file for the head of the log, best on another machine, so that a cut is noticed.
    pub(crate) head_file: Option<PathBuf>,
}

/// Built-in tools, and which tools are offered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tools {
    /// Families of built-in tools. Default: none.
    pub(crate) families: Vec<Family>,
    /// The names that models know: those of Claude Code, or of OpenHands.
    pub(crate) names: Names,
    /// Offer only these tools: names, `git.*`, `hint:read_only`, `source:mcp:github`. Default: all.
    pub(crate) allow: Vec<String>,
    /// Do not offer these tools, in the same forms.
    pub(crate) deny: Vec<String>,
    /// Directories that files, search, shell and code may touch. Default: that of this file.
    pub(crate) roots: Vec<PathBuf>,
    /// Paths below the roots that no built-in tool may read or change.
    pub(crate) protect: Vec<PathBuf>,
    /// Where tasks, jobs and settings are kept. The families `tasks` and `schedule` need it.
    pub(crate) data: Option<PathBuf>,
    /// Folders of skills, for the family `skills`. They are trusted.
    pub(crate) skills: Vec<PathBuf>,
    /// Variables of the environment that commands get, besides those that say where things are.
    pub(crate) env: Vec<String>,
    /// Whether tools may change `.git`. Default: false.
    pub(crate) git_settings: bool,
    /// Whether wrong names of tools and arguments are corrected if it is clear what is meant. Default: true.
    pub(crate) repair: bool,
    /// Seconds that a call may take, of tools without a limit of their own. Default: none.
    pub(crate) timeout: Option<u64>,
    /// What confines all that shell, code and browser start.
    pub(crate) sandbox: SandboxParams,
    /// Settings of the family `shell`.
    pub(crate) shell: ShellParams,
    /// Settings of the family `code`.
    pub(crate) code: CodeParams,
    /// Settings of the family `web`.
    pub(crate) web: WebParams,
    /// Settings of the family `browser`.
    pub(crate) browser: BrowserParams,
    /// Settings of the family `schedule`.
    pub(crate) schedule: ScheduleSettings,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            families: Vec::new(),
            names: Names::default(),
            allow: Vec::new(),
            deny: Vec::new(),
            roots: Vec::new(),
            protect: Vec::new(),
            data: None,
            skills: Vec::new(),
            env: Vec::new(),
            git_settings: false,
            repair: true,
            timeout: None,
            sandbox: SandboxParams::default(),
            shell: ShellParams::default(),
            code: CodeParams::default(),
            web: WebParams::default(),
            browser: BrowserParams::default(),
            schedule: ScheduleSettings::default(),
        }
    }
}

/// A family of built-in tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    /// Read, write, edit, list, move and delete files.
    Files,
    /// Find files by name and by content; find tools.
    Search,
    /// Run commands.
    Shell,
    /// Notebooks, worktrees, language servers.
    Code,
    /// Fetch pages, search the web.
    Web,
    /// Use pages in a browser.
    Browser,
    /// Resources of external MCP servers.
    Servers,
    /// Ask people, plan, keep lists.
    People,
    /// Tasks and teams.
    Tasks,
    /// Calls at set times, settings, webhooks.
    Schedule,
    /// Load skills.
    Skills,
}

/// The names of built-in tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Names {
    /// `Read`, `Bash`, `Grep`, ..
    #[default]
    Standard,
    /// `file_editor`, `terminal`, `grep`, ..
    OpenHands,
}

/// Settings of the family `schedule`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScheduleSettings {
    /// Seconds between two runs of a job, at least. Default: 60.
    pub(crate) min_interval: Option<u64>,
    /// Webhooks of `RemoteTrigger`, by name.
    pub(crate) targets: std::collections::BTreeMap<String, Target>,
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// The address that webhooks are sent to.
    pub(crate) url: String,
    /// The key of signatures: `${BUILDS_KEY}`.
    pub(crate) key: String,
}

/// Tools that run on other machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runners {
    /// The URL of the hub, as `http://127.0.0.1:7750`. The variable TOOL_REMOTE_TOKEN has the token.
    pub(crate) hub: String,
    /// Whether hints of the runners count, such as `read_only`. Default: false.
    #[serde(default)]
    pub(crate) trust: bool,
}

const fn yes() -> bool {
    true
}
