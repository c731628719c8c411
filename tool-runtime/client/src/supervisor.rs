//! Keeps a server connected, and its tools in the pool.

use super::backoff::Backoff;
use super::connect_error::{ConnectError, Kind};
use super::connection::Connection;
use super::listing;
use super::publisher::Publisher;
use super::server::{MAX_FAILURES, Server};
use super::status::McpState;
use super::trace;
use futures_util::FutureExt as _;
use rmcp::model::{Implementation, ServerPeerInfo};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tool_runtime_core::seam::panic_message;

/// Age at which a connection counts as stable.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// Limit on a pause, because a longer one could overflow an `Instant`.
const MAX_PAUSE: Duration = Duration::from_secs(86_400 * 365);
/// Limit on the reported problems of a list.
const MAX_PROBLEMS: usize = 100;
/// Changes of a list that are closer together count as one.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// Limit on delaying a changed list.
const MAX_DEBOUNCE: Duration = Duration::from_millis(500);

/// What to do with a list whose other pages failed.
#[derive(Clone, Copy)]
enum IfIncomplete {
    /// Publish its first pages.
    Publish,
    /// Keep the last list, if that is complete.
    Keep,
}

impl Server {
    /// Keeps the server connected until the future is dropped. [`Self::disconnect`] ends the connection then.
    pub(super) async fn supervise(self: &Arc<Self>, publisher: &Publisher) {
        let (mut failures, mut last_warning) = (0, String::new());
        trace::configured(&self.name);
        loop {
            self.set_state(McpState::Connecting);
            let opened = catch_panic(self.open(publisher)).await.unwrap_or_else(Err);
            self.change(|condition| {
                condition.tries += 1;
                condition.status.was_attempted = true;
            });
            let error = match opened {
                Ok(connection) => {
                    let began = Instant::now();
                    let outcome = catch_panic(self.follow_connection(&connection, publisher)).await;
                    let error = outcome.unwrap_or_else(|error| error);
                    self.connection.store(None);
                    tokio::spawn(async move { connection.close().await });
                    if began.elapsed() >= STABLE_AFTER {
                        failures = 0;
                        tracing::warn!(server = &*self.name, "{error}; connecting again");
                        continue;
                    }
                    error
                }
                Err(error) => error,
            };
            failures += 1;
            // Repeated reasons are logged once.
            if last_warning != error.to_string() {
                last_warning = error.to_string();
                tracing::warn!(server = &*self.name, "not connected: {last_warning}");
            }
            self.pause(&error, failures).await;
        }
    }

    /// Waits until the next attempt.
    async fn pause(&self, error: &ConnectError, failures: u32) {
        let reason = error.to_string();
        if error.kind == Kind::Unauthorized {
            return self.authorize(reason, failures).await;
        }
        let pause = self.times.backoff.pause(failures).min(MAX_PAUSE);
        // Callers that woke the supervisor before get this failure.
        let _stale = self.wanted.notified().now_or_never();
        self.set_state(McpState::Retrying { reason, failures, next: Instant::now() + pause });
        if failures >= MAX_FAILURES {
            sleep(pause).await;
        } else {
            drop(timeout(pause, self.wanted.notified()).await);
        }
    }

    /// Waits for authorization, by the user's answer or a reconnect.
    async fn authorize(&self, mut reason: String, failures: u32) {
        if self.connector.is_authorizing() {
            self.set_state(McpState::Authorizing);
            match self.connector.authorized().await {
                Ok(()) if failures == 1 => return,
                // The granted authorization was not sufficient.
                Ok(()) => return sleep(self.times.backoff.pause(failures)).await,
                Err(problem) => reason = problem,
            }
        }
        self.set_state(McpState::NeedsAuth { reason });
        std::future::pending::<()>().await;
    }

    /// Connects and publishes the tools.
    async fn open(
        self: &Arc<Self>,
        publisher: &Publisher,
    ) -> Result<Arc<Connection>, ConnectError> {
        let began = Instant::now();
        let connection = Arc::new(self.connector.connect(self.times.connect).await?);
        let rest = self.times.connect.saturating_sub(began.elapsed());
        let rest = rest.max(Duration::from_secs(1));
        if let Err(error) = self.refresh(&connection, publisher, rest, IfIncomplete::Publish).await
        {
            let error = error.with_exit_report(connection.exit_report().await);
            let error = error.redacted(&self.redactors);
            tokio::spawn(async move { connection.close().await });
            return Err(error);
        }
        self.connection.store(Some(Arc::clone(&connection)));
        self.change(|condition| {
            let status = &mut condition.status;
            status.state = McpState::Ready;
            let info = connection.info();
            let peer_info = |info: &Implementation| self.peer_info(info);
            status.info = info.and_then(|info| info.server_info.as_ref()).map(peer_info);
            status.protocol = info.map(|info| info.protocol_version.to_string());
            status.instructions = info.and_then(|info: &ServerPeerInfo| {
                let instructions = info.instructions.as_deref();
                instructions.map(|text| self.redactors.results.text(text).into_owned())
            });
        });
        tracing::info!(server = &*self.name, "connected");
        Ok(connection)
    }

    /// Reads the list of tools.
    async fn refresh(
        self: &Arc<Self>,
        connection: &Connection,
        publisher: &Publisher,
        within: Duration,
        if_incomplete: IfIncomplete,
    ) -> Result<(), ConnectError> {
        let has_tools = connection.capabilities().is_some_and(|can| can.tools.is_some());
        let listing = if has_tools {
            let listed = listing::list(connection, within).await;
            listed.map_err(|failure| ConnectError::of_listing(&failure, self.times.connect))?
        } else {
            listing::Listing::default()
        };
        let gap = listing.gap.clone();
        if let (Some(gap), IfIncomplete::Keep) = (&gap, if_incomplete)
            && !publisher.is_incomplete()
        {
            return Err(ConnectError::new(Kind::Failed, gap));
        }
        publisher.set_incomplete(gap.is_some());
        let published = publisher.publish(self, listing).await;
        let problems = self.redact_problems(&published.problems);
        let known = self.status().problems;
        for problem in problems.iter().filter(|problem| !known.contains(problem)) {
            tracing::warn!(server = &*self.name, "{problem}");
        }
        self.change(|condition| {
            condition.status.tools = published.tools;
            condition.status.problems = problems;
        });
        Ok(())
    }

    /// The problems of a list, without secrets.
    fn redact_problems(&self, problems: &[String]) -> Vec<String> {
        let mut redacted: Vec<String> =
            problems.iter().take(MAX_PROBLEMS).map(|problem| self.redact(problem)).collect();
        if let Some(more) = problems.len().checked_sub(MAX_PROBLEMS + 1) {
            redacted.push(format!("{} more problems", more + 1));
        }
        redacted
    }

    /// Follows changes of the tool list until the connection ends. Returns the reason of the end.
    async fn follow_connection(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        publisher: &Publisher,
    ) -> ConnectError {
        tokio::select! {
            () = connection.closed() => {}
            () = self.follow(connection, publisher) => {}
            () = self.subscribe(connection) => {}
        }
        let error = ConnectError::new(Kind::Failed, "the connection ended");
        error.with_exit_report(connection.exit_report().await).redacted(&self.redactors)
    }

    async fn follow(self: &Arc<Self>, connection: &Connection, publisher: &Publisher) {
        let changed = connection.notifications().changed();
        // A list that changes constantly is read less and less often.
        let (backoff, mut changes) = (Backoff { first: DEBOUNCE, max: STABLE_AFTER }, 0);
        loop {
            let began = Instant::now();
            changed.next().await;
            changes = if began.elapsed() >= STABLE_AFTER { 0 } else { changes + 1 };
            let settled = async { while timeout(DEBOUNCE, changed.next()).await.is_ok() {} };
            drop(timeout(MAX_DEBOUNCE, settled).await);
            let within = self.times.connect;
            if let Err(error) =
                self.refresh(connection, publisher, within, IfIncomplete::Keep).await
            {
                // The last list stays published.
                tracing::warn!(server = &*self.name, "cannot read its changed list: {error}");
            }
            sleep(backoff.pause(changes)).await;
        }
    }

    /// Subscribes to changes, as newer versions of MCP require. When the subscription ends, changes may have
    /// been missed.
    async fn subscribe(&self, connection: &Connection) {
        let notifies = connection
            .capabilities()
            .and_then(|can| can.tools.as_ref())
            .is_some_and(|tools| tools.list_changed == Some(true));
        if !connection.is_stateless() || !notifies {
            return std::future::pending().await;
        }
        let mut failures = 0;
        loop {
            let began = Instant::now();
            connection.subscribed().await;
            failures = if began.elapsed() >= STABLE_AFTER { 1 } else { failures + 1 };
            sleep(self.times.backoff.pause(failures)).await;
            connection.notifications().changed().notify();
        }
    }
}

/// Converts a panic, which may come from a callback of the host, to an error.
async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, ConnectError> {
    let caught = AssertUnwindSafe(work).catch_unwind().await;
    caught.map_err(|panic| {
        ConnectError::new(Kind::Failed, format!("it panicked: {}", panic_message(panic)))
    })
}
