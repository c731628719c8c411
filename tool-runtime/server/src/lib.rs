//! A pool as an MCP server.
//!
//! rmcp keeps lifecycles, version negotiation and the protocol's types; transports, the handler over the pool, conversions
//! and the fast path for plain calls are here. Requests for capabilities that were not declared are answered with -32601,
//! where rmcp's defaults answer with empty lists. Output schemas that are not objects are wrapped as `{"result": ..}` for
//! clients before 2026-07-28, which reject them.
//!
//! Messages of a running call (progress, log) wait in an `Outbox`, which `run_call.rs` empties in the task of the
//! request: rmcp assigns a message to a stream by that task.
//!
//! A question of a tool has a key. The call of a client of 2026-07-28 is answered with all open questions and with the
//! earlier answers, sealed by HMAC for the same tool and arguments (`rounds.rs`, `request_state.rs`); the next request has
//! the answers, and the function runs again. Older clients answer while the call waits. In a task, the question becomes
//! part of the task's state, and the function waits.
//!
//! A call of a tool with `task` is polled once in its request and becomes a task only if it waits for something other than
//! an answer. Tasks are in `tasks.rs`, since rmcp's manager has neither owners nor limits: new tasks replace ended ones, and
//! the tasks of a server end with its last handler.
//!
//! A handler belongs to one client. Older clients are notified of changes through their session, newer ones through the
//! sinks of their subscriptions. One task per server waits for changes (`subscribers.rs`). A listing is converted once per
//! snapshot. A cursor names the list and the last item of a page.

mod arguments;
mod call_result;
mod caller;
mod client;
mod completion;
mod convert;
mod double_option;
mod errors;
mod exact;
mod fast_path;
#[cfg(feature = "__fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod handler;
mod host_arguments;
#[cfg(feature = "http")]
mod http;
mod in_flight;
mod initialize;
mod listing;
mod logging;
mod methods;
mod outbox;
mod pagination;
mod passthrough;
mod prompts;
mod rejection;
mod request;
mod request_state;
mod resources;
mod rounds;
mod run_call;
mod server_handler;
mod stdio;
mod subscribers;
mod suspended;
mod task_call;
mod tasks;
#[cfg(test)]
#[path = "../../core/src/vocabulary/time_limit.rs"]
mod time_limit;
mod tool_call;
mod trace;

use caller::Caller;
#[cfg(feature = "http")]
pub use http::{
    AuthRejection, Authenticate, BearerTokens, HttpOptions, ProtectedResource, TokensError,
};
#[cfg(feature = "tls")]
pub use http::{Tls, TlsError};
pub use pagination::CacheScope;

#[doc(hidden)]
pub mod seam;

use futures_util::future::{Either, select};
use handler::PoolHandler;
use host_arguments::IgnoredArguments;
use pagination::Hint;
use request_state::StateCodec;
use rmcp::service::{Peer, ServerInitializeError};
use rmcp::{RoleServer, ServiceExt as _};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use stdio::{Connection, PlainCalls, StdioTransport};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_mcp::InProcessServer;

/// Default limit on the bytes of a message.
const LINE_LIMIT: usize = 16 << 20;

/// Grace period for calls whose client has disconnected. Hosts kill a server after two seconds.
const CALL_GRACE: Duration = Duration::from_secs(1);

/// Time that answers wait for a client that has ended the input and does not read.
const UNREAD_TIMEOUT: Duration = Duration::from_millis(800);

/// A pool as an MCP server: its tools, prompts and resources.
///
/// The server supports both lifecycles: `initialize` (2024-11-05 to 2025-11-25) and the stateless one
/// of 2026-07-28 with `server/discover`. An invalid argument is a result with `isError`, which
/// the model can correct; an unknown tool is a protocol error, as the specification requires.
///
/// Clients are notified of changed lists, and of changed resources that they subscribed to, see
/// [`ToolPool::resource_updated`]. Capabilities for prompts, resources and completions are declared
/// only if the pool has had such items.
///
/// Serves over stdio, and over HTTP with the feature `http`.
///
/// ```no_run
/// use tool_runtime::mcp::McpServer;
/// use tool_runtime::prelude::*;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = ToolPool::builder().linked().build()?;
/// McpServer::new(pool, "notes", "1.2.0").serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct McpServer {
    handler: PoolHandler,
    line_limit: usize,
    problems: Vec<String>,
}

impl McpServer {
    /// A server with a name and a version, which clients see.
    pub fn new(pool: ToolPool, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            handler: PoolHandler::new(pool, name.into(), version.into()),
            line_limit: LINE_LIMIT,
            problems: Vec::new(),
        }
    }

    /// Sets a display title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.handler.config.server_info.title = Some(title.into());
        self
    }

    /// Sets instructions for models on how to use the tools together.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.handler.config.instructions = Some(instructions.into());
        self
    }

    /// Sets the number of tools, prompts or resources on one page of a list, at least 1. Default: 250.
    /// Clients without support for pages see the first page.
    #[must_use]
    pub fn with_page_size(mut self, size: usize) -> Self {
        self.handler.pagination.size = size.max(1);
        self
    }

    /// Sets how long clients of 2026-07-28 and later may cache lists and resources, in whole
    /// milliseconds, and for whom. Default: no caching, private.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_runtime::mcp::McpServer;
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::mcp::CacheScope;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let server = McpServer::new(pool, "notes", "1.2.0")
    ///     .with_cache_hint(Duration::from_secs(30), CacheScope::Public);
    /// # let _ = server;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn with_cache_hint(mut self, fresh: Duration, scope: CacheScope) -> Self {
        self.handler.pagination.hint = Some(Hint::new(fresh, scope));
        self
    }

    /// Limits the bytes of a message on stdio. Default: 16 MiB. A longer message is answered with an
    /// error and not kept in memory.
    #[must_use]
    pub fn with_line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets a secret of at least 32 bytes that authenticates the state that clients carry between
    /// requests: the answers to the first of several questions ([`ToolContext::ask`]). Default: a random
    /// secret of this process, so that only this process accepts its state. Servers behind a load balancer
    /// share one secret. An approval still counts once, and only in the process that asked: elsewhere the user is asked
    /// again. A shorter secret is reported when the server starts.
    ///
    /// [`ToolContext::ask`]: tool_runtime_core::tool::ToolContext::ask
    #[must_use]
    pub fn with_state_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        let secret = secret.as_ref();
        match StateCodec::with_key(secret) {
            Ok(codec) => self.handler.codec = Arc::new(codec),
            Err(_) => self.problems.push(format!(
                "the secret of `with_state_secret` has {} bytes; give it at least 32",
                secret.len()
            )),
        }
        self
    }

    /// Ignores arguments of these names in calls of tools that do not declare them. Default: none; a tool rejects
    /// unknown arguments. For hosts that add arguments of their own to every call, such as n8n: `toolCallId` and
    /// `sessionId`.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::mcp::McpServer;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let server = McpServer::new(pool, "notes", "1.2.0")
    ///     .with_ignored_arguments(["toolCallId", "sessionId"]);
    /// # let _ = server;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn with_ignored_arguments<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.handler.ignored_arguments = IgnoredArguments::new(names.into_iter().map(Into::into));
        self
    }

    /// # Errors
    /// All problems of the server and `other` problems.
    fn checked(&self, other: &[String]) -> io::Result<()> {
        let problems = [&self.problems, other].concat();
        if problems.is_empty() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, problems.join("; ")))
    }

    /// Serves on standard input and output until the input ends.
    ///
    /// At the end of the input, open questions fail, and running calls have one second to finish before
    /// they are cancelled. Answers that the client leaves unread for 0.8 seconds are dropped. On Linux, a
    /// client that closes only its end of the output counts as disconnected, too.
    ///
    /// An `async` tool that blocks its thread does not stop the server; the log names the tool. The
    /// process can exit while the thread is blocked; dropping the runtime waits for the thread
    /// (`Runtime::shutdown_background` does not).
    ///
    /// At most 1024 calls of the client (of tools, prompts, resources, completions) run at a time. Before
    /// another one, reading pauses until a call ends. If none ends within five seconds, more calls
    /// are rejected until one does, so that cancellations and answers to questions are read. Reading also
    /// pauses while the client leaves 4 MiB of answers unread.
    ///
    /// From here on, the process's standard output is its standard error, so that nothing a tool
    /// prints reaches the protocol.
    ///
    /// # Errors
    /// All invalid options, or the standard streams cannot be used.
    ///
    /// # Panics
    /// Outside a tokio runtime with its I/O and time drivers.
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.serve_stdio_until(&CancellationToken::new()).await
    }

    /// Serves on standard input and output until the input ends. Cancelling the token ends the input.
    #[doc(hidden)]
    pub async fn serve_stdio_until(self, end: &CancellationToken) -> io::Result<()> {
        self.boxed(end.clone()).await
    }

    /// Type-erases the future: otherwise rmcp's whole service loop is compiled again in every
    /// crate that awaits it.
    fn boxed(self, end: CancellationToken) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(async move {
            self.checked(&[])?;
            let transport = StdioTransport::take()?;
            tracing::info!("serving MCP on stdio");
            self.serve_on(transport, &end).await
        })
    }

    /// Serves a client in the same process like one over stdio. User code runs in the tasks of requests in
    /// tests, whose clock may be paused, and on single-threaded runtimes.
    #[doc(hidden)]
    pub fn serve_in_memory(
        mut self,
        stream: tokio::io::DuplexStream,
        caller: Option<Caller>,
    ) -> BoxFuture<'static, io::Result<()>> {
        let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        if caller.is_some() || !matches!(runtime, Ok(RuntimeFlavor::MultiThread)) {
            self.handler.isolation = None;
        }
        Box::pin(async move {
            self.checked(&[])?;
            let transport = StdioTransport::in_memory(stream, caller);
            self.serve_on(transport, &CancellationToken::new()).await
        })
    }

    async fn serve_on(self, transport: StdioTransport, end: &CancellationToken) -> io::Result<()> {
        let mut handler = self.handler.for_client(end);
        handler.shutdown = end.clone();
        handler.session.open(handler.transport);
        let disconnected = handler.session.disconnected.clone();
        let transport = transport.with_line_limit(self.line_limit).with_end(disconnected);
        let connection = transport.connection();
        let mut served = pin!(serve_client(handler, transport, &connection));
        let given_up = pin!(connection.drop_unread(UNREAD_TIMEOUT));
        let served = match select(&mut served, given_up).await {
            Either::Left((served, _)) => served,
            Either::Right(_) => served.await,
        };
        // A client that has disconnected, or no longer reads, is not a failure of the server.
        drop(connection.drained().await);
        if connection.is_broken() { Ok(()) } else { served }
    }
}

/// Serves one client with a type-erased handler: rmcp's loop awaits requests at two points, and
/// would contain the large future of a request twice.
async fn serve_client(
    handler: PoolHandler,
    transport: StdioTransport,
    connection: &Connection,
) -> io::Result<()> {
    let disconnected = handler.session.disconnected.clone();
    let handler = Arc::new(handler);
    match Arc::clone(&handler).into_dyn().serve(transport).await {
        Ok(running) => {
            open_fast_path(connection, &handler, running.peer());
            let end = running.cancellation_token();
            let late = async move {
                disconnected.cancelled().await;
                tokio::time::sleep(CALL_GRACE).await;
                connection.cancel_calls();
                end.cancel();
            };
            let reason = match select(pin!(running.waiting()), pin!(late)).await {
                Either::Left((reason, _)) => reason,
                Either::Right(((), ending)) => ending.await,
            };
            let reason = reason.map_err(io::Error::other)?;
            tracing::info!(?reason, "the client has disconnected");
            Ok(())
        }
        // A client that leaves before its first request is not a failure of the server.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Lets the reading task poll plain calls, if another worker can continue to read when a call
/// blocks its thread.
fn open_fast_path(connection: &Connection, handler: &Arc<PoolHandler>, peer: &Peer<RoleServer>) {
    let Some(isolation) = &handler.isolation else { return };
    if Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        let (handler, isolation) = (Arc::clone(handler), isolation.outer());
        connection.open(PlainCalls::new(handler, isolation, peer.clone()));
    }
}

impl InProcessServer for McpServer {
    fn serve(&self, stream: tokio::io::DuplexStream) -> BoxFuture<'static, io::Result<()>> {
        self.clone().serve_in_memory(stream, None)
    }
}
