//! Claims of clients over HTTP, by their ids.

use super::access::Client;
use crate::board::{BoardError, Claim};
use crate::names::{CallerName, Queue};
use crate::protocol::{ClaimOrder, ClaimedJob};
use crate::{LEASE, random};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// The pause between two removals of claims that lapsed long ago.
const SWEEP: Duration = Duration::from_secs(1);

/// The longest delay of a job.
const MAX_DELAY: Duration = Duration::from_secs(3600);

/// The claims that are open, and the requests that wait for some.
#[derive(Default)]
pub(super) struct Claims {
    open: Mutex<Open>,
    waiting: Mutex<HashMap<Waiter, CancellationToken>>,
}

/// A client that waits: its name, the queue, and the name that it gave the waiting.
type Waiter = (CallerName, Queue, String);

/// A request that waits for jobs.
pub(super) struct Waiting<'a> {
    claims: &'a Claims,
    waiter: Option<Waiter>,
    end: CancellationToken,
}

impl Waiting<'_> {
    /// Resolves when the client no longer wants jobs.
    pub(super) async fn ended(&self) {
        self.end.cancelled().await;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waiter) = &self.waiter {
            lock(&self.claims.waiting).remove(waiter);
        }
    }
}

#[derive(Default)]
struct Open {
    claims: HashMap<String, OpenClaim>,
    swept: Option<Instant>,
}

#[derive(Clone)]
struct OpenClaim {
    client: CallerName,
    queue: Queue,
    claim: Arc<dyn Claim>,
    /// It has lapsed by then.
    until: Instant,
}

impl Claims {
    /// Gives a claim to a client.
    pub(super) fn open(&self, client: &Client, queue: &Queue, claim: Box<dyn Claim>) -> ClaimedJob {
        let id = random::hex_digits::<16>();
        let given = ClaimedJob {
            claim: id.clone(),
            caller: claim.caller().clone(),
            repeated: claim.is_repeated(),
            job: claim.job().clone(),
        };
        let (client, queue, claim) = (client.name.clone(), queue.clone(), Arc::from(claim));
        let mut open = lock(&self.open);
        open.sweep();
        open.claims.insert(id, OpenClaim { client, queue, claim, until: lapsed() });
        given
    }

    /// Notes that a client waits, under the name that it gave.
    pub(super) fn wait(&self, client: &Client, queue: &Queue, name: Option<String>) -> Waiting<'_> {
        let end = CancellationToken::new();
        let waiter = name.map(|name| (client.name.clone(), queue.clone(), name));
        if let Some(waiter) = &waiter {
            lock(&self.waiting).insert(waiter.clone(), end.clone());
        }
        Waiting { claims: self, waiter, end }
    }

    /// Ends the waiting of a client: its request is answered.
    pub(super) fn end_waiting(&self, client: &Client, queue: &Queue, name: &str) {
        let waiter = (client.name.clone(), queue.clone(), name.to_owned());
        if let Some(end) = lock(&self.waiting).get(&waiter) {
            end.cancel();
        }
    }

    /// Does what a client says about one of its claims.
    ///
    /// # Errors
    /// It has lapsed, or is another client's.
    pub(super) async fn order(
        &self,
        client: &Client,
        queue: &Queue,
        id: &str,
        order: ClaimOrder,
    ) -> Result<(), BoardError> {
        let claim = self.find(client, queue, id)?;
        let done = match order {
            ClaimOrder::Renew => claim.renew().await,
            ClaimOrder::Finish => claim.finish().await,
            ClaimOrder::Later { delay } => {
                claim.later(Duration::from_millis(delay).min(MAX_DELAY)).await
            }
        };
        let mut open = lock(&self.open);
        match (&done, &order) {
            (Ok(()), ClaimOrder::Renew) => {
                open.claims.entry(id.to_owned()).and_modify(|one| one.until = lapsed());
            }
            _ => drop(open.claims.remove(id)),
        }
        done
    }

    fn find(&self, client: &Client, queue: &Queue, id: &str) -> Result<Arc<dyn Claim>, BoardError> {
        let open = lock(&self.open);
        let is_own = |one: &&OpenClaim| one.client == client.name && one.queue == *queue;
        let claim = open.claims.get(id).filter(is_own).map(|one| Arc::clone(&one.claim));
        claim.ok_or(BoardError::Lapsed)
    }
}

impl Open {
    /// Removes what has lapsed: nobody asks for it again.
    fn sweep(&mut self) {
        let now = Instant::now();
        if self.swept.is_none_or(|swept| now - swept > SWEEP) {
            self.swept = Some(now);
            self.claims.retain(|_, one| one.until > now);
        }
    }
}

fn lapsed() -> Instant {
    Instant::now() + 2 * LEASE
}
