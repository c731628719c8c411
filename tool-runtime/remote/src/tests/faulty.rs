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
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use tool_runtime_core::BoxFuture;

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
}

impl Faults {
    pub(super) fn new(seed: u64, rate: u64) -> Arc<Self> {
        Arc::new(Self {
            seed: Mutex::new(seed | 1),
            rate,
            is_healed: AtomicBool::new(false),
            history: Mutex::default(),
            ghosts: Mutex::default(),
        })
    }

    /// From now on nothing goes wrong.
    pub(super) fn heal(&self) {
        self.is_healed.store(true, Ordering::SeqCst);
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
    cut: watch::Receiver<bool>,
    is_confidential: bool,
}

impl FaultyBoard {
    pub(super) fn new(inner: LocalBoard, faults: &Arc<Faults>, cut: watch::Receiver<bool>) -> Self {
        Self { inner, faults: Arc::clone(faults), cut, is_confidential: true }
    }

    /// A board that others may listen to, and nothing goes wrong.
    pub(super) fn in_clear(inner: LocalBoard) -> Self {
        let (faults, cut) = (Faults::new(1, 0), watch::channel(false).1);
        Self { is_confidential: false, ..Self::new(inner, &faults, cut) }
    }

    fn check(&self) -> Result<(), BoardError> {
        match *self.cut.borrow() || self.faults.strikes() {
            true => Err(BoardError::Disconnected("the connection is broken".to_owned())),
            false => Ok(()),
        }
    }

    fn is_cut(&self) -> bool {
        *self.cut.borrow()
    }

    /// The time that a request takes.
    async fn travel(&self) {
        sleep(Duration::from_millis(self.faults.random(20))).await;
    }
}

impl Board for FaultyBoard {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async move {
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
            let mut cut = self.cut.clone();
            let claims = tokio::select! {
                claims = self.inner.claim(queue, max) => claims?,
                () = becomes(&mut cut, true) => {
                    return Err(BoardError::Disconnected("cut off".to_owned()));
                }
            };
            let mut given: Vec<Box<dyn Claim>> = Vec::new();
            for inner in claims {
                let mut ghosts = self.faults.ghosts.lock().unwrap();
                ghosts.push((inner.job().clone(), inner.caller().clone()));
                let board = self.clone();
                given.push(Box::new(FaultyClaim { inner, board }));
                if given.len() < max && self.faults.strikes() {
                    let at = self.faults.random(ghosts.len() as u64) as usize;
                    let (job, caller) = ghosts[at].clone();
                    given.push(Box::new(Ghost { job, caller, is_repeated: self.faults.strikes() }));
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
            self.travel().await;
            // A runner whose presence is lost counts as cut off.
            let matters = matches!(to, Topic::Presence(_) | Topic::Roll);
            if self.is_cut() {
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
                let mut cut = board.cut.clone();
                loop {
                    let heard = tokio::select! {
                        heard = inner.next() => heard,
                        () = becomes(&mut cut, true) => {
                            becomes(&mut cut, false).await;
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

/// Waits until the process is cut off or not. It stays as it is if nobody changes it any more.
async fn becomes(cut: &mut watch::Receiver<bool>, is_cut: bool) {
    if cut.wait_for(|now| *now == is_cut).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A claim whose changes may be lost.
struct FaultyClaim {
    inner: Box<dyn Claim>,
    board: FaultyBoard,
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
