//! The question before a call runs.

use super::edit::{self, EditError};
use super::question_text::QuestionText;
use super::{Approval, Approver, Approvers};
use crate::govern::Risk;
use crate::tool::call::visual;
use crate::tool::context::{SessionId, StepId, ToolContext};
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::mask::{self, Mask};
use crate::vocabulary::principal::Principal;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// The question before a call runs.
///
/// The request shows the call as it will run: nothing but the answer changes the arguments after the
/// question.
///
/// ```
/// use tool_runtime::govern::ApprovalRequest;
///
/// let request = ApprovalRequest::new("fs.remove", r#"{"path": "a.txt"}"#, "Remove a file?")
///     .with_call_id("call_1")
///     .with_visual("remove a.txt");
/// assert_eq!(request.tool(), "fs.remove");
/// assert_eq!(request.visual(), "remove a.txt");
/// ```
#[derive(Clone)]
pub struct ApprovalRequest {
    tool: String,
    arguments: String,
    /// The arguments for people.
    display_arguments: String,
    visual: String,
    question: String,
    rule: Option<String>,
    risk: Risk,
    summary: Option<String>,
    approvers: Approvers,
    time_limit: Option<TimeLimit>,
    step: Option<StepId>,
    context: ToolContext,
}

/// The time in which an approver that keeps the time ends its question.
const GRACE: Duration = Duration::from_secs(10);

/// The time for an answer.
#[derive(Clone, Copy)]
struct TimeLimit {
    time: Duration,
    start: Instant,
}

impl ApprovalRequest {
    /// A question about a call of a tool with arguments as JSON text.
    pub fn new(
        tool: impl Into<String>,
        arguments: impl Into<String>,
        question: impl Into<String>,
    ) -> Self {
        let (tool, arguments) = (tool.into(), arguments.into());
        Self {
            visual: tool.clone(),
            tool,
            display_arguments: arguments.clone(),
            arguments,
            question: question.into(),
            rule: None,
            risk: Risk::Unknown,
            summary: None,
            approvers: Approvers::default(),
            time_limit: None,
            step: None,
            context: ToolContext::default(),
        }
    }

    /// Sets the context of the call: its id, caller and session. Default: that of no call.
    #[must_use]
    pub fn with_context(mut self, context: ToolContext) -> Self {
        self.context = context;
        self
    }

    /// Sets the call's id. Default: none.
    #[must_use]
    pub fn with_call_id(mut self, id: impl Into<String>) -> Self {
        self.context = self.context.with_call_id(id.into());
        self
    }

    /// Sets the text that shows the call to a person. Default: the tool's name.
    #[must_use]
    pub fn with_visual(mut self, visual: impl Into<String>) -> Self {
        self.visual = visual.into();
        self
    }

    /// Sets the model's description of the call. Default: an unknown risk, no summary.
    #[must_use]
    pub fn with_judgement(mut self, risk: Risk, summary: Option<&str>) -> Self {
        (self.risk, self.summary) = (risk, summary.map(str::to_owned));
        self
    }

    /// Sets the rule that asks. Default: none.
    #[must_use]
    pub fn with_rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Sets who may approve. Default: everyone.
    #[must_use]
    pub fn with_approvers(mut self, approvers: Approvers) -> Self {
        self.approvers = approvers;
        self
    }

    /// Sets how long the answer counts from now on. Default: as long as the call waits.
    #[must_use]
    pub fn with_time_left(mut self, time: Duration) -> Self {
        self.time_limit = Some(TimeLimit { time, start: Instant::now() });
        self
    }

    pub(crate) fn with_step(mut self, step: Option<&StepId>) -> Self {
        self.step = step.cloned();
        self
    }

    /// Shows the call by the tool's own text or else by its arguments, without secret arguments of the tool and secrets
    /// of the pool.
    pub(crate) fn for_people(mut self, definition: &ToolDefinition, own: Option<String>) -> Self {
        let schema = &definition.input_schema;
        self.display_arguments = visual::shown_arguments(&self.arguments, schema);
        let mask = self.context.mask();
        if let Some(mask) = mask {
            self.display_arguments = mask_json(mask, &self.display_arguments);
            mask::in_place(mask, &mut self.question);
            self.summary.iter_mut().for_each(|text| mask::in_place(mask, text));
        }
        self.visual = match own {
            Some(own) => visual::own(&mask.map_or(own.as_str().into(), |mask| mask.text(&own))),
            None => visual::call(&self.tool, &self.display_arguments, schema),
        };
        self
    }

    /// The call's id, as its caller gave it.
    pub fn call_id(&self) -> Option<&str> {
        self.context.call_id()
    }

    /// The tool's id.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as JSON text, as they will run. Secret ones are in it: show
    /// [`Self::visual`] or [`Self::display_arguments`] to people.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The arguments as JSON text for people: secret ones are replaced by `"***"`.
    pub fn display_arguments(&self) -> &str {
        &self.display_arguments
    }

    /// Arguments that a person has edited, on the basis of [`Self::display_arguments`]: those that are
    /// still as they were shown, also inside objects and lists, get the value that they have in
    /// [`Self::arguments`]. An item of a list may have moved.
    ///
    /// # Errors
    /// The text is not a JSON object, or a hidden value is left whose own value is not certain.
    ///
    /// ```
    /// use tool_runtime::govern::ApprovalRequest;
    ///
    /// let request = ApprovalRequest::new("fs.remove", r#"{"path":"a","all":true}"#, "Remove it?");
    /// let edited = request.edited(r#"{"path": "b", "all": true}"#)?;
    /// assert_eq!(edited, r#"{"path":"b","all":true}"#);
    /// # Ok::<(), tool_runtime::govern::EditError>(())
    /// ```
    pub fn edited(&self, edited: &str) -> Result<String, EditError> {
        let read =
            |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
        let mut edited = Value::Object(serde_json::from_str(edited)?);
        edit::restore(
            &mut edited,
            &read(&self.display_arguments).into(),
            &read(&self.arguments).into(),
        )?;
        Ok(serde_json::to_string(&edited)?)
    }

    /// The text that shows the call to a person: the tool's own, or its name and arguments. Secret arguments are hidden
    /// where the tool declares which they are, and long ones are shortened.
    pub fn visual(&self) -> &str {
        &self.visual
    }

    /// The question with its call, the model's words about it, and the people who may answer: what every approver shows.
    /// No character controls a terminal or is invisible.
    ///
    /// ```
    /// use tool_runtime::govern::ApprovalRequest;
    ///
    /// let request = ApprovalRequest::new("fs.remove", r#"{"path": "a.txt"}"#, "Remove a file?")
    ///     .with_visual("remove a.txt");
    /// let text = request.text().to_string();
    /// assert_eq!(text, "Remove a file?\n  remove a.txt\n  who may answer: everyone");
    /// ```
    pub fn text(&self) -> QuestionText<'_> {
        QuestionText {
            question: &self.question,
            visual: &self.visual,
            summary: self.summary.as_deref(),
            risk: self.risk,
            approvers: &self.approvers,
        }
    }

    /// The question.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The rule that asks, if a policy names it. Several that ask the same people are `first, second`.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// The risk, as the model judges it.
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// The purpose of the call in the words of the model, if it gave one.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// The people who may approve. The pool rejects answers of others.
    pub fn approvers(&self) -> &Approvers {
        &self.approvers
    }

    /// The time that is left for an answer, if it is limited. The call is rejected when it is over.
    pub fn time_left(&self) -> Option<Duration> {
        let TimeLimit { time, start } = self.time_limit?;
        Some(time.saturating_sub(start.elapsed()))
    }

    /// The answer of an approver, in the time that is left.
    #[doc(hidden)]
    pub async fn answer_of(&self, approver: &(impl Approver + ?Sized)) -> Approval {
        match self.time_left() {
            Some(left) if left.is_zero() => self.unanswered(),
            Some(left) => {
                let keeps_time = approver.keeps_time();
                let limit = if keeps_time { left.saturating_add(GRACE) } else { left };
                // An approver that blocks its thread answers after the time.
                match tokio::time::timeout(limit, approver.approve(self)).await {
                    Ok(answer) if keeps_time || self.time_left() > Some(Duration::ZERO) => answer,
                    _ => self.unanswered(),
                }
            }
            None => approver.approve(self).await,
        }
    }

    /// The answer to a question whose time is over.
    #[doc(hidden)]
    pub fn unanswered(&self) -> Approval {
        match self.time_limit {
            Some(TimeLimit { time, .. }) => {
                // What is left when the question is put is a little less than the limit.
                let millis = (time.as_secs_f64() * 1e3).round();
                let time = Duration::from_secs_f64(match millis < 1e4 {
                    true => millis / 1e3,
                    false => (millis / 1e3).round(),
                });
                Approval::rejected(format!("nobody answered within {time:?}"))
            }
            None => Approval::rejected("nobody answered in time"),
        }
    }

    /// The caller.
    pub fn principal(&self) -> &Principal {
        self.context.principal()
    }

    /// The session that the call belongs to.
    pub fn session(&self) -> Option<&SessionId> {
        self.context.session()
    }

    /// The id of the call in its [`Execution`](crate::tool::Execution), if it is part of one: it has the same
    /// id when the execution is repeated.
    pub fn step(&self) -> Option<&StepId> {
        self.step.as_ref()
    }

    /// The context of the call, which reaches its caller: see [`ToolContext::ask`].
    pub fn context(&self) -> &ToolContext {
        &self.context
    }
}

/// JSON without secrets: a number that is one becomes a string.
fn mask_json(mask: &dyn Mask, json: &str) -> String {
    match (mask.text(json), serde_json::from_str::<Value>(json)) {
        (Cow::Owned(_), Ok(mut value)) => {
            mask.value(&mut value);
            value.to_string()
        }
        (masked, _) => masked.into_owned(),
    }
}

/// Without the arguments, which may be secret.
impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("call_id", &self.call_id())
            .field("tool", &self.tool)
            .field("visual", &self.visual)
            .field("question", &self.question)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}
