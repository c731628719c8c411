//! A program with a policy, a log and an inbox, whose commands it has. `POLICY`, `LOG` and `INBOX` name their files.

use tool_runtime::approvals::{FileStore, Inbox};
use tool_runtime::audit::EventLog;
use tool_runtime::policy::LivePolicy;
use tool_runtime::prelude::*;

/// Answer at once.
#[tool(read_only)]
async fn ping() -> &'static str {
    "pong"
}

/// Pay once.
#[tool(at_most_once)]
async fn pay() -> &'static str {
    "paid"
}

fn file(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| format!("missing/{variable}.yaml"))
}

tool_runtime::main!(
    pool = |pool| {
        pool.install(LivePolicy::open(file("POLICY")))
            .install(EventLog::open(file("LOG")))
            .install(FileStore::open(file("INBOX")).map(Inbox::new))
    }
);
