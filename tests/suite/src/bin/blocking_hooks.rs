//! A server whose hooks, approver and argument decoder block their threads forever.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use std::thread;
use std::time::Duration;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;

const AN_HOUR: Duration = Duration::from_secs(3600);
const A_SECOND: Duration = Duration::from_secs(1);

/// Answer at once, after a hook.
#[tool]
async fn before() {}

/// Answer at once, before a hook.
#[tool]
async fn after() {}

/// Answer at once, after a hook with no limit.
#[tool]
async fn endless_before() {}

/// Answer at once, before a hook with no limit.
#[tool]
async fn endless_after() {}

/// Answer at once, when the arguments are read, with no limit.
#[tool]
async fn endless_read(
    /// Fails to decode after its thread was blocked.
    slow: Slow,
) {
    let _ = slow;
}

/// Answer at once, after an approval.
#[tool]
async fn approved() {}

/// Answer at once, when the arguments are read.
#[tool(timeout = "1s")]
async fn read(
    /// Fails to decode after its thread was blocked.
    slow: Slow,
) {
    let _ = slow;
}

/// Answer at once, after a hook that answers at once.
#[tool]
async fn quick() -> &'static str {
    "done"
}

/// Answer after waiting.
#[tool]
async fn delayed() -> &'static str {
    tokio::time::sleep(Duration::from_millis(20)).await;
    "done"
}

/// Blocks its thread for an hour when it is decoded from `slow`.
#[derive(JsonSchema)]
struct Slow(#[allow(dead_code)] String);

impl<'de> Deserialize<'de> for Slow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "slow" {
            thread::sleep(AN_HOUR);
        }
        Ok(Self(text))
    }
}

async fn sleep_before(_: HookCall) -> Before {
    thread::sleep(AN_HOUR);
    Before::proceed()
}

async fn sleep_after(_: HookCall, _: AfterCall) -> After {
    thread::sleep(AN_HOUR);
    After::keep()
}

async fn sleep_instead_of_asking(_: ApprovalRequest) -> Approval {
    eprintln!("asked");
    thread::sleep(AN_HOUR);
    Approval::approved()
}

fn hooked(pool: ToolPoolBuilder) -> ToolPoolBuilder {
    pool.hook(Hook::before("*", |_| async { Before::proceed() }))
        .hook(Hook::before("before", sleep_before).timeout(A_SECOND))
        .hook(Hook::after("after", sleep_after).timeout(A_SECOND))
        .hook(Hook::before("endless_before", sleep_before).timeout(AN_HOUR))
        .hook(Hook::after("endless_after", sleep_after).timeout(AN_HOUR))
        .hook(Hook::before("approved", |_| async { Before::ask("Sure?") }))
        .approver(sleep_instead_of_asking)
}

tool_runtime::main!(pool = hooked);
