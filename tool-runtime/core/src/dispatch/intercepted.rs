//! The long path of a call: for tools that hold state or declare resources, and for pools with
//! hooks, limits, repairs or meta parameters.

use super::ending::Outcome;
use super::execution::{self, InterruptOnDrop, MethodCall};
use super::guard;
use super::hooked::HookedCall;
use super::scopes::check_scopes;
use crate::access::Access;
use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::{BoxFuture, boxed};
use crate::governance::Replayed;
use crate::hook::HookCall;
use crate::matching::CallRule;
use crate::observation::Observation;
use crate::output_check::OutputModel;
use crate::pool::{Found, ToolPool};
use crate::repair::{self, Repair, RepairCalls};
use crate::tool::{DecodedAction, DecodedCall, Tool};
use std::any::Any;
use std::borrow::Cow;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl ToolPool {
    /// Boxed: few calls need this future, and it would make every call's future larger.
    pub(super) fn intercepted<'a>(
        &'a self,
        found: &'a Found,
        arguments: &'a str,
        context: &'a ToolContext,
        repairs: Vec<Repair>,
    ) -> BoxFuture<'a, Outcome> {
        boxed(|| async move {
            let mut call = InterceptedCall::new(self, found, arguments, context, repairs);
            call.run().await
        })
    }
}

/// A call on the long path. All stages borrow it, and the tool's result is stored here, so that their
/// futures stay small: moving them and the result was a large part of the cost of such a call.
struct InterceptedCall<'a> {
    pool: &'a ToolPool,
    tool: &'a Tool,
    rule: Option<&'a dyn CallRule>,
    arguments: Cow<'a, str>,
    context: Cow<'a, ToolContext>,
    hooked: Option<HookedCall<'a>>,
    repairs: Vec<Repair>,
    /// The time limit that policies set for the tool.
    time_limit: Option<Duration>,
    /// The mistake in a meta parameter.
    meta_error: Option<CallError>,
    /// The time when the tool itself began to run, if something reads it.
    started: Option<Instant>,
    /// The result, once all stages have succeeded.
    observation: Observation,
    /// Whether the outcome is that of an earlier attempt, which is final.
    is_replayed: bool,
}

impl<'a> InterceptedCall<'a> {
    fn new(
        pool: &'a ToolPool,
        found: &'a Found,
        arguments: &'a str,
        context: &'a ToolContext,
        mut repairs: Vec<Repair>,
    ) -> Self {
        let mut meta = pool.governance().extract_meta(found.tool(), arguments);
        let (mut arguments, mut meta_error) = (Cow::Borrowed(arguments), None);
        if let Some(meta) = &mut meta {
            arguments = Cow::Owned(mem::take(&mut meta.rest));
            repairs.append(&mut meta.repairs);
            meta_error = meta.error.take();
        }
        let hooked = found.hooks().map(|hooks| {
            let call = HookCall::new(found.clone(), &arguments, context.clone())
                .repaired(&repairs)
                .with_meta(meta.as_ref());
            HookedCall::new(pool, hooks, call, context)
        });
        Self {
            pool,
            tool: found.tool(),
            rule: found.rule().map(|rule| &**rule),
            arguments,
            context: Cow::Borrowed(context),
            hooked,
            repairs,
            time_limit: None,
            meta_error,
            started: None,
            observation: Observation::default(),
            is_replayed: false,
        }
    }

    /// Runs all stages. After-hooks and recorders see every call once, whether it ran or was rejected.
    async fn run(&mut self) -> Outcome {
        let tool = self.tool;
        let mut ended = {
            let admitted = pin!(self.admit_and_execute());
            // Panics are caught here, so that hooks see them like other outcomes.
            guard::catch_panics(tool.name(), admitted).await
        };
        let duration = self.started.map(|started| guard::now() - started);
        if !self.is_replayed {
            ended = ended.and_then(|()| self.check());
        }
        let mut outcome = ended.map(|()| mem::take(&mut self.observation));
        if !self.is_replayed {
            outcome = self.pool.bounded(tool, outcome).await;
        }
        match &mut self.hooked {
            Some(hooked) if hooked.reads_outcome() => {
                hooked.finish(self.pool, outcome, duration, self.is_replayed).await
            }
            _ => outcome,
        }
    }

    /// Hooks see valid arguments only. Then the call waits for the resources it declares.
    async fn admit_and_execute(&mut self) -> Result<(), CallError> {
        self.meta_error.take().map_or(Ok(()), Err)?;
        check_scopes(self.tool, self.context.principal())?;
        let mut call = self.decoded().await?;
        self.check_rule(&self.arguments)?;
        if let Some(replayed) = self.admit(&mut call).await? {
            self.is_replayed = true;
            self.observation = (*replayed)?;
            return Ok(());
        }
        let DecodedCall { access, action } = call;
        let _held = self.acquire(access).await?;
        self.execute(action).await
    }

    /// Decodes the arguments. A tool without hooks and resources validates them when it runs.
    async fn decoded(&mut self) -> Result<DecodedCall, CallError> {
        let (pool, tool, repair) = (self.pool, self.tool, self.pool.governance().repair);
        if !tool.declares_access() && self.hooked.is_none() && repair.is_none() {
            return Ok(DecodedCall::default());
        }
        let decoded = match self.context.runs_apart() {
            false => tool.decode(&self.arguments),
            true => Box::pin(pool.decode_apart(tool, &self.arguments, &self.context)).await,
        };
        match repair {
            None => decoded,
            Some(repair) => Box::pin(self.repaired(repair, decoded)).await,
        }
    }

    /// The call with repaired arguments, if these are valid.
    async fn repaired(
        &mut self,
        repair: &dyn RepairCalls,
        decoded: Result<DecodedCall, CallError>,
    ) -> Result<DecodedCall, CallError> {
        let repaired = repair.arguments(self.tool, &self.arguments, decoded.is_err());
        let Some((text, repairs)) = repaired else { return decoded };
        let Ok(repaired) = self.pool.decode(self.tool, &text, &self.context).await else {
            return decoded;
        };
        self.repairs.extend(repairs);
        if let Some(HookedCall { call, .. }) = &mut self.hooked {
            *call = call.rewritten(&text).repaired(&self.repairs);
        }
        self.arguments = Cow::Owned(text);
        Ok(repaired)
    }

    /// Checks arguments by the rule of a restriction.
    fn check_rule(&self, arguments: &str) -> Result<(), CallError> {
        self.rule.map_or(Ok(()), |rule| rule.check(arguments))
    }

    /// Runs the before-hooks. Rewritten arguments are validated again. Returns the outcome of an
    /// earlier attempt, if there was one.
    async fn admit(
        &mut self,
        decoded: &mut DecodedCall,
    ) -> Result<Option<Box<Replayed>>, CallError> {
        let Some(hooked) = &mut self.hooked else { return Ok(None) };
        let admitted = hooked.admit(self.pool, self.tool, &self.context).await?;
        if admitted.replayed.is_some() {
            return Ok(admitted.replayed);
        }
        self.time_limit = admitted.time_limit;
        let number = hooked.number();
        if let Some(rewritten) = admitted.arguments {
            let context = hooked.call.context().clone();
            self.check_rule(&rewritten)?;
            *decoded = self.pool.decode(self.tool, &rewritten, &context).await?;
            self.arguments = Cow::Owned(rewritten);
        }
        if let Some(context) = admitted.context {
            self.context = Cow::Owned(context);
        }
        if let Some(number) = number {
            self.context = Cow::Owned(self.context.as_ref().clone().within_call(number));
        }
        Ok(None)
    }

    /// Waits for the declared resources. A call that declares nothing does not wait for calls outside
    /// of its batch.
    async fn acquire(&mut self, access: Access) -> Result<Option<Guard>, CallError> {
        if access.touches_nothing() {
            return Ok(None);
        }
        let held = self.pool.acquire(self.tool, access, &self.context).await?;
        let (context, guard) = self.context.hold(held);
        self.context = Cow::Owned(context);
        Ok(Some(guard))
    }

    /// Runs the tool within its limit, counted on the value whose method it is.
    async fn execute(&mut self, action: Option<DecodedAction>) -> Result<(), CallError> {
        let (pool, tool) = (self.pool, self.tool);
        let (own, context) = (self.time_limit, Cow::Borrowed(&*self.context));
        let (limit, context) = guard::bounds_within(own, pool, tool, context);
        let method = execution::enter_method(pool, tool, context).await?;
        let MethodCall { context, instance, _running } = &method;
        let instance = instance.as_deref();
        if let Some(hooked) = &mut self.hooked {
            if let Some(recorded) = hooked.start((pool, tool), instance, context)? {
                recorded.await?;
            }
            self.started = hooked.reads_outcome().then(guard::now);
        }
        let mut interrupt = InterruptOnDrop { tool, instance, context, is_complete: false };
        // Dropped before the tool is interrupted.
        let ended = {
            let (arguments, observation) = (&*self.arguments, &mut self.observation);
            let work = pin!(async {
                *observation = execution::of_tool(tool, action, arguments, context).await?;
                Ok(())
            });
            let work = pin!(guard::guarded(work, tool.name(), limit, context));
            guard::while_open(pool, instance, work).await
        };
        interrupt.is_complete = ended.is_ok();
        ended?
    }

    /// Checks the result before hooks see it, and lists the repairs of the call in it.
    fn check(&mut self) -> Result<(), CallError> {
        if self.pool.governance().checks_outputs || self.tool.checks_output() {
            let model = OutputModel::new(self.tool.definition());
            model.map_or(Ok(()), |model| model.check(&self.observation))?;
        }
        if !self.repairs.is_empty() {
            self.observation = repair::note(mem::take(&mut self.observation), &self.repairs);
        }
        Ok(())
    }
}

/// Keeps declared resources until it is dropped.
type Guard = Arc<dyn Any + Send + Sync>;

impl ToolPool {
    /// Decodes a call. If user code runs in separate tasks, decoding has the tool's time limit.
    async fn decode(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<DecodedCall, CallError> {
        match context.runs_apart() {
            false => tool.decode(arguments),
            true => Box::pin(self.decode_apart(tool, arguments, context)).await,
        }
    }

    async fn decode_apart(
        &self,
        tool: &Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<DecodedCall, CallError> {
        let (own, arguments) = (tool.clone(), arguments.to_owned());
        let decoded = context.apart(
            || tool.name().to_owned(),
            move || Box::pin(async move { own.decode(&arguments) }),
        );
        let limit = guard::limit(self, tool, context);
        let decoded = pin!(guard::guarded(decoded, tool.name(), limit, context));
        guard::while_open(self, None, decoded).await?
    }
}
