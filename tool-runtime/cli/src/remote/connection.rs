//! The option `remote` of `main!`: the tools of runners in the served pool.

use super::HubAddress;
use crate::options::Command;
use crate::print;
use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tool_runtime_core::pool::{AbsentSource, ToolPool, ToolReport, ToolStatus};
use tool_runtime_core::seam::{Absence, spawn};
use tool_runtime_core::tool::Source;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};
use tool_runtime_core::vocabulary::{BoxFuture, CancellationToken};
use tool_runtime_remote::seam::{self, missing_runners, no_remote_tool};
use tool_runtime_remote::{BoardError, Remote};

/// The pause between two attempts to reach the hub for the first time.
const PAUSE: Duration = Duration::from_secs(1);

/// The time that a server waits for the first attempt: its client waits for an answer.
const SERVER_WAIT: Duration = Duration::from_secs(2);

/// The time that lists of tools wait for the hub and its runners.
const LIST_WAIT: Duration = Duration::from_secs(5);

/// The time that a call waits for a runner with its tool, after others have announced theirs.
const CALL_WAIT: Duration = Duration::from_secs(2);

/// The connection of a pool to a hub, which may come later.
pub(crate) struct Connection {
    pool: ToolPool,
    hub: Arc<Hub>,
    end: CancellationToken,
}

/// A hub, for the pool: why its tools are missing before it was reached.
struct Hub {
    url: String,
    state: watch::Sender<State>,
    /// Lists of tools wait for the connection until this time.
    list_until: Instant,
    /// Whether changes of the connection are logged. Other commands print what is missing.
    is_logged: bool,
}

/// The reason why tools are missing for the first seconds.
const CONNECTING: &str =
    "the hub is still being connected to, or no runner has announced its tools yet";

enum State {
    Connecting,
    /// The hub cannot be reached. It is tried again.
    Away(BoardError),
    /// The hub refuses the program.
    Refused(BoardError),
    Connected(Remote),
}

impl State {
    fn is_tried(&self) -> bool {
        !matches!(self, Self::Connecting)
    }

    /// Why the tools are missing, until the connection itself tells.
    fn missing(&self) -> Option<(ErrorClass, String)> {
        match self {
            Self::Connecting => Some((ErrorClass::Transient, CONNECTING.to_owned())),
            Self::Away(error) => Some((ErrorClass::Transient, error.to_string())),
            Self::Refused(error) => Some((ErrorClass::Denied, error.to_string())),
            Self::Connected(_) => None,
        }
    }
}

impl Connection {
    /// Connects the pool. `is_trusted`: the hints of runners count. If the hub is away, the tools come when it is there.
    ///
    /// # Errors
    /// The address or the token is wrong.
    pub(crate) async fn open(
        url: &str,
        is_trusted: bool,
        pool: &ToolPool,
        command: &Command,
    ) -> Result<Self, String> {
        let address = HubAddress::of_program(url)?;
        let end = pool.closing().child_token();
        let (state, mut states) = watch::channel(State::Connecting);
        let (list_until, is_logged) = (Instant::now() + LIST_WAIT, command.is_server());
        let hub = Arc::new(Hub { url: address.redacted(), state, list_until, is_logged });
        let absence: Weak<Hub> = Arc::downgrade(&hub);
        pool.ask_of_absence(absence);
        let attempts = attempts(address, is_trusted, pool.clone(), Arc::clone(&hub));
        let token = end.clone();
        drop(spawn(Box::pin(async move {
            token.run_until_cancelled(attempts).await;
        })));
        let tried = states.wait_for(State::is_tried);
        if command.is_server() {
            drop(timeout(SERVER_WAIT, tried).await);
        } else {
            drop(tried.await);
        }
        let connection = Self { pool: pool.clone(), hub, end };
        let refused = match &*connection.hub.state.borrow() {
            State::Refused(error) => Some(error.to_string()),
            _ => None,
        };
        match refused {
            Some(error) => Err(error),
            None => {
                if let Command::Call(call) = command {
                    connection.wait_for(&call.tool).await;
                }
                connection.warn(command);
                Ok(connection)
            }
        }
    }

    /// Waits for a tool that no runner has announced yet.
    async fn wait_for(&self, tool: &str) {
        let mut changes = self.pool.changes();
        let announced = async {
            while self.hub.missing().is_none() && self.pool.get(tool).is_none() {
                if changes.next().await.is_none() {
                    return;
                }
            }
        };
        drop(timeout(CALL_WAIT, announced).await);
    }

    /// Says why tools are missing. Reports have it themselves, and servers log it.
    fn warn(&self, command: &Command) {
        if command.is_server() || is_report(command) {
            return;
        }
        let called = match command {
            Command::Call(call) => Some(&*call.tool),
            _ => None,
        };
        // The error of the call has the reason.
        if called.is_none_or(|name| self.pool.get(name).is_some()) {
            for AbsentSource { source, reason, .. } in absent_runners(&self.pool) {
                print::warning(&format!("{source} is not connected: {reason}"));
            }
        }
        for ToolReport { name, source, status, .. } in self.pool.report().tools {
            let is_meant = called.is_none_or(|called| called == name);
            if let (Source::Runner(_), ToolStatus::Quarantined { reason }, true) =
                (&source, &status, is_meant)
            {
                print::warning(&format!("`{name}` of {source} is left out: {reason}"));
            }
        }
    }

    /// Ends the connection.
    pub(crate) async fn close(self) {
        self.end.cancel();
        let state = self.hub.state.send_replace(State::Connecting);
        if let State::Connected(remote) = state {
            remote.close().await;
        }
    }
}

fn is_report(command: &Command) -> bool {
    if matches!(command, Command::Doctor { .. }) {
        return true;
    }
    matches!(command, Command::Report { .. })
}

/// The runners whose tools are missing in a pool.
pub(crate) fn absent_runners(pool: &ToolPool) -> impl Iterator<Item = AbsentSource> {
    let absent = pool.report().absent.into_iter();
    absent.filter(|absent| matches!(absent.source, Source::Runner(_)))
}

/// The address of the hub that the tools of a pool come from, for `doctor`.
pub(crate) fn hub_of(pool: &ToolPool) -> Option<String> {
    pool.absences_of::<Hub>().first().map(|hub| hub.url.clone())
}

/// Attempts to connect until it succeeds, or the hub refuses the program.
async fn attempts(address: HubAddress, is_trusted: bool, pool: ToolPool, hub: Arc<Hub>) {
    loop {
        let error = match connect(&address, is_trusted, &pool).await {
            Ok(remote) => return hub.set(State::Connected(remote)),
            Err(error) => error,
        };
        if !error.is_transient() {
            return hub.set(State::Refused(error));
        }
        hub.set(State::Away(error));
        sleep(PAUSE).await;
    }
}

async fn connect(
    address: &HubAddress,
    is_trusted: bool,
    pool: &ToolPool,
) -> Result<Remote, BoardError> {
    seam::remote(address.connect().await?).trust(is_trusted).connect(pool).await
}

impl Hub {
    fn set(&self, state: State) {
        let before = self.state.send_replace(state);
        if self.is_logged {
            log(&before, &self.state.borrow());
        }
    }

    fn missing(&self) -> Option<(ErrorClass, String)> {
        self.state.borrow().missing()
    }
}

/// Logs that the hub is away, once, and what comes of it. What comes of the first attempt is returned by `open`.
fn log(before: &State, now: &State) {
    match (before, now) {
        (State::Connecting, State::Away(error)) => tracing::warn!("{error}; trying again"),
        (State::Away(_), State::Refused(error)) => {
            tracing::error!("the tools of remote runners are missing: {error}");
        }
        // A warning like the one that it ends, so that both are logged or none.
        (State::Away(_), State::Connected(remote)) => {
            tracing::warn!("connected to the hub at {}", remote.address());
        }
        _ => {}
    }
}

impl Absence for Hub {
    fn why(&self, name: &str) -> Option<CallError> {
        self.missing().map(|(class, reason)| no_remote_tool(name, class, &reason))
    }

    fn settling(&self) -> Option<BoxFuture<'static, ()>> {
        let (until, mut states) = (self.list_until, self.state.subscribe());
        if Instant::now() >= until || states.borrow().is_tried() {
            return None;
        }
        Some(Box::pin(async move {
            drop(timeout_at(until, states.wait_for(State::is_tried)).await);
        }))
    }

    fn absent(&self) -> Vec<AbsentSource> {
        self.missing().map(|(_, reason)| missing_runners(reason)).into_iter().collect()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
