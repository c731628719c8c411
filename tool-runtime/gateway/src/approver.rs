//! Whom questions about calls are put to.

use crate::config::Approvals;
use crate::notify::Notifier;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::BoxFuture;
use tool_runtime::approvals::{AskCaller, FileStore, Inbox, Remembering};
use tool_runtime::cli::TerminalApprover;
use tool_runtime::govern::{Approval, ApprovalRequest, Approver, Approvers};
use tool_runtime::shell::ShellMatcher;

/// The approver of a configuration: the caller, the person at the terminal, those who read the inbox, the first that can
/// be asked. With the store of the inbox. The notifier tells of its questions.
///
/// # Errors
/// The inbox cannot be opened.
pub(crate) fn approver(
    approvals: &Approvals,
    notifier: Option<Notifier>,
) -> io::Result<(Chain, Option<FileStore>)> {
    let mut chain: Vec<Arc<dyn Approver>> = Vec::new();
    if approvals.caller {
        chain.push(Arc::new(AskCaller::new()));
    }
    if approvals.terminal {
        chain.push(Arc::new(TerminalApprover::new()));
    }
    let store = approvals.inbox.as_ref().map(FileStore::open).transpose()?;
    if let Some(store) = &store {
        let mut inbox = Inbox::new(store.clone());
        if let Some(notifier) = notifier {
            inbox = inbox.on_question(move |question| notifier.tell(question));
        }
        chain.push(Arc::new(match approvals.expiry_minutes {
            Some(minutes) => inbox.expiry(Duration::from_secs(minutes.saturating_mul(60))),
            None => inbox,
        }));
    }
    if !approvals.remember {
        return Ok((Chain(chain), store));
    }
    let remembering = Remembering::new(Chain(chain)).matcher(ShellMatcher);
    let remembering: Arc<dyn Approver> = match &store {
        Some(store) => Arc::new(remembering.kept_in(store.clone())),
        None => Arc::new(remembering),
    };
    Ok((Chain(vec![remembering]), store))
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
