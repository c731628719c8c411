//! Approval by the caller: the user of the MCP client.

use super::{Approval, ApprovalRequest, Approver, Approvers, Or, Remember};
use crate::tool::peer::{Answer, PeerCapability, PeerError};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::hex::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Asks the caller of a call by a form: over MCP the user of the client, by an elicitation.
///
/// A pool asks so if no other approver is set. The answer counts as that of the caller, so it is asked only where the
/// question includes the caller in its [`Approvers`], as questions do by default. A caller that cannot show forms is not
/// asked. Where no one else can be asked, the call is denied.
///
/// Clients of MCP 2026-07-28 answer with a second request, older ones while the call waits. Both are
/// one call with one approval.
///
/// ```
/// use tool_runtime::ToolPool;
/// use tool_runtime::govern::AskCaller;
///
/// let pool = ToolPool::builder().approver(AskCaller::new().editable()).allow_empty().build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
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
            return Approval::unasked("the caller cannot show forms");
        }
        let (key, message) = (key(request), request.text().to_string());
        match context.ask_approval(&key, message, self.form(request)).await {
            Ok(Answer::Accepted(fields)) => answer(request, &fields, self.is_editable),
            Ok(Answer::Declined | Answer::Cancelled) => {
                Approval::rejected("the user declined").by_caller()
            }
            Err(PeerError::Unsupported(_)) => Approval::unasked("the caller cannot show forms"),
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
                "default": request.display_arguments(),
            });
        }
        json!({ "type": "object", "properties": properties, "required": ["decision"] })
    }
}

impl Approver for AskCaller {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(self.ask(request))
    }

    fn reaches(&self, approvers: &Approvers) -> bool {
        approvers.includes_caller()
    }
}

/// Names the question within the call. It covers all that the user sees: an answer does not count for other arguments in
/// a later round.
fn key(request: &ApprovalRequest) -> String {
    let mut digest = Sha256::new();
    let rule = request.rule().unwrap_or_default();
    for part in [rule, request.question(), request.visual(), request.display_arguments()] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    format!("approval-{}", &hex(&digest.finalize()[..4]))
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
    let edited = field("arguments").filter(|text| *text != request.display_arguments());
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
