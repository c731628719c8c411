//! Commands whose time is up.

use crate::test_time::{in_time, skip_time};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tool_runtime::peer::{Peer, Progress};
use tool_runtime::prelude::*;

/// The limit of a command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Learns that a call waits for its command, which it reports each second.
#[derive(Default)]
struct Waits(AtomicBool);

impl Peer for Waits {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, _: Progress) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls `Bash` with a command whose time of 30 seconds is up after `begun`. The time is skipped.
pub(crate) async fn out_of_time(pool: &ToolPool, command: &str, begun: impl Future) -> Observation {
    let waits = Arc::new(Waits::default());
    let context = pool.context().with_peer(waits.clone());
    let arguments = json!({ "command": command, "timeout_ms": TIMEOUT.as_millis() as u64 });
    let call = pool.call_with(ToolCall::json("Bash", arguments), &context);
    let expire = async {
        begun.await;
        // On a busy machine a command may do much before the call waits for it.
        while !waits.0.load(Ordering::Relaxed) {
            skip_time(Duration::from_secs(1)).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        skip_time(TIMEOUT).await;
    };
    in_time(async { tokio::join!(call, expire).0 }).await.observation().clone()
}
