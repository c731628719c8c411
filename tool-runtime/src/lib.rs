//! Turn an annotated function into a tool, and tools into an MCP server, a command line, and
//! a pool that an agent calls.
//!
//! ```no_run
//! use tool_runtime::prelude::*;
//!
//! /// Add two integers.
//! #[tool(read_only, idempotent)]
//! async fn add(
//!     /// First addend.
//!     a: i64,
//!     /// Second addend.
//!     #[arg(default = 1, range = -1000..=1000)]
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # #[cfg(feature = "cli")]
//! tool_runtime::main!();
//! # #[cfg(not(feature = "cli"))]
//! # fn main() {}
//! ```
//!
//! The function is left exactly as written: `add(2, 3).await` still works. Everything else
//! follows from its signature, see [`tool`](macro@tool).
//!
//! # Guides
//!
//! To write a server:
//!
//! 1. [`#[tool]`](macro@tool): parameters, return values, every option.
//! 2. [`guide::parameters`]: arguments, state and context side by side.
//! 3. [`guide::results`]: structured results, images and files, `?` in tools, `anyhow`, an error enum of your own.
//! 4. [`guide::testing`]: tests of a server that `main!` writes.
//! 5. [`guide::command_line`]: what every binary of `main!` can do, beside FastMCP's command line.
//! 6. [`guide::clients`]: `install`, registration with Claude Code, Claude Desktop, Cursor, VS Code, Codex and others.
//! 7. [`guide::axum`]: an axum application and its tools: one state, one binary.
//! 8. [`guide::pools`]: the builder's methods, toolsets with parameters and prefixes, hooks.
//! 9. [`guide::selectors`]: how rules name tools.
//!
//! To write an agent:
//!
//! 1. [Agents](../tool_runtime_agent/guide/index.html): a model, its tools, events, approvals, sub-agents
//!    (`tool-runtime-agent`).
//! 2. [Built-in tools](../tool_runtime_builtins/guide/index.html): files, search, shell, web, browser, tasks
//!    (`tool-runtime-builtins`).
//! 3. [`guide::models`]: a loop of your own, with the formats of Anthropic, OpenAI and Gemini.
//!
//! To operate:
//!
//! 1. [`guide::governing`]: rules about calls, approvals, the log.
//! 2. [`guide::operating`]: check, serve, watch, limit, end.
//! 3. [`guide::remote`]: tools on other machines, what is promised, how to operate them.
//!
//! One command builds all pages:
//!
//! ```text
//! cargo doc --no-deps --all-features -p tool-runtime -p tool-runtime-agent -p tool-runtime-builtins -p tool-runtime-genai
//! ```
//!
//! # Find an item
//!
//! The root has what a file with tools, a test and a `main` need. Everything else is in the module of its topic.
//!
//! | Task | Item |
//! |---|---|
//! | make a tool from a function | [`#[tool]`](macro@tool) |
//! | make tools from the methods of one value | [`#[toolset]`](macro@toolset), [`Toolset`] |
//! | make a tool from a closure | [`Tool::builder`] |
//! | offer a prompt or a resource | [`#[prompt]`](macro@prompt), [`#[resource]`](macro@resource), [`Prompt::builder`], [`Resource::builder`] |
//! | return images, errors, structured values | [`Observation`], [`ToolError`], [`Json`] |
//! | use cancellation, deadlines, optional state | [`ToolContext`] |
//! | report progress, log, ask the user | [`ToolContext::progress`], [`ToolContext::log`], [`ToolContext::ask`], [`Form`](trait@Form) |
//! | identify the caller | [`Principal`], `http::HttpOptions::auth`, `http::BearerTokens`, `http::JwtVerifier` |
//! | require scopes for a tool | `#[tool(scope = "..")]`, [`Principal::may_use`] |
//! | **Pools** | |
//! | assemble, filter and call tools | [`ToolPool`], [`ToolPoolBuilder`], [`pool::Selector`] |
//! | create tools from a configuration | [`pool::Registry`], [`pool::ToolSpec`], [`pool::PoolConfig`] |
//! | search the tools of a large pool | `search::ToolIndex`, `search::ToolSearch` |
//! | narrow what an agent or a skill sees | [`ToolPool::restrict`], [`ToolPool::scope`] |
//! | load skills from folders with `SKILL.md` | `skills::SkillLibrary`, `skills::Skills` |
//! | run many calls at once | [`ToolPool::call_all`], [`dispatch::Batch`], [`Access`] |
//! | call a tool from a tool | [`ToolContext::call`] |
//! | enforce lists of tools such as `Read, Bash(git *)` | [`pool::DeclaredTools`], [`ToolPool::restrict_declared`] |
//! | check, rewrite, approve, log calls | [`hook::Hook`], [`govern::Approver`] |
//! | have models judge the risk of their calls | [`govern::MetaParameters`], [`govern::Risk`] |
//! | write rules about calls in YAML, TOML, JSON or code | `policy::Policy` |
//! | decide about calls, hide tools, limit and record calls | [`govern::PolicyEngine`], [`govern::Limiter`], [`govern::Recorder`] |
//! | keep a tamper-evident log of calls | `audit::EventLog` |
//! | mask secrets, expand them in arguments | `secret::Secrets`, `secret::SecretTemplate` |
//! | repeat an execution without repeating its calls | [`tool::Execution`], [`govern::StepStore`] |
//! | limit the size of results | [`govern::OutputLimits`] |
//! | change a running pool, follow its changes | [`ToolPool::add_tools`], [`pool::Source`], [`ToolPool::changes`] |
//! | let the host program run the calls | [`tool::ClientTools`] |
//! | call without `.await`, or through tower | [`dispatch::BlockingPool`], `ToolPoolBuilder::layer` |
//! | answer the questions of tools in an agent | [`peer::Peer`] |
//! | start an agent from a tool | [`agent::AgentSpawner`] |
//! | end the run of an agent from a tool, send it messages | [`agent::AgentRun`], [`agent::AgentMailbox`] |
//! | ask the user of a client, keep questions in an inbox, remember answers | `approvals` |
//! | ask a person at the terminal | `cli::TerminalApprover` |
//! | **Servers** | |
//! | ship a server binary | `main!`, `cli::Cli`, [`McpServer`] |
//! | add a command to its command line | [`cli::CliCommand`], [`cli::PoolCommands::command`] |
//! | assemble the pool by options of the program | `cli::ProgramOptions`, `cli::Cli::options` |
//! | serve over HTTP | [`McpServer::serve_http`], `http::HttpOptions`, `http::Authenticate` |
//! | test a server, detect changed schemas | `testing` |
//! | **External MCP servers** | |
//! | call tools by types | [`CallAction`], `external_tools!` |
//! | change names, descriptions and arguments of tools | [`transform::ToolTransform`], [`ToolPoolBuilder::transform`] |
//! | read `mcpServers` files | [`McpConfig`], [`McpServerConfig`] |
//! | connect servers and add their tools to a pool | [`McpManager`], [`McpServerStatus`], [`McpState`] |
//! | set headers, let a user log in | [`McpManagerBuilder::headers`], [`McpManagerBuilder::oauth`] |
//! | answer what servers ask | [`McpManagerBuilder::peer`], [`peer::Peer::request`] |
//! | hold back tools that change after approval | [`McpPins`], [`McpManager::unapproved`] |
//! | **Other machines** | |
//! | run the tools of a pool for others | `remote::Runner`, the option `runner` of `main!` |
//! | add the tools of runners to a pool | `remote::Remote`, the option `remote` of `main!` |
//! | serve the hub between them | `remote::Hub`, the command `remote serve` |
//!
//! The names that begin with `Mcp` are in [`mcp`].
//!
//! # Features
//!
//! | Feature | Enables | Default |
//! |---|---|---|
//! | `macros` | `#[tool]`, `#[toolset]`, `#[prompt]`, `#[resource]`, `#[derive(Form)]` | yes |
//! | `external-tools` | `external_tools!`, types for the calls of external tools | no |
//! | `linked` | link-time registration, [`ToolPoolBuilder::linked`] | yes |
//! | `cli` | the command line of the generated binary, `main!`; implies `mcp-server` | yes |
//! | `install` | the commands `install`, `uninstall`, `bundle`; implies `cli` | yes |
//! | `mcp-server` | the MCP server over stdio | by `cli` |
//! | `http` | the MCP server over HTTP: sessions, authentication, limits | no |
//! | `jwt` | authentication by JSON Web Tokens, `http::JwtVerifier`; implies `http` | no |
//! | `otel` | traces and metrics of OpenTelemetry, [`otel::Telemetry`] | no |
//! | `export` | tools in the formats of model APIs | no |
//! | `search` | ranked search over the tools of a pool | no |
//! | `policy` | policies: rules about calls, limits, permission modes | no |
//! | `audit` | the log of calls: SQLite, JSONL or memory; implies `store` | no |
//! | `store` | SQLite: with `policy`, budgets that outlive the process, `SqliteBudgets` | by `audit`, `remote-hub` |
//! | `secrets` | secrets, masked in everything that leaves a pool | by `mcp-client` |
//! | `approvals` | approval by the caller, by an inbox, remembered answers | no |
//! | `shell` | patterns of shell commands in declarations | no |
//! | `skills` | skills of agents: folders with `SKILL.md`, the tool `Skill` | no |
//! | `mcp-client` | tools of external MCP servers over stdio | no |
//! | `mcp-client-http` | external MCP servers over HTTP | no |
//! | `mcp-client-oauth` | OAuth tokens for these servers | no |
//! | `toml`, `yaml` | [`pool::PoolConfig`] and [`McpConfig`] in TOML, in YAML | no |
//! | `remote` | runners and callers of tools in other processes, the client of a hub | no |
//! | `remote-hub` | the hub; implies `remote` and `http` | no |
//! | `remote-nats` | runners and callers over a NATS server; implies `remote` | no |
//! | `tower` | the pool as a `tower::Service`, layers around its calls | no |
//! | `testing` | an in-memory MCP client and schema snapshots, for tests | no |
//!
//! # Platforms
//!
//! Tested on Linux. macOS and Windows are not tested, and differ in this:
//!
//! | Topic | macOS | Windows |
//! |---|---|---|
//! | server over stdio | each pipe has a thread | each stream has a thread; output of C code reaches the protocol |
//! | signals that end `serve` | SIGTERM, SIGINT | Ctrl-C only |
//! | HTTP client whose machine is unreachable | detected by the system's keep-alive, after hours | detected by the next write |
//! | files of `OutputLimits` | readable by their user | readable by everyone with access to the directory |
//! | end of an external server's process | end of its input, SIGTERM, SIGKILL, for its whole process group | end of its input, then termination with all that it started |
//! | descendants that left the process group | stay; on Linux `Subreaper` ends them, as `main!` does | cannot leave the job object |
//! | external servers when this process is killed | end if they react to the end of their input | terminated with all that they started |
//! | program lookup | `PATH` | `PATH`, with the endings of `PATHEXT` |
//!
#![cfg_attr(not(feature = "export"), doc = "[`guide::models`]: #features")]
#![cfg_attr(not(feature = "remote-hub"), doc = "[`guide::remote`]: #features")]
// Links to items behind a feature: without it, they lead to the table of features.
#![cfg_attr(feature = "mcp-server", doc = "[`McpServer`]: mcp::McpServer")]
#![cfg_attr(not(feature = "mcp-server"), doc = "[`McpServer`]: #features")]
#![cfg_attr(feature = "http", doc = "[`McpServer::serve_http`]: mcp::McpServer::serve_http")]
#![cfg_attr(not(feature = "http"), doc = "[`McpServer::serve_http`]: #features")]
#![cfg_attr(
    feature = "mcp-client",
    doc = "
[`McpConfig`]: mcp::McpConfig
[`McpServerConfig`]: mcp::McpServerConfig
[`McpManager`]: mcp::McpManager
[`McpServerStatus`]: mcp::McpServerStatus
[`McpState`]: mcp::McpState
[`McpManagerBuilder::peer`]: mcp::McpManagerBuilder::peer
[`McpPins`]: mcp::McpPins
[`McpManager::unapproved`]: mcp::McpManager::unapproved
"
)]
#![cfg_attr(
    not(feature = "mcp-client"),
    doc = "
[`McpConfig`]: #features
[`McpServerConfig`]: #features
[`McpManager`]: #features
[`McpServerStatus`]: #features
[`McpState`]: #features
[`McpManagerBuilder::peer`]: #features
[`McpPins`]: #features
[`McpManager::unapproved`]: #features
"
)]
#![cfg_attr(
    feature = "mcp-client-http",
    doc = "[`McpManagerBuilder::headers`]: mcp::McpManagerBuilder::headers"
)]
#![cfg_attr(not(feature = "mcp-client-http"), doc = "[`McpManagerBuilder::headers`]: #features")]
#![cfg_attr(
    feature = "mcp-client-oauth",
    doc = "[`McpManagerBuilder::oauth`]: mcp::McpManagerBuilder::oauth"
)]
#![cfg_attr(not(feature = "mcp-client-oauth"), doc = "[`McpManagerBuilder::oauth`]: #features")]

pub mod cli;
pub mod completion;
pub mod dispatch;
pub mod govern;
#[cfg(doc)]
pub mod guide;
#[cfg(feature = "http")]
pub mod http;
pub mod mcp;
pub mod pool;
pub mod secret;
pub mod tool;

#[cfg(feature = "approvals")]
#[doc(inline)]
pub use tool_runtime_approvals as approvals;
#[cfg(feature = "audit")]
#[doc(inline)]
pub use tool_runtime_audit as audit;
#[doc(inline)]
pub use tool_runtime_core::{
    govern::hook,
    tool::{agent, peer, prompt, resource, toolset, transform},
    vocabulary::{content, error, matching},
};
#[cfg(feature = "export")]
#[doc(inline)]
pub use tool_runtime_export as export;
#[cfg(feature = "otel")]
#[doc(inline)]
pub use tool_runtime_otel as otel;
#[cfg(feature = "policy")]
#[doc(inline)]
pub use tool_runtime_policy as policy;
#[cfg(feature = "remote")]
#[doc(inline)]
pub use tool_runtime_remote as remote;
#[cfg(feature = "search")]
#[doc(inline)]
pub use tool_runtime_search as search;
#[cfg(feature = "shell")]
#[doc(inline)]
pub use tool_runtime_shell as shell;
#[cfg(feature = "skills")]
#[doc(inline)]
pub use tool_runtime_skills as skills;
#[cfg(feature = "testing")]
#[doc(inline)]
pub use tool_runtime_testing as testing;

// What a file with tools, a test and a `main` need. Everything else is in the module of its topic.
#[cfg(feature = "cli")]
#[doc(inline)]
pub use tool_runtime_cli::main;
#[doc(no_inline)]
pub use {
    content::ContentBlock,
    dispatch::CallAction,
    error::{CallError, ErrorClass, ToolError},
    peer::Form,
    pool::{ToolPool, ToolPoolBuilder},
    prompt::{Prompt, PromptMessage},
    resource::Resource,
    secret::Secret,
    tool::{
        Access, Action, IntoObservation, Json, Observation, Tool, ToolAnnotations, ToolCall,
        ToolContext, ToolDefinition, ToolResult,
    },
    tool_runtime_core::vocabulary::{BoxFuture, CancellationToken, Principal},
    toolset::Toolset,
};

#[cfg(feature = "macros")]
#[doc = include_str!("../docs/tool.md")]
pub use tool_macros::tool;

#[cfg(feature = "macros")]
#[doc = include_str!("../docs/prompt.md")]
pub use tool_macros::prompt;

#[cfg(feature = "macros")]
#[doc = include_str!("../docs/resource.md")]
pub use tool_macros::resource;

#[cfg(feature = "macros")]
#[doc = include_str!("../docs/toolset.md")]
pub use tool_macros::toolset;

#[cfg(feature = "macros")]
#[doc = include_str!("../docs/form.md")]
pub use tool_macros::Form;

#[cfg(feature = "external-tools")]
#[doc = include_str!("../docs/external_tools.md")]
pub use tool_macros::external_tools;

/// Items that a file with tools needs: `use tool_runtime::prelude::*;`.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::cli::PoolCommands as _;
    #[doc(no_inline)]
    pub use crate::{
        Action, CallAction, ContentBlock, ErrorClass, Form, IntoObservation, Json, Observation,
        Prompt, PromptMessage, Resource, Tool, ToolCall, ToolContext, ToolDefinition, ToolError,
        ToolPool, ToolResult, Toolset,
        prompt::{PromptAction, Role},
        resource::ResourceAction,
        toolset::SharedBy,
    };
    #[cfg(feature = "macros")]
    #[doc(no_inline)]
    pub use tool_macros::{prompt, resource, tool, toolset};
}

#[cfg(feature = "__fuzz")]
#[doc(hidden)]
pub mod __fuzz;
#[doc(hidden)]
pub use tool_runtime_core::__private;
#[doc(hidden)]
pub use tool_runtime_core::seam as __seam;
