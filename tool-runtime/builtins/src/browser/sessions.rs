//! The browsers of all callers: start on first use, restart, close.

use super::devtools::Failure;
use super::session::{ActionError, Session, Setup};
use crate::per_caller::PerCaller;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tool_runtime::__seam::lock;
use tool_runtime::{ToolContext, ToolError};

/// Consecutive actions without a response after which a browser is ended.
const MAX_TIMEOUTS: u32 = 3;
/// Failed starts within [`PAUSE`] after which no browser is started.
const MAX_FAILURES: usize = 3;
const PAUSE: Duration = Duration::from_secs(30);
/// Time without a call after which a browser may be closed for another caller.
const IDLE: Duration = Duration::from_secs(60);

const LOST: &str = "the browser was restarted; earlier tabs, logins and storage are lost";

type SharedSlot = Arc<tokio::sync::Mutex<Slot>>;

/// The browsers of a pool.
pub(super) struct Sessions {
    setup: Setup,
    slots: PerCaller<SharedSlot>,
    /// All slots with a browser, for closing.
    started: Mutex<Vec<Weak<tokio::sync::Mutex<Slot>>>>,
    permits: Arc<Semaphore>,
}

/// The browser of one caller, and its history of failures.
#[derive(Default)]
pub(super) struct Slot {
    browser: Option<(Session, OwnedSemaphorePermit)>,
    last_use: Option<Instant>,
    timeouts: u32,
    failures: Vec<Instant>,
    /// Whether the next result must report that the browser was lost.
    is_lost: bool,
}

/// Exclusive use of a browser for one call. Other calls of the same caller wait.
pub(super) struct InUse {
    slot: OwnedMutexGuard<Slot>,
}

impl Sessions {
    pub(super) fn new(setup: Setup) -> Self {
        let permits = Arc::new(Semaphore::new(setup.params.max_browsers.max(1)));
        Self { setup, slots: PerCaller::new(), started: Mutex::default(), permits }
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The browser of a caller. Starts one if there is none.
    ///
    /// # Errors
    /// The browser does not start, or too many browsers are in use.
    pub(super) async fn for_context(&self, context: &ToolContext) -> Result<InUse, ToolError> {
        let shared = self.slots.with(context, |shared| Arc::clone(shared));
        let mut slot = Arc::clone(&shared).lock_owned().await;
        slot.last_use = Some(Instant::now());
        if slot.browser.as_ref().is_some_and(|(session, _)| session.is_closed()) {
            slot.end(true).await;
        }
        if slot.browser.is_none() {
            slot.failures.retain(|failure| failure.elapsed() < PAUSE);
            if slot.failures.len() >= MAX_FAILURES {
                return Err(ToolError::transient(
                    "the browser failed to start several times; wait half a minute, or work without it",
                ));
            }
            let permit = self.permit().await?;
            match Session::start(&self.setup).await {
                Ok(session) => {
                    if std::mem::take(&mut slot.is_lost) {
                        session.tabs.notify(LOST);
                    }
                    slot.browser = Some((session, permit));
                    self.register(&shared);
                }
                Err(reason) => {
                    slot.failures.push(Instant::now());
                    let text = format!("the browser did not start: {reason}");
                    return Err(ToolError::transient(text));
                }
            }
        }
        Ok(InUse { slot })
    }

    /// Waits for the permit to start a browser. Closes an idle browser if necessary.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        for shared in self.started_slots() {
            if let Ok(mut slot) = shared.try_lock()
                && slot.is_idle(IDLE)
            {
                slot.end(true).await;
                break;
            }
        }
        Arc::clone(&self.permits).try_acquire_owned().map_err(|_| {
            let most = self.setup.params.max_browsers;
            ToolError::transient(format!(
                "{most} browsers are in use, and the operator allows no more; try again in a few minutes"
            ))
        })
    }

    /// Registers a slot, and closes its browser when it is idle.
    fn register(&self, shared: &SharedSlot) {
        let mut started = lock(&self.started);
        started.retain(|known| {
            known.strong_count() > 0 && !std::ptr::eq(known.as_ptr(), Arc::as_ptr(shared))
        });
        started.push(Arc::downgrade(shared));
        let limit = Duration::from_secs(self.setup.params.idle_seconds);
        tokio::spawn(end_when_idle(Arc::downgrade(shared), limit));
    }

    fn started_slots(&self) -> Vec<SharedSlot> {
        let started = lock(&self.started);
        started.iter().filter_map(Weak::upgrade).collect()
    }

    /// Ends all browsers.
    pub(super) async fn close(&self) {
        for shared in self.started_slots() {
            shared.lock().await.end(false).await;
        }
    }
}

async fn end_when_idle(shared: Weak<tokio::sync::Mutex<Slot>>, limit: Duration) {
    loop {
        tokio::time::sleep(limit).await;
        let Some(shared) = shared.upgrade() else { return };
        let mut slot = shared.lock().await;
        if slot.browser.is_none() {
            return;
        }
        if slot.is_idle(limit) {
            slot.end(true).await;
            return;
        }
    }
}

impl Slot {
    fn is_idle(&self, limit: Duration) -> bool {
        self.browser.is_some() && self.last_use.is_none_or(|last| last.elapsed() >= limit)
    }

    async fn end(&mut self, is_lost: bool) {
        self.timeouts = 0;
        if let Some((session, permit)) = self.browser.take() {
            self.is_lost = is_lost;
            session.end().await;
            drop(permit);
        }
    }
}

impl InUse {
    /// The browser.
    pub(super) fn session(&self) -> Result<&Session, ActionError> {
        let session = self.slot.browser.as_ref().map(|(session, _)| session);
        session.ok_or(ActionError::Browser(Failure::Closed))
    }

    /// Ends a call. The next call replaces a browser that has ended or has repeatedly not responded.
    pub(super) async fn finish<T>(
        mut self,
        result: Result<T, ActionError>,
    ) -> Result<T, ToolError> {
        self.slot.last_use = Some(Instant::now());
        let failure = match result {
            Ok(value) => {
                self.slot.timeouts = 0;
                return Ok(value);
            }
            Err(ActionError::Tool(error)) => return Err(error),
            Err(ActionError::Browser(failure)) => failure,
        };
        match failure {
            Failure::Closed => {
                self.slot.end(true).await;
                Err(ToolError::transient(
                    "the browser ended during the call; the next call starts a new one, without the earlier tabs",
                ))
            }
            Failure::Timeout => {
                self.slot.timeouts += 1;
                if self.slot.timeouts < MAX_TIMEOUTS {
                    return Err(ToolError::transient(
                        "the page did not respond in time; wait and try again, or navigate to another page",
                    ));
                }
                self.slot.end(true).await;
                Err(ToolError::transient(format!(
                    "the browser did not respond {MAX_TIMEOUTS} times and was ended; the next call starts a new one, without the earlier tabs"
                )))
            }
            Failure::Refused(reason) | Failure::Unexpected(reason) => {
                Err(ToolError::transient(format!("the browser rejected the action: {reason}")))
            }
        }
    }
}
