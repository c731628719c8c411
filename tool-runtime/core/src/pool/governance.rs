//! Rules for the calls of a pool.

#[cfg(feature = "tower")]
use super::layers::Layers;
use super::problem::PoolProblem;
use crate::govern::approval::{Approver, AskCaller};
use crate::govern::hook::Hooks;
use crate::govern::limits::OutputLimits;
use crate::govern::{Governors, MetaArguments, MetaParameters, PolicyEngine};
use crate::tool::concurrency::schedule::SharedQueue;
use crate::tool::results::observation::Observation;
use crate::tool::tool::Tool;
use crate::vocabulary::error::CallError;
use crate::vocabulary::mask::Mask;
use crate::vocabulary::matching::pattern::ToolPattern;
use crate::vocabulary::matching::{ArgumentMatcher, MatchedArgument};
use std::sync::Arc;
use std::time::Duration;

/// The default limit on the concurrent calls of a batch.
const BATCH_LIMIT: usize = 10;

/// The rules for the calls of a pool, besides the tools themselves.
pub(crate) struct Governance {
    /// The timeout of calls to tools without one.
    pub(crate) timeout: Option<Duration>,
    /// Limit on the concurrent calls of a batch.
    pub(crate) batch_limit: usize,
    pub(crate) hooks: Arc<Hooks>,
    /// `None`: the caller is asked.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// Policies, limiter and recorders.
    pub(crate) governors: Arc<Governors>,
    pub(crate) limits: Option<OutputLimits>,
    /// Masks secrets in outcomes.
    pub(crate) mask: Option<Arc<dyn Mask>>,
    /// Whether structured results of generated tools are checked against their schema, too.
    pub(crate) checks_outputs: bool,
    /// The queue for declared resources.
    pub(crate) queue: SharedQueue,
    /// Whether calls that would be rejected are repaired.
    pub(crate) repairs: bool,
    /// The matchers of arguments besides the built-in ones.
    pub(crate) matchers: Vec<Arc<dyn ArgumentMatcher>>,
    /// The arguments of tools that patterns are about, in addition to those that tools name.
    pub(crate) matched: Vec<(ToolPattern, MatchedArgument)>,
    /// The parameters that the pool adds to its tools.
    pub(crate) meta_parameters: Option<MetaParameters>,
    /// The layers around every call.
    #[cfg(feature = "tower")]
    pub(crate) layers: Option<Layers>,
}

impl Default for Governance {
    fn default() -> Self {
        Self {
            timeout: None,
            batch_limit: BATCH_LIMIT,
            hooks: Arc::default(),
            approver: None,
            governors: Arc::default(),
            limits: None,
            mask: None,
            checks_outputs: false,
            queue: SharedQueue::default(),
            repairs: false,
            matchers: Vec::new(),
            matched: Vec::new(),
            meta_parameters: None,
            #[cfg(feature = "tower")]
            layers: None,
        }
    }
}

impl Governance {
    /// Whether all calls take the governed path, whatever their tool is.
    pub(crate) fn governs_all(&self) -> bool {
        let has_ending = self.limits.is_some() || self.checks_outputs || self.mask.is_some();
        has_ending || self.repairs || self.meta_parameters.is_some() || !self.governors.is_empty()
    }

    /// The approver; the caller is asked if none is set.
    pub(crate) fn approver(&self) -> Arc<dyn Approver> {
        self.approver.clone().unwrap_or_else(|| Arc::new(AskCaller::new()))
    }

    /// The questions of policies that nobody whom the approver asks may answer.
    pub(crate) fn unanswerable(&self) -> impl Iterator<Item = PoolProblem> {
        self.governors.policies.iter().flat_map(|policy| self.unanswerable_by(&**policy))
    }

    /// The questions of one policy that nobody whom the approver asks may answer.
    pub(super) fn unanswerable_by(&self, policy: &dyn PolicyEngine) -> Vec<PoolProblem> {
        let approver = self.approver();
        let questions = policy.questions().into_iter();
        let unanswerable = questions.filter(|(_, approvers)| !approver.reaches(approvers));
        unanswerable
            .map(|(rule, approvers)| PoolProblem::Unanswerable { rule, approvers })
            .collect()
    }

    /// Adds the parameter for the risk where a policy decides by it.
    pub(crate) fn ask_for_risk(&mut self) {
        if self.governors.policies.iter().any(|policy| policy.reads_risk()) {
            let parameters = self.meta_parameters.take().unwrap_or_default();
            self.meta_parameters = Some(parameters.with_risk());
        }
    }

    /// The outcome without secrets.
    pub(crate) fn masked(
        &self,
        outcome: Result<Observation, CallError>,
    ) -> Result<Observation, CallError> {
        match (self.mask.as_deref(), outcome) {
            (Some(mask), Ok(observation)) => Ok(observation.masked(mask)),
            (_, Err(error)) => Err(self.masked_error(error)),
            (None, outcome) => outcome,
        }
    }

    /// The error without secrets.
    pub(crate) fn masked_error(&self, error: CallError) -> CallError {
        match self.mask.as_deref() {
            Some(mask) => error.masked(mask),
            None => error,
        }
    }

    /// Extracts the meta parameters of a call. `None` if it has none.
    pub(crate) fn extract_meta(
        &self,
        tool: Option<&Tool>,
        arguments: &str,
    ) -> Option<MetaArguments> {
        self.meta_parameters.as_ref()?.extract(tool, arguments, self.repairs)
    }
}
