//! Random calls of two sessions against a model of plan mode: no write runs while a session plans.

use super::{PeopleParams, builder, call};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter,
    /// Proposes a plan, which the person approves or rejects.
    Exit {
        is_approved: bool,
    },
    /// Proposes a plan that is not valid.
    ExitWithoutPlan,
    Write,
    Read,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let step = prop_oneof![
        2 => Just(Step::Enter),
        2 => any::<bool>().prop_map(|is_approved| Step::Exit { is_approved }),
        1 => Just(Step::ExitWithoutPlan),
        3 => Just(Step::Write),
        1 => Just(Step::Read),
    ];
    (0..2_usize, step)
}

/// A pool, its writes, and the answer of the person to the next question.
fn planning() -> (ToolPool, Arc<AtomicUsize>, Arc<AtomicBool>) {
    let writes = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&writes);
    let write = Tool::builder("Write", "Write a file.").handler(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        async { "written" }
    });
    let read = Tool::builder("Read", "Read a file.").read_only(true).handler(|| async { "read" });
    let answer = Arc::<AtomicBool>::default();
    let says_yes = Arc::clone(&answer);
    let approver = move |_: ApprovalRequest| {
        let is_approved = says_yes.load(Ordering::Relaxed);
        async move { if is_approved { Approval::approved() } else { Approval::rejected("no") } }
    };
    let params = PeopleParams::new().permissions(Permissions::new(PermissionMode::Bypass));
    let pool = builder(params).add(write).add(read).approver(approver).build().unwrap();
    (pool, writes, answer)
}

async fn check(steps: Vec<(usize, Step)>) {
    let (pool, writes, answer) = planning();
    let sessions = [pool.session(), pool.session()];
    let (mut is_planning, mut written) = ([false; 2], 0);
    for (index, step) in steps {
        let pool = sessions[index].pool();
        let planning = &mut is_planning[index];
        let (tool, arguments, must_work) = match step {
            Step::Enter => {
                *planning = true;
                ("EnterPlanMode", json!({}), true)
            }
            Step::Exit { is_approved } => {
                answer.store(is_approved, Ordering::Relaxed);
                let ends = *planning && is_approved;
                *planning = *planning && !is_approved;
                ("ExitPlanMode", json!({ "plan": "1. Write." }), ends)
            }
            Step::ExitWithoutPlan => ("ExitPlanMode", json!({ "plan": "" }), false),
            Step::Write => {
                written += usize::from(!*planning);
                ("Write", json!({}), !*planning)
            }
            Step::Read => ("Read", json!({}), true),
        };
        let (text, is_error) = call(pool, tool, arguments).await;
        assert_eq!(!is_error, must_work, "{step:?} in session {index}: {text}");
        assert_eq!(writes.load(Ordering::Relaxed), written, "{step:?} in session {index}");
    }
}

proptest! {
    #![proptest_config(crate::property::cases(64))]

    #[test]
    fn no_write_runs_while_a_session_plans(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(steps));
    }
}
