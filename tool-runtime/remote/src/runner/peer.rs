//! The caller, as the tool of a runner reaches it.

use super::running::Running;
use crate::BEAT;
use crate::board::{Board, Reach, Topic};
use crate::message::{self, About, Accepts, Kind, Note, Question};
use crate::names::{RunnerId, StepKey};
use crate::random;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::peer::{
    LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerInfo, PeerRequest, Progress,
};
use tool_runtime_core::vocabulary::BoxFuture;

/// The shortest time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(50);

/// The most log entries that wait.
const MAX_LOGS: usize = 1000;

/// The peer of a call of a runner: its caller, by messages.
pub(super) struct CallerPeer {
    pub(super) accepts: Accepts,
    pub(super) info: Option<PeerInfo>,
    pub(super) meta: Map<String, Value>,
    pub(super) line: Arc<Line>,
    pub(super) running: Arc<Running>,
}

/// The way of notes to the caller of a call.
pub(super) struct Line {
    board: Arc<dyn Board>,
    topic: Topic,
    runner: RunnerId,
    round: u32,
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    progress: Option<Progress>,
    logs: VecDeque<LogEntry>,
    lost: usize,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.progress.is_none() && self.logs.is_empty()
    }
}

impl Line {
    pub(super) fn new(
        board: &Arc<dyn Board>,
        step: StepKey,
        runner: &RunnerId,
        round: u32,
    ) -> Self {
        Self {
            board: Arc::clone(board),
            topic: Topic::Step(step),
            runner: runner.clone(),
            round,
            waiting: Mutex::default(),
            arrived: Notify::new(),
        }
    }

    /// Tells the caller something, which may be lost. Returns whether somebody may have heard it.
    pub(super) async fn tell(&self, about: About) -> bool {
        let note = message::write(&Note::new(&self.runner, self.round, about));
        !matches!(self.board.send(&self.topic, note).await, Ok(Reach::Nobody))
    }

    /// Waits until progress or log entries are to be sent, `PAUSE` after they were sent last.
    pub(super) async fn due(&self, last: Instant) {
        loop {
            let arrived = self.arrived.notified();
            if !lock(&self.waiting).is_empty() {
                return sleep_until(last + PAUSE).await;
            }
            arrived.await;
        }
    }

    /// Sends the log entries, and the last progress.
    pub(super) async fn flush(&self) {
        let Waiting { progress, logs, lost } = take(&mut *lock(&self.waiting));
        if lost > 0 {
            tracing::warn!(lost, "log entries came faster than they could be sent");
        }
        for LogEntry { level, data, .. } in logs {
            self.tell(About::Log { level, data }).await;
        }
        if let Some(progress) = progress {
            self.tell(About::Progress(progress)).await;
        }
    }

    fn add(&self, add: impl FnOnce(&mut Waiting)) {
        add(&mut lock(&self.waiting));
        self.arrived.notify_one();
    }
}

impl Peer for CallerPeer {
    fn accepts_progress(&self) -> bool {
        self.accepts.progress
    }

    fn progress(&self, progress: Progress) {
        self.line.add(|waiting| waiting.progress = Some(progress));
    }

    fn accepts_log(&self, level: LogLevel) -> bool {
        self.accepts.log.is_some_and(|least| level >= least)
    }

    fn log(&self, entry: LogEntry) {
        self.line.add(|waiting| match waiting.logs.len() < MAX_LOGS {
            true => waiting.logs.push_back(entry),
            false => waiting.lost += 1,
        });
    }

    fn can(&self, capability: PeerCapability) -> bool {
        Kind::from_capability(capability).is_some_and(|kind| self.accepts.ask.contains(&kind))
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(async move {
            let capability = request.capability();
            let kind =
                Kind::from_capability(capability).ok_or(PeerError::Unsupported(capability))?;
            let single_use = request.is_single_use();
            let (key, params) = request.into_parts();
            let id = random::hex_digits::<16>();
            let question = Question { id, key, kind, params, single_use };
            let open = OpenQuestion { running: &self.running, id: &question.id };
            let mut answer = self.running.expect_answer(open.id);
            // A note may be lost, so it is repeated.
            loop {
                self.line.flush().await;
                self.line.tell(About::Ask(question.clone())).await;
                if let Ok(answered) = timeout(BEAT, &mut answer).await {
                    let ended = |_| PeerError::Failed("the call has ended".to_owned());
                    return answered.map_err(ended)?;
                }
            }
        })
    }

    fn info(&self) -> Option<PeerInfo> {
        self.info.clone()
    }

    fn meta(&self) -> Option<&Map<String, Value>> {
        Some(&self.meta)
    }
}

/// Forgets a question that nobody waits for.
struct OpenQuestion<'a> {
    running: &'a Running,
    id: &'a str,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.running.forget_answer(self.id);
    }
}
