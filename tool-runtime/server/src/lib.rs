//! A pool as an MCP server.
//!
//! rmcp keeps lifecycles, version negotiation and the protocol's types; transports, the handler over the pool, conversions
//! and the fast path for plain calls are here. Requests for capabilities that were not declared are answered with -32601,
//! where rmcp's defaults answer with empty lists. Output schemas that are not objects are wrapped as `{"result": ..}` for
//! clients before 2026-07-28, which refuse them.
//!
//! Messages of a running call (progress, log) wait in an `Outbox`, which `run_call.rs` empties in the task of the request:
//! rmcp knows by that task which stream a message belongs to.
//!
//! A question of a tool has a key. A client of 2026-07-28 gets the call answered with all questions that were asked so far
//! and with the earlier answers, sealed by HMAC for the same tool and arguments (`rounds.rs`, `request_state.rs`); its next
//! request brings the answers, and the function runs again. Older clients are asked while the call waits. In a task the
//! question becomes part of the task's state, and the function waits.
//!
//! A call of a tool with `task` is polled once in its request and goes on as a task only if it waits for something other than
//! an answer. Tasks are kept in `tasks.rs`, since rmcp's manager knows no owners and no limits: ended tasks give way to new
//! ones, and the entries of a server end with its last handler.
//!
//! A handler belongs to one client, a clone to another. Older clients are notified of changes through their handler, newer
//! ones through the sinks of their subscriptions. One task per server waits for changes (`subscribers.rs`). A listing is
//! converted once per snapshot. A cursor holds the last name given, and a checksum.

mod arguments;
mod call_result;
mod caller;
mod client;
mod completion;
mod convert;
mod double_option;
mod exact;
mod fast_path;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzz;
mod handler;
#[cfg(feature = "http")]
mod http;
mod in_flight;
mod listing;
mod logging;
mod methods;
mod outbox;
mod pagination;
mod passing;
mod prompts;
mod question;
mod refusal;
mod rejection;
mod request;
mod request_state;
mod resources;
mod rounds;
mod run_call;
mod stdio;
mod subscribers;
mod subscriptions;
mod task_call;
mod tasks;
#[cfg(test)]
#[path = "../../core/src/time_limit.rs"]
mod time_limit;
mod tool_call;

use caller::Caller;
#[cfg(feature = "http")]
pub use http::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};
pub use pagination::CacheScope;

#[doc(hidden)]
pub mod seam;

use futures_util::future::{Either, select};
use handler::PoolHandler;
use pagination::Hint;
use request_state::StateCodec;
use rmcp::service::{Peer, ServerInitializeError};
use rmcp::{RoleServer, ServiceExt as _};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use stdio::{Outbox, PlainCalls, StdioTransport};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::{BoxFuture, ToolPool};
use tool_runtime_mcp::InProcessServer;

/// How many bytes one message may have.
const LINE_LIMIT: usize = 16 << 20;

/// Grace period for calls whose client is gone. Hosts kill a server after two seconds.
const CALL_GRACE: Duration = Duration::from_secs(1);

/// Time that answers wait for a client that has ended its input and does not read.
const UNREAD_TIMEOUT: Duration = Duration::from_millis(800);

/// A pool as an MCP server: its tools, prompts and resources.
///
/// It speaks both lifecycles: `initialize` (2024-11-05 to 2025-11-25) and the stateless one
/// of 2026-07-28 with `server/discover`. A wrong argument is a result with `isError`, which
/// the model can correct; an unknown tool is a protocol error, as the specification says.
///
/// Clients are told when any of these change, and of the resources that they subscribed to, see
/// [`ToolPool::resource_updated`]. Declared is what there is: prompts, resources and completions
/// only where the pool has had any.
///
/// It serves over stdio, and over HTTP with the feature `http`.
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
    /// A server with the name and version that clients are told.
    pub fn new(pool: ToolPool, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            handler: PoolHandler::new(pool, name.into(), version.into()),
            line_limit: LINE_LIMIT,
            problems: Vec::new(),
        }
    }

    /// Sets a title for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.handler.set_title(title.into());
        self
    }

    /// Tells models how to use the tools together.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.handler.set_instructions(instructions.into());
        self
    }

    /// Sets how many tools, prompts or resources one page of a list holds, at least 1. Default:
    /// 250. Clients that turn no pages see the first.
    #[must_use]
    pub fn with_page_size(mut self, size: usize) -> Self {
        self.handler.set_page_size(size);
        self
    }

    /// Tells clients of 2026-07-28 and later how long they may keep lists and resources, in whole
    /// milliseconds, and for whom. Default: not at all, and for the one who asked.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_runtime::mcp::McpServer;
    /// use tool_runtime::{CacheScope, ToolPool};
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let server = McpServer::new(pool, "notes", "1.2.0")
    ///     .with_cache_hint(Duration::from_secs(30), CacheScope::Public);
    /// # let _ = server;
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    #[must_use]
    pub fn with_cache_hint(mut self, fresh: Duration, scope: CacheScope) -> Self {
        self.handler.set_hint(Hint::new(fresh, scope));
        self
    }

    /// Sets how many bytes one message may have on stdio. Default: 16 MiB. A longer one is
    /// answered with an error and not kept in memory.
    #[must_use]
    pub fn with_line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets a secret of at least 32 bytes by which this server knows again what it gave clients to
    /// carry: the answers to the first of several questions ([`ToolContext::ask`]). Default: a
    /// secret of this process, so that a question is answered by the process that asked it. Servers
    /// behind a load balancer share one. A shorter secret is reported when the server starts.
    ///
    /// [`ToolContext::ask`]: tool_runtime_core::ToolContext::ask
    #[must_use]
    pub fn with_state_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        let secret = secret.as_ref();
        match StateCodec::with_key(secret) {
            Ok(codec) => self.handler.set_seal(codec),
            Err(_) => self.problems.push(format!(
                "the secret of `with_state_secret` has {} bytes; give it at least 32",
                secret.len()
            )),
        }
        self
    }

    /// # Errors
    /// All problems of the server and of its `further` options.
    fn checked(&self, further: &[String]) -> io::Result<()> {
        let problems = [&self.problems, further].concat();
        if problems.is_empty() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, problems.join("; ")))
    }

    /// Serves on standard input and output until the input ends.
    ///
    /// Then questions that are open fail, and calls that run have one second to finish before they
    /// are cancelled. Answers that the client does not read are given up after 0.8 seconds. A client
    /// that closes its end of the output has gone as well, where the system tells: on Linux.
    ///
    /// An `async` tool that blocks its thread does not stop the server; the log names it. The process
    /// ends without it when it exits: a runtime that is dropped waits for blocked threads
    /// (`Runtime::shutdown_background` does not).
    ///
    /// Of one client 1024 calls run at a time (of tools, prompts, resources, completions). Further ones
    /// wait, 8 MiB of them before nothing more is read, and are refused if they do not get their turn
    /// within five seconds after the end of the input. When none has ended for 30 seconds, reading goes
    /// on, so that cancellations are heard, and calls that find no room are refused meanwhile.
    ///
    /// From here on the process's standard output is its standard error, so that nothing a
    /// tool prints can spoil the protocol.
    ///
    /// # Errors
    /// If an option is invalid, or the standard streams cannot be used.
    ///
    /// # Panics
    /// Outside a tokio runtime with its I/O and time drivers.
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.boxed().await
    }

    /// Serves on standard input and output until the input ends or the token is cancelled, which is
    /// as if the input ended.
    #[doc(hidden)]
    pub async fn serve_stdio_until(mut self, end: &CancellationToken) -> io::Result<()> {
        self.handler.set_end(end);
        self.boxed().await
    }

    /// A future that can be named is compiled once more wherever it is awaited: rmcp's whole
    /// service loop, in every user's crate.
    fn boxed(self) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(self.serve_on_stdio())
    }

    async fn serve_on_stdio(self) -> io::Result<()> {
        self.checked(&[])?;
        let transport = StdioTransport::take()?;
        tracing::info!("serving MCP on stdio");
        self.serve_on(transport).await
    }

    /// Serves a client in the same process as it would one over stdio. User code runs in the tasks of
    /// requests for a test, whose clock may be paused, and where there is one thread anyway.
    #[doc(hidden)]
    pub fn serve_in_memory(
        mut self,
        stream: tokio::io::DuplexStream,
        caller: Option<Caller>,
    ) -> BoxFuture<'static, io::Result<()>> {
        let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        if caller.is_some() || !matches!(runtime, Ok(RuntimeFlavor::MultiThread)) {
            self.handler.set_inline();
        }
        Box::pin(async {
            self.checked(&[])?;
            self.serve_on(StdioTransport::in_memory(stream, caller)).await
        })
    }

    async fn serve_on(self, transport: StdioTransport) -> io::Result<()> {
        self.handler.session().open();
        let gone = self.handler.session().gone.clone();
        let transport = transport.with_line_limit(self.line_limit).telling(gone);
        let outbox = transport.outbox();
        let mut served = pin!(self.served(transport, &outbox));
        let given_up = pin!(outbox.given_up(UNREAD_TIMEOUT));
        let served = match select(&mut served, given_up).await {
            Either::Left((served, _)) => served,
            Either::Right(_) => served.await,
        };
        // A client that has closed its end, or reads no more, is not a failure of the server.
        drop(outbox.emptied().await);
        if outbox.is_broken() { Ok(()) } else { served }
    }

    /// The handler is erased for the same reason: rmcp's loop answers requests in two places, and
    /// the future of a request is its largest.
    async fn served(self, transport: StdioTransport, outbox: &Outbox) -> io::Result<()> {
        let gone = self.handler.session().gone.clone();
        let handler = Arc::new(self.handler);
        match Arc::clone(&handler).into_dyn().serve(transport).await {
            Ok(running) => {
                open_fast_path(outbox, &handler, running.peer());
                let end = running.cancellation_token();
                let late = async move {
                    gone.cancelled().await;
                    tokio::time::sleep(CALL_GRACE).await;
                    outbox.cancel_calls();
                    end.cancel();
                };
                let reason = match select(pin!(running.waiting()), pin!(late)).await {
                    Either::Left((reason, _)) => reason,
                    Either::Right(((), ending)) => ending.await,
                };
                let reason = reason.map_err(io::Error::other)?;
                tracing::info!(?reason, "the client is gone");
                Ok(())
            }
            // A client that leaves before it said anything is not a failure of ours.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Lets plain calls be polled by the task that reads, where another worker can read on when a call
/// blocks its thread.
fn open_fast_path(outbox: &Outbox, handler: &Arc<PoolHandler>, peer: &Peer<RoleServer>) {
    let Some(isolation) = handler.isolation() else { return };
    if Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        let (handler, isolation) = (Arc::clone(handler), isolation.outer());
        outbox.open(PlainCalls::new(handler, isolation, peer.clone()));
    }
}

impl InProcessServer for McpServer {
    fn serve(&self, stream: tokio::io::DuplexStream) -> BoxFuture<'static, io::Result<()>> {
        self.clone().serve_in_memory(stream, None)
    }
}
