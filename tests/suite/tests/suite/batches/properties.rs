//! Random batches, nested calls, cancellations and drops: one result per call, in order; conflicting calls
//! never overlap, and nothing hangs.

use super::jobs::{AccessKind, Job, Log, Nested, pool};
use crate::support::in_time;
use futures_util::future::join_all;
use proptest::prelude::*;
use std::time::Duration;
use tool_runtime::prelude::*;
use tool_runtime::{Access, CancellationToken};

/// Several batches at once.
#[derive(Clone, Debug)]
struct Case {
    batches: Vec<Batch>,
}

#[derive(Clone, Debug)]
struct Batch {
    calls: Vec<Nested>,
    limit: usize,
    start: u64,
    end: End,
}

#[derive(Clone, Copy, Debug)]
enum End {
    OnCompletion,
    Cancelled(u64),
    Dropped(u64),
}

const KEYS: [&str; 3] = ["a", "b", "c"];

fn job(calls: impl Strategy<Value = Vec<Nested>> + 'static) -> impl Strategy<Value = Nested> {
    let kind = prop_oneof![2 => Just(AccessKind::ReadOnly), 1 => Just(AccessKind::Undeclared), 4 => Just(AccessKind::Keyed)];
    let keys = || proptest::sample::subsequence(KEYS.map(str::to_owned).to_vec(), 0..=2);
    (kind, 0..20_u64, keys(), keys(), calls).prop_map(|(tool, millis, reads, writes, calls)| {
        Nested { tool, job: Job { id: 0, millis, reads, writes, calls } }
    })
}

fn tree() -> impl Strategy<Value = Nested> {
    let leaf = job(Just(Vec::new()));
    let some = proptest::collection::vec(job(Just(Vec::new())), 0..4);
    let more = proptest::collection::vec(job(some), 0..3);
    prop_oneof![3 => leaf.boxed(), 2 => job(more).boxed()]
}

fn batch() -> impl Strategy<Value = Batch> {
    let end = prop_oneof![
        4 => Just(End::OnCompletion),
        1 => (0..60_u64).prop_map(End::Cancelled),
        1 => (0..60_u64).prop_map(End::Dropped),
    ];
    let calls = proptest::collection::vec(tree(), 0..6);
    (calls, prop_oneof![Just(10), 1..4_usize], 0..30_u64, end)
        .prop_map(|(calls, limit, start, end)| Batch { calls, limit, start, end })
}

fn case() -> impl Strategy<Value = Case> {
    proptest::collection::vec(batch(), 1..4).prop_map(|mut batches| {
        let mut next = 0;
        batches.iter_mut().for_each(|batch| number(&mut batch.calls, &mut next));
        Case { batches }
    })
}

fn number(calls: &mut [Nested], next: &mut usize) {
    for call in calls {
        call.job.id = *next;
        *next += 1;
        number(&mut call.job.calls, next);
    }
}

/// Runs a batch to its end, and records its results unless the batch is dropped.
async fn run(pool: &ToolPool, batch: &Batch) {
    let sleep = |millis| tokio::time::sleep(Duration::from_millis(millis));
    sleep(batch.start).await;
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let calls = batch.calls.iter().map(Nested::call);
    let running = pool.batch(calls).limit(batch.limit).context(&context).run();
    let results = match batch.end {
        End::OnCompletion => running.await,
        End::Cancelled(after) => {
            let cancel = async {
                sleep(after).await;
                token.cancel();
            };
            tokio::join!(running, cancel).0
        }
        End::Dropped(after) => {
            let Ok(results) = tokio::time::timeout(Duration::from_millis(after), running).await
            else {
                return;
            };
            results
        }
    };
    pool.context().get::<Log>().expect("a log").collect(&batch.calls, results);
}

/// One call and its position.
struct Position<'a> {
    call: &'a Nested,
    /// Its ancestors, the outermost first.
    ancestors: Vec<usize>,
    /// Its batch, and its index there.
    batch: (usize, usize),
    end: End,
}

fn positions(case: &Case) -> Vec<Position<'_>> {
    let (mut positions, mut batches) = (Vec::new(), 0);
    for batch in &case.batches {
        position(&batch.calls, &[], batch.end, &mut batches, &mut positions);
    }
    positions
}

fn position<'a>(
    calls: &'a [Nested],
    ancestors: &[usize],
    end: End,
    batches: &mut usize,
    positions: &mut Vec<Position<'a>>,
) {
    let batch = *batches;
    *batches += 1;
    for (index, call) in calls.iter().enumerate() {
        positions.push(Position {
            call,
            ancestors: ancestors.to_vec(),
            batch: (batch, index),
            end,
        });
        let inner = [ancestors, &[call.job.id]].concat();
        position(&call.job.calls, &inner, end, batches, positions);
    }
}

fn access(job: &Job) -> Access {
    let access = job.reads.iter().fold(Access::none(), Access::read);
    job.writes.iter().fold(access, Access::write)
}

fn only_reads(call: &Nested) -> bool {
    match call.tool {
        AccessKind::ReadOnly => true,
        AccessKind::Undeclared => false,
        AccessKind::Keyed => call.job.writes.is_empty(),
    }
}

/// Whether the two calls must not run concurrently.
fn conflict(one: &Position<'_>, two: &Position<'_>) -> bool {
    if one.ancestors.contains(&two.call.job.id) || two.ancestors.contains(&one.call.job.id) {
        return false;
    }
    if one.call.tool == AccessKind::Keyed && two.call.tool == AccessKind::Keyed {
        return access(&one.call.job).conflicts_with(&access(&two.call.job));
    }
    one.batch.0 == two.batch.0 && !(only_reads(one.call) && only_reads(two.call))
}

fn check(case: &Case, log: &Log) {
    assert_eq!(log.violations(), [] as [&str; 0]);
    let positions = positions(case);
    for (index, one) in positions.iter().enumerate() {
        check_outcome(one, log);
        for two in positions[index + 1..].iter().filter(|two| conflict(one, two)) {
            let (Some(first), Some(second)) =
                (log.span(one.call.job.id), log.span(two.call.job.id))
            else {
                continue;
            };
            let in_order = first.1 < second.0;
            // Batches have no order among each other; within one, earlier calls go first.
            let is_apart = in_order || (second.1 < first.0 && one.batch.0 != two.batch.0);
            assert!(
                is_apart,
                "{} and {} ran at {first:?} and {second:?}",
                one.call.job.id, two.call.job.id
            );
        }
    }
}

fn check_outcome(position: &Position<'_>, log: &Log) {
    let (id, began) = (position.call.job.id, log.span(position.call.job.id).is_some());
    let Some(outcome) = log.outcome(id) else {
        let is_lost =
            !matches!(position.end, End::OnCompletion) || has_rejected_ancestor(position, log);
        assert!(is_lost, "{id} has no result");
        return;
    };
    match outcome {
        None => assert!(began, "{id} succeeded without having run"),
        // Only nested calls can be rejected before they begin.
        Some(ErrorClass::Transient) => assert!(!began && !position.ancestors.is_empty(), "{id}"),
        Some(ErrorClass::Cancelled) => assert!(matches!(position.end, End::Cancelled(_)), "{id}"),
        other => panic!("{id} ended with {other:?}"),
    }
}

/// Whether an ancestor was rejected, so that this call was never made.
fn has_rejected_ancestor(position: &Position<'_>, log: &Log) -> bool {
    position.ancestors.iter().any(|ancestors| log.outcome(*ancestors).flatten().is_some())
}

proptest! {
    #![proptest_config(crate::property::cases(150))]

    #[test]
    fn each_call_has_one_result_and_conflicting_calls_never_overlap(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let pool = pool();
            in_time(join_all(case.batches.iter().map(|batch| run(&pool, batch)))).await;
            check(&case, pool.context().get::<Log>().expect("a log"));
            // No key is still locked.
            let last = KEYS.iter().fold(Job::new(usize::MAX, 0), |job, key| job.writing(key));
            assert!(!in_time(pool.call(last.keyed_job().call())).await.is_error());
        });
    }
}
