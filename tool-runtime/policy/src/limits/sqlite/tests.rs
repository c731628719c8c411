//! Budgets over restarts.

use super::*;
use crate::tests::yaml;
use crate::{LimitKeeper, Policies};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolCall};

const RULES: &str = "rules: [{id: r, then: allow, budget: {calls: 3}}]";

/// A pool of a process that begins.
fn pool(path: &Path) -> ToolPool {
    let keeper = LimitKeeper::new().store(SqliteBudgets::open(path).unwrap());
    let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    let policies = Policies::new().policy(yaml(RULES)).limits(keeper);
    ToolPool::builder().add(ping).install(policies).build().unwrap()
}

async fn runs(pool: &ToolPool) -> bool {
    !pool.call(ToolCall::new("ping", "{}")).await.is_error()
}

#[tokio::test]
async fn a_budget_is_not_given_again_by_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budgets.db");
    let first = pool(&path);
    assert!(runs(&first).await && runs(&first).await);
    drop(first);
    let second = pool(&path);
    assert!(runs(&second).await && !runs(&second).await);
    drop(second);
    assert!(!runs(&pool(&path)).await);
}

#[test]
fn what_waits_to_be_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let budgets = SqliteBudgets::open(folder.path().join("budgets.db")).unwrap();
    for amount in [1, 0, u64::MAX] {
        budgets.set_used("a", amount).unwrap();
        assert_eq!(budgets.used("a").unwrap(), amount.min(i64::MAX as u64));
    }
    assert_eq!(budgets.used("b").unwrap(), 0);
}

#[test]
fn a_file_has_one_process_and_must_be_one_of_budgets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budgets.db");
    let first = SqliteBudgets::open(&path).unwrap();
    let error = SqliteBudgets::open(&path).unwrap_err().to_string();
    assert!(error.ends_with("budgets.db` are used by another process; give each its own file"));
    drop(first);
    SqliteBudgets::open(&path).unwrap();
    let other = folder.path().join("other.db");
    std::fs::write(&other, "rules: []").unwrap();
    let error = SqliteBudgets::open(&other).unwrap_err().to_string();
    assert!(error.contains("other.db`: "), "{error}");
}
