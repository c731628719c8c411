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
//! In reading order:
//!
//! 1. [`#[tool]`](macro@tool): parameters, return values, every option.
//! 2. [`guide::parameters`]: arguments, state and context side by side.
//! 3. [`guide::axum`]: state that an axum application and its tools share.
//! 4. [`guide::results`]: structured results, `?` in tools, an error enum of your own.
//! 5. [`guide::testing`]: tests of a server that `main!` writes.
//! 6. [`guide::pools`]: the builder's methods, toolsets with parameters and prefixes, hooks.
//! 7. [`guide::selectors`]: how rules name tools.
//! 8. [`guide::models`]: requests to Anthropic, OpenAI and Gemini with the tools of a pool.
//! 9. [`guide::remote`]: tools on other machines, what is promised, how to operate them.
//! 10. [`guide::clients`]: registration with Claude Code, Claude Desktop, VS Code, Cursor and Codex.
//!
//! # Find an item
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
//! | identify the caller | [`Principal`], `HttpOptions::auth`, `BearerTokens`, `JwtVerifier` |
//! | require scopes for a tool | `#[tool(scope = "..")]`, [`Principal::may_use`] |
//! | **Pools** | |
//! | assemble, filter and call tools | [`ToolPool`], [`ToolPoolBuilder`], [`Selector`] |
//! | create tools from a configuration | [`Registry`], [`ToolSpec`], [`PoolConfig`] |
//! | search the tools of a large pool | `search::ToolIndex`, `search::ToolSearch` |
//! | narrow what an agent or a skill sees | [`ToolPool::restrict`], [`ToolPool::scope`] |
//! | load skills from folders with `SKILL.md` | `skills::SkillLibrary`, `skills::Skills` |
//! | run many calls at once | [`ToolPool::call_all`], [`Batch`], [`Access`] |
//! | call a tool from a tool | [`ToolContext::call`] |
//! | enforce lists of tools such as `Read, Bash(git *)` | [`DeclaredTools`], [`ToolPool::restrict_declared`] |
//! | check, rewrite, approve, log calls | [`Hook`], [`Approver`] |
//! | have models judge the risk of their calls | [`MetaParameters`], [`Risk`] |
//! | write rules about calls in YAML, TOML, JSON or code | `policy::Policy` |
//! | decide about calls, hide tools, limit and record calls | [`PolicyEngine`], [`Limiter`], [`Recorder`] |
//! | keep a tamper-evident log of calls | `audit::EventLog` |
//! | mask secrets, expand them in arguments | `Secrets`, `SecretTemplate` |
//! | repeat an execution without repeating its calls | [`Execution`], [`StepStore`] |
//! | limit the size of results | [`OutputLimits`] |
//! | change a running pool, follow its changes | [`ToolPool::add_tools`], [`Source`], [`ToolPool::changes`] |
//! | let the host program run the calls | [`ClientTools`] |
//! | call without `.await`, or through tower | [`BlockingPool`], `ToolPoolBuilder::layer` |
//! | answer the questions of tools in an agent | [`Peer`] |
//! | start an agent from a tool | [`AgentSpawner`] |
//! | end the run of an agent from a tool, send it messages | [`AgentRun`], [`AgentMailbox`] |
//! | ask the user of a client, keep questions in an inbox, remember answers | `approvals` |
//! | ask a person at the terminal | `TerminalApprover` |
//! | **Servers** | |
//! | ship a server binary | `main!`, `Cli`, [`McpServer`] |
//! | add a command to its command line | [`CliCommand`], [`ToolPoolBuilder::command`] |
//! | assemble the pool by options of the program | `ProgramOptions`, `Cli::options` |
//! | serve over HTTP | [`McpServer::serve_http`], `HttpOptions`, `Authenticate` |
//! | test a server, detect changed schemas | `testing` |
//! | **External MCP servers** | |
//! | call tools by types | [`CallAction`], `external_tools!` |
//! | change names, texts and arguments of tools | [`ToolTransform`], [`ToolPoolBuilder::transform`] |
//! | read `mcpServers` files | [`McpConfig`], [`McpServerConfig`] |
//! | connect servers and add their tools to a pool | [`McpManager`], [`McpServerStatus`], [`McpState`] |
//! | set headers, let a user log in | [`McpManagerBuilder::headers`], [`McpManagerBuilder::oauth`] |
//! | answer what servers ask | [`McpManagerBuilder::peer`], [`Peer::request`] |
//! | hold back tools that change after approval | [`McpPins`], [`McpManager::unapproved`] |
//! | **Other machines** | |
//! | run the tools of a pool for others | `remote::Runner`, the command `run` |
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
//! | `mcp-server` | the MCP server over stdio | by `cli` |
//! | `http` | the MCP server over HTTP: sessions, authentication, limits | no |
//! | `jwt` | authentication by JSON Web Tokens, `JwtVerifier`; implies `http` | no |
//! | `export` | tools in the formats of model APIs | no |
//! | `search` | ranked search over the tools of a pool | no |
//! | `policy` | policies: rules about calls, limits, permission modes | no |
//! | `audit` | the log of calls: SQLite, JSONL or memory | no |
//! | `secrets` | secrets, masked in everything that leaves a pool | by `mcp-client` |
//! | `approvals` | approval by the caller, by an inbox, remembered answers | no |
//! | `shell` | patterns of shell commands in declarations | no |
//! | `skills` | skills of agents: folders with `SKILL.md`, the tool `Skill` | no |
//! | `mcp-client` | tools of external MCP servers over stdio | no |
//! | `mcp-client-http` | external MCP servers over HTTP | no |
//! | `mcp-client-oauth` | OAuth tokens for these servers | no |
//! | `toml`, `yaml` | [`PoolConfig`] and [`McpConfig`] in TOML, in YAML | no |
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

#[cfg(doc)]
pub mod guide;
pub mod mcp;

#[cfg(feature = "approvals")]
#[doc(inline)]
pub use tool_runtime_approvals as approvals;
#[cfg(feature = "audit")]
#[doc(inline)]
pub use tool_runtime_audit as audit;
#[cfg(feature = "cli")]
#[doc(inline)]
pub use tool_runtime_cli::{Cli, ProgramArguments, ProgramOptions, TerminalApprover, main};
#[cfg(feature = "tower")]
#[doc(inline)]
pub use tool_runtime_core::dispatch::CallService;
#[doc(inline)]
pub use tool_runtime_core::dispatch::{
    Batch, BlockingPool, CallAction, TypedArguments, TypedValue,
};
pub use tool_runtime_core::govern::hook::{After, AfterCall, Before, Hook, HookAnswer, HookCall};
pub use tool_runtime_core::govern::{
    Approval, ApprovalRequest, Approver, Approvers, AskCaller, Begin, CallEvent, CallNumber,
    CallStage, CallView, Decision, EditError, Effect, Limit, LimitExceeded, Limiter, Measure,
    MetaParameters, Or, OutputLimits, PolicyEngine, QuestionText, Receipt, RecordError, Recorder,
    Refill, Remember, Reservation, Risk, StepStore,
};
pub use tool_runtime_core::pool::CallRequest;
pub use tool_runtime_core::pool::{
    AbsentSource, ArgumentCount, CliCommand, CommandArgument, CommandArguments, CommandForm,
    CommandOption, ConfigError, DeclarationReport, DeclarationStatus, DeclaredTools, Filter,
    PoolChange, PoolChanges, PoolConfig, PoolError, PoolExtension, PoolProblem, PoolReport,
    PoolSession, Registry, RegistryError, Restriction, Selector, SelectorError, Snapshot,
    SpecProblem, ToolFactory, ToolPool, ToolPoolBuilder, ToolReport, ToolSpec, ToolStatus, Tools,
    WithToolsets, WithoutToolsets,
};
pub use tool_runtime_core::tool::agent::{
    AgentHandle, AgentMailbox, AgentOutcome, AgentRun, AgentSpawner, SpawnKind, SpawnRequest,
};
pub use tool_runtime_core::tool::peer::{
    Amount, Answer, Form, FormChoice, FormField, LogEntry, LogLevel, Peer, PeerCapability,
    PeerError, PeerInfo, PeerRequest, Progress, Root, SamplingRequest, SamplingResult, Total,
    TraceContext,
};
pub use tool_runtime_core::tool::prompt::{
    IntoPrompt, Prompt, PromptAction, PromptArgument, PromptBuilder, PromptDefinition,
    PromptMessage, PromptMessages, Role,
};
pub use tool_runtime_core::tool::resource::{
    IntoResource, ReadRequest, Resource, ResourceAction, ResourceBuilder, ResourceDefinition,
};
pub use tool_runtime_core::tool::toolset::{
    SharedBy, Toolset, ToolsetError, ToolsetKind, ToolsetMethods,
};
pub use tool_runtime_core::tool::transform::{ArgumentTransform, ToolTransform, TransformError};
pub use tool_runtime_core::tool::{
    Access, Action, Arguments, ClientAnswerError, ClientCall, ClientTools, Complete, Completion,
    CompletionContext, DecodeError, Execution, Executor, Handler, IntoObservation, Json, KeyPart,
    Observation, OfferingBuilder, Registration, Repair, RepairKind, Requirement, RequirementState,
    SessionId, Source, StepId, TaskSupport, TextArguments, TextHandler, Tool, ToolBuilder,
    ToolCall, ToolContext, ToolDefinition, ToolResult,
};
#[cfg(feature = "secrets")]
#[doc(inline)]
pub use tool_runtime_core::tool::{SecretTemplate, Secrets, UnknownSecret};
pub use tool_runtime_core::vocabulary::Redactor;
pub use tool_runtime_core::vocabulary::content::{
    ContentAnnotations, ContentBlock, ContentExtra, EmbeddedResource, Icon, MediaContent,
    ResourceContents, ResourceLink, TextContent,
};
pub use tool_runtime_core::vocabulary::error::{
    CallError, ErrorClass, Issue, ProtocolError, ToolError,
};
pub use tool_runtime_core::vocabulary::matching::{
    ArgumentMatch, ArgumentMatcher, ArgumentPart, Declaration, Declarations, MatchAs, Matcher,
    PathMatcher, PatternError, ToolPattern, UrlMatcher,
};
pub use tool_runtime_core::vocabulary::{
    BoxFuture, CancellationToken, Principal, RetryMode, Secret, ToolAnnotations, Usage,
};
#[cfg(feature = "export")]
#[doc(inline)]
pub use tool_runtime_export as export;
#[cfg(feature = "jwt")]
#[doc(inline)]
pub use tool_runtime_jwt::{JwtError, JwtVerifier, JwtVerifierBuilder};
#[cfg(feature = "policy")]
#[doc(inline)]
pub use tool_runtime_policy as policy;
#[cfg(feature = "remote")]
#[doc(inline)]
pub use tool_runtime_remote as remote;
#[cfg(feature = "search")]
#[doc(inline)]
pub use tool_runtime_search as search;
#[cfg(feature = "mcp-server")]
#[doc(inline)]
pub use tool_runtime_server::CacheScope;
#[cfg(feature = "http")]
#[doc(inline)]
pub use tool_runtime_server::{
    AuthRejection, Authenticate, BearerTokens, HttpOptions, ProtectedResource, TokensError,
};
#[cfg(feature = "shell")]
#[doc(inline)]
pub use tool_runtime_shell as shell;
#[cfg(feature = "skills")]
#[doc(inline)]
pub use tool_runtime_skills as skills;
#[cfg(feature = "testing")]
#[doc(inline)]
pub use tool_runtime_testing as testing;

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
    #[cfg(feature = "macros")]
    #[doc(no_inline)]
    pub use tool_macros::{Form, prompt, resource, tool, toolset};
    #[doc(no_inline)]
    pub use tool_runtime_core::dispatch::CallAction;
    pub use tool_runtime_core::pool::ToolPool;
    pub use tool_runtime_core::tool::peer::Form;
    pub use tool_runtime_core::tool::prompt::{Prompt, PromptAction, PromptMessage, Role};
    pub use tool_runtime_core::tool::resource::{Resource, ResourceAction};
    pub use tool_runtime_core::tool::toolset::{SharedBy, Toolset};
    pub use tool_runtime_core::tool::{
        Action, IntoObservation, Json, Observation, Tool, ToolCall, ToolContext, ToolDefinition,
        ToolResult,
    };
    pub use tool_runtime_core::vocabulary::content::ContentBlock;
    pub use tool_runtime_core::vocabulary::error::{ErrorClass, ToolError};
}

#[cfg(feature = "__fuzz")]
#[doc(hidden)]
pub mod __fuzz;
#[doc(hidden)]
pub use tool_runtime_core::__private;
