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
//! | tell how far a call is, log, ask the user | [`ToolContext::progress`], [`ToolContext::log`], [`ToolContext::ask`] |
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
//! | `macros` | `#[tool]`, `#[toolset]`, `#[prompt]`, `#[resource]` | yes |
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
//! | an external server's program is ended by | the end of its input, SIGTERM, SIGKILL, to it and all that it started | the end of its input, then it is terminated; what it started stays unless it ends with its input |
//! | what left its process group is ended by | nothing; on Linux by `Subreaper`, as `main!` does | nothing |
//! | it ends when our own process is killed | if it heeds the end of its input | if it heeds the end of its input |
//! | its program is found | in `PATH` | in `PATH`, with the endings of `PATHEXT` |

mod access;
mod action;
mod annotations;
mod approval;
mod arguments;
mod blocking;
mod call;
#[cfg(feature = "cli")]
mod cli;
mod client;
mod completion;
mod constraint;
mod content;
mod context;
mod definition;
mod dispatch;
mod error;
mod hook;
mod icon;
mod input;
#[cfg(feature = "mcp-server")]
mod isolation;
mod issue;
mod limits;
#[cfg(any(feature = "mcp-client", feature = "mcp-server"))]
mod mcp;
mod name;
mod observation;
mod offering;
mod output;
mod output_check;
mod parameter;
mod pattern;
mod peer;
mod pool;
mod principal;
mod prompt;
mod regex;
mod registration;
mod registry;
mod resource;
mod schedule;
mod schema;
#[cfg(feature = "mcp-client")]
mod secret;
#[cfg(feature = "tower")]
mod service;
#[cfg(feature = "testing")]
pub mod testing;
mod texts;
#[cfg(test)]
mod time_limit;
mod tool;
mod toolset;

pub use access::{Access, KeyPart};
pub use action::Action;
pub use annotations::ToolAnnotations;
pub use approval::{Approval, ApprovalRequest, Approver};
pub use arguments::{Arguments, DecodeError};
pub use blocking::BlockingPool;
pub use call::{ToolCall, ToolResult};
#[cfg(feature = "cli")]
pub use cli::Cli;
pub use client::{ClientAnswerError, ClientCall, ClientTools};
pub use completion::{Complete, Completion, Given};
pub use content::{
    ContentAnnotations, ContentBlock, ContentExtra, EmbeddedResource, MediaContent,
    ResourceContents, ResourceLink, TextContent,
};
pub use context::{SessionId, ToolContext};
pub use definition::{TaskSupport, ToolDefinition};
pub use dispatch::{Batch, CallAction};
pub use error::{CallError, ErrorClass, ProtocolError, ToolError};
pub use hook::{After, AfterCall, Before, Hook, HookAnswer, HookCall};
pub use icon::Icon;
pub use issue::Issue;
pub use limits::OutputLimits;
#[cfg(feature = "mcp-client-http")]
pub use mcp::McpHeaderRequest;
#[cfg(feature = "http")]
pub use mcp::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};
#[cfg(feature = "mcp-server")]
pub use mcp::{CacheScope, McpServer};
#[cfg(feature = "mcp-client")]
pub use mcp::{
    HttpConfig, McpAuth, McpChange, McpConfig, McpConfigError, McpConfigLoader, McpConfigProblem,
    McpDiagnosis, McpDiagnosisLevel, McpManager, McpManagerBuilder, McpManagerError, McpOAuth,
    McpPin, McpPins, McpReader, McpServerConfig, McpServerStatus, McpState, McpStatuses, McpText,
    McpTransportConfig, McpUnapproved, McpWriter, StdioConfig, Subreaper,
};
#[cfg(feature = "mcp-client-oauth")]
pub use mcp::{McpAuthPage, McpTokens};
pub use observation::{IntoObservation, Json, Observation};
pub use offering::TextHandler;
pub use pattern::{PatternError, ToolPattern};
pub use peer::{
    Amount, Answer, LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerInfo, PeerRequest,
    Progress, Root, Sample, SampleRequest, Total, TraceContext,
};
pub use pool::{
    AbsentSource, CallRequest, Filter, PoolChange, PoolChanges, PoolError, PoolProblem, PoolReport,
    PoolSession, Restriction, Selector, SelectorError, Snapshot, Source, ToolPool, ToolPoolBuilder,
    ToolReport, ToolStatus,
};
pub use principal::Principal;
pub use prompt::{
    IntoPrompt, Prompt, PromptAction, PromptArgument, PromptBuilder, PromptDefinition,
    PromptMessage, PromptMessages, Role,
};
pub use registration::Registration;
pub use registry::{
    ConfigError, PoolConfig, Registry, RegistryError, SpecProblem, ToolFactory, ToolSpec, Tools,
};
pub use resource::{
    IntoResource, Reading, Resource, ResourceAction, ResourceBuilder, ResourceDefinition,
};
#[cfg(feature = "mcp-client")]
pub use secret::Secret;
#[cfg(feature = "tower")]
pub use service::CallService;
pub use texts::TextArguments;
pub use tokio_util::sync::CancellationToken;
pub use tool::{BoxFuture, Executor, Handler, Tool, ToolBuilder};
pub use toolset::{SharedBy, Toolset, ToolsetError, ToolsetKind, ToolsetMethods};

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

/// What a file with tools needs: `use tool_runtime::prelude::*;`.
pub mod prelude {
    pub use crate::action::Action;
    pub use crate::call::{ToolCall, ToolResult};
    pub use crate::content::ContentBlock;
    pub use crate::context::ToolContext;
    pub use crate::definition::ToolDefinition;
    pub use crate::dispatch::CallAction;
    pub use crate::error::{ErrorClass, ToolError};
    pub use crate::observation::{IntoObservation, Json, Observation};
    pub use crate::pool::ToolPool;
    pub use crate::prompt::{Prompt, PromptAction, PromptMessage, Role};
    pub use crate::resource::{Resource, ResourceAction};
    pub use crate::tool::Tool;
    pub use crate::toolset::Toolset;
    #[cfg(feature = "macros")]
    pub use tool_macros::{prompt, resource, tool, toolset};
}

#[cfg(fuzzing)]
#[doc(hidden)]
pub mod __fuzz;
#[doc(hidden)]
pub mod __private;
