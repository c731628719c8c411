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
//! # Where things are
//!
//! | You want to | Look at |
//! |---|---|
//! | make a tool from a function | [`#[tool]`](macro@tool) |
//! | make tools of the methods of one value | [`#[toolset]`](macro@toolset), [`Toolset`] |
//! | make a tool from a closure | [`Tool::builder`] |
//! | make tools that share state | [`#[toolset]`](macro@toolset), [`Toolset`] |
//! | offer a prompt, a resource | [`#[prompt]`](macro@prompt), [`#[resource]`](macro@resource), [`Prompt::builder`], [`Resource::builder`] |
//! | put tools together, filter and call them | [`ToolPool`], [`ToolPoolBuilder`], [`Selector`] |
//! | make tools of what a configuration says | [`Registry`], [`ToolSpec`], [`PoolConfig`] |
//! | narrow what an agent or a skill sees | [`ToolPool::restrict`], [`ToolPool::scope`] |
//! | make many calls at once | [`ToolPool::call_all`], [`Batch`], [`Access`] |
//! | call a tool from a tool | [`ToolContext::call`] |
//! | check, rewrite, ask, log around calls | [`Hook`], [`Approver`] |
//! | keep results small | [`OutputLimits`] |
//! | change a running pool, hear of changes | [`ToolPool::add_tools`], [`Source`], [`ToolPool::changes`] |
//! | let the host program do the calls | [`ClientTools`] |
//! | call without `.await`, or through tower | [`BlockingPool`], `ToolPoolBuilder::layer` |
//! | return images, errors, structured values | [`Observation`], [`ToolError`], [`Json`] |
//! | use state, cancellation, deadlines | [`ToolContext`] |
//! | tell how far a call is, log, ask the user | [`ToolContext::progress`], [`ToolContext::log`], [`ToolContext::ask`], [`Form`](trait@Form) |
//! | hear and answer that in an agent of your own | [`Peer`] |
//! | know who calls | [`Principal`], `HttpOptions::auth` |
//! | test a server, keep its schemas from changing unseen | `testing` |
//! | serve over HTTP | `McpServer::serve_http`, `HttpOptions`, `Authenticate` |
//! | ship a server binary | `main!`, `Cli`, `McpServer` |
//! | say which external MCP servers there are | `McpConfig`, `McpServerConfig` |
//! | make their tools tools of a pool, and look after them | `McpManager`, `McpServerStatus`, `McpState` |
//! | give them headers, let a person log in | `McpManagerBuilder::headers`, `McpManagerBuilder::oauth` |
//! | answer what they ask | `McpManagerBuilder::peer`, [`Peer::request`] |
//! | hold back tools that change after they were approved | `McpPins`, `McpManager::unapproved` |
//!
//! # Features
//!
//! | Feature | What for | Default |
//! |---|---|---|
//! | `macros` | `#[tool]`, `#[toolset]`, `#[prompt]`, `#[resource]`, `#[derive(Form)]` | yes |
//! | `linked` | link-time registration, [`ToolPoolBuilder::linked`] | yes |
//! | `mcp-server` | the MCP server over stdio | by `cli` |
//! | `http` | the MCP server over HTTP: sessions, authentication, limits | no |
//! | `mcp-client` | the tools of external MCP servers in the pool | no |
//! | `mcp-client-http` | external MCP servers over HTTP as well | no |
//! | `mcp-client-oauth` | tokens for them by OAuth | no |
//! | `toml`, `yaml` | [`PoolConfig`] from TOML, from YAML | no |
//! | `tower` | the pool as a `tower::Service`, layers around its calls | no |
//! | `testing` | an MCP client in memory and schema snapshots, for tests | no |
//! | `cli` | the command line of the generated binary, `main!` | yes |
//!
//! # Systems
//!
//! Tested on Linux. The others are compiled and differ in this:
//!
//! | | macOS | Windows |
//! |---|---|---|
//! | a server of ours over stdio | pipes have a thread each | so has everything; what C code prints reaches the protocol |
//! | `serve` is told to end by | SIGTERM, SIGINT | Ctrl-C only |
//! | over HTTP, a client whose machine is gone is noticed | when the system asks for it, after hours | when something is written to it |
//! | what `OutputLimits` keeps in files may be read by | its user | whoever may read the folder |
//! | an external server's program is ended by | the end of its input, SIGTERM, SIGKILL, to it and all that it started | the end of its input, then it is terminated with all that it started |
//! | what left its process group is ended by | nothing; on Linux by `Subreaper`, as `main!` does | nothing: it cannot leave its job |
//! | it ends when our own process is killed | if it heeds the end of its input | with all that it started |
//! | its program is found | in `PATH` | in `PATH`, with the endings of `PATHEXT` |

#[cfg(feature = "cli")]
#[doc(inline)]
pub use tool_runtime_cli::{Cli, main};
#[cfg(feature = "mcp-client-http")]
#[doc(inline)]
pub use tool_runtime_client::McpHeaderRequest;
#[cfg(feature = "mcp-client-oauth")]
#[doc(inline)]
pub use tool_runtime_client::{McpAuthPage, McpTokens};
#[cfg(feature = "mcp-client")]
#[doc(inline)]
pub use tool_runtime_client::{
    McpChange, McpManager, McpManagerBuilder, McpManagerError, McpPin, McpPins, McpReader,
    McpServerStatus, McpState, McpStatuses, McpUnapproved, McpWriter, Subreaper,
};
#[cfg(feature = "mcp-client")]
#[doc(inline)]
pub use tool_runtime_config::{
    HttpConfig, McpAuth, McpConfig, McpConfigError, McpConfigLoader, McpConfigProblem,
    McpDiagnosis, McpDiagnosisLevel, McpOAuth, McpServerConfig, McpText, McpTransportConfig,
    StdioConfig,
};
#[cfg(feature = "tower")]
#[doc(inline)]
pub use tool_runtime_core::CallService;
#[doc(inline)]
pub use tool_runtime_core::{
    AbsentSource, Access, Action, After, AfterCall, Amount, Answer, Approval, ApprovalRequest,
    Approver, Arguments, Batch, Before, BlockingPool, BoxFuture, CallAction, CallError,
    CallRequest, CancellationToken, ClientAnswerError, ClientCall, ClientTools, Complete,
    Completion, CompletionContext, ConfigError, ContentAnnotations, ContentBlock, ContentExtra,
    DecodeError, EmbeddedResource, ErrorClass, Executor, Filter, Form, FormChoice, FormField,
    Handler, Hook, HookAnswer, HookCall, Icon, IntoObservation, IntoPrompt, IntoResource, Issue,
    Json, KeyPart, LogEntry, LogLevel, MediaContent, Observation, OfferingBuilder, OutputLimits,
    PatternError, Peer, PeerCapability, PeerError, PeerInfo, PeerRequest, PoolChange, PoolChanges,
    PoolConfig, PoolError, PoolProblem, PoolReport, PoolSession, Principal, Progress, Prompt,
    PromptAction, PromptArgument, PromptBuilder, PromptDefinition, PromptMessage, PromptMessages,
    ProtocolError, ReadRequest, Registration, Registry, RegistryError, Resource, ResourceAction,
    ResourceBuilder, ResourceContents, ResourceDefinition, ResourceLink, Restriction, Role, Root,
    SamplingRequest, SamplingResult, Secret, Selector, SelectorError, SessionId, SharedBy,
    Snapshot, Source, SpecProblem, TaskSupport, TextArguments, TextContent, TextHandler, Tool,
    ToolAnnotations, ToolBuilder, ToolCall, ToolContext, ToolDefinition, ToolError, ToolFactory,
    ToolPattern, ToolPool, ToolPoolBuilder, ToolReport, ToolResult, ToolSpec, ToolStatus, Tools,
    Toolset, ToolsetError, ToolsetKind, ToolsetMethods, Total, TraceContext,
};
#[cfg(feature = "http")]
#[doc(inline)]
pub use tool_runtime_server::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};
#[cfg(feature = "mcp-server")]
#[doc(inline)]
pub use tool_runtime_server::{CacheScope, McpServer};
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

/// What a file with tools needs: `use tool_runtime::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "macros")]
    #[doc(no_inline)]
    pub use tool_macros::{Form, prompt, resource, tool, toolset};
    #[doc(no_inline)]
    pub use tool_runtime_core::{
        Action, CallAction, ContentBlock, ErrorClass, Form, IntoObservation, Json, Observation,
        Prompt, PromptAction, PromptMessage, Resource, ResourceAction, Role, Tool, ToolCall,
        ToolContext, ToolDefinition, ToolError, ToolPool, ToolResult, Toolset,
    };
}

#[cfg(fuzzing)]
#[doc(hidden)]
pub mod __fuzz;
#[doc(hidden)]
pub use tool_runtime_core::__private;
