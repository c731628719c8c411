//! Rules for the calls of a pool.

use crate::approval::Approver;
use crate::call::ToolCall;
#[cfg(feature = "tower")]
use crate::call::ToolResult;
use crate::context::ToolContext;
#[cfg(feature = "tower")]
use crate::error::BoxError;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::governance::{ExtendParameters, GovernCalls, MetaArguments};
use crate::hook::ErasedHooks;
use crate::limits::Limits;
use crate::mask::Mask;
use crate::matching::{ArgumentMatcher, MatchedArgument};
use crate::observation::Observation;
use crate::pattern::ToolPattern;
use crate::repair::RepairCalls;
use crate::schedule::SharedQueue;
use crate::tool::Tool;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::RwLock;
#[cfg(feature = "tower")]
use tower::util::BoxCloneSyncService;

/// The default limit on the concurrent calls of a batch.
const BATCH_LIMIT: usize = 10;

/// The rules for the calls of a pool, beside the tools themselves.
pub(crate) struct Governance {
    /// The timeout of calls to tools without one.
    pub(crate) timeout: Option<Duration>,
    /// Limit on the concurrent calls of a batch.
    pub(crate) batch_limit: usize,
    pub(crate) hooks: Option<Arc<dyn ErasedHooks>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// Policies, limiter and recorders. With these, every tool has hooks.
    pub(crate) seams: Option<Arc<dyn GovernCalls>>,
    pub(crate) limits: Option<Arc<dyn Limits>>,
    /// Masks secrets in outcomes.
    pub(crate) mask: Option<Arc<dyn Mask>>,
    /// Whether structured results of generated tools are checked against their schema, too.
    pub(crate) checks_outputs: bool,
    /// The queue for declared resources.
    pub(crate) queue: SharedQueue,
    /// The repairs of calls that would be rejected.
    pub(crate) repair: Option<&'static dyn RepairCalls>,
    /// The matchers of arguments besides the built-in ones.
    pub(crate) matchers: Vec<Arc<dyn ArgumentMatcher>>,
    /// The arguments of tools that patterns are about, in addition to those that tools name.
    pub(crate) matched: Vec<(ToolPattern, MatchedArgument)>,
    /// The parameters that the pool adds to its tools.
    pub(crate) meta_parameters: Option<Arc<dyn ExtendParameters>>,
    /// The layers around every call.
    pub(crate) layered: Option<Arc<dyn Layered>>,
}

impl Default for Governance {
    fn default() -> Self {
        Self {
            timeout: None,
            batch_limit: BATCH_LIMIT,
            hooks: None,
            approver: None,
            seams: None,
            limits: None,
            mask: None,
            checks_outputs: false,
            queue: SharedQueue::default(),
            repair: None,
            matchers: Vec::new(),
            matched: Vec::new(),
            meta_parameters: None,
            layered: None,
        }
    }
}

impl Governance {
    /// Whether every call of every tool is intercepted. Hooks are looked up by tool.
    pub(crate) fn intercepts_all(&self) -> bool {
        self.limits.is_some()
            || self.checks_outputs
            || self.meta_parameters.is_some()
            || self.mask.is_some()
    }

    /// The outcome without secrets.
    #[inline]
    pub(crate) fn masked(
        &self,
        outcome: Result<Observation, CallError>,
    ) -> Result<Observation, CallError> {
        match self.mask.as_deref() {
            None => outcome,
            Some(mask) => match outcome {
                Ok(observation) => Ok(observation.masked(mask)),
                Err(error) => Err(error.masked(mask)),
            },
        }
    }

    /// Extracts the meta parameters of a call. `None` if it has none.
    pub(crate) fn extract_meta(&self, tool: &Tool, arguments: &str) -> Option<MetaArguments> {
        self.meta_parameters.as_ref()?.extract(tool, arguments, self.repair)
    }
}

/// One call with everything needed to run it: the request of layers.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "tower"), allow(dead_code))]
pub struct CallRequest {
    pub(crate) inside: Arc<dyn Innermost>,
    pub(crate) call: ToolCall,
    pub(crate) context: ToolContext,
    /// Locked by each attempt that runs inside of all layers.
    pub(crate) attempts: Arc<RwLock<()>>,
}

/// Runs calls inside of all layers: the pool.
pub(crate) trait Innermost: fmt::Debug + Send + Sync {
    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>>;
}

/// The layers around every call, type-erased. A trait, so that only programs with layers link the
/// code that calls them.
pub(crate) trait Layered: Send + Sync {
    /// Runs a call through all layers.
    fn call<'a>(
        &'a self,
        inside: Arc<dyn Innermost>,
        call: ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>>;

    /// The layer as a `tower` service, for the next layer to wrap and poll for readiness.
    #[cfg(feature = "tower")]
    fn service(&self) -> BoxCloneSyncService<CallRequest, ToolResult, BoxError>;
}
