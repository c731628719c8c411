//! Calls that wait for the host's answers.

use super::call::{ClientCall, Request};
use super::error::ClientAnswerError;
use crate::tool::results::observation::Observation;
use crate::tool::results::output_check::{OutputModel, OutputShape};
use crate::tool::tool::settle;
use crate::vocabulary::error::{CallError, ErrorClass, INTERNAL, ToolError};
use crate::vocabulary::sync::lock;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

type Reply = Result<Observation, CallError>;

/// Ended calls whose outcome is remembered.
const MAX_ENDED: usize = 1000;

#[derive(Default)]
pub(super) struct PendingCalls {
    calls: Mutex<Calls>,
    arrived: Notify,
}

/// The calls, identified by the number of their arrival.
#[derive(Default)]
struct Calls {
    pending: BTreeMap<u64, Pending>,
    numbers: HashMap<Arc<str>, u64, foldhash::fast::RandomState>,
    /// Not received by the host yet.
    waiting: BTreeSet<u64>,
    ended: HashMap<Arc<str>, Ending, foldhash::fast::RandomState>,
    /// The ids of the ended ones, oldest first.
    order: VecDeque<Arc<str>>,
    arrivals: u64,
    /// Distinguishes processes: a front end that outlives this process must not answer the calls of
    /// the next one.
    salt: Option<u64>,
    is_closed: bool,
}

struct Pending {
    id: Arc<str>,
    call: ClientCall,
    output: Option<Arc<OutputModel>>,
    reply: oneshot::Sender<Reply>,
    /// Cancelled with this entry.
    ended: CancellationToken,
    _cancel_on_drop: DropGuard,
}

#[derive(Clone, Copy)]
enum Ending {
    Answered,
    Expired,
    Cancelled,
}

impl PendingCalls {
    /// Adds a call.
    ///
    /// # Errors
    /// The host has dropped its handle.
    pub(super) fn put(
        self: &Arc<Self>,
        request: Request,
        output: Option<Arc<OutputModel>>,
    ) -> Result<Ticket, CallError> {
        let (reply, answer) = oneshot::channel();
        let mut calls = self.calls();
        if calls.is_closed {
            return Err(abandoned_error(&request.name, false));
        }
        let name = request.name.clone();
        let number = calls.add(request, output, reply);
        drop(calls);
        self.arrived.notify_one();
        Ok(Ticket { pending_calls: self.clone(), name, number, answer })
    }

    pub(super) fn try_next(&self) -> Option<ClientCall> {
        let mut calls = self.calls();
        let number = calls.waiting.pop_first()?;
        let call = calls.pending.get(&number)?.call.clone();
        let has_more = !calls.waiting.is_empty();
        drop(calls);
        if has_more {
            // `Notify` keeps one permit: each receiver passes the wake-up on.
            self.arrived.notify_one();
        }
        Some(call)
    }

    pub(super) async fn next(&self) -> ClientCall {
        loop {
            if let Some(call) = self.try_next() {
                return call;
            }
            self.arrived.notified().await;
        }
    }

    /// Answers a pending call; `outcome` is only evaluated for a pending one.
    pub(super) fn answer(
        &self,
        id: &str,
        outcome: impl FnOnce() -> Result<Observation, ToolError>,
    ) -> Result<(), ClientAnswerError> {
        let Pending { id, output, reply, .. } = self.claim(id)?;
        let shape = if output.is_none() { OutputShape::Text } else { OutputShape::Value };
        let answer = settle(outcome(), &shape);
        let mismatch = match (&answer, output) {
            (Ok(observation), Some(model)) => model.check(observation).err(),
            _ => None,
        };
        let rejected = mismatch.as_ref().map(|error| rejection(&id, error));
        if reply.send(mismatch.map_or(answer, Err)).is_err() {
            // The call was abandoned between the claim and the answer.
            self.calls().correct(&id, Ending::Cancelled);
            return Err(Ending::Cancelled.as_error(id));
        }
        rejected.map_or(Ok(()), Err)
    }

    /// Removes a call to answer it: each call is answered once.
    fn claim(&self, id: &str) -> Result<Pending, ClientAnswerError> {
        let mut calls = self.calls();
        let number = calls.numbers.get(id).copied();
        match number.and_then(|number| calls.end(number, Ending::Answered)) {
            Some(pending) => Ok(pending),
            None => Err(match calls.ended.get(id) {
                Some(ending) => ending.as_error(id.into()),
                None => ClientAnswerError::Unknown { id: id.into() },
            }),
        }
    }

    pub(super) fn pending(&self) -> Vec<ClientCall> {
        self.calls().pending.values().map(|pending| pending.call.clone()).collect()
    }

    pub(super) fn is_pending(&self, id: &str) -> bool {
        self.calls().numbers.contains_key(id)
    }

    /// Token that is cancelled when the call is no longer pending.
    pub(super) fn end_token(&self, id: &str) -> Option<CancellationToken> {
        let calls = self.calls();
        let pending = calls.pending.get(calls.numbers.get(id)?)?;
        Some(pending.ended.clone())
    }

    /// The host has dropped its handle: pending calls fail, and no more are accepted.
    pub(super) fn close(&self) {
        let mut calls = self.calls();
        calls.is_closed = true;
        let waiting = std::mem::take(&mut calls.waiting);
        let pending = std::mem::take(&mut calls.pending);
        calls.numbers.clear();
        // A task that is woken below may take this lock.
        drop(calls);
        for (number, pending) in pending {
            let error = abandoned_error(pending.call.name(), !waiting.contains(&number));
            // The receiver may have been dropped.
            let _ = pending.reply.send(Err(error));
        }
    }

    /// Removes a call whose caller no longer waits; `false` if it was already removed.
    fn give_up(&self, number: u64, ending: Ending) -> bool {
        // Dropped after the lock is released: a task that is woken may take it.
        let given_up = self.calls().end(number, ending);
        given_up.is_some()
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        lock(&self.calls)
    }
}

impl Calls {
    fn add(
        &mut self,
        request: Request,
        output: Option<Arc<OutputModel>>,
        reply: oneshot::Sender<Reply>,
    ) -> u64 {
        self.arrivals += 1;
        let number = self.arrivals;
        let id = self.id(&request);
        let call = ClientCall::new(&id, request);
        let ended = CancellationToken::new();
        let _cancel_on_drop = ended.clone().drop_guard();
        self.numbers.insert(id.clone(), number);
        self.pending.insert(number, Pending { id, call, output, reply, ended, _cancel_on_drop });
        self.waiting.insert(number);
        number
    }

    /// The call's own id, unless a late answer to another call could be taken for its answer.
    fn id(&mut self, request: &Request) -> Arc<str> {
        let is_free = |id: &&str| !self.numbers.contains_key(*id) && !self.ended.contains_key(*id);
        match request.call_id.as_deref().filter(is_free) {
            Some(id) => id.into(),
            None => {
                let salt = *self.salt.get_or_insert_with(|| RandomState::new().hash_one(0));
                format!("client-{salt:016x}-{}", self.arrivals).into()
            }
        }
    }

    /// Corrects how a call has ended, if that is still remembered.
    fn correct(&mut self, id: &str, ending: Ending) {
        if let Some(recorded) = self.ended.get_mut(id) {
            *recorded = ending;
        }
    }

    fn end(&mut self, number: u64, ending: Ending) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        self.waiting.remove(&number);
        self.numbers.remove(&pending.id);
        self.ended.insert(pending.id.clone(), ending);
        self.order.push_back(pending.id.clone());
        if self.order.len() > MAX_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        Some(pending)
    }
}

impl Ending {
    fn as_error(self, id: Arc<str>) -> ClientAnswerError {
        match self {
            Self::Answered => ClientAnswerError::Answered { id },
            Self::Expired => ClientAnswerError::Expired { id },
            Self::Cancelled => ClientAnswerError::Cancelled { id },
        }
    }
}

/// Waits for the answer of one call. Dropping it abandons the call.
pub(super) struct Ticket {
    pending_calls: Arc<PendingCalls>,
    name: String,
    number: u64,
    answer: oneshot::Receiver<Reply>,
}

impl Ticket {
    /// Waits for the answer.
    pub(super) async fn answer(&mut self) -> Reply {
        match (&mut self.answer).await {
            Ok(reply) => reply,
            Err(_) => Err(panic_error(&self.name)),
        }
    }

    /// Gives the call up after its timeout; `false` if it is being answered.
    pub(super) fn expire(&self) -> bool {
        self.pending_calls.give_up(self.number, Ending::Expired)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pending_calls.give_up(self.number, Ending::Cancelled);
    }
}

fn rejection(id: &Arc<str>, error: &CallError) -> ClientAnswerError {
    let reason = error.detail().unwrap_or_else(|| error.message()).to_owned();
    ClientAnswerError::Misfit { id: id.clone(), reason }
}

/// A host that has received a call may have executed it.
fn abandoned_error(tool: &str, is_taken: bool) -> CallError {
    if is_taken {
        let text = format!(
            "the host program went away while it did `{tool}`; the call may have had its effect, so find that out before you try again"
        );
        return CallError::new(ErrorClass::Indeterminate, text);
    }
    let text = format!(
        "`{tool}` is executed by the host program, which accepts no more calls; do without it"
    );
    CallError::new(ErrorClass::Internal, text)
}

/// The value that the host answered with panicked when it was converted.
fn panic_error(tool: &str) -> CallError {
    CallError::new(ErrorClass::Internal, format!("`{tool}`: {INTERNAL}"))
        .with_detail("the host's answer panicked when it was made an observation")
}
