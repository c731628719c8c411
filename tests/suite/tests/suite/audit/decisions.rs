//! No call runs without a decision before it in the log, nor, if it must not run twice, without a start record
//! that is durable: whatever the tools, policies and approvers do, whether the log can be written, and
//! whenever calls are dropped.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::audit::{
    EventLog, Head, LogBackend, LogError, LogErrorKind, LogLine, LogRead, LogRecord, RecordKind,
};
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallEvent, CallStage, CallView, Decision, Effect, PolicyEngine,
    Receipt, RecordError, Recorder,
};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::tool::RetryMode;

/// The records that are durable. Writing fails while the bit of the transaction is set.
#[derive(Clone, Default)]
struct Disk {
    lines: Arc<Mutex<Vec<LogLine>>>,
    failing: Arc<AtomicU32>,
    transactions: Arc<AtomicU32>,
}

impl Disk {
    fn records(&self) -> Vec<LogRecord> {
        self.lines.lock().unwrap().iter().map(|line| line.record().unwrap()).collect()
    }
}

impl LogBackend for Disk {
    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError> {
        let number = self.transactions.fetch_add(1, Ordering::Relaxed) % 32;
        if self.failing.load(Ordering::Relaxed) >> number & 1 == 1 {
            return Err(LogError::new(LogErrorKind::Full, "the disk is full"));
        }
        let mut lines = self.lines.lock().unwrap();
        let head = lines
            .last()
            .map_or_else(Head::empty, |line| Head { seq: line.position, hash: line.hash.clone() });
        lines.extend(chain(head));
        Ok(())
    }

    fn step(&mut self, step: &str) -> Result<Vec<LogLine>, LogError> {
        let lines = self.lines.lock().unwrap();
        Ok(lines.iter().filter(|line| line.step.as_deref() == Some(step)).cloned().collect())
    }

    fn reader(&self) -> Result<Box<dyn LogRead>, LogError> {
        Err(LogError::new(LogErrorKind::Other, "the test reads the disk"))
    }
}

/// The answers of a second recorder, by the number of the event, and what it has seen.
#[derive(Clone)]
struct Second {
    answers: Arc<Vec<u8>>,
    state: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    events: usize,
    /// Calls that are allowed, by their number.
    allowed: BTreeSet<u64>,
    /// Calls whose decision or start was not recorded.
    unrecorded: BTreeSet<u64>,
    /// Decisions after which no call may run.
    forbidden: BTreeSet<u64>,
    numbers: BTreeMap<u64, u64>,
}

impl Recorder for Second {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let mut seen = self.state.lock().unwrap();
        let (number, id) = (event.call.number().get(), id(event.call.arguments_value()));
        let answer = self.answers[seen.events % self.answers.len()];
        seen.events += 1;
        seen.numbers.insert(id, number);
        if let CallStage::Decided { decision, .. } = &event.stage
            && decision.effect() == Effect::Allow
        {
            seen.allowed.insert(number);
        }
        let is_before = !matches!(event.stage, CallStage::Finished { .. });
        if is_before && matches!(answer, 1 | 2 | 4 | 5) {
            seen.unrecorded.insert(number);
        }
        if is_before && matches!(answer, 2 | 5) {
            seen.forbidden.insert(number);
        }
        drop(seen);
        let refused = RecordError::new("as the test asks");
        match answer {
            1 => Receipt::refused(refused),
            2 => Receipt::refused(refused.for_all_calls()),
            3 => Receipt::pending(async {
                tokio::task::yield_now().await;
                Ok(())
            }),
            4 => Receipt::pending(async { Err(refused) }),
            5 => Receipt::pending(async {
                tokio::task::yield_now().await;
                Err(refused.for_all_calls())
            }),
            _ => Receipt::recorded(),
        }
    }
}

fn id(arguments: &Value) -> u64 {
    arguments["id"].as_u64().unwrap_or_default()
}

/// Decides as the call asks for.
struct Asked;

impl PolicyEngine for Asked {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.argument("policy").and_then(Value::as_u64) {
            Some(0) => Decision::deny("no"),
            Some(1) => Decision::ask("Sure?"),
            Some(2) => panic!("as the test asks"),
            _ => Decision::allow(),
        }
    }
}

async fn approve(request: ApprovalRequest) -> Approval {
    let arguments: Value = serde_json::from_str(request.arguments()).unwrap_or_default();
    match arguments["answer"].as_u64() {
        Some(0) => Approval::rejected("no"),
        Some(1) => panic!("as the test asks"),
        Some(2) => std::future::pending().await,
        Some(3) => {
            let mut edited = arguments;
            edited["policy"] = 0.into();
            Approval::approved().with_arguments(edited.to_string())
        }
        Some(4) => {
            tokio::task::yield_now().await;
            Approval::approved().by("ada")
        }
        _ => Approval::approved(),
    }
}

/// A violation that a tool saw when it ran, and the calls that ran.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<(Vec<u64>, Vec<String>)>>);

impl Runs {
    /// Runs the body of a tool.
    fn note(&self, arguments: &Value, disk: &Disk, second: &Second, is_once: bool) {
        let mut runs = self.0.lock().unwrap();
        let id = id(arguments);
        runs.0.push(id);
        let seen = second.state.lock().unwrap();
        let number = seen.numbers.get(&id).copied().unwrap_or_default();
        let mut check = |holds: bool, text: &str| {
            if !holds {
                runs.1.push(format!("call {id}: {text}"));
            }
        };
        check(seen.allowed.contains(&number), "it was not decided");
        check(!seen.forbidden.contains(&number), "its record was refused for all calls");
        if is_once {
            check(!seen.unrecorded.contains(&number), "its record was refused");
            let kinds: Vec<RecordKind> = disk
                .records()
                .iter()
                .filter(|record| record.call == number)
                .map(|record| record.kind)
                .collect();
            let position = |kind| kinds.iter().position(|own| *own == kind);
            let decided = position(RecordKind::Allowed).or(position(RecordKind::Approved));
            let started = position(RecordKind::Started);
            check(decided.is_some() && decided < started, "its start is not durable");
        }
    }
}

fn pool(disk: &Disk, log: &EventLog, second: &Second, runs: &Runs) -> ToolPool {
    let schema = json!({ "type": "object", "additionalProperties": true });
    let tool = |name: &str, mode: RetryMode, ends: u8| {
        let (disk, second, runs) = (disk.clone(), second.clone(), runs.clone());
        let handler = move |arguments: Map<String, Value>, context: ToolContext| {
            let arguments = Value::Object(arguments);
            runs.note(&arguments, &disk, &second, mode == RetryMode::AtMostOnce);
            async move {
                match ends {
                    0 => Ok("done"),
                    1 => Err(ToolError::user("failed")),
                    2 => panic!("as the test asks"),
                    3 => std::future::pending().await,
                    _ => {
                        let inner =
                            json!({ "id": id(&arguments) + 1000, "policy": arguments["inner"] });
                        context.call(ToolCall::json("send", inner)).await;
                        Ok("nested")
                    }
                }
            }
        };
        Tool::builder(name, "Run.").input_schema(schema.clone()).retry_mode(mode).handler(handler)
    };
    let rewrite = Hook::before("rewritten", |call: HookCall| async move {
        let mut arguments = call.view().arguments_value().clone();
        arguments["policy"] = arguments["inner"].clone();
        Before::rewrite(arguments.to_string())
    });
    use RetryMode::{AtMostOnce, SafeToRetry};
    ToolPool::builder()
        .add(tool("read", SafeToRetry, 0))
        .add(tool("send", AtMostOnce, 0))
        .add(tool("fails", AtMostOnce, 1))
        .add(tool("panics", AtMostOnce, 2))
        .add(tool("waits", AtMostOnce, 3))
        .add(tool("waits_safely", SafeToRetry, 3))
        .add(tool("outer", AtMostOnce, 4))
        .add(tool("rewritten", AtMostOnce, 0))
        .hook(rewrite)
        .policy(Asked)
        .approver(approve)
        .install(log.clone())
        .recorder(second.clone())
        .build()
        .unwrap()
}

const TOOLS: [&str; 9] =
    ["read", "send", "fails", "panics", "waits", "waits_safely", "outer", "rewritten", "unknown"];

#[derive(Clone, Debug)]
struct Plan {
    tool: usize,
    policy: u8,
    answer: u8,
    inner: u8,
    is_valid: bool,
}

fn plan() -> impl Strategy<Value = Plan> {
    (0..TOOLS.len(), 0..6_u8, 0..6_u8, 0..6_u8, prop::bool::weighted(0.9)).prop_map(
        |(tool, policy, answer, inner, is_valid)| Plan { tool, policy, answer, inner, is_valid },
    )
}

fn call((id, plan): (u64, &Plan)) -> ToolCall {
    let Plan { tool, policy, answer, inner, is_valid } = plan;
    let arguments = json!({ "id": id, "policy": policy, "answer": answer, "inner": inner });
    match is_valid {
        true => ToolCall::json(TOOLS[*tool], arguments),
        false => ToolCall::new(TOOLS[*tool], format!("[{id}")),
    }
}

/// Runs the calls as a batch and one by one, and drops what did not end after some turns.
async fn run(pool: &ToolPool, plans: &[Plan], batched: usize, turns: u32) {
    let mut calls: Vec<ToolCall> = (1..).zip(plans).map(call).collect();
    let single = calls.split_off(batched.min(calls.len()));
    let batch = pool.call_all(calls);
    let single = futures_util::future::join_all(single.into_iter().map(|call| pool.call(call)));
    let ends = async {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = futures_util::future::join(batch, single) => {}
        () = ends => {}
    }
}

proptest! {
    #![proptest_config(crate::property::cases(150))]

    #[test]
    fn no_call_runs_without_its_decision_and_its_start_in_the_log(
        plans in prop::collection::vec(plan(), 1..16),
        batched in 0..16_usize,
        turns in prop_oneof![0..20_u32, 200..2000_u32],
        failing in prop_oneof![Just(0), any::<u32>()],
        answers in prop_oneof![Just(vec![0]), prop::collection::vec(0..7_u8, 1..20)],
        is_durable: bool,
    ) {
        let disk = Disk::default();
        disk.failing.store(failing, Ordering::Relaxed);
        let (second, runs) = (Second { answers: Arc::new(answers), state: Arc::default() }, Runs::default());
        let log = match is_durable {
            true => EventLog::builder().durable(),
            false => EventLog::builder(),
        };
        let log = log.backend(disk.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(&pool(&disk, &log, &second, &runs), &plans, batched, turns));
        disk.failing.store(0, Ordering::Relaxed);
        log.flush_blocking().unwrap();
        let (ran, violations) = runs.0.lock().unwrap().clone();
        prop_assert!(violations.is_empty(), "{violations:?}");
        check_records(&disk.records(), &second, &ran)?;
    }
}

/// Once the log can be written again, it has each call from its proposal to its end, and the runs in between.
fn check_records(records: &[LogRecord], second: &Second, ran: &[u64]) -> Result<(), TestCaseError> {
    let mut calls = BTreeMap::<u64, Vec<RecordKind>>::new();
    for record in records {
        calls.entry(record.call).or_default().push(record.kind);
    }
    for (call, kinds) in &calls {
        prop_assert_eq!(kinds[0], RecordKind::Proposed);
        let ends = kinds.iter().filter(|kind| kind.is_end()).count();
        prop_assert!(ends == 1 && kinds[kinds.len() - 1].is_end(), "call {call}: {kinds:?}");
        let started = kinds.iter().position(|kind| *kind == RecordKind::Started);
        let allowed =
            |kind: &RecordKind| matches!(kind, RecordKind::Allowed | RecordKind::Approved);
        let is_decided = started.is_none_or(|started| kinds[..started].iter().any(allowed));
        let is_denied = kinds.contains(&RecordKind::Denied);
        prop_assert!(is_decided && (started.is_none() || !is_denied), "call {call}: {kinds:?}");
    }
    let numbers = &second.state.lock().unwrap().numbers;
    for id in ran {
        let kinds = &calls[&numbers[id]];
        prop_assert!(kinds.contains(&RecordKind::Started), "call {id}: {kinds:?}");
    }
    Ok(())
}
