//! The core of `tool-runtime`: vocabulary, schemas, tools, pool and dispatch. Users depend on
//! `tool-runtime`, which exports everything public here.
//!
//! Modules are on floors and import only from their own floor and below; `tests/suite` checks it.
//! `__private` (for generated code), `seam` (for the other crates) and `__fuzz` re-export only.
//!
//! | Floor | Modules | Topic |
//! |---|---|---|
//! | 6 edges | `blocking`, `service` | the pool for threads without `.await`, and for tower |
//! | 5 dispatch | `dispatch` | the stages of a call; batches; typed calls |
//! | 4 pool | `pool`, `registry` | builder, offers, snapshots, restrictions, changes; specifications |
//! | 3 governance | `agent_run`, `agent_spawner`, `approval`, `client_executed`, `export`, `governance`, `hook`, `limits` | rules around calls; calls that the host executes |
//! | 2 tool | `access`, `action`, `arguments`, `call`, `completion`, `constraint`, `context`, `definition`, `input`, `isolation`, `observation`, `offering`, `output`, `output_check`, `parameter`, `peer`, `prompt`, `registration`, `repair`, `resource`, `schedule`, `schema`, `secrets`, `source`, `texts`, `tool`, `toolset`, `transform`, `visual` | one tool, prompt or resource: arguments, execution, result; the caller; the schedule |
//! | 1 vocabulary | `annotations`, `canonical`, `content`, `declaration`, `error`, `future`, `hex`, `icon`, `issue`, `loopback`, `mask`, `matching`, `name`, `need`, `pattern`, `principal`, `printable`, `program`, `redactor`, `regex`, `sealed`, `secret`, `sync`, `tokens`, `unique_keys`, `usage`, `wire_name` | shared terms |
//!
//! Governance is below the pool, because a pool owns its hooks and limits and passes them what they need.
//!
//! Binaries link only what they use: the host of a context is an `Any` that only `ToolContext::call_all` downcasts; the
//! end of a dropped toolset is a function pointer; the engines of patterns and formats are enabled by what needs them.

mod access;
mod action;
mod agent_run;
mod agent_spawner;
mod annotations;
mod approval;
mod arguments;
mod blocking;
mod call;
mod canonical;
mod client_executed;
mod completion;
mod constraint;
mod content;
mod context;
mod declaration;
mod definition;
mod dispatch;
mod error;
mod export;
mod future;
mod governance;
mod hex;
mod hook;
mod icon;
mod input;
#[cfg(feature = "isolation")]
mod isolation;
mod issue;
mod limits;
mod loopback;
mod mask;
mod matching;
mod name;
mod need;
mod observation;
mod offering;
mod output;
mod output_check;
mod parameter;
mod pattern;
mod peer;
mod pool;
mod principal;
mod printable;
mod program;
mod prompt;
#[cfg(test)]
#[path = "../property.rs"]
mod property;
#[cfg(feature = "redact")]
mod redactor;
mod regex;
mod registration;
mod registry;
mod repair;
mod resource;
mod schedule;
mod schema;
mod sealed;
mod secret;
#[cfg(feature = "redact")]
mod secrets;
#[cfg(feature = "tower")]
mod service;
mod source;
mod sync;
mod texts;
#[cfg(test)]
mod time_limit;
mod tokens;
mod tool;
mod toolset;
mod transform;
mod unique_keys;
mod usage;
mod visual;
mod wire_name;

pub use access::{Access, KeyPart};
pub use action::Action;
pub use agent_run::{AgentMailbox, AgentRun};
pub use agent_spawner::{AgentHandle, AgentOutcome, AgentSpawner, SpawnKind, SpawnRequest};
pub use annotations::{RetryMode, ToolAnnotations};
pub use approval::{
    Approval, ApprovalRequest, Approver, Approvers, AskCaller, EditError, Or, QuestionText,
    Remember,
};
pub use arguments::{Arguments, DecodeError};
pub use blocking::BlockingPool;
pub use call::{ToolCall, ToolResult};
pub use client_executed::{ClientAnswerError, ClientCall, ClientTools};
pub use completion::{Complete, Completion, CompletionContext};
pub use content::{
    ContentAnnotations, ContentBlock, ContentExtra, EmbeddedResource, MediaContent,
    ResourceContents, ResourceLink, TextContent,
};
pub use context::{Execution, SessionId, StepId, ToolContext};
pub use declaration::{Declaration, Declarations};
pub use definition::{TaskSupport, ToolDefinition};
pub use dispatch::{Batch, CallAction, TypedArguments, TypedValue};
pub use error::{CallError, ErrorClass, ProtocolError, ToolError};
pub use export::{
    ApiFormat, ChangeKind, Export, Exported, FinishReason, ImportError, LeftOut, RestoreArguments,
    SchemaChange, ToolExport,
};
pub use future::BoxFuture;
pub use governance::{
    Begin, CallEvent, CallNumber, CallStage, CallView, Decision, Effect, Limit, LimitExceeded,
    Limiter, Measure, MetaParameters, PolicyEngine, Receipt, RecordError, Recorder, Refill,
    Reservation, Risk, StepStore,
};
pub use hook::{After, AfterCall, Before, Hook, HookAnswer, HookCall};
pub use icon::Icon;
pub use issue::Issue;
pub use limits::OutputLimits;
pub use matching::{
    ArgumentMatch, ArgumentMatcher, ArgumentPart, MatchAs, Matcher, PathMatcher, UrlMatcher,
};
pub use observation::{IntoObservation, Json, Observation};
pub use offering::{OfferingBuilder, TextHandler};
pub use pattern::{PatternError, ToolPattern};
pub use peer::{
    Amount, Answer, Form, FormChoice, FormField, LogEntry, LogLevel, Peer, PeerCapability,
    PeerError, PeerInfo, PeerRequest, Progress, Root, SamplingRequest, SamplingResult, Total,
    TraceContext,
};
pub use pool::{
    AbsentSource, ArgumentCount, CliCommand, CommandArgument, CommandArguments, CommandForm,
    CommandOption, DeclarationReport, DeclarationStatus, DeclaredTools, Filter, PoolChange,
    PoolChanges, PoolError, PoolExtension, PoolProblem, PoolReport, PoolSession, Restriction,
    Selector, SelectorError, Snapshot, Source, ToolPool, ToolPoolBuilder, ToolReport, ToolStatus,
    WithToolsets, WithoutToolsets,
};
pub use principal::Principal;
pub use prompt::{
    IntoPrompt, Prompt, PromptAction, PromptArgument, PromptBuilder, PromptDefinition,
    PromptMessage, PromptMessages, Role,
};
#[cfg(feature = "redact")]
pub use redactor::Redactor;
pub use registration::Registration;
pub use registry::{
    ConfigError, PoolConfig, Registry, RegistryError, SpecProblem, ToolFactory, ToolSpec, Tools,
};
pub use repair::{Repair, RepairKind};
pub use resource::{
    IntoResource, ReadRequest, Resource, ResourceAction, ResourceBuilder, ResourceDefinition,
};
pub use secret::Secret;
#[cfg(feature = "redact")]
pub use secrets::{SecretTemplate, Secrets, UnknownSecret};
pub use texts::TextArguments;
pub use tokio_util::sync::CancellationToken;
pub use tool::{Executor, Handler, Requirement, RequirementState, Tool, ToolBuilder};
pub use toolset::{SharedBy, Toolset, ToolsetError, ToolsetKind, ToolsetMethods};
pub use transform::{ArgumentTransform, ToolTransform, TransformError};
pub use usage::Usage;
#[cfg(feature = "tower")]
pub use {pool::CallRequest, service::CallService};

#[cfg(feature = "__fuzz")]
#[doc(hidden)]
pub mod __fuzz;
#[doc(hidden)]
pub mod __private;
#[doc(hidden)]
pub mod seam;
