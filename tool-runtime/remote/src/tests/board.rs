//! One suite of behaviour for all boards: in memory, over SQLite, over HTTP, over NATS.

use crate::{
    BlobRef, Board, BoardError, Claim, Depth, Digest, Engine, Heard, Job, Json, LEASE, Listener,
    MemoryStore, Payload, Queue, Reach, Record, Revision, State, StepKey, Swap, Topic, random,
};
use std::any::Any;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tool_runtime_core::tool::StepId;
use tool_runtime_core::vocabulary::BoxFuture;

const KEEP: Duration = Duration::from_secs(60);

/// Longer than anything that has to happen takes.
const LONG: Duration = Duration::from_secs(50);

/// The boards of a test.
pub(super) struct Boards {
    pub(super) caller: Arc<dyn Board>,
    pub(super) other_caller: Arc<dyn Board>,
    pub(super) runner: Arc<dyn Board>,
    /// A runner of the queue `files`.
    other_runner: Arc<dyn Board>,
    /// The time after which claims lapse.
    lease: Duration,
    _kept: Box<dyn Any + Send>,
}

impl Boards {
    fn from_engine(
        engine: &Engine,
        lease: Duration,
        kept: impl Any + Send,
    ) -> BoxFuture<'static, Self> {
        let board =
            |name: &str| -> Arc<dyn Board> { Arc::new(engine.board(name.parse().unwrap())) };
        let (caller, other_caller) = (board("pool1"), board("pool2"));
        let (runner, other_runner) = (board("runner1"), board("runner2"));
        let boards =
            Self { caller, other_caller, runner, other_runner, lease, _kept: Box::new(kept) };
        Box::pin(ready(boards))
    }
}

/// Time is paused: the real lease takes none.
fn memory(_: Duration) -> BoxFuture<'static, Boards> {
    Boards::from_engine(&Engine::new(MemoryStore::default()), LEASE, ())
}

#[cfg(feature = "hub")]
fn sqlite(lease: Duration) -> BoxFuture<'static, Boards> {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::SqliteStore::open(folder.path().join("hub.db")).unwrap();
    Boards::from_engine(&Engine::with_lease(store, lease), lease, folder)
}

#[cfg(all(feature = "hub", feature = "http"))]
fn http(lease: Duration) -> BoxFuture<'static, Boards> {
    use super::hub::TestHub;
    Box::pin(async move {
        let hub = TestHub::start(lease).await;
        let caller: Arc<dyn Board> = Arc::new(hub.connect("pool1").await);
        let other_caller: Arc<dyn Board> = Arc::new(hub.connect("pool2").await);
        let runner: Arc<dyn Board> = Arc::new(hub.connect("runner1").await);
        let other_runner = Arc::clone(&runner);
        Boards { caller, other_caller, runner, other_runner, lease, _kept: Box::new(hub) }
    })
}

#[cfg(feature = "__nats-tests")]
fn nats(lease: Duration) -> BoxFuture<'static, Boards> {
    use super::nats::NatsServer;
    Box::pin(async move {
        let server = NatsServer::start(lease).await;
        let caller: Arc<dyn Board> = Arc::new(server.board("pool1").await);
        let other_caller: Arc<dyn Board> = Arc::new(server.board("pool2").await);
        let runner: Arc<dyn Board> = Arc::new(server.board("web").await);
        let other_runner: Arc<dyn Board> = Arc::new(server.board("files").await);
        Boards { caller, other_caller, runner, other_runner, lease, _kept: Box::new(server) }
    })
}

/// A lease that tests wait for.
const SHORT: Duration = Duration::from_millis(600);

macro_rules! suite {
    ($board:ident, $options:tt, $($test:ident($lease:expr),)*) => {
        mod $board {
            $(
                #[tokio::test $options]
                async fn $test() {
                    super::$test(super::$board($lease).await).await;
                }
            )*
        }
    };
}

macro_rules! suites {
    ($($tests:tt)*) => {
        suite! { memory, (start_paused = true), $($tests)* }
        #[cfg(feature = "hub")]
        suite! { sqlite, (), $($tests)* }
        #[cfg(all(feature = "hub", feature = "http"))]
        suite! { http, (), $($tests)* }
        #[cfg(feature = "__nats-tests")]
        suite! { nats, (), $($tests)* }
    };
}

suites! {
    a_record_is_written_if_its_revision_is_as_expected(super::LEASE),
    a_conflict_returns_the_record(super::LEASE),
    of_twenty_writes_at_once_one_wins(super::LEASE),
    a_write_whose_answer_was_lost_is_recognised(super::LEASE),
    a_record_expires_and_begins_anew(super::LEASE),
    a_repeated_submission_is_one_job(super::LEASE),
    jobs_come_in_order_and_at_most_as_many_as_asked_for(super::LEASE),
    a_claim_waits_for_a_job(super::LEASE),
    a_claim_that_is_dropped_takes_no_job(super::SHORT),
    a_claim_lapses_and_its_job_comes_again(super::SHORT),
    a_renewed_claim_stays(3 * super::SHORT),
    a_finished_job_is_gone(super::LEASE),
    a_job_comes_later(super::SHORT),
    a_job_leaves_the_queue_after_its_time(super::LEASE),
    a_queue_is_full_only_for_one_caller(super::LEASE),
    the_same_step_of_two_callers_is_two_steps(super::LEASE),
    notes_and_records_reach_the_caller_of_a_step(super::LEASE),
    a_message_to_nobody_is_told(super::LEASE),
    control_and_roll_reach_all_runners(super::LEASE),
    presence_is_heard_for_one_queue_and_for_all(super::LEASE),
    large_blobs_come_back_and_others_do_not_exist(super::LEASE),
    the_depth_of_a_queue_counts_waiting_and_claimed_jobs(super::LEASE),
}

pub(in crate::tests) fn queue() -> Queue {
    "web".parse().unwrap()
}

pub(in crate::tests) fn step() -> StepKey {
    StepKey::new(queue(), "pool1".parse().unwrap(), random::step())
}

pub(in crate::tests) fn job(step: &StepId) -> Job {
    let arguments = Payload::Inline(Json::from_value(&serde_json::json!({ "q": step.as_str() })));
    Job::new(step.clone(), "search", Digest::from_bytes(b""), arguments)
}

pub(in crate::tests) fn started() -> Record {
    Record::new(1, State::Started { runner: "web.h1-7f3c2a00".into() })
}

pub(in crate::tests) async fn submit(board: &dyn Board) -> StepId {
    let step = random::step();
    board.submit(&queue(), &job(&step), KEEP).await.unwrap();
    step
}

async fn claim(board: &dyn Board, max: usize) -> Vec<Box<dyn Claim>> {
    timeout(LONG, board.claim(&queue(), max)).await.expect("a job").unwrap()
}

/// Claims at most `max` at a time until it has `count`. A claim returns what has come: over NATS, the jobs of one request
/// come one by one.
async fn claim_all(board: &dyn Board, count: usize, max: usize) -> Vec<Box<dyn Claim>> {
    let mut claims = Vec::new();
    while claims.len() < count {
        let more = claim(board, max).await;
        assert!((1..=max).contains(&more.len()), "{} claims", more.len());
        claims.extend(more);
    }
    claims
}

async fn claim_one(board: &dyn Board) -> Box<dyn Claim> {
    claim(board, 1).await.remove(0)
}

pub(in crate::tests) async fn hear(listener: &mut Listener) -> Heard {
    timeout(LONG, listener.next()).await.expect("something").expect("the board is open")
}

async fn depth(board: &dyn Board) -> (u64, u64) {
    let Depth { queued, claimed, .. } = board.depth(&queue()).await.unwrap();
    (queued, claimed)
}

/// Waits until something holds.
pub(in crate::tests) async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, waiting).await.expect("it holds in the end");
}

async fn a_record_is_written_if_its_revision_is_as_expected(boards: Boards) {
    let (step, board) = (step(), &boards.runner);
    assert_eq!(board.read(&step).await.unwrap(), None);
    let (first, second) = (started(), started());
    let written = board.swap(&step, &first, Revision::NONE, KEEP).await.unwrap();
    assert_eq!(written, Swap::Written(Revision(1)));
    let written = board.swap(&step, &second, Revision(1), KEEP).await.unwrap();
    assert_eq!(written, Swap::Written(Revision(2)));
    let present = board.read(&step).await.unwrap().unwrap();
    assert_eq!((present.record, present.revision), (second, Revision(2)));
}

async fn a_conflict_returns_the_record(boards: Boards) {
    let (step, board) = (step(), &boards.runner);
    let none = board.swap(&step, &started(), Revision(3), KEEP).await.unwrap();
    assert_eq!(none, Swap::Conflict(None));
    let first = started();
    board.swap(&step, &first, Revision::NONE, KEEP).await.unwrap();
    for expected in [Revision::NONE, Revision(2)] {
        let swap = board.swap(&step, &started(), expected, KEEP).await.unwrap();
        let Swap::Conflict(Some(present)) = swap else { panic!("{swap:?}") };
        assert_eq!((present.record, present.revision), (first.clone(), Revision(1)));
    }
}

async fn of_twenty_writes_at_once_one_wins(boards: Boards) {
    let step = step();
    let writes = (0..20).map(|_| {
        let (board, step) = (Arc::clone(&boards.runner), step.clone());
        tokio::spawn(async move {
            let record = started();
            let swap = board.swap(&step, &record, Revision::NONE, KEEP).await.unwrap();
            (record, swap)
        })
    });
    let mut winners = Vec::new();
    for write in writes.collect::<Vec<_>>() {
        let (record, swap) = write.await.unwrap();
        if matches!(swap, Swap::Written(_)) {
            winners.push(record);
        }
    }
    let present = boards.runner.read(&step).await.unwrap().unwrap();
    assert_eq!(winners, [present.record]);
}

async fn a_write_whose_answer_was_lost_is_recognised(boards: Boards) {
    let (step, record) = (step(), started());
    for _ in 0..2 {
        let written = boards.runner.swap(&step, &record, Revision::NONE, KEEP).await.unwrap();
        assert_eq!(written, Swap::Written(Revision(1)));
    }
}

async fn a_record_expires_and_begins_anew(boards: Boards) {
    let (step, board) = (step(), &boards.runner);
    let keep = Duration::from_millis(50);
    board.swap(&step, &started(), Revision::NONE, keep).await.unwrap();
    eventually(async || board.read(&step).await.unwrap().is_none()).await;
    let written = board.swap(&step, &started(), Revision::NONE, KEEP).await.unwrap();
    assert!(matches!(written, Swap::Written(_)), "{written:?}");
}

async fn a_repeated_submission_is_one_job(boards: Boards) {
    let job = job(&random::step());
    for _ in 0..3 {
        boards.caller.submit(&queue(), &job, KEEP).await.unwrap();
    }
    assert_eq!(depth(&*boards.caller).await, (1, 0));
    let _claim = claim_one(&*boards.runner).await;
    boards.caller.submit(&queue(), &job, KEEP).await.unwrap();
    assert_eq!(depth(&*boards.caller).await, (0, 1), "also while it is claimed");
    let mut next = job.clone();
    next.round = 2;
    boards.caller.submit(&queue(), &next, KEEP).await.unwrap();
    assert_eq!(depth(&*boards.caller).await, (1, 1), "another round is another job");
}

async fn jobs_come_in_order_and_at_most_as_many_as_asked_for(boards: Boards) {
    let mut steps = Vec::new();
    for _ in 0..5 {
        steps.push(submit(&*boards.caller).await);
    }
    let claims = claim_all(&*boards.runner, steps.len(), 3).await;
    assert!(claims.iter().all(|one| one.caller().as_str() == "pool1" && !one.is_repeated()));
    let claimed: Vec<Job> = claims.iter().map(|one| one.job().clone()).collect();
    let expected: Vec<Job> = steps.iter().map(job).collect();
    assert_eq!(claimed, expected);
}

async fn a_claim_waits_for_a_job(boards: Boards) {
    let runner = Arc::clone(&boards.runner);
    let waiting = tokio::spawn(async move { claim_one(&*runner).await.job().step().clone() });
    tokio::task::yield_now().await;
    let step = submit(&*boards.caller).await;
    assert_eq!(waiting.await.unwrap(), step);
}

async fn a_claim_that_is_dropped_takes_no_job(boards: Boards) {
    let dropped = timeout(Duration::from_millis(50), boards.runner.claim(&queue(), 1)).await;
    assert!(dropped.is_err());
    let step = submit(&*boards.caller).await;
    // Over HTTP, the hub may learn late that nobody waits: the lease returns the job.
    assert_eq!(claim_one(&*boards.runner).await.job().step(), &step);
}

async fn a_claim_lapses_and_its_job_comes_again(boards: Boards) {
    let step = submit(&*boards.caller).await;
    let lapsed = claim_one(&*boards.runner).await;
    let again = claim_one(&*boards.runner).await;
    assert_eq!((again.job().step(), again.is_repeated()), (&step, true));
    assert_eq!(lapsed.renew().await, Err(BoardError::Lapsed));
    assert_eq!(lapsed.finish().await, Err(BoardError::Lapsed));
    assert_eq!(lapsed.later(Duration::ZERO).await, Err(BoardError::Lapsed));
    again.finish().await.unwrap();
    assert_eq!(depth(&*boards.runner).await, (0, 0));
}

async fn a_renewed_claim_stays(boards: Boards) {
    submit(&*boards.caller).await;
    let claim = claim_one(&*boards.runner).await;
    for _ in 0..3 {
        sleep(boards.lease / 2).await;
        claim.renew().await.unwrap();
    }
    assert_eq!(depth(&*boards.runner).await, (0, 1));
    claim.finish().await.unwrap();
}

async fn a_finished_job_is_gone(boards: Boards) {
    let step = submit(&*boards.caller).await;
    let claim = claim_one(&*boards.runner).await;
    claim.finish().await.unwrap();
    assert_eq!(claim.finish().await, Err(BoardError::Lapsed));
    assert_eq!(depth(&*boards.runner).await, (0, 0));
    // It may be queued again; a board may recognise it for a while.
    eventually(async || {
        boards.caller.submit(&queue(), &job(&step), KEEP).await.unwrap();
        depth(&*boards.runner).await == (1, 0)
    })
    .await;
}

async fn a_job_comes_later(boards: Boards) {
    let step = submit(&*boards.caller).await;
    let claim = claim_one(&*boards.runner).await;
    // Longer than the lease.
    let (delay, before) = (2 * boards.lease, tokio::time::Instant::now());
    claim.later(delay).await.unwrap();
    let (queued, claimed) = depth(&*boards.runner).await;
    assert_eq!(queued + claimed, 1);
    let again = claim_one(&*boards.runner).await;
    assert_eq!((again.job().step(), again.is_repeated()), (&step, true));
    assert!(before.elapsed() >= delay);
}

async fn a_job_leaves_the_queue_after_its_time(boards: Boards) {
    let keep = Duration::from_millis(50);
    boards.caller.submit(&queue(), &job(&random::step()), keep).await.unwrap();
    eventually(async || depth(&*boards.caller).await == (0, 0)).await;
}

async fn a_queue_is_full_only_for_one_caller(boards: Boards) {
    for _ in 0..1000 {
        submit(&*boards.caller).await;
    }
    let full = boards.caller.submit(&queue(), &job(&random::step()), KEEP).await.unwrap_err();
    let BoardError::Full(text) = full else { panic!("{full}") };
    assert!(text.contains("1000 calls of `pool1`"), "{text}");
    assert!(text.contains("wait in the queue already"), "{text}");
    submit(&*boards.other_caller).await;
    claim_one(&*boards.runner).await.finish().await.unwrap();
    submit(&*boards.caller).await;
}

async fn the_same_step_of_two_callers_is_two_steps(boards: Boards) {
    let step = submit(&*boards.caller).await;
    boards.other_caller.submit(&queue(), &job(&step), KEEP).await.unwrap();
    let claims = claim_all(&*boards.runner, 2, 2).await;
    let callers: Vec<_> = claims.iter().map(|claim| claim.caller().as_str()).collect();
    assert_eq!(callers, ["pool1", "pool2"]);
    for claim in &claims {
        let key = StepKey::new(queue(), claim.caller().clone(), step.clone());
        let written = boards.runner.swap(&key, &started(), Revision::NONE, KEEP).await;
        assert!(matches!(written, Ok(Swap::Written(_))), "{written:?}");
    }
}

async fn notes_and_records_reach_the_caller_of_a_step(boards: Boards) {
    let step = step();
    let topic = Topic::Step(step.clone());
    let mut listener = boards.caller.listen(&topic).await.unwrap();
    boards.caller.submit(&queue(), &job(&step.step), KEEP).await.unwrap();
    let note = r#"{"v":1,"n":1.50,"big":123456789012345678901234567890}"#;
    assert_eq!(boards.runner.send(&topic, note.into()).await.unwrap(), Reach::Somebody);
    assert_eq!(hear(&mut listener).await, Heard::Message(note.into()));
    let record = started();
    boards.runner.swap(&step, &record, Revision::NONE, KEEP).await.unwrap();
    let heard = hear(&mut listener).await;
    let Heard::Record(revised) = heard else { panic!("{heard:?}") };
    assert_eq!((revised.record, revised.revision), (record, Revision(1)));
    claim_one(&*boards.runner).await.finish().await.unwrap();
    let second = started();
    boards.runner.swap(&step, &second, Revision(1), KEEP).await.unwrap();
    let heard = hear(&mut listener).await;
    let Heard::Record(revised) = heard else { panic!("{heard:?}") };
    assert_eq!(revised.record, second, "also once its job is gone");
}

/// An order of `pool1`, in two lines.
const ORDER: &str = r#"{"do": "look", "caller": "pool1",
    "step": "9f"}"#;

async fn a_message_to_nobody_is_told(boards: Boards) {
    let to_step = Topic::Step(step());
    assert_eq!(boards.runner.send(&to_step, "{}".into()).await.unwrap(), Reach::Nobody);
    let control = Topic::Control(queue());
    let send = async || boards.caller.send(&control, ORDER.into()).await.unwrap();
    assert_eq!(send().await, Reach::Nobody);
    let listener = boards.runner.listen(&control).await.unwrap();
    assert_eq!(send().await, Reach::Somebody);
    drop(listener);
    eventually(async || send().await == Reach::Nobody).await;
}

async fn control_and_roll_reach_all_runners(boards: Boards) {
    for topic in [Topic::Control(queue()), Topic::Roll] {
        let mut first = boards.runner.listen(&topic).await.unwrap();
        let mut second = boards.runner.listen(&topic).await.unwrap();
        assert_eq!(boards.caller.send(&topic, ORDER.into()).await.unwrap(), Reach::Somebody);
        for listener in [&mut first, &mut second] {
            assert_eq!(hear(listener).await, Heard::Message(ORDER.into()));
        }
    }
}

async fn presence_is_heard_for_one_queue_and_for_all(boards: Boards) {
    let files: Queue = "files".parse().unwrap();
    let mut all = boards.caller.listen(&Topic::AllPresence).await.unwrap();
    let mut one = boards.caller.listen(&Topic::Presence(files.clone())).await.unwrap();
    let presence =
        |queue: &Queue| format!(r#"{{"v":1,"queue":"{queue}","runner":"{queue}.h1-7f"}}"#);
    for (runner, queue) in [(&boards.runner, &queue()), (&boards.other_runner, &files)] {
        let topic = Topic::Presence(queue.clone());
        let reach = runner.send(&topic, presence(queue).into()).await.unwrap();
        assert_eq!(reach, Reach::Somebody);
    }
    let heard = [hear(&mut all).await, hear(&mut all).await];
    for queue in [&queue(), &files] {
        assert!(heard.contains(&Heard::Message(presence(queue).into())), "{heard:?}");
    }
    assert_eq!(hear(&mut one).await, Heard::Message(presence(&files).into()));
}

async fn large_blobs_come_back_and_others_do_not_exist(boards: Boards) {
    let bytes: Vec<u8> = (0..10_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let blob = boards.caller.put(bytes.clone().into()).await.unwrap();
    assert_eq!(blob, BlobRef::from_bytes(&bytes));
    assert!(boards.runner.get(&blob).await.unwrap() == bytes);
    let other = BlobRef { sha256: Digest::from_bytes(b"x"), size: blob.size };
    let longer = BlobRef { size: blob.size + 1, ..blob };
    for missing in [other, longer] {
        let error = boards.runner.get(&missing).await.unwrap_err();
        assert_eq!(error, BoardError::NoBlob(missing.sha256.to_string()));
    }
}

async fn the_depth_of_a_queue_counts_waiting_and_claimed_jobs(boards: Boards) {
    assert_eq!(boards.caller.depth(&queue()).await.unwrap(), Depth::default());
    for _ in 0..3 {
        submit(&*boards.caller).await;
    }
    let _claim = claim_one(&*boards.runner).await;
    let depth = boards.caller.depth(&queue()).await.unwrap();
    assert_eq!((depth.queued, depth.claimed), (2, 1));
    assert!(depth.oldest.is_some());
    assert_eq!(boards.caller.depth(&"files".parse().unwrap()).await.unwrap(), Depth::default());
}
