//! Whom questions about calls are put to.

use crate::config::Approvals;
use crate::notify::Notifier;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::BoxFuture;
use tool_runtime::approvals::{AskCaller, FileStore, Inbox, Remembering};
use tool_runtime::cli::TerminalApprover;
use tool_runtime::govern::{Approval, ApprovalRequest, Approver, Approvers};
use tool_runtime::shell::ShellMatcher;

/// The approver of a configuration: the caller, the person at the terminal, those who read the inbox, the first that can
/// be asked. Without a store the inbox is closed. The notifier tells of its questions.
pub(crate) fn approver(
    approvals: &Approvals,
    store: Option<&FileStore>,
    notifier: Option<Notifier>,
) -> Chain {
    let mut chain: Vec<Arc<dyn Approver>> = Vec::new();
    if approvals.caller {
        chain.push(Arc::new(AskCaller::new()));
    }
    if approvals.terminal {
        chain.push(Arc::new(TerminalApprover::new()));
    }
    if let Some(store) = store {
        let mut inbox = Inbox::new(store.clone());
        if let Some(notifier) = notifier {
            inbox = inbox.on_question(move |question| notifier.tell(question));
        }
        chain.push(Arc::new(match approvals.expiry_minutes {
            Some(minutes) => inbox.expiry(Duration::from_secs(minutes.saturating_mul(60))),
            None => inbox,
        }));
    } else if approvals.inbox.is_some() {
        chain.push(Arc::new(ClosedInbox));
    }
    if !approvals.remember {
        return Chain(chain);
    }
    let remembering = Remembering::new(Chain(chain)).matcher(ShellMatcher);
    let remembering: Arc<dyn Approver> = match store {
        Some(store) => Arc::new(remembering.kept_in(store.clone())),
        None => Arc::new(remembering),
    };
    Chain(vec![remembering])
}

/// An inbox that this command does not write: its people are not asked.
struct ClosedInbox;

impl Approver for ClosedInbox {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(ready(Approval::unasked("this user cannot write the inbox")))
    }

    fn reaches(&self, approvers: &Approvers) -> bool {
        approvers.includes_others()
    }
}

/// Asks the first that can be asked.
pub(crate) struct Chain(Vec<Arc<dyn Approver>>);

impl Approver for Chain {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let mut answer = Approval::unasked("the gateway asks nobody");
            for approver in &self.0 {
                answer = request.answer_of(&**approver).await;
                if !matches!(answer, Approval::Unasked { .. }) {
                    break;
                }
            }
            answer
        })
    }

    fn reaches(&self, approvers: &Approvers) -> bool {
        self.0.iter().any(|approver| approver.reaches(approvers))
    }

    fn keeps_time(&self) -> bool {
        true
    }
}
