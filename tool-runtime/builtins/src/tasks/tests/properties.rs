//! Random calls against a model of the state machine.

use super::{board, call_as};
use crate::tasks::TaskStatus;
use proptest::prelude::*;
use serde_json::json;

#[derive(Clone, Debug)]
enum Operation {
    Create { is_begun: bool },
    Update { task: usize, status: TaskStatus },
    Describe { task: usize },
    Stop { task: usize },
}

fn operation() -> impl Strategy<Value = Operation> {
    let status = proptest::sample::select(TaskStatus::ALL.to_vec());
    prop_oneof![
        any::<bool>().prop_map(|is_begun| Operation::Create { is_begun }),
        (0..6_usize, status).prop_map(|(task, status)| Operation::Update { task, status }),
        (0..6_usize).prop_map(|task| Operation::Describe { task }),
        (0..6_usize).prop_map(|task| Operation::Stop { task }),
    ]
}

/// The expected effect of a call: the new status, or a refusal.
fn expected(statuses: &mut [TaskStatus], operation: &Operation) -> bool {
    let (task, next) = match operation {
        Operation::Create { .. } => return true,
        Operation::Update { task, status } => (*task, Some(*status)),
        Operation::Describe { task } => (*task, None),
        Operation::Stop { task } => (*task, Some(TaskStatus::Cancelled)),
    };
    match statuses.get_mut(task) {
        Some(status) if !status.is_final() => {
            *status = next.unwrap_or(*status);
            true
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(crate::property::cases(24))]

    #[test]
    fn a_task_that_has_ended_never_changes(operations in proptest::collection::vec(operation(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (_directory, pool) = board();
            let mut statuses = Vec::new();
            for operation in operations {
                let (tool, arguments) = match &operation {
                    Operation::Create { is_begun } => {
                        let status = if *is_begun { TaskStatus::InProgress } else { TaskStatus::Pending };
                        statuses.push(status);
                        ("TaskCreate", json!({ "subject": "s", "status": status }))
                    }
                    Operation::Update { task, status } => {
                        ("TaskUpdate", json!({ "id": format!("task_{}", task + 1), "status": status }))
                    }
                    Operation::Describe { task } => {
                        ("TaskUpdate", json!({ "id": format!("task_{}", task + 1), "description": "d" }))
                    }
                    Operation::Stop { task } => ("TaskStop", json!({ "id": format!("task_{}", task + 1) })),
                };
                let is_done = expected(&mut statuses, &operation);
                let result = call_as(&pool, "", tool, arguments).await;
                assert_eq!(!result.is_error(), is_done, "{operation:?}: {}", result.to_text());
                let list = call_as(&pool, "", "TaskList", json!({})).await;
                let tasks = list.structured().unwrap()["tasks"].as_array().unwrap().clone();
                let found: Vec<_> = tasks.iter().map(|task| task["status"].clone()).collect();
                assert_eq!(found, statuses.iter().map(|status| json!(status)).collect::<Vec<_>>());
            }
        });
    }
}
