//! The life of questions and of approvals for later calls, in each store.

mod gone;
mod inbox;
mod remembering;
mod stores;

use crate::{
    ApprovalAnswer, ApprovalStore, FileStore, Inbox, MemoryStore, PendingApproval, StoreError,
    StoredApproval,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_core::govern::{Approval, ApprovalRequest, Approver, Approvers, Remember};
use tool_runtime_core::tool::ToolContext;
use tool_runtime_core::vocabulary::Principal;
use tool_runtime_core::vocabulary::matching::MatchAs;

const DAY: Duration = Duration::from_secs(86_400);

/// A question of ada about a path.
pub(crate) fn request(path: &str) -> ApprovalRequest {
    let arguments = serde_json::json!({ "path": path }).to_string();
    let context = ToolContext::default().with_principal(Principal::new("ada"));
    ApprovalRequest::new("remove", arguments, "Remove it?").with_context(context)
}

fn pending() -> PendingApproval {
    PendingApproval::new(&request("a"), Duration::from_secs(60))
}

/// A question whose time was up a moment ago.
fn late() -> PendingApproval {
    let pending = pending();
    PendingApproval { expires_at: pending.asked_at - 1, ..pending }
}

async fn in_each_store(check: impl AsyncFn(Arc<dyn ApprovalStore>)) {
    check(Arc::new(MemoryStore::new())).await;
    let directory = tempfile::tempdir().unwrap();
    let files = FileStore::open(directory.path()).unwrap();
    check(Arc::new(files.poll_interval(Duration::from_millis(5)))).await;
}

pub(crate) fn yes() -> ApprovalAnswer {
    ApprovalAnswer::approve().by("grace")
}

/// Waits for a question, and gives it.
pub(crate) async fn asked(store: &dyn ApprovalStore) -> PendingApproval {
    let question = async {
        loop {
            let changed = store.changed();
            let all = store.list().await.unwrap();
            match all.into_iter().find(StoredApproval::is_open) {
                Some(open) => return open.request,
                None => changed.await,
            }
        }
    };
    timeout(Duration::from_secs(20), question).await.expect("a question")
}
