//! A server that is started, and talks over its standard input and output.

use super::lines::Lines;
use super::{Behind, Opened, Way};
use crate::mcp::client::hearing::Hearing;
use crate::mcp::client::process::{Child, Command, Spawned};
use crate::mcp::client::refusal::{Kind, Refusal};
use crate::mcp::client::wire::Wire;
use crate::mcp::config::StdioConfig;
use crate::tool::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// How long a server may take for each step of its end: on its own, after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);
/// How long a connection that ended waits for the process to say why.
const MOMENT: Duration = Duration::from_millis(500);
/// How much of what it said last is told, in bytes.
const MOST_WORDS: usize = 1000;

/// A server that is started anew for each connection.
pub(in crate::mcp::client) struct Stdio {
    server: Arc<str>,
    command: Command,
    /// Those that are not gone with all that they started.
    children: TaskTracker,
}

impl Stdio {
    pub(in crate::mcp::client) fn new(server: &str, config: &StdioConfig) -> Self {
        let mut command = Command::new(config.command.as_str());
        command.args = config.args.iter().map(|arg| arg.expose().to_owned()).collect();
        let variable = |(name, value): (&crate::mcp::config::McpText, &crate::secret::Secret)| {
            (name.as_str().to_owned(), value.expose().to_owned())
        };
        command.env = config.env.iter().map(variable).collect();
        command.cwd = config.cwd.as_ref().map(|cwd| cwd.as_str().into());
        let children = TaskTracker::new();
        // Whoever waits for it waits for those that there are.
        children.close();
        Self { server: server.into(), command, children }
    }
}

impl Way for Stdio {
    fn open(&self, hearing: Arc<Hearing>) -> BoxFuture<'_, Result<Opened, Refusal>> {
        Box::pin(async move {
            let counted = self.children.token();
            let spawned = Child::spawn(&self.command, &self.server, counted).await;
            let Spawned { child, stdin, stdout } =
                spawned.map_err(|error| Refusal::new(Kind::Unreachable, error.to_string()))?;
            let transport = Lines::new(stdout, stdin, Arc::clone(&hearing));
            let behind = Arc::new(Process(child));
            Ok(Opened { wire: Wire::new(transport, hearing), behind: Some(behind) })
        })
    }

    fn left(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.children.wait())
    }
}

/// The process behind a connection.
struct Process(Child);

impl Behind for Process {
    fn gone(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.0.exited().await;
        })
    }

    fn last_words(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let exit = timeout(MOMENT, self.0.exited()).await.ok();
            let tail = self.0.stderr_tail();
            let words = last_part(tail.trim());
            match (exit, words) {
                (None, "") => None,
                (Some(exit), "") => Some(format!("the process {exit}")),
                (None, words) => Some(format!("it said last: {words}")),
                (Some(exit), words) => Some(format!("the process {exit} and said last: {words}")),
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.close(GRACE))
    }
}

fn last_part(text: &str) -> &str {
    let start = text.len().saturating_sub(MOST_WORDS);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    &text[start..]
}
