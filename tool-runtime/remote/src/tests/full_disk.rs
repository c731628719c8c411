//! A hub whose disk is full for a while.

use super::board::{eventually, queue, step};
use super::fleet::{Fleet, Running, call, text};
use crate::local::RecordStore;
use crate::record::State;
use crate::{
    BlobRef, Board as _, BoardError, Depth, Engine, Record, Revised, Revision, SqliteStore,
    StepKey, Swap,
};
use bytes::Bytes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::time::timeout;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::Tool;
use tool_runtime_core::vocabulary::BoxFuture;

const LONG: Duration = Duration::from_secs(60);

/// The store of the hub, which notes why records could not be written.
#[derive(Clone)]
struct Disk {
    store: SqliteStore,
    failures: Arc<Mutex<Vec<String>>>,
    _folder: Arc<TempDir>,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("hub.db")).unwrap();
        Self { store, failures: Arc::default(), _folder: Arc::new(folder) }
    }

    /// Fills the disk until a record cannot be written. Returns the steps of those that were written, and the reason.
    async fn fill(&self) -> (Vec<StepKey>, String) {
        self.store.set_full(true).await;
        let (record, mut steps) = (Record::new(1, State::Suspended), Vec::new());
        loop {
            let step = step();
            match self.store.swap(&step, &record, Revision::NONE, LONG).await {
                Ok(_) => steps.push(step),
                Err(error) => return (steps, error.to_string()),
            }
        }
    }

    async fn until_a_write_fails(&self) {
        eventually(async || !self.failures.lock().unwrap().is_empty()).await;
    }
}

impl RecordStore for Disk {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        self.store.read(step)
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move {
            let swap = self.store.swap(step, record, expected, keep).await;
            if let Err(error) = &swap {
                self.failures.lock().unwrap().push(error.to_string());
            }
            swap
        })
    }

    fn put(&self, blob: BlobRef, bytes: Bytes) -> BoxFuture<'_, Result<(), BoardError>> {
        self.store.put(blob, bytes)
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        self.store.get(blob)
    }

    fn problem(&self) -> Option<String> {
        self.store.problem()
    }
}

/// The result of the tool, which needs more room than its record had.
fn result() -> String {
    "done ".repeat(2000)
}

/// A runner with a tool that may run at most once, and a caller.
struct Scene {
    fleet: Fleet,
    runs: Arc<AtomicUsize>,
    /// Lets the tool end.
    end: Arc<Notify>,
    pool: ToolPool,
    remote: crate::Remote,
    _runner: Running,
}

impl Scene {
    async fn new(disk: &Disk) -> Self {
        let fleet = Fleet { engine: Engine::new(disk.clone()) };
        let (runs, end) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
        let (has_run, ends) = (Arc::clone(&runs), Arc::clone(&end));
        let once = Tool::builder("once", "Have an effect.").handler(move || {
            let (has_run, ends) = (Arc::clone(&has_run), Arc::clone(&ends));
            async move {
                has_run.fetch_add(1, Ordering::SeqCst);
                ends.notified().await;
                result()
            }
        });
        let _runner = fleet.run([once]);
        let (pool, remote) = fleet.connect().await;
        Self { fleet, runs, end, pool, remote, _runner }
    }

    fn call(&self) -> tokio::task::JoinHandle<String> {
        let pool = self.pool.clone();
        tokio::spawn(async move { text(&call(&pool, "once").await) })
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    async fn is_over(&self) {
        let board = self.fleet.board("pool1");
        eventually(async || board.depth(&queue()).await == Ok(Depth::default())).await;
    }
}

#[tokio::test]
async fn a_full_disk_is_named_and_loses_nothing() {
    let disk = Disk::new();
    let (steps, reason) = disk.fill().await;
    assert!(reason.contains("disk is full") && reason.contains("hub.db"), "{reason}");
    disk.store.set_full(false).await;
    for step in &steps {
        assert!(disk.store.read(step).await.unwrap().is_some(), "{step}");
    }
    let record = Record::new(1, State::Suspended);
    let stored = disk.store.swap(&step(), &record, Revision::NONE, LONG).await.unwrap();
    assert_eq!(stored, Swap::Written(Revision(1)));
}

#[tokio::test]
async fn a_call_that_cannot_start_waits_for_room_on_the_disk() {
    let disk = Disk::new();
    let scene = Scene::new(&disk).await;
    disk.fill().await;
    let called = scene.call();
    disk.until_a_write_fails().await;
    assert_eq!(scene.runs(), 0, "it may run only if that is written");
    let problems = scene.remote.status().await.problems;
    assert!(problems.iter().any(|it| it.contains("disk is full")), "{problems:?}");
    disk.store.set_full(false).await;
    scene.end.notify_one();
    assert_eq!(timeout(LONG, called).await.expect("an answer").unwrap(), result());
    assert_eq!(scene.runs(), 1);
    scene.is_over().await;
}

#[tokio::test]
async fn an_outcome_that_cannot_be_written_waits_for_room_on_the_disk() {
    let disk = Disk::new();
    let scene = Scene::new(&disk).await;
    let called = scene.call();
    eventually(async || scene.runs() == 1).await;
    disk.fill().await;
    scene.end.notify_one();
    disk.until_a_write_fails().await;
    disk.store.set_full(false).await;
    assert_eq!(timeout(LONG, called).await.expect("an answer").unwrap(), result());
    assert_eq!(scene.runs(), 1);
    scene.is_over().await;
}
