//! All stages of a call: for tools that hold state or declare resources, and for pools with hooks
//! or limits.

use super::resolve::shut_down;
use super::{execution, guard};
use crate::access::{Access, Claim};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::hook::{self, AroundTool, HookCall};
use crate::limits::Limits;
use crate::observation::Observation;
use crate::output_check::OutputModel;
use crate::pool::ToolPool;
use crate::schedule::{Deadlock, Held, Ticket};
use crate::tool::{Decoded, Prepared, Tool};
use crate::toolset::{Instance, Values};
use std::any::Any;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The hooks of a tool, and the call as they see it.
struct Hooked<'a> {
    hooks: &'a dyn AroundTool,
    call: HookCall,
}

/// A call that may run, in its turn.
struct Admitted<'a> {
    action: Option<Decoded>,
    arguments: Cow<'a, str>,
    context: Cow<'a, ToolContext>,
    held: Option<Held>,
}

impl ToolPool {
    /// Boxed: few calls need this future, and it would make every call's future larger.
    pub(super) fn intercepted<'a>(
        &'a self,
        tool: &'a Tool,
        hooks: Option<&'a dyn AroundTool>,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(self.run_intercepted(tool, hooks, arguments, context))
    }

    /// However the call ends, refused or run, the after-hooks see it once.
    async fn run_intercepted(
        &self,
        tool: &Tool,
        hooks: Option<&dyn AroundTool>,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        let mut hooked = hooks.map(|hooks| Hooked {
            hooks,
            call: HookCall::new(tool.clone(), arguments, context.clone()),
        });
        let mut started = None;
        let mut outcome = {
            let hooked = hooked.as_mut();
            // Pinned in place: moving a stage into the next would copy it.
            let run = pin!(self.admitted_run(tool, arguments, context, hooked, &mut started));
            // Panics are caught here, so that hooks see them like other outcomes.
            guard::catch_panics(tool.name(), run).await
        };
        if let Ok(observation) = &outcome
            && let Err(error) = self.check_output(tool, observation)
        {
            outcome = Err(error);
        }
        if let Some(limits) = &self.governance().limits {
            outcome = Box::pin(limited(&**limits, tool, outcome)).await;
        }
        match hooked {
            Some(Hooked { hooks, call }) if hooks.reads_results() => {
                let duration = started.map_or(Duration::ZERO, |started| guard::now() - started);
                hooks.after(call, outcome, duration).await
            }
            _ => outcome,
        }
    }

    /// One stage per line. `started` is set when the tool itself begins to run.
    async fn admitted_run(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
        hooked: Option<&mut Hooked<'_>>,
        started: &mut Option<Instant>,
    ) -> Result<Observation, CallError> {
        let is_timed = hooked.as_ref().is_some_and(|hooked| hooked.hooks.reads_results());
        let Admitted { action, arguments, context, held } = {
            let admission = pin!(self.admit(tool, arguments, context, hooked));
            guard::while_open(self, None, admission).await?
        };
        let (context, _held) = context.into_owned().holding(held);
        *started = is_timed.then(guard::now);
        execute(self, tool, action, &arguments, Cow::Owned(context)).await
    }

    /// Hooks see valid arguments only, and rewritten arguments are validated again. Then the call
    /// waits for the resources it declares.
    async fn admit<'a>(
        &self,
        tool: &Tool,
        arguments: &'a str,
        context: &'a ToolContext,
        hooked: Option<&mut Hooked<'_>>,
    ) -> Result<Admitted<'a>, CallError> {
        // Otherwise the execution validates the arguments.
        let mut prepared = if tool.declares_access() || hooked.is_some() {
            self.prepared(tool, arguments, context).await?
        } else {
            Prepared::default()
        };
        let (mut arguments, mut context) = (Cow::Borrowed(arguments), Cow::Borrowed(context));
        if let Some(hooked) = hooked {
            let admitted = self.ask_hooks(tool, hooked.hooks, &mut hooked.call, &context).await?;
            if let Some(rewritten) = admitted.arguments {
                prepared = self.prepared(tool, &rewritten, hooked.call.context()).await?;
                arguments = Cow::Owned(rewritten);
            }
            context = admitted.context.map_or(context, Cow::Owned);
        }
        let Prepared { access, action } = prepared;
        let held = self.acquire(tool, access, &context).await?;
        Ok(Admitted { action, arguments, context, held })
    }

    /// Decodes a call. Where user code runs apart, it has the tool's limit.
    async fn prepared(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Prepared, CallError> {
        if !context.runs_apart() {
            return tool.prepare(arguments);
        }
        let (own, arguments) = (tool.clone(), arguments.to_owned());
        let prepared = context.apart(
            || tool.name().to_owned(),
            move || Box::pin(async move { own.prepare(&arguments) }),
        );
        let limit = guard::limit(self, tool, context);
        Box::pin(guard::guarded(prepared, tool.name(), limit, context)).await?
    }

    /// Runs the before-hooks. They may ask a person, so they end with the call. `call` keeps what the
    /// hooks changed, also if they refuse it.
    pub(super) async fn ask_hooks(
        &self,
        tool: &Tool,
        hooks: &dyn AroundTool,
        call: &mut HookCall,
        context: &ToolContext,
    ) -> Result<hook::Admitted, CallError> {
        let approver = self.governance().approver.as_ref();
        let asked =
            hooks.before(call, approver, |tool, rewritten| tool.prepare(rewritten).map(drop));
        guard::waiting(asked, tool.name(), context).await
    }

    /// Waits for the declared resources, as long as the caller does.
    pub(super) async fn acquire(
        &self,
        tool: &Tool,
        access: Access,
        context: &ToolContext,
    ) -> Result<Option<Held>, CallError> {
        // A call that declares nothing does not wait for calls outside of its batch.
        if access.touches_nothing() {
            return Ok(None);
        }
        let claim = Claim {
            access,
            is_read_only: tool.definition().effective_annotations().is_read_only(),
        };
        match self.governance().lane.enter(claim, context.held()).held() {
            Ok(held) => Ok(Some(held)),
            // Boxed: few calls wait.
            Err(ticket) => Box::pin(ready(ticket, tool, context)).await.map(Some),
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
) -> Result<Observation, CallError> {
    let (limit, context) = guard::bounds(pool, tool, context);
    let Entered { context, instance, _running } = entered(pool, tool, context).await?;
    let mut interrupt = InterruptOnDrop {
        tool,
        instance: instance.as_deref(),
        context: &context,
        is_complete: false,
    };
    // Dropped before the tool is interrupted.
    let outcome = {
        let call = pin!(async { execution::of_tool(tool, action, arguments, &context).await });
        let call = pin!(guard::guarded(call, tool.name(), limit, &context));
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
            let made = guard::waiting(values.of(&context), tool.name(), &context);
            Box::pin(guard::while_open(pool, None, made)).await?
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
