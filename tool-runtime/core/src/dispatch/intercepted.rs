//! All stages of a call: for tools that hold state or declare resources, and for pools with hooks
//! or limits.

use super::resolve::shut_down;
use super::{execution, guard};
use crate::access::{Access, Claim};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::governance::{Governed, RoundGuard, Taken};
use crate::hook::{self, ErasedToolHooks, HookCall};
use crate::limits::Limits;
use crate::matching::CallRule;
use crate::observation::Observation;
use crate::output_check::OutputModel;
use crate::pool::{Found, ToolPool};
use crate::repair::{self, Repair};
use crate::schedule::{Deadlock, Held, Ticket};
use crate::tool::{Decoded, Prepared, Tool};
use crate::toolset::{Instance, Values};
use std::any::Any;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

/// What the stages of a call note for those after it.
struct CallProgress {
    /// The time when the tool itself began to run, if a hook asks for it.
    started: Option<Instant>,
    repairs: Vec<Repair>,
    /// Whether the outcome is that of an earlier attempt, which is final.
    is_replayed: bool,
}

/// The hooks of a tool, and the call as they see it.
struct Hooked<'a> {
    hooks: &'a dyn ErasedToolHooks,
    call: HookCall,
    /// The call as policies, limits and records see it.
    governed: Option<RoundGuard>,
}

impl<'a> Hooked<'a> {
    fn new(
        pool: &ToolPool,
        found: &'a Found,
        taken: &Taken<'_>,
        context: &ToolContext,
    ) -> Option<Self> {
        let hooks = found.hooks.as_deref()?;
        let (tool, source) = (found.tool.clone(), found.source.clone());
        let mut call = HookCall::new(tool, source, &taken.arguments, context.clone())
            .repaired(&taken.repairs)
            .ruled(found.rule.as_ref())
            .judged(taken.risk, taken.summary.clone());
        let seams = pool.governance().seams.clone();
        let governed = seams.map(|seams| RoundGuard::enter(seams, &mut call, context));
        Some(Self { hooks, call, governed })
    }

    /// Whether the time of the tool is measured.
    fn is_timed(&self) -> bool {
        self.hooks.reads_results() || self.governed.is_some()
    }
}

impl ToolPool {
    /// Boxed: few calls need this future, and it would make every call's future larger.
    pub(super) fn intercepted<'a>(
        &'a self,
        found: &'a Found,
        arguments: &'a str,
        context: &'a ToolContext,
        repairs: Vec<Repair>,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(self.run_intercepted(found, arguments, context, repairs))
    }

    /// After-hooks and recorders see every call once, whether it ran or was rejected.
    async fn run_intercepted(
        &self,
        found: &Found,
        arguments: &str,
        context: &ToolContext,
        repairs: Vec<Repair>,
    ) -> Result<Observation, CallError> {
        let tool = &found.tool;
        let mut taken = self.governance().taken(tool, arguments);
        taken.repairs.splice(0..0, repairs);
        let mut hooked = Hooked::new(self, found, &taken, context);
        let Taken { arguments, repairs, refusal, .. } = taken;
        let rule = found.rule.as_deref();
        let mut progress = CallProgress { started: None, repairs, is_replayed: false };
        let mut outcome = {
            let hooked = hooked.as_mut();
            // Pinned in place: moving a stage into the next would copy it.
            let run = async {
                refusal.map_or(Ok(()), Err)?;
                self.admitted_run((tool, rule), &arguments, context, hooked, &mut progress).await
            };
            // Panics are caught here, so that hooks see them like other outcomes.
            guard::catch_panics(tool.name(), pin!(run)).await
        };
        let duration = progress.started.map(|started| guard::now() - started);
        if !progress.is_replayed {
            outcome = self.checked(tool, outcome, &progress.repairs).await;
        }
        let Some(Hooked { hooks, call, governed }) = hooked else { return outcome };
        if hooks.reads_results() && !progress.is_replayed {
            outcome = hooks.after(call.clone(), outcome, duration.unwrap_or_default()).await;
            outcome = self.governance().masked(outcome);
        }
        if let Some(mut guard) = governed
            && let Some(governed) = &mut guard.call
        {
            governed.finish(&call, &outcome, duration).await;
        }
        outcome
    }

    /// The outcome as hooks see it: checked, with its repairs, limited.
    async fn checked(
        &self,
        tool: &Tool,
        mut outcome: Result<Observation, CallError>,
        repairs: &[Repair],
    ) -> Result<Observation, CallError> {
        if let Ok(observation) = &outcome
            && let Err(error) = self.check_output(tool, observation)
        {
            outcome = Err(error);
        }
        if !repairs.is_empty() {
            outcome = outcome.map(|observation| repair::note(observation, repairs));
        }
        // A limit could cut a secret in two.
        outcome = self.governance().masked(outcome);
        match &self.governance().limits {
            Some(limits) => Box::pin(limited(&**limits, tool, outcome)).await,
            None => outcome,
        }
    }

    /// Hooks see valid arguments only, and rewritten arguments are validated again. Then the call
    /// waits for the resources it declares.
    async fn admitted_run(
        &self,
        (tool, rule): (&Tool, Option<&dyn CallRule>),
        arguments: &str,
        context: &ToolContext,
        mut hooked: Option<&mut Hooked<'_>>,
        progress: &mut CallProgress,
    ) -> Result<Observation, CallError> {
        let (mut arguments, mut context) = (Cow::Borrowed(arguments), Cow::Borrowed(context));
        let is_timed = hooked.as_ref().is_some_and(|hooked| hooked.is_timed());
        let repair = self.governance().repair;
        // Otherwise the execution validates the arguments.
        let mut prepared = match tool.declares_access() || hooked.is_some() || repair.is_some() {
            true if context.runs_apart() => self.decode_call(tool, &arguments, &context).await,
            true => tool.prepare(&arguments),
            false => Ok(Prepared::default()),
        };
        if let Some(repair) = repair
            && let Some((text, repairs)) = repair.arguments(tool, &arguments, prepared.is_err())
            && let Ok(repaired) = self.decode_call(tool, &text, &context).await
        {
            progress.repairs.extend(repairs);
            if let Some(hooked) = hooked.as_deref_mut() {
                hooked.call = hooked.call.rewritten(&text).repaired(&progress.repairs);
            }
            (prepared, arguments) = (Ok(repaired), Cow::Owned(text));
        }
        let mut prepared = prepared?;
        check_rule(rule, &arguments)?;
        let mut recorded = None;
        if let Some(Hooked { hooks, call, governed }) = hooked {
            let mut governed = governed.as_mut().and_then(|guard| guard.call.as_mut());
            let checks = governed.as_deref_mut();
            let admitted = self.ask_hooks(tool, *hooks, call, checks, &context).await?;
            if let Some(replayed) = admitted.replayed {
                progress.is_replayed = true;
                return replayed;
            }
            if let Some(rewritten) = admitted.arguments {
                check_rule(rule, &rewritten)?;
                prepared = self.decode_call(tool, &rewritten, call.context()).await?;
                arguments = Cow::Owned(rewritten);
            }
            context = admitted.context.map_or(context, Cow::Owned);
            if let Some(governed) = governed {
                context = Cow::Owned(context.into_owned().within_call(call.view().number().0));
                recorded = Some((governed, &*call));
            }
        }
        let Prepared { access, action } = prepared;
        let _held = match access.touches_nothing() {
            // A call that declares nothing does not wait for calls outside of its batch.
            true => None,
            false => {
                let held = self.acquire(tool, access, &context).await?;
                Some(context.to_mut().hold(held))
            }
        };
        let started = is_timed.then_some(&mut progress.started);
        execute(self, tool, action, &arguments, context, recorded, started).await
    }

    /// Decodes a call. If user code runs in separate tasks, decoding has the tool's time limit.
    async fn decode_call(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Prepared, CallError> {
        if !context.runs_apart() {
            return tool.prepare(arguments);
        }
        let (own, arguments) = (tool.clone(), arguments.to_owned());
        let decoded = context.apart(
            || tool.name().to_owned(),
            move || Box::pin(async move { own.prepare(&arguments) }),
        );
        let limit = guard::limit(self, tool, context);
        let decoded = Box::pin(guard::guarded(|| decoded, tool.name(), limit, context));
        guard::while_open(self, None, decoded).await?
    }

    /// Runs the before-hooks. They may ask a person, so they end with the call. `call` keeps what the
    /// hooks changed, also if they reject it.
    pub(super) async fn ask_hooks(
        &self,
        tool: &Tool,
        hooks: &dyn ErasedToolHooks,
        call: &mut HookCall,
        governed: Option<&mut Governed>,
        context: &ToolContext,
    ) -> Result<hook::Admitted, CallError> {
        let approver = self.governance().approver.as_ref();
        let validate = |tool: &Tool, rewritten: &str| tool.prepare(rewritten).map(drop);
        let asked = hooks.before(call, approver, validate, governed);
        let asked = pin!(guard::waiting(asked, tool.name(), context));
        guard::while_open(self, None, asked).await
    }

    /// Waits for the declared resources, as long as the caller does.
    pub(super) async fn acquire(
        &self,
        tool: &Tool,
        access: Access,
        context: &ToolContext,
    ) -> Result<Held, CallError> {
        let claim = Claim {
            access,
            is_read_only: tool.definition().effective_annotations().is_read_only(),
        };
        match self.governance().queue.enter(claim, context.held()).held() {
            Ok(held) => Ok(held),
            // Boxed: few calls wait.
            Err(ticket) => {
                let ready = Box::pin(ready(ticket, tool, context));
                guard::while_open(self, None, ready).await
            }
        }
    }

    /// Checks the result before hooks see it.
    fn check_output(&self, tool: &Tool, observation: &Observation) -> Result<(), CallError> {
        if !self.governance().checks_outputs && !tool.checks_output() {
            return Ok(());
        }
        OutputModel::new(tool.definition()).map_or(Ok(()), |model| model.check(observation))
    }
}

/// Checks the arguments by the rule of a restriction.
fn check_rule(rule: Option<&dyn CallRule>, arguments: &str) -> Result<(), CallError> {
    rule.map_or(Ok(()), |rule| rule.check(arguments))
}

/// Limits the outcome before hooks see it.
async fn limited(
    limits: &dyn Limits,
    tool: &Tool,
    outcome: Result<Observation, CallError>,
) -> Result<Observation, CallError> {
    match outcome {
        Ok(observation) => Ok(limits.apply(observation, tool.name()).await),
        // The text of an error is limited like any other.
        Err(error) => {
            let text = Observation::error(error.message());
            let limited = limits.apply(text, tool.name()).await;
            Err(error.with_message(limited.to_text()))
        }
    }
}

/// Waits for the resources of a call, as long as the caller does.
async fn ready(ticket: Ticket, tool: &Tool, context: &ToolContext) -> Result<Held, CallError> {
    let ready = async {
        ticket.ready().await.map_err(|Deadlock| {
            let text = "it waits for a resource that is held by a call that waits for this one; try again later";
            CallError::new(ErrorClass::Transient, format!("`{}`: {text}", tool.name()))
        })
    };
    guard::waiting(ready, tool.name(), context).await
}

/// Runs the tool within its limit, counted on the value whose method it is.
async fn execute(
    pool: &ToolPool,
    tool: &Tool,
    action: Option<Decoded>,
    arguments: &str,
    context: Cow<'_, ToolContext>,
    recorded: Option<(&mut Governed, &HookCall)>,
    started: Option<&mut Option<Instant>>,
) -> Result<Observation, CallError> {
    let (limit, context) = guard::bounds(pool, tool, context);
    let Entered { context, instance, _running } = entered(pool, tool, context).await?;
    if let Some((governed, call)) = recorded {
        let recorded = pin!(guard::waiting(governed.start(call), tool.name(), &context));
        guard::while_open(pool, instance.as_deref(), recorded).await?;
    }
    if let Some(started) = started {
        *started = Some(guard::now());
    }
    let mut interrupt = InterruptOnDrop {
        tool,
        instance: instance.as_deref(),
        context: &context,
        is_complete: false,
    };
    // Dropped before the tool is interrupted.
    let outcome = {
        let start = || execution::of_tool(tool, action, arguments, &context);
        let call = pin!(guard::guarded(start, tool.name(), limit, &context));
        guard::while_open(pool, instance.as_deref(), call).await
    };
    interrupt.is_complete = outcome.is_ok();
    outcome?
}

/// A call that is about to run.
pub(super) struct Entered<'a> {
    pub(super) context: Cow<'a, ToolContext>,
    /// The value whose method runs.
    pub(super) instance: Option<Arc<Instance>>,
    /// Counts the call on the value.
    pub(super) _running: Option<Arc<dyn Any + Send + Sync>>,
}

/// The context of a method, and the guard that counts its call. The value of a session is created
/// first if needed.
///
/// # Errors
/// The value cannot be created, or was closed while the call waited.
pub(super) async fn entered<'a>(
    pool: &ToolPool,
    tool: &Tool,
    context: Cow<'a, ToolContext>,
) -> Result<Entered<'a>, CallError> {
    let instance = match tool.values() {
        None => return Ok(Entered { context, instance: None, _running: None }),
        Some(Values::One(instance)) => Arc::clone(instance),
        Some(values) => {
            let made = Box::pin(guard::waiting(values.of(&context), tool.name(), &context));
            guard::while_open(pool, None, made).await?
        }
    };
    let (context, running) = instance.enter(context.into_owned()).ok_or_else(shut_down)?;
    let (context, running) = context.with_guard(running);
    Ok(Entered { context: Cow::Owned(context), instance: Some(instance), _running: Some(running) })
}

/// Interrupts the tool when its call ends early: timed out, cancelled, or dropped.
pub(super) struct InterruptOnDrop<'a> {
    pub(super) tool: &'a Tool,
    pub(super) instance: Option<&'a Instance>,
    pub(super) context: &'a ToolContext,
    pub(super) is_complete: bool,
}

impl Drop for InterruptOnDrop<'_> {
    fn drop(&mut self) {
        // A call that panics has ended.
        if !self.is_complete && !std::thread::panicking() {
            self.tool.interrupt(self.context);
            if let Some(instance) = self.instance {
                instance.interrupt(self.context);
            }
        }
    }
}
