//! The long way of a call: of tools that hold state or declare resources, and of pools with
//! hooks or limits.

use super::resolve::shut_down;
use super::{execution, guard};
use crate::access::{Access, Claim};
use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::hook::{self, Around, HookCall};
use crate::observation::Observation;
use crate::output_check::OutputModel;
use crate::pool::ToolPool;
use crate::schedule::{Deadlock, Held};
use crate::tool::Tool;
use crate::toolset::{Instance, Values};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The hooks of a tool, and the call as they see it.
struct Hooked<'a> {
    hooks: &'a dyn Around,
    call: HookCall,
}

/// What the hooks let through.
struct Admitted<'a> {
    arguments: Cow<'a, str>,
    context: Cow<'a, ToolContext>,
    access: Access,
}

impl ToolPool {
    /// In a box: few calls go the long way, and all would carry its room.
    pub(super) fn intercepted<'a>(
        &'a self,
        tool: &'a Tool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(self.stages_of_care(tool, arguments, context))
    }

    /// However the call ends, refused or run, the after-hooks see it once.
    async fn stages_of_care(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        let mut hooked = self.hooks_of(tool.name()).map(|hooks| Hooked {
            hooks,
            call: HookCall::new(tool.clone(), arguments, context.clone()),
        });
        let mut started = None;
        let run = self.admitted_run(tool, arguments, context, hooked.as_mut(), &mut started);
        // Panics are caught here, so that hooks see them like other outcomes.
        let outcome = guard::caught(tool.name(), run).await;
        let outcome = self.finished(tool, outcome).await;
        let Some(Hooked { hooks, call }) = hooked else { return outcome };
        let duration = started.map_or(Duration::ZERO, |started| guard::now() - started);
        hooks.after(call, outcome, duration).await
    }

    /// A stage a line. `started` is set when the tool itself begins to run.
    async fn admitted_run(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
        hooked: Option<&mut Hooked<'_>>,
        started: &mut Option<Instant>,
    ) -> Result<Observation, CallError> {
        let open = self.closing();
        let admission = self.admit(tool, arguments, context, hooked);
        let admitted = guard::while_open(open, admission).await?;
        let turn = self.acquire(tool, admitted.access, &admitted.context);
        let held = guard::while_open(open, turn).await?;
        let (context, _held) = match held {
            Some(held) => {
                let (context, kept) = admitted.context.into_owned().holding(held);
                (Cow::Owned(context), Some(kept))
            }
            None => (admitted.context, None),
        };
        *started = Some(guard::now());
        execute(self, tool, &admitted.arguments, &context).await
    }

    /// Hooks see valid arguments only, and what they make of them is validated again.
    async fn admit<'a>(
        &self,
        tool: &Tool,
        arguments: &'a str,
        context: &'a ToolContext,
        hooked: Option<&mut Hooked<'_>>,
    ) -> Result<Admitted<'a>, CallError> {
        // Where nobody asks, the execution finds out what is wrong with the arguments.
        let access = if tool.declares_access() || hooked.is_some() {
            self.accessed(tool, arguments, context).await?
        } else {
            Access::undeclared()
        };
        let (arguments, context) = (Cow::Borrowed(arguments), Cow::Borrowed(context));
        let Some(hooked) = hooked else {
            return Ok(Admitted { arguments, context, access });
        };
        let admitted = self.ask_hooks(hooked.hooks, &mut hooked.call).await?;
        Ok(Admitted {
            access: match &admitted.arguments {
                Some(rewritten) => self.accessed(tool, rewritten, hooked.call.context()).await?,
                None => access,
            },
            arguments: admitted
                .arguments
                .map_or(arguments, |text| Cow::Owned(String::from(&*text))),
            context: admitted.context.map_or(context, Cow::Owned),
        })
    }

    /// What a call would touch, within the tool's limit where user code runs apart: arguments are
    /// decoded for it.
    async fn accessed(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Access, CallError> {
        if !context.runs_apart() {
            return access_of(tool, arguments);
        }
        let (own, arguments) = (tool.clone(), arguments.to_owned());
        let access = context.apart(
            || tool.name().to_owned(),
            move || Box::pin(async move { access_of(&own, &arguments) }),
        );
        guard::guarded(access, tool.name(), guard::limit(self, tool, context), context).await?
    }

    /// The hooks, if any runs for this tool.
    pub(super) fn hooks_of(&self, tool: &str) -> Option<&dyn Around> {
        self.governance().hooks.as_deref().filter(|hooks| hooks.concerns(tool))
    }

    /// Runs the before-hooks; a person may have to be asked, so it ends with the call. `call`
    /// keeps what the hooks made of it, also if they refuse it.
    pub(super) async fn ask_hooks(
        &self,
        hooks: &dyn Around,
        call: &mut HookCall,
    ) -> Result<hook::Admitted, CallError> {
        let (tool, context) = (call.tool().clone(), call.context().clone());
        let approver = self.governance().approver.as_ref();
        let asked =
            hooks.before(call, approver, |tool, rewritten| access_of(tool, rewritten).map(drop));
        guard::waiting(asked, tool.name(), &context).await
    }

    /// Waits for the declared resources, as long as the caller does.
    pub(super) async fn acquire(
        &self,
        tool: &Tool,
        access: Access,
        context: &ToolContext,
    ) -> Result<Option<Held>, CallError> {
        // What declares nothing does not wait for calls outside of its batch.
        if access.touches_nothing() {
            return Ok(None);
        }
        let claim = Claim {
            access,
            is_read_only: tool.definition().effective_annotations().is_read_only(),
        };
        let ticket = self.governance().lane.enter(claim, context.held());
        let ready = async {
            ticket.ready().await.map_err(|Deadlock| {
                let text = "it waits for a resource that is held by a call that waits for this one; try again later";
                CallError::new(ErrorClass::Transient, format!("`{}`: {text}", tool.name()))
            })
        };
        guard::waiting(ready, tool.name(), context).await.map(Some)
    }

    /// Whatever comes out is checked and limited before anybody sees it.
    async fn finished(
        &self,
        tool: &Tool,
        outcome: Result<Observation, CallError>,
    ) -> Result<Observation, CallError> {
        let governance = self.governance();
        let checked = outcome.and_then(|observation| {
            if governance.checks_outputs || tool.checks_output() {
                OutputModel::new(tool.definition())
                    .map_or(Ok(()), |model| model.check(&observation))?;
            }
            Ok(observation)
        });
        let Some(limits) = &governance.limits else { return checked };
        match checked {
            Ok(observation) => Ok(limits.apply(observation, tool.name()).await),
            // What the model reads of an error weighs as much as any other text.
            Err(error) => {
                let said = Observation::error(error.message());
                let left = limits.apply(said, tool.name()).await;
                Err(error.with_message(left.to_text()))
            }
        }
    }
}

/// Runs the tool within its limit, counted on the value whose method it is.
async fn execute(
    pool: &ToolPool,
    tool: &Tool,
    arguments: &str,
    context: &ToolContext,
) -> Result<Observation, CallError> {
    let limit = guard::limit(pool, tool, context);
    let context = limit.map_or_else(|| context.clone(), |limit| guard::within(limit, context));
    let Entered { context, instance, _running } = entered(pool, tool, context).await?;
    let call = async { execution::of_tool(tool, arguments, &context).await };
    let mut given_up =
        GivenUp { tool, instance: instance.as_deref(), context: &context, is_over: false };
    let call = guard::guarded(call, tool.name(), limit, &context);
    let outcome = guard::while_open(ending(pool, instance.as_deref()), call).await;
    given_up.is_over = outcome.is_ok();
    outcome?
}

/// When a running call has to end: that of a toolset once it had its time to end by itself.
pub(super) fn ending<'a>(
    pool: &'a ToolPool,
    instance: Option<&'a Instance>,
) -> &'a CancellationToken {
    instance.map_or_else(|| pool.closing(), Instance::ending)
}

/// A call that is about to run.
pub(super) struct Entered {
    pub(super) context: ToolContext,
    /// The value whose method runs.
    pub(super) instance: Option<Arc<Instance>>,
    /// Counts the call on the value.
    pub(super) _running: Option<Arc<dyn Any + Send + Sync>>,
}

/// The context of a method, and the guard that counts its call. The value of a session may have
/// to be made first.
///
/// # Errors
/// The value cannot be made, or has ended while the call waited for its turn.
pub(super) async fn entered(
    pool: &ToolPool,
    tool: &Tool,
    context: ToolContext,
) -> Result<Entered, CallError> {
    let instance = match tool.values() {
        None => return Ok(Entered { context, instance: None, _running: None }),
        Some(Values::One(instance)) => Arc::clone(instance),
        Some(values) => {
            let made = guard::waiting(values.of(&context), tool.name(), &context);
            Box::pin(guard::while_open(pool.closing(), made)).await?
        }
    };
    let (context, running) = instance.enter(context).ok_or_else(shut_down)?;
    let (context, running) = context.occupying(running);
    Ok(Entered { context, instance: Some(instance), _running: Some(running) })
}

/// Tells the tool when its call ends before it has: out of time, cancelled, or dropped.
pub(super) struct GivenUp<'a> {
    pub(super) tool: &'a Tool,
    pub(super) instance: Option<&'a Instance>,
    pub(super) context: &'a ToolContext,
    pub(super) is_over: bool,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        // A call that panics has ended by itself.
        if !self.is_over && !std::thread::panicking() {
            self.tool.interrupt(self.context);
            if let Some(instance) = self.instance {
                instance.interrupt(self.context);
            }
        }
    }
}

/// What a call would touch; the refusal of arguments that are not valid.
pub(super) fn access_of(tool: &Tool, arguments: &str) -> Result<Access, CallError> {
    tool.executor().access(Arguments::new(arguments))
}
