//! The tasks beside a server: the work of the program, and the reload of its configuration.

use super::WhileServing;
use super::reload::Reloading;
#[cfg(feature = "mcp-client")]
use crate::servers::Files;
use std::convert::Infallible;
use std::future::pending;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
#[cfg(feature = "mcp-client")]
use tool_runtime_client::McpManager;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::vocabulary::CancellationToken;

/// The time that work beside a server has to end.
const WORK_TIMEOUT: Duration = Duration::from_secs(10);

/// The external servers of a program.
#[cfg(feature = "mcp-client")]
pub(crate) type Servers<'a> = (&'a Files, &'a McpManager);

/// Without external servers.
#[cfg(not(feature = "mcp-client"))]
pub(crate) type Servers<'a> = &'a Infallible;

/// The tasks beside a server. Empty for other commands.
#[derive(Default)]
pub(crate) struct Beside {
    pub(super) work: Option<WhileServing>,
    pub(super) reloading: Option<Reloading>,
}

impl Beside {
    /// Runs a server. The work begins now, when required external servers are connected, and ends before they are closed.
    pub(crate) async fn run(
        self,
        pool: &ToolPool,
        servers: Option<Servers<'_>>,
        server: impl Future<Output = ExitCode>,
    ) -> ExitCode {
        let work = self.work.map(|work| Work::start(work, pool));
        let code = tokio::select! {
            code = server => code,
            never = follow(self.reloading, servers) => match never {},
        };
        if let Some(work) = work {
            work.end().await;
        }
        code
    }
}

async fn follow(reloading: Option<Reloading>, servers: Option<Servers<'_>>) -> Infallible {
    match reloading {
        Some(reloading) => reloading.follow(servers).await,
        None => pending().await,
    }
}

/// Work beside a server.
struct Work {
    task: AbortOnDropHandle<()>,
    stop: CancellationToken,
}

impl Work {
    fn start(work: WhileServing, pool: &ToolPool) -> Self {
        let stop = CancellationToken::new();
        let task = AbortOnDropHandle::new(tokio::spawn(work(pool.clone(), stop.clone())));
        Self { task, stop }
    }

    async fn end(self) {
        self.stop.cancel();
        drop(timeout(WORK_TIMEOUT, self.task).await);
    }
}
