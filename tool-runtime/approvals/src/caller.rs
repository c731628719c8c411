//! Approval by the caller: the user of the MCP client.

use crate::digest;
use crate::or::Or;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use tool_runtime_core::seam::printable;
use tool_runtime_core::{
    Answer, Approval, ApprovalRequest, Approver, BoxFuture, PeerCapability, PeerError, Remember,
    Risk,
};

/// Asks the caller of a call by a form: over MCP the user of the client, by an elicitation.
///
/// The answer counts as that of the caller, so it is asked only where the rule includes the caller in
/// its [`Approvers`](tool_runtime_core::Approvers). A caller that cannot show forms is not asked.
/// Where no one else can be asked, the call is denied.
///
/// Clients of MCP 2026-07-28 answer with a second request, older ones while the call waits. Both are
/// one call with one approval.
///
/// ```
/// use tool_runtime::approvals::AskCaller;
/// use tool_runtime::ToolPool;
///
/// let pool = ToolPool::builder().approver(AskCaller::new().editable()).allow_empty().build()?;
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AskCaller {
    is_editable: bool,
}

impl AskCaller {
    /// A form with the choices to approve, to approve for the session, and to deny.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the caller edit the arguments, as JSON text in the form. Default: no.
    #[must_use]
    pub fn editable(mut self) -> Self {
        self.is_editable = true;
        self
    }

    /// Asks another approver where the caller cannot be asked or may not approve.
    pub fn or<B: Approver>(self, next: B) -> Or<Self, B> {
        Or::new(self, next)
    }

    async fn ask(&self, request: &ApprovalRequest) -> Approval {
        if !request.approvers().includes_caller() {
            return Approval::unasked("the caller may not approve it");
        }
        let context = request.context();
        if !context.can_ask(PeerCapability::Elicitation) {
            return Approval::unasked("the client cannot show forms");
        }
        // Covers all that the user sees: an answer does not count for other arguments in a later round.
        let (rule, arguments) = (request.rule().unwrap_or_default(), request.shown_arguments());
        let digest = digest::of(&[rule, request.question(), request.visual(), arguments]);
        let key = format!("approval-{}", &digest[..8]);
        match context.ask_approval(&key, message(request), self.form(request)).await {
            Ok(Answer::Accepted(fields)) => answer(request, &fields, self.is_editable),
            Ok(Answer::Declined | Answer::Cancelled) => {
                Approval::rejected("the user declined").by_caller()
            }
            Err(PeerError::Unsupported(_)) => Approval::unasked("the client cannot show forms"),
            Err(error) => Approval::rejected(error.to_string()),
        }
    }

    fn form(&self, request: &ApprovalRequest) -> Value {
        let mut choices = vec![json!({ "const": "approve", "title": "Approve" })];
        if request.session().is_some() {
            let title = "Approve all such calls of this session";
            choices.push(json!({ "const": "approve_session", "title": title }));
        }
        choices.push(json!({ "const": "deny", "title": "Deny" }));
        let mut properties = json!({
            "decision": { "type": "string", "title": "Decision", "oneOf": choices },
            "reason": { "type": "string", "title": "Reason", "description": "If you deny: the model reads it." },
        });
        if self.is_editable {
            properties["arguments"] = json!({
                "type": "string",
                "title": "Arguments",
                "description": "JSON, which you may change.",
                "default": request.shown_arguments(),
            });
        }
        json!({ "type": "object", "properties": properties, "required": ["decision"] })
    }
}

impl Approver for AskCaller {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(self.ask(request))
    }
}

/// The text of the request.
fn message(request: &ApprovalRequest) -> String {
    let mut text = clean(request.question());
    let _ = write!(text, "\n\n{}", clean(request.visual()));
    if let Some(summary) = request.summary() {
        let _ = write!(text, "\n\nThe model says: {}", clean(summary));
    }
    if request.risk() != Risk::Unknown {
        let _ = write!(text, "\n\nRisk, as the model judges it: {}", request.risk());
    }
    text
}

fn clean(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

fn answer(request: &ApprovalRequest, fields: &Map<String, Value>, is_editable: bool) -> Approval {
    let field = |name: &str| fields.get(name).and_then(Value::as_str).map(str::trim);
    let mut approval = match field("decision") {
        Some("approve") => Approval::approved().by_caller(),
        Some("approve_session") => Approval::approved().by_caller().remembered(Remember::Session),
        _ => {
            let reason = field("reason").filter(|reason| !reason.is_empty());
            return Approval::rejected(reason.unwrap_or("the user denied it")).by_caller();
        }
    };
    let edited = field("arguments").filter(|text| *text != request.shown_arguments());
    if let Some(edited) = edited.filter(|_| is_editable) {
        match request.edited(edited) {
            Ok(edited) => approval = approval.with_arguments(edited),
            Err(error) => {
                return Approval::rejected(format!(
                    "its arguments were changed and are not valid: {error}"
                ))
                .by_caller();
            }
        }
    }
    approval
}
