//! Approval of calls by a person.

mod answer;
mod approvers;
mod ask_caller;
mod edit;
mod or;
mod question_text;
mod request;

pub use answer::{Approval, Remember};
pub use approvers::Approvers;
pub use ask_caller::AskCaller;
pub use edit::EditError;
pub use or::Or;
pub use question_text::QuestionText;
pub use request::ApprovalRequest;

use crate::vocabulary::future::BoxFuture;

/// Decides whether a call may run: a person at a terminal, a service.
///
/// An `async` closure is one. A panic is a rejection.
///
/// ```
/// use tool_runtime::BoxFuture;
/// use tool_runtime::govern::{Approval, ApprovalRequest, Approver};
///
/// struct OfficeClosed;
///
/// impl Approver for OfficeClosed {
///     fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
///         Box::pin(async { Approval::rejected("the office is closed") })
///     }
/// }
///
/// fn approver(approver: impl Approver) -> Box<dyn Approver> {
///     Box::new(approver)
/// }
///
/// approver(OfficeClosed);
/// approver(|request: ApprovalRequest| async move {
///     if request.tool() == "fs.read" { Approval::approved() } else { Approval::rejected("no") }
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot approve calls",
    note = "write `|request: ApprovalRequest| async move {{ Approval::approved() }}`, or implement `Approver`"
)]
pub trait Approver: Send + Sync + 'static {
    /// Answers. It may take as long as the call and the question may; dropping the future withdraws the question.
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;

    /// Whether it may ask some of these people. A pool is not built if a policy asks people whom its approver never
    /// reaches. Default: true.
    fn reaches(&self, approvers: &Approvers) -> bool {
        let _ = approvers;
        true
    }

    /// Whether it answers by itself when [`time_left`](ApprovalRequest::time_left) is over, and has ended the question
    /// by then where it was put. It is dropped ten seconds later at the latest. An approver around another one forwards
    /// this. Default: false, its future is dropped when the time is over.
    fn keeps_time(&self) -> bool {
        false
    }
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
    fn edits_keep_what_was_not_shown() {
        let schema = serde_json::json!({
            "properties": { "password": { "writeOnly": true }, "user": { "type": "string" } },
        });
        let tool = crate::tool::Tool::builder("login", "Log in.").handler(|| async {});
        let mut definition = tool.definition().clone();
        definition.input_schema = schema.as_object().unwrap().clone();
        let arguments = r#"{"user":"ada","password":"hunter2","pw":"hunter2"}"#;
        let request = ApprovalRequest::new("login", arguments, "Log in?");
        let request = request.for_people(&definition, None);
        let display = r#"{"user":"ada","password":"***","pw":"***"}"#;
        assert_eq!(request.display_arguments(), display);
        assert_eq!(
            request.edited(r#"{"user":"bob","password":"***"}"#).unwrap(),
            r#"{"user":"bob","password":"hunter2"}"#
        );
        assert!(request.edited("[]").is_err());
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
