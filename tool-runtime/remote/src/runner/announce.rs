//! Tells callers that the runner lives, and what tools it has.

use super::Inner;
use crate::BEAT;
use crate::backoff::persist;
use crate::board::{BoardError, Topic};
use crate::catalogue::{Catalogue, contract};
use crate::listener::{Heard, Listener};
use crate::message::{self, MAX_PRESENCE, Presence, Roll};
use crate::payload::{BlobRef, Digest};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tool_runtime_core::pool::PoolChanges;
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::Tool;

/// The shortest time between two answers to roll calls.
const ROLL_PAUSE: Duration = Duration::from_millis(200);

/// After this time the catalogue is stored again: a board keeps blobs for a day.
const STORE_AGAIN: Duration = Duration::from_secs(12 * 3600);

/// The state that a runner announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    /// It lives.
    Here,
    /// It has ended.
    Gone,
}

/// The present announcement of a runner.
#[derive(Debug, Default)]
pub(super) struct Current {
    blob: Mutex<Option<BlobRef>>,
    tools: AtomicUsize,
    /// The contracts of tools, each with the tool that it was computed for.
    contracts: Mutex<HashMap<String, (Tool, Digest)>>,
}

impl Current {
    /// The contract of a tool.
    pub(super) fn contract(&self, tool: &Tool) -> Digest {
        let mut contracts = lock(&self.contracts);
        if let Some((known, contract)) = contracts.get(tool.name())
            && std::ptr::eq(known.definition(), tool.definition())
        {
            return contract.clone();
        }
        let contract = contract(tool.definition());
        contracts.insert(tool.name().to_owned(), (tool.clone(), contract.clone()));
        contract
    }

    /// The number of announced tools.
    pub(super) fn tools(&self) -> usize {
        self.tools.load(Ordering::Relaxed)
    }

    /// The announced catalogue.
    pub(super) fn digest(&self) -> Option<Digest> {
        lock(&self.blob).as_ref().map(|blob| blob.sha256.clone())
    }
}

/// Announces a runner until it is dropped.
pub(super) struct Announcer {
    shared: Arc<Inner>,
    changes: PoolChanges,
    stored_at: Instant,
}

impl Announcer {
    /// Stores the catalogue.
    ///
    /// # Errors
    /// The board refuses it, or callers would not read the presence.
    pub(super) async fn begin(shared: Arc<Inner>) -> Result<Self, BoardError> {
        let changes = shared.pool.changes();
        shared.store_catalogue().await?;
        shared.check_presence()?;
        Ok(Self { shared, changes, stored_at: Instant::now() })
    }

    pub(super) async fn announce(mut self, mut roll: Listener) {
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = beat.tick() => {}
                () = self.shared.announce_now.notified() => {}
                Some(_) = self.changes.next() => {
                    // Changes that come together are announced together.
                    while self.changes.try_next().is_some() {}
                    self.store().await;
                }
                Some(heard) = roll.next() => {
                    if self.is_asked_for_catalogue(&heard) {
                        self.store().await;
                    }
                    sleep_until(Instant::now() + ROLL_PAUSE).await;
                    while let Some(Some(_)) = futures_util::FutureExt::now_or_never(roll.next()) {}
                }
            }
            if self.stored_at.elapsed() > STORE_AGAIN {
                self.store().await;
            }
            self.shared.announce(Beat::Here).await;
        }
    }

    fn is_asked_for_catalogue(&self, heard: &Heard) -> bool {
        let Heard::Message(bytes) = heard else { return false };
        let roll = message::read::<Roll>("a roll call", bytes);
        let asked = roll.ok().and_then(|roll| roll.catalogue);
        asked.is_some() && asked == self.shared.catalogue.digest()
    }

    async fn store(&mut self) {
        match self.shared.store_catalogue().await {
            Ok(()) => self.stored_at = Instant::now(),
            Err(error) => {
                tracing::warn!(runner = %self.shared.id, "the tools cannot be announced: {error}");
            }
        }
    }
}

impl Inner {
    async fn store_catalogue(&self) -> Result<(), BoardError> {
        let catalogue = Catalogue::from_pool(&self.pool);
        let bytes = message::write(&catalogue);
        let store = || self.board.put(bytes.clone());
        let blob = persist("the tools cannot be announced", store).await?;
        self.catalogue.tools.store(catalogue.tools.len(), Ordering::Relaxed);
        *lock(&self.catalogue.blob) = Some(blob);
        Ok(())
    }

    /// Sends the presence of the runner. It is repeated, so a lost one does not matter.
    pub(super) async fn announce(&self, beat: Beat) {
        let Some(presence) = self.presence(beat) else { return };
        let topic = Topic::Presence(self.queue.clone());
        if let Err(error) = self.board.send(&topic, presence).await {
            tracing::debug!(runner = %self.id, "the presence was not sent: {error}");
        }
    }

    fn check_presence(&self) -> Result<(), BoardError> {
        match self.presence(Beat::Here) {
            Some(presence) if presence.len() > MAX_PRESENCE => {
                let size = presence.len();
                Err(BoardError::Refused(format!(
                    "the presence of the runner has {size} bytes, and at most {MAX_PRESENCE} are read; use fewer or shorter labels"
                )))
            }
            _ => Ok(()),
        }
    }

    fn presence(&self, beat: Beat) -> Option<Bytes> {
        let blob = lock(&self.catalogue.blob).clone()?;
        let slots = u32::try_from(self.slots).unwrap_or(u32::MAX);
        let mut presence = Presence::new(self.id.clone(), self.queue.clone(), slots, blob);
        presence.leaves = self.leaves.load(Ordering::Relaxed);
        presence.gone = beat == Beat::Gone;
        presence.labels.clone_from(&self.labels);
        presence.program.clone_from(&self.program);
        let free = self.slots.saturating_sub(self.running.count());
        presence.free = u32::try_from(free).unwrap_or(u32::MAX);
        Some(message::write(&presence))
    }
}
