//! Approval of calls by a person.

use crate::future::BoxFuture;
use crate::governance::Risk;
use std::fmt;

/// The question before a call runs. Cheap enough to be sent anywhere.
///
/// The request shows the call as it will run: nothing but the answer changes the arguments after the
/// question.
///
/// ```
/// use tool_runtime::ApprovalRequest;
///
/// let request = ApprovalRequest::new("fs.remove", r#"{"path": "a.txt"}"#, "Remove a file?")
///     .with_call_id("call_1")
///     .with_visual("remove a.txt");
/// assert_eq!(request.tool(), "fs.remove");
/// assert_eq!(request.visual(), "remove a.txt");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    call_id: Option<String>,
    tool: String,
    arguments: String,
    visual: String,
    question: String,
    risk: Risk,
    summary: Option<String>,
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
            call_id: None,
            visual: tool.clone(),
            tool,
            arguments,
            question: question.into(),
            risk: Risk::Unknown,
            summary: None,
        }
    }

    /// Sets the call's id. Default: none.
    #[must_use]
    pub fn with_call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Sets how the call shows itself to a person. Default: the tool's name.
    #[must_use]
    pub fn with_visual(mut self, visual: impl Into<String>) -> Self {
        self.visual = visual.into();
        self
    }

    /// Sets what the model says about the call. Default: an unknown risk, no summary.
    #[must_use]
    pub fn with_judgement(mut self, risk: Risk, summary: Option<&str>) -> Self {
        (self.risk, self.summary) = (risk, summary.map(str::to_owned));
        self
    }

    /// The risk, as the model judges it.
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// The purpose of the call in the words of the model, if it gave one.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// The call's id, as its caller gave it.
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The tool's id.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as JSON text, as they will run. Secret ones are in it: show
    /// [`Self::visual`] to people.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The text that shows the call to a person. Secret arguments are hidden where the tool declares which
    /// they are.
    pub fn visual(&self) -> &str {
        &self.visual
    }

    /// The question.
    pub fn question(&self) -> &str {
        &self.question
    }
}

/// Without the arguments, which may be secret.
impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("call_id", &self.call_id)
            .field("tool", &self.tool)
            .field("visual", &self.visual)
            .field("question", &self.question)
            .finish_non_exhaustive()
    }
}

/// The answer to an [`ApprovalRequest`].
///
/// ```
/// use tool_runtime::Approval;
///
/// let answer = Approval::rejected("not on a Friday");
/// assert_eq!(answer, Approval::Rejected { reason: "not on a Friday".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// The call may run.
    #[non_exhaustive]
    Approved {
        /// Other arguments, as JSON text. The tool and the policies check them again; the question is
        /// not repeated.
        arguments: Option<String>,
        /// Who approved, for records.
        by: Option<String>,
    },
    /// The call must not run.
    Rejected {
        /// The reason, which the model reads.
        reason: String,
    },
}

impl Approval {
    /// The call may run.
    ///
    /// ```
    /// use tool_runtime::Approval;
    ///
    /// let answer = Approval::approved().by("ada").with_arguments(r#"{"path": "b.txt"}"#);
    /// assert!(matches!(answer, Approval::Approved { by: Some(_), .. }));
    /// ```
    pub fn approved() -> Self {
        Self::Approved { arguments: None, by: None }
    }

    /// Sets who approved, for records. Default: unknown. Without effect on a rejection.
    #[must_use]
    pub fn by(mut self, name: impl Into<String>) -> Self {
        if let Self::Approved { by, .. } = &mut self {
            *by = Some(name.into());
        }
        self
    }

    /// Lets the call run with other arguments: JSON text, which the tool and the policies check
    /// again. Default: those in the request. Without effect on a rejection.
    #[must_use]
    pub fn with_arguments(mut self, edited: impl Into<String>) -> Self {
        if let Self::Approved { arguments, .. } = &mut self {
            *arguments = Some(edited.into());
        }
        self
    }

    /// The call must not run, for a reason that the model reads; empty for none.
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected { reason: reason.into() }
    }
}

/// Decides whether a call may run: a person at a terminal, a service.
///
/// An `async` closure is one. A panic is a rejection.
///
/// ```
/// use tool_runtime::{Approval, ApprovalRequest, Approver, BoxFuture};
///
/// struct Nobody;
///
/// impl Approver for Nobody {
///     fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
///         Box::pin(async { Approval::rejected("nobody is awake") })
///     }
/// }
///
/// fn approver(approver: impl Approver) -> Box<dyn Approver> {
///     Box::new(approver)
/// }
///
/// approver(Nobody);
/// approver(|request: ApprovalRequest| async move {
///     if request.tool() == "fs.read" { Approval::approved() } else { Approval::rejected("no") }
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot approve calls",
    note = "write `|request: ApprovalRequest| async move {{ Approval::approved() }}`, or implement `Approver`"
)]
pub trait Approver: Send + Sync + 'static {
    /// Answers. It may take as long as the call may; dropping the future withdraws the question.
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;
}

#[diagnostic::do_not_recommend]
impl<F, Fut> Approver for F
where
    F: Fn(ApprovalRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Approval> + Send + 'static,
{
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(self(request.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_in_the_log_shows_no_arguments() {
        let request = ApprovalRequest::new("login", r#"{"password": "hunter2"}"#, "Log in?");
        let text = format!("{request:?}");
        assert!(text.contains("Log in?") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn an_unshown_call_shows_its_name_only() {
        assert_eq!(ApprovalRequest::new("login", "{}", "Log in?").visual(), "login");
    }

    #[tokio::test]
    async fn a_closure_approves() {
        let approver: Box<dyn Approver> =
            Box::new(
                |request: ApprovalRequest| async move { Approval::rejected(request.question()) },
            );
        let request = ApprovalRequest::new("login", "{}", "Log in?");
        assert_eq!(approver.approve(&request).await, Approval::rejected("Log in?"));
    }
}
