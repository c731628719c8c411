//! The hub of remote runners.

use super::findings::{Finding, Findings, Subject};
use crate::remote;
use tool_runtime_core::pool::ToolPool;

/// Checks the hub of remote runners, if there is one.
pub(super) fn examine(pool: &ToolPool, findings: &mut Findings) {
    let Some(url) = remote::hub_of(pool) else { return };
    let mut is_complete = true;
    for absent in remote::absent_runners(pool) {
        is_complete = false;
        findings.add(Subject::Server(absent.source.to_string()), Finding::error(&absent.reason));
    }
    if is_complete {
        let text = format!("the hub at {url} is connected, and each queue has a runner");
        findings.add(Subject::Server("runner:*".to_owned()), Finding::fine(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Command;
    use std::net::TcpListener;

    #[tokio::test]
    async fn a_hub_that_is_away_is_wrong() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let command = Command::Doctor { json: true };
        let connection = remote::Connection::open(&url, false, &pool, &command).await.unwrap();
        let mut findings = Findings::default();
        examine(&pool, &mut findings);
        assert!(findings.has_errors_of(&Subject::Server("runner:*".to_owned())));
        connection.close().await;
    }
}
