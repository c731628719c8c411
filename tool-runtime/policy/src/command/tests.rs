//! Commands of a pool with a policy.

use crate::{LivePolicy, Policies, Policy};
use tool_runtime_core::ToolPool;

#[test]
fn a_pool_has_the_commands_once_and_also_if_its_policy_is_broken() {
    let policy = Policy::builder().build().unwrap();
    let missing = LivePolicy::open("missing.yaml");
    let pool = ToolPool::builder().install(missing).install(policy).install(Policies::new());
    let names: Vec<&str> = pool.commands().iter().map(|command| command.form().name).collect();
    assert_eq!(names, ["policy check", "policy explain", "policy test"]);
    let error = pool.allow_empty().build().unwrap_err().to_string();
    assert!(error.contains("extension `LivePolicy`") && error.contains("missing.yaml"), "{error}");
}
