//! A board that breaks all that boards may break: everything but the compare-and-set.

use crate::LocalBoard;
use crate::board::*;
use crate::listener::{Heard, Listener};
use crate::message::Job;
use crate::names::{CallerName, Queue, StepKey};
use crate::payload::BlobRef;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;
use tool_runtime_core::vocabulary::BoxFuture;

/// What goes wrong, by chance, of all boards of a test.
#[derive(Debug)]
pub(super) struct Faults {
    seed: Mutex<u64>,
    /// The rate of faults, of 100.
    rate: u64,
    is_healed: AtomicBool,
    /// All records of each step so far, for reads that are out of date.
    history: Mutex<HashMap<StepKey, Vec<Revised>>>,
    /// Jobs that were claimed, and come again.
    ghosts: Mutex<Vec<(Job, CallerName)>>,
    /// What goes on.
    activity: Mutex<Activity>,
}

/// What callers and runners do about steps.
#[derive(Debug)]
struct Activity {
    /// The claims that runners have.
    claims: usize,
    /// When a board was asked last about a step.
    asked_at: Instant,
}

impl Faults {
    pub(super) fn new(seed: u64, rate: u64) -> Arc<Self> {
        Arc::new(Self {
            seed: Mutex::new(seed | 1),
            rate,
            is_healed: AtomicBool::new(false),
            history: Mutex::default(),
            ghosts: Mutex::default(),
            activity: Mutex::new(Activity { claims: 0, asked_at: Instant::now() }),
        })
    }

    /// The seed of the random numbers to come.
    pub(super) fn random_state(&self) -> u64 {
        *self.seed.lock().unwrap()
    }

    /// From now on nothing goes wrong.
    pub(super) fn heal(&self) {
        self.is_healed.store(true, Ordering::SeqCst);
    }

    /// Whether no runner has a claim, and no board was asked about a step for a while.
    pub(super) fn are_idle(&self, pause: Duration) -> bool {
        let activity = self.activity.lock().unwrap();
        activity.claims == 0 && activity.asked_at.elapsed() >= pause
    }

    /// Notes that a board is asked about a step.
    fn note_asked(&self) {
        self.activity.lock().unwrap().asked_at = Instant::now();
    }

    /// A random number below `below`, by xorshift.
    fn random(&self, below: u64) -> u64 {
        let mut seed = self.seed.lock().unwrap();
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed >> 11) % below
    }

    fn strikes(&self) -> bool {
        !self.is_healed.load(Ordering::SeqCst) && self.random(100) < self.rate
    }
}

/// The board of one process.
#[derive(Clone)]
pub(super) struct FaultyBoard {
    inner: LocalBoard,
    faults: Arc<Faults>,
    /// Whether the process is cut off.
    cut: Cut,
    is_confidential: bool,
}

impl FaultyBoard {
    pub(super) fn new(inner: LocalBoard, faults: &Arc<Faults>, cut: Cut) -> Self {
        Self { inner, faults: Arc::clone(faults), cut, is_confidential: true }
    }

    /// A board that others may listen to, and nothing goes wrong.
    pub(super) fn in_clear(inner: LocalBoard) -> Self {
        Self { is_confidential: false, ..Self::new(inner, &Faults::new(1, 0), Cut::default()) }
    }

    fn check(&self) -> Result<(), BoardError> {
        match self.cut.is_cut() || self.faults.strikes() {
            true => Err(BoardError::Disconnected("the connection is broken".to_owned())),
            false => Ok(()),
        }
    }

    /// The time that a request takes.
    async fn travel(&self) {
        sleep(Duration::from_millis(self.faults.random(20))).await;
    }
}

impl Board for FaultyBoard {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async move {
            self.faults.note_asked();
            self.travel().await;
            self.check()?;
            if self.faults.strikes() {
                let history = self.faults.history.lock().unwrap();
                let records = history.get(step).map(Vec::as_slice).unwrap_or_default();
                let at = self.faults.random(records.len() as u64 + 1) as usize;
                return Ok(at.checked_sub(1).map(|at| records[at].clone()));
            }
            self.inner.read(step).await
        })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move {
            self.faults.note_asked();
            self.travel().await;
            self.check()?;
            let swap = match self.inner.swap(step, record, expected, keep).await? {
                Swap::Conflict(Some(now)) if now.record.nonce == record.nonce => {
                    Swap::Written(now.revision)
                }
                other => other,
            };
            if let Swap::Written(revision) = swap {
                let revised = Revised { record: record.clone(), revision };
                self.faults.history.lock().unwrap().entry(step.clone()).or_default().push(revised);
            }
            // The answer is lost.
            self.check()?;
            self.travel().await;
            Ok(swap)
        })
    }

    fn submit<'a>(
        &'a self,
        queue: &'a Queue,
        job: &'a Job,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), BoardError>> {
        Box::pin(async move {
            self.faults.note_asked();
            self.travel().await;
            self.check()?;
            if self.faults.strikes() {
                return Ok(());
            }
            self.inner.submit(queue, job, keep).await?;
            self.check()
        })
    }

    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>> {
        Box::pin(async move {
            self.check()?;
            let claims = tokio::select! {
                biased;
                claims = self.inner.claim(queue, max) => claims?,
                () = self.cut.becomes(true) => {
                    return Err(BoardError::Disconnected("cut off".to_owned()));
                }
            };
            let mut given: Vec<Box<dyn Claim>> = Vec::new();
            for inner in claims {
                let mut ghosts = self.faults.ghosts.lock().unwrap();
                ghosts.push((inner.job().clone(), inner.caller().clone()));
                let (board, _held) = (self.clone(), Held::new(&self.faults));
                given.push(Box::new(FaultyClaim { inner, board, _held }));
                if given.len() < max && self.faults.strikes() {
                    let at = self.faults.random(ghosts.len() as u64) as usize;
                    let (job, caller) = ghosts[at].clone();
                    let (is_repeated, _held) = (self.faults.strikes(), Held::new(&self.faults));
                    given.push(Box::new(Ghost { job, caller, is_repeated, _held }));
                }
            }
            self.travel().await;
            Ok(given)
        })
    }

    fn end_claims<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, bool> {
        self.inner.end_claims(queue)
    }

    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>> {
        Box::pin(async move {
            if matches!(to, Topic::Step(_) | Topic::Control(_)) {
                self.faults.note_asked();
            }
            self.travel().await;
            // A runner whose presence is lost counts as cut off.
            let matters = matches!(to, Topic::Presence(_) | Topic::Roll);
            if self.cut.is_cut() {
                return Err(BoardError::Disconnected("cut off".to_owned()));
            }
            if !matters && self.faults.strikes() {
                return Ok(Reach::Somebody);
            }
            if self.faults.strikes() {
                self.inner.send(to, message.clone()).await?;
            }
            self.inner.send(to, message).await
        })
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        Box::pin(async move {
            self.check()?;
            let matters = matches!(topic, Topic::Presence(_) | Topic::AllPresence | Topic::Roll);
            let (speaker, listener) = Listener::new();
            let mut inner = self.inner.listen(topic).await?;
            let board = self.clone();
            let forward = tokio::spawn(async move {
                loop {
                    let heard = tokio::select! {
                        biased;
                        heard = inner.next() => heard,
                        () = board.cut.becomes(true) => {
                            board.cut.becomes(false).await;
                            speaker.say(Heard::Gap);
                            // What was said meanwhile is lost.
                            while let Some(Some(_)) =
                                futures_util::FutureExt::now_or_never(inner.next())
                            {}
                            continue;
                        }
                    };
                    let Some(heard) = heard else { return };
                    board.travel().await;
                    if !matters && board.faults.strikes() {
                        continue;
                    }
                    if board.faults.strikes() {
                        speaker.say(heard.clone());
                    }
                    speaker.say(heard);
                }
            });
            Ok(listener.with_subscription(AbortOnDropHandle::new(forward)))
        })
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        Box::pin(async move {
            self.check()?;
            self.inner.put(bytes).await
        })
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        Box::pin(async move {
            self.check()?;
            self.inner.get(blob).await
        })
    }

    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>> {
        self.inner.state()
    }

    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>> {
        self.inner.depth(queue)
    }

    fn caller(&self) -> &CallerName {
        self.inner.caller()
    }

    fn address(&self) -> String {
        self.inner.address()
    }

    fn is_confidential(&self) -> bool {
        self.is_confidential
    }
}

/// Whether a process is cut off. Those who wait are woken in order, unlike those of `tokio::sync::watch`: a case is the same
/// each time.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut(Arc<(AtomicBool, Notify)>);

impl Cut {
    pub(super) fn set(&self, is_cut: bool) {
        let (now, changed) = &*self.0;
        now.store(is_cut, Ordering::SeqCst);
        changed.notify_waiters();
    }

    pub(super) fn is_cut(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Waits until the process is cut off or not.
    async fn becomes(&self, is_cut: bool) {
        loop {
            let changed = self.0.1.notified();
            if self.is_cut() == is_cut {
                return;
            }
            changed.await;
        }
    }
}

/// Counts a claim for as long as a runner has it.
struct Held(Arc<Faults>);

impl Held {
    fn new(faults: &Arc<Faults>) -> Self {
        faults.activity.lock().unwrap().claims += 1;
        Self(Arc::clone(faults))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.activity.lock().unwrap().claims -= 1;
        self.0.note_asked();
    }
}

/// A claim whose changes may be lost.
struct FaultyClaim {
    inner: Box<dyn Claim>,
    board: FaultyBoard,
    _held: Held,
}

impl FaultyClaim {
    async fn change(
        &self,
        change: BoxFuture<'_, Result<(), BoardError>>,
    ) -> Result<(), BoardError> {
        self.board.travel().await;
        self.board.check()?;
        if self.board.faults.strikes() {
            return Ok(());
        }
        change.await
    }
}

impl Claim for FaultyClaim {
    fn job(&self) -> &Job {
        self.inner.job()
    }

    fn caller(&self) -> &CallerName {
        self.inner.caller()
    }

    fn is_repeated(&self) -> bool {
        self.inner.is_repeated() && !self.board.faults.strikes()
    }

    fn renew(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.change(self.inner.renew()))
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.change(self.inner.finish()))
    }

    fn later(&self, delay: Duration) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.change(self.inner.later(delay)))
    }
}

/// A job that was delivered before.
struct Ghost {
    job: Job,
    caller: CallerName,
    is_repeated: bool,
    _held: Held,
}

impl Claim for Ghost {
    fn job(&self) -> &Job {
        &self.job
    }

    fn caller(&self) -> &CallerName {
        &self.caller
    }

    fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    fn renew(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async { Ok(()) })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async { Ok(()) })
    }

    fn later(&self, _: Duration) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async { Ok(()) })
    }
}
