//! Before a call: policies and hooks, one after the other, then the questions they raised.

use super::before::{HookDecision, Provided};
use super::hooks::ToolHooks;
use super::watch::{self, Failure, Started};
use super::{Before, Hook, HookCall, Run};
use crate::approval::{Approval, ApprovalRequest, Approver};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::governance::{Governed, Question, Replayed};
use crate::principal::Principal;
use crate::tool::Tool;
use std::future::{poll_fn, ready};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Whether the tool takes these arguments.
pub(crate) type Validate = fn(&Tool, &str) -> Result<(), CallError>;

/// The changes of hooks and the approver to a call that may run.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The arguments, if they were rewritten.
    pub(crate) arguments: Option<String>,
    /// The context, if something was provided.
    pub(crate) context: Option<ToolContext>,
    /// The time limit that policies set for the tool.
    pub(crate) time_limit: Option<Duration>,
    /// The outcome of the call, if it ran in an earlier attempt.
    pub(crate) replayed: Option<Box<Replayed>>,
}

/// An admission that was polled once.
pub(crate) enum Admitting<'a> {
    Done(Result<Admitted, CallError>),
    Waiting(BoxFuture<'a, Result<Admitted, CallError>>),
}

impl ToolHooks {
    /// Asks the policies, then runs the hooks that come before a call, in the order they were
    /// registered. Each sees the changes of those before it; `validate` runs after each rewriting,
    /// and the policies decide again. A rejected call keeps the changes made until then.
    ///
    /// The approver is asked once per question when all hooks are through: then the arguments
    /// are final unless the approver changes them, and what is approved is what runs.
    ///
    /// Needs no future where all hooks answer at once, and nothing is asked or rewritten.
    ///
    /// # Errors
    /// A policy or a hook denied the call or failed closed, a question was not answered with yes, or a
    /// limit is exceeded.
    pub(crate) fn before<'a>(
        &'a self,
        call: &'a mut HookCall,
        approver: Option<&'a Arc<dyn Approver>>,
        validate: Validate,
        governed: Option<&'a mut Governed>,
        waker: &mut Context<'_>,
    ) -> Admitting<'a> {
        let mut admission = Admission::new(call, validate, governed);
        let passed = match admission.run_ready(&self.before, waker) {
            Ok(None) if admission.is_decided() => admission.admit(),
            Ok(rest) => return Admitting::Waiting(Box::pin(admission.finish(rest, approver))),
            Err(error) => Err(error),
        };
        Admitting::Done(match passed {
            Ok(()) => Ok(admission.admitted(None)),
            Err(error) => {
                admission.rejected(&error);
                Err(error)
            }
        })
    }
}

/// A hook that waits or rewrites the arguments, and the hooks after it.
type Rest<'a> = (&'a Arc<Hook>, Started<Before>, &'a [Arc<Hook>]);

/// A call that passes policies and hooks.
struct Admission<'a> {
    call: &'a mut HookCall,
    validate: Validate,
    governed: Option<&'a mut Governed>,
    /// The questions of the hooks.
    questions: Vec<Question>,
    /// The questions of the policies about the present arguments.
    policy_questions: Vec<Question>,
    /// The person who approved the call.
    approved_by: Option<String>,
    rejected_by: Option<String>,
    is_rewritten: bool,
    is_provided: bool,
}

impl<'a> Admission<'a> {
    fn new(call: &'a mut HookCall, validate: Validate, governed: Option<&'a mut Governed>) -> Self {
        Self {
            call,
            validate,
            governed,
            questions: Vec::new(),
            policy_questions: Vec::new(),
            approved_by: None,
            rejected_by: None,
            is_rewritten: false,
            is_provided: false,
        }
    }

    /// Runs the hooks that answer at once, up to one that waits or rewrites the arguments.
    fn run_ready(
        &mut self,
        hooks: &'a [Arc<Hook>],
        waker: &mut Context<'_>,
    ) -> Result<Option<Rest<'a>>, CallError> {
        self.decide()?;
        for (index, hook) in hooks.iter().enumerate() {
            match start(self.call, hook, waker) {
                Started::Answered(Ok(before)) if before.arguments.is_none() => {
                    self.apply(before.decision)?;
                    self.provide(before.provided);
                }
                Started::Answered(Err(failure)) => self.failed(hook, &failure)?,
                started => return Ok(Some((hook, started, &hooks[index + 1..]))),
            }
        }
        Ok(None)
    }

    /// Whether nothing is looked up or asked once all hooks have run.
    fn is_decided(&self) -> bool {
        let may_replay = self.governed.as_ref().is_some_and(|it| it.may_replay(self.call));
        self.questions.is_empty() && self.policy_questions.is_empty() && !may_replay
    }

    async fn finish(
        mut self,
        rest: Option<Rest<'_>>,
        approver: Option<&Arc<dyn Approver>>,
    ) -> Result<Admitted, CallError> {
        match self.run(rest, approver).await {
            Ok(replayed) => Ok(self.admitted(replayed.map(Box::new))),
            Err(error) => {
                self.rejected(&error);
                Err(error)
            }
        }
    }

    /// The outcome of an earlier attempt ends the admission: nothing will run.
    async fn run(
        &mut self,
        rest: Option<Rest<'_>>,
        approver: Option<&Arc<dyn Approver>>,
    ) -> Result<Option<Replayed>, CallError> {
        if let Some((hook, started, after)) = rest {
            self.pass(hook, started).await?;
            for hook in after {
                let call = &*self.call;
                let started = poll_fn(|waker| Poll::Ready(start(call, hook, waker))).await;
                self.pass(hook, started).await?;
            }
        }
        if let Some(governed) = self.governed.as_mut().filter(|it| it.may_replay(self.call)) {
            let replayed = governed.replay(self.call).await?;
            if replayed.is_some() {
                return Ok(replayed);
            }
        }
        self.questions.append(&mut self.policy_questions);
        // Boxed: few hooks ask or rewrite.
        if !self.questions.is_empty() {
            Box::pin(self.ask_all(approver)).await?;
        }
        self.admit()?;
        Ok(None)
    }

    /// Reserves the call, and records that it may run.
    fn admit(&mut self) -> Result<(), CallError> {
        let by = self.approved_by.as_deref();
        self.governed.as_mut().map_or(Ok(()), |governed| governed.admit(self.call, by))
    }

    /// Asks the policies about the present arguments.
    fn decide(&mut self) -> Result<(), CallError> {
        if let Some(governed) = &mut self.governed {
            self.policy_questions = governed.decide(self.call)?;
        }
        Ok(())
    }

    fn rejected(&mut self, error: &CallError) {
        if let Some(governed) = &mut self.governed {
            governed.rejected(self.call, error, self.rejected_by.as_deref());
        }
    }

    async fn pass(&mut self, hook: &Arc<Hook>, started: Started<Before>) -> Result<(), CallError> {
        let before = match watch::finish_hook(hook, started).await {
            Ok(before) => before,
            Err(failure) => return self.failed(hook, &failure),
        };
        self.apply(before.decision)?;
        if let Some(arguments) = before.arguments {
            Box::pin(self.rewrite(hook, &arguments)).await?;
        }
        self.provide(before.provided);
        Ok(())
    }

    fn apply(&mut self, decision: HookDecision) -> Result<(), CallError> {
        match decision {
            HookDecision::Proceed => {}
            HookDecision::Deny(reason) => return Err(denied(self.call.name(), &reason)),
            HookDecision::Ask(question) => self.questions.push(*question),
        }
        Ok(())
    }

    /// Invalid arguments are the hook's mistake, which a model cannot correct. If it fails open, only
    /// its arguments are ignored, not its question.
    async fn rewrite(&mut self, hook: &Arc<Hook>, arguments: &str) -> Result<(), CallError> {
        let call = self.call.rewritten(arguments);
        let (rewritten, validate) = (call.clone(), self.validate);
        let validated = watch::run_hook(hook, call.context(), move |_| {
            Box::pin(async move { Ok(validate(rewritten.tool(), rewritten.arguments())) })
        });
        match validated.await {
            Ok(Ok(())) => {
                *self.call = call;
                self.is_rewritten = true;
                // Before a person is asked about the call.
                self.call.check_rule()?;
                self.decide()
            }
            Ok(Err(error)) => self.failed(hook, &Failure::Invalid(error.to_string())),
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
        let tolerated = hook.tolerate(failure, self.call);
        tolerated.map_err(|detail| unchecked(self.call.name(), detail))
    }

    async fn ask_all(&mut self, approver: Option<&Arc<dyn Approver>>) -> Result<(), CallError> {
        let questions = Question::merged(std::mem::take(&mut self.questions));
        if let Some(governed) = &mut self.governed {
            governed.check_asking(self.call)?;
        }
        let (mut edit, mut is_asked) = (None, false);
        for (position, question) in questions.iter().enumerate() {
            let earlier = self.governed.as_ref();
            if let Some(answer) = earlier.and_then(|it| it.earlier_approval(self.call, question)) {
                self.apply_approval(answer.clone()).await?;
                edit = Some(answer).filter(Approval::is_edit).or(edit);
                continue;
            }
            let Some(approver) = approver else {
                return Err(no_approver(self.call.name(), &questions));
            };
            is_asked = true;
            let asked_at = self.governed.as_mut().map(|it| it.asked(self.call, question));
            let asked_about = self.call.arguments().to_owned();
            let answer = self.ask(approver, question, asked_at).await?;
            self.check_editor(&questions[..position], &answer)?;
            self.apply_approval(answer.clone()).await?;
            let is_last = position + 1 == questions.len();
            if let Some(governed) = &mut self.governed {
                let asked = (question.clone(), asked_about);
                governed.approved(self.call, asked, answer.clone(), is_last);
            }
            edit = Some(answer).filter(Approval::is_edit).or(edit);
        }
        if is_asked {
            // Rules, modes and files of policies may have changed while a person was asked.
            self.decide()?;
        }
        self.check_new_questions(&questions, edit.as_ref())
    }

    /// The answer of the approver, with its person.
    async fn ask(
        &mut self,
        approver: &Arc<dyn Approver>,
        question: &Question,
        asked_at: Option<Instant>,
    ) -> Result<Approval, CallError> {
        let tool = self.call.name().to_owned();
        let expiry = question.expiry;
        let left = expiry.map(|expiry| {
            expiry.saturating_sub(asked_at.map_or(Duration::ZERO, |asked| asked.elapsed()))
        });
        let visual = visual(self.call).await;
        let request = self.request(question, left, visual);
        let (approver, name) = (Arc::clone(approver), || format!("approver of {tool}"));
        let approve = move || -> BoxFuture<'static, _> {
            Box::pin(async move { approver.approve(&request).await })
        };
        let asked = async { self.call.context().apart(name, approve).await };
        let answered = async {
            match left {
                None => Some(asked.await),
                Some(left) if left.is_zero() => None,
                Some(left) => tokio::time::timeout(left, asked).await.ok(),
            }
        };
        match watch::catch_panic(answered).await {
            Ok(Some(answer)) => Ok(identified(answer, question, self.call.context().principal())),
            Ok(None) => {
                let expiry = expiry.unwrap_or_default();
                Err(rejected(&tool, &format!("nobody answered within {expiry:?}")))
            }
            Err(panic) => Err(rejected(&tool, "the question could not be put to anyone")
                .with_detail(format!("the approver panicked: {panic}"))),
        }
    }

    fn request(
        &self,
        question: &Question,
        left: Option<Duration>,
        visual: String,
    ) -> ApprovalRequest {
        let call = &*self.call;
        let mut request = ApprovalRequest::new(call.name(), call.arguments(), &question.text)
            .with_context(call.context().clone())
            .with_judgement(call.risk(), call.summary())
            .with_visual(visual)
            .with_approvers(question.approvers.clone())
            .with_step(call.view().step());
        if let Some(rule) = &question.rule {
            request = request.with_rule(rule);
        }
        if let Some(left) = left {
            request = request.with_time_left(left);
        }
        request.hiding_secrets(call.definition())
    }

    /// Does what the approver answered.
    async fn apply_approval(&mut self, answer: Approval) -> Result<(), CallError> {
        match answer {
            Approval::Approved { arguments, by, .. } => {
                self.approved_by = by.or(self.approved_by.take());
                match arguments {
                    Some(edited) => self.edit(&edited).await,
                    None => Ok(()),
                }
            }
            Approval::Rejected { reason, by, .. } => {
                self.rejected_by = by;
                Err(rejected(self.call.name(), &reason))
            }
            Approval::Unasked { reason } => {
                let text = because("it requires approval, and nobody can be asked".into(), &reason);
                Err(denied(self.call.name(), &text))
            }
        }
    }

    /// An edit needs an editor who may also answer the questions before, whose people approved other arguments.
    fn check_editor(&self, before: &[Question], answer: &Approval) -> Result<(), CallError> {
        let Approval::Approved { arguments: Some(_), by, is_caller, .. } = answer else {
            return Ok(());
        };
        let caller = self.call.context().principal().id();
        let may_edit = |question: &Question| {
            question.approvers.refusal(caller, by.as_deref(), *is_caller).is_none()
        };
        if before.iter().all(may_edit) {
            return Ok(());
        }
        let text = "its arguments were changed after other people had approved them; call it again with those";
        Err(rejected(self.call.name(), text))
    }

    /// New questions are not asked. Those about edited arguments need an editor who may answer them, unless the people
    /// who may were asked anyway.
    fn check_new_questions(
        &self,
        asked: &[Question],
        edit: Option<&Approval>,
    ) -> Result<(), CallError> {
        let caller = self.call.context().principal().id();
        let is_new = |new: &&Question| asked.iter().all(|old| old.approvers != new.approvers);
        let mut new = self.policy_questions.iter().filter(is_new);
        let refusal = new.find_map(|new| match edit {
            Some(Approval::Approved { by, is_caller, .. }) => {
                new.approvers.refusal(caller, by.as_deref(), *is_caller)
            }
            _ => Some("the rules changed while a person was asked; call it again".to_owned()),
        });
        refusal.map_or(Ok(()), |reason| Err(rejected(self.call.name(), &reason)))
    }

    /// Arguments as the approver changed them. A model cannot correct these, either.
    async fn edit(&mut self, arguments: &str) -> Result<(), CallError> {
        let edited = self.call.rewritten(arguments);
        let (call, validate, name) = (edited.clone(), self.validate, || edited.name().to_owned());
        let valid = move || -> BoxFuture<'static, _> {
            Box::pin(async move { validate(call.tool(), call.arguments()) })
        };
        edited.context().apart(name, valid).await.map_err(|error| {
            rejected(edited.name(), "its arguments were changed and are not valid")
                .with_detail(error.to_string())
        })?;
        *self.call = edited;
        self.is_rewritten = true;
        self.decide()
    }

    fn admitted(self, replayed: Option<Box<Replayed>>) -> Admitted {
        Admitted {
            arguments: self.is_rewritten.then(|| self.call.arguments().to_owned()),
            context: self.is_provided.then(|| self.call.context().clone()),
            time_limit: self.governed.as_ref().and_then(|governed| governed.time_limit()),
            replayed,
        }
    }
}

fn start(call: &HookCall, hook: &Arc<Hook>, waker: &mut Context<'_>) -> Started<Before> {
    let own = call.clone();
    let start = |hook: &Hook| match &hook.run {
        Run::Before(run) => run(own),
        Run::After(_) => Box::pin(ready(Ok(Before::proceed()))),
    };
    watch::start_hook(hook, call.context(), start, waker)
}

/// The answer with its person, or a rejection if it approves and the person may not.
fn identified(mut answer: Approval, question: &Question, caller: &Principal) -> Approval {
    let refusal = match &answer {
        Approval::Approved { by, is_caller, .. } => {
            question.approvers.refusal(caller.id(), by.as_deref(), *is_caller)
        }
        _ => None,
    };
    if let Approval::Approved { by, is_caller: true, .. }
    | Approval::Rejected { by, is_caller: true, .. } = &mut answer
    {
        let name = if caller.is_anonymous() { "the caller" } else { caller.id() };
        *by = Some(name.to_owned());
    }
    match (refusal, answer) {
        (Some(reason), Approval::Approved { by, is_caller, .. }) => {
            Approval::Rejected { reason, by, is_caller }
        }
        (_, answer) => answer,
    }
}

/// The text that shows the call to a person.
async fn visual(call: &HookCall) -> String {
    let (shown, name) = (call.clone(), || call.name().to_owned());
    let show = move || -> BoxFuture<'static, _> { Box::pin(async move { shown.visualize() }) };
    call.context().apart(name, show).await
}

pub(crate) fn denied(tool: &str, reason: &str) -> CallError {
    let text = format!("the call to `{tool}` is not allowed");
    CallError::new(ErrorClass::Denied, because(text, reason))
}

fn rejected(tool: &str, reason: &str) -> CallError {
    let text = format!("the call to `{tool}` was not approved");
    CallError::new(ErrorClass::ApprovalRejected, because(text, reason))
}

fn no_approver(tool: &str, questions: &[Question]) -> CallError {
    denied(tool, "it requires approval, and the pool has no approver")
        .with_detail(format!("no approver is set; to be asked: {}", Question::texts(questions)))
}

pub(crate) fn unchecked(tool: &str, detail: String) -> CallError {
    let text = format!(
        "the call to `{tool}` was refused because a check failed; it was not run, and the failure has been logged"
    );
    CallError::new(ErrorClass::Internal, text).with_detail(detail)
}

fn because(text: String, reason: &str) -> String {
    if reason.trim().is_empty() { text } else { format!("{text}: {reason}") }
}
