//! Starts a server and connects to its standard input and output.

use super::lines::Lines;
use super::{ConnectionOwner, Opened, TransportFactory};
use crate::connect_error::{ConnectError, Kind};
use crate::notification_router::NotificationRouter;
use crate::observed_transport::ObservedTransport;
use crate::process::{Child, Command, Exit, Spawned};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tool_runtime_config::StdioConfig;
use tool_runtime_core::seam::Redactor;
use tool_runtime_core::vocabulary::BoxFuture;

/// Grace period of each shutdown step: after the end of the input, and after `SIGTERM`.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// Time for a process to exit after its connection has ended.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
/// Limit on the reported bytes of the standard error.
const MAX_REPORT: usize = 1000;

/// A server that is started for each connection.
pub(crate) struct Stdio {
    server: Arc<str>,
    command: Command,
    /// Children with descendants that still run.
    children: TaskTracker,
}

impl Stdio {
    /// Takes the program of an entry; `redactor` removes secrets from its output.
    pub(crate) fn new(server: &str, config: &StdioConfig, redactor: Redactor) -> Self {
        let mut command = Command::new(config.command.as_str());
        command.args = config.args.iter().map(|arg| arg.expose().to_owned()).collect();
        let variable = |(name, value): (
            &tool_runtime_config::McpText,
            &tool_runtime_core::vocabulary::Secret,
        )| { (name.as_str().to_owned(), value.expose().to_owned()) };
        command.env = config.env.iter().map(variable).collect();
        command.redactor = Arc::new(redactor);
        command.cwd = config.cwd.as_ref().map(|cwd| cwd.as_str().into());
        let children = TaskTracker::new();
        // `wait` returns once the present children have ended.
        children.close();
        Self { server: server.into(), command, children }
    }
}

impl TransportFactory for Stdio {
    fn open(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> BoxFuture<'_, Result<Opened, ConnectError>> {
        Box::pin(async move {
            let counted = self.children.token();
            let spawned = Child::spawn(&self.command, &self.server, counted).await;
            let Spawned { child, stdin, stdout } =
                spawned.map_err(|error| ConnectError::new(Kind::Unreachable, error.to_string()))?;
            let noise = child.stdout_noise(&self.server);
            let transport = Lines::new(stdout, stdin, Arc::clone(&notifications));
            let transport = transport.with_noise(move |line| noise.keep(line));
            let owner = Arc::new(Process { child, notifications: Arc::clone(&notifications) });
            Ok(Opened {
                transport: ObservedTransport::new(transport, notifications),
                owner: Some(owner),
            })
        })
    }

    fn ended(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.children.wait())
    }
}

/// The process that owns a connection.
struct Process {
    child: Child,
    notifications: Arc<NotificationRouter>,
}

impl Process {
    /// The exit of the process. Does not wait for a server that is silent and running.
    async fn exit(&self) -> Option<Exit> {
        if self.child.exit().is_none() && self.notifications.is_waiting() {
            return None;
        }
        timeout(EXIT_TIMEOUT, self.child.exited()).await.ok()
    }
}

impl ConnectionOwner for Process {
    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.child.exited().await;
        })
    }

    fn exit_report(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let exit = self.exit().await;
            let tail = self.child.stderr_tail();
            let words = last_part(tail.trim());
            match (exit, words) {
                (None, "") => None,
                (Some(exit), "") => Some(format!("the process {exit}")),
                (None, words) => Some(format!("its last output: {words}")),
                (Some(exit), words) => {
                    Some(format!("the process {exit}; its last output: {words}"))
                }
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.child.close(EXIT_GRACE))
    }
}

fn last_part(text: &str) -> &str {
    let start = text.len().saturating_sub(MAX_REPORT);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    &text[start..]
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use serde_json::json;

    async fn sleeping() -> Process {
        let mut command = Command::new("sleep");
        command.args = vec!["60".to_owned()];
        let spawned = Child::spawn(&command, "s", TaskTracker::new().token()).await.unwrap();
        Process {
            child: spawned.child,
            notifications: Arc::new(NotificationRouter::new("s".into(), Arc::default())),
        }
    }

    #[tokio::test]
    async fn a_silent_server_is_not_awaited() {
        let server = sleeping().await;
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        server.notifications.before_sending(&serde_json::from_value(ping).unwrap());
        assert_eq!(server.exit_report().now_or_never(), Some(None));
        // A server that ended the connection is about to exit.
        server.notifications.mark_closed();
        assert_eq!(server.exit_report().now_or_never(), None);
        server.close().await;
    }
}
