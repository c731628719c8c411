//! Before a call: the hooks, one after the other, then the questions they raised.

use super::before::{Provided, Verdict};
use super::hooks::ToolHooks;
use super::watch::{self, Failure};
use super::{Hook, HookCall, Run, RunBefore};
use crate::approval::{Approval, ApprovalRequest, Approver};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::tool::Tool;
use std::sync::Arc;

/// Whether the tool takes these arguments.
pub(crate) type Validate = fn(&Tool, &str) -> Result<(), CallError>;

/// The changes of hooks to a call that may run.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The arguments, if they were rewritten.
    pub(crate) arguments: Option<String>,
    /// The context, if something was provided.
    pub(crate) context: Option<ToolContext>,
}

impl ToolHooks {
    /// Runs the hooks that come before a call, in the order they were registered. Each sees the
    /// changes of those before it; `validate` runs after each rewriting. A rejected call keeps the
    /// changes made until then.
    ///
    /// The approver is asked once per question when all hooks are through: then the arguments
    /// are final, and what is approved is what runs.
    ///
    /// # Errors
    /// A hook denied the call or failed closed, or a question was not answered with yes.
    pub(crate) async fn before(
        &self,
        call: &mut HookCall,
        approver: Option<&Arc<dyn Approver>>,
        validate: Validate,
    ) -> Result<Admitted, CallError> {
        let mut admission = Admission::new(call, validate);
        for hook in &self.before {
            if let Run::Before(run) = &hook.run {
                admission.pass(hook, run).await?;
            }
        }
        // Boxed: few hooks ask or rewrite.
        if !admission.questions.is_empty() {
            Box::pin(admission.approved_by(approver)).await?;
        }
        Ok(admission.admitted())
    }
}

/// A call that passes the hooks.
struct Admission<'a> {
    call: &'a mut HookCall,
    validate: Validate,
    questions: Vec<String>,
    is_rewritten: bool,
    is_provided: bool,
}

impl<'a> Admission<'a> {
    fn new(call: &'a mut HookCall, validate: Validate) -> Self {
        Self { call, validate, questions: Vec::new(), is_rewritten: false, is_provided: false }
    }

    async fn pass(&mut self, hook: &Hook, run: &Arc<RunBefore>) -> Result<(), CallError> {
        let (call, run) = (self.call.clone(), Arc::clone(run));
        let before = match watch::run_hook(hook, self.call.context(), move || run(call)).await {
            Ok(before) => before,
            Err(failure) => return self.failed(hook, &failure),
        };
        match before.verdict {
            Verdict::Proceed => {}
            Verdict::Deny(reason) => return Err(denied(self.call.name(), &reason)),
            Verdict::Ask(question) => self.questions.push(question),
        }
        if let Some(arguments) = before.arguments {
            Box::pin(self.rewrite(hook, &arguments)).await?;
        }
        self.provide(before.provided);
        Ok(())
    }

    /// Invalid arguments are the hook's mistake, which a model cannot correct. If it fails open, only
    /// its arguments are ignored, not its question.
    async fn rewrite(&mut self, hook: &Hook, arguments: &str) -> Result<(), CallError> {
        let call = self.call.rewritten(arguments);
        let (rewritten, validate) = (call.clone(), self.validate);
        let validated = watch::run_hook(hook, call.context(), move || {
            Box::pin(async move { Ok(validate(rewritten.tool(), rewritten.arguments())) })
        });
        match validated.await {
            Ok(Ok(())) => {
                *self.call = call;
                self.is_rewritten = true;
                // Before a person is asked about the call.
                self.call.check_rule()
            }
            Ok(Err(refusal)) => self.failed(hook, &Failure::Invalid(refusal.to_string())),
            Err(failure) => self.failed(hook, &failure),
        }
    }

    fn provide(&mut self, provided: Vec<Provided>) {
        for Provided { id, value } in provided {
            self.call.context_mut().insert_erased(id, value);
            self.is_provided = true;
        }
    }

    fn failed(&self, hook: &Hook, failure: &Failure) -> Result<(), CallError> {
        let tool = self.call.name();
        hook.tolerate(failure, tool).map_err(|detail| unchecked(tool, detail))
    }

    async fn approved_by(&self, approver: Option<&Arc<dyn Approver>>) -> Result<(), CallError> {
        let Some(approver) = approver else {
            return Err(no_approver(self.call.name(), &self.questions));
        };
        let (call, name) = (self.call.clone(), || self.call.name().to_owned());
        let shown = move || -> BoxFuture<'static, _> { Box::pin(async move { call.visualize() }) };
        let visual = self.call.context().apart(name, shown).await;
        for question in &self.questions {
            self.ask(approver, question, &visual).await?;
        }
        Ok(())
    }

    async fn ask(
        &self,
        approver: &Arc<dyn Approver>,
        question: &str,
        visual: &str,
    ) -> Result<(), CallError> {
        let (tool, arguments) = (self.call.name(), self.call.arguments());
        let mut request = ApprovalRequest::new(tool, arguments, question).with_visual(visual);
        if let Some(id) = self.call.call_id() {
            request = request.with_call_id(id);
        }
        let (approver, name) = (Arc::clone(approver), || format!("approver of {tool}"));
        let approve = move || -> BoxFuture<'static, _> {
            Box::pin(async move { approver.approve(&request).await })
        };
        let asked = async { self.call.context().apart(name, approve).await };
        match watch::catch_panic(asked).await {
            Ok(Approval::Approved) => Ok(()),
            Ok(Approval::Rejected { reason }) => Err(rejected(tool, &reason)),
            Err(panic) => Err(rejected(tool, "the question could not be put to anyone")
                .with_detail(format!("the approver panicked: {panic}"))),
        }
    }

    fn admitted(self) -> Admitted {
        Admitted {
            arguments: self.is_rewritten.then(|| self.call.arguments().to_owned()),
            context: self.is_provided.then(|| self.call.context().clone()),
        }
    }
}

fn denied(tool: &str, reason: &str) -> CallError {
    let text = format!("the call to `{tool}` is not allowed");
    CallError::new(ErrorClass::Denied, because(text, reason))
}

fn rejected(tool: &str, reason: &str) -> CallError {
    let text = format!("the call to `{tool}` was not approved");
    CallError::new(ErrorClass::ApprovalRejected, because(text, reason))
}

fn no_approver(tool: &str, questions: &[String]) -> CallError {
    denied(tool, "it requires approval, and the pool has no approver")
        .with_detail(format!("no approver is set; to be asked: {}", questions.join("; ")))
}

fn unchecked(tool: &str, detail: String) -> CallError {
    let text = format!(
        "the call to `{tool}` was refused because a check failed; it was not run, and the failure has been logged"
    );
    CallError::new(ErrorClass::Internal, text).with_detail(detail)
}

fn because(text: String, reason: &str) -> String {
    if reason.trim().is_empty() { text } else { format!("{text}: {reason}") }
}
