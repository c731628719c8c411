//! Serves over HTTP until a signal ends it.

use super::options::ServeHttp;
use super::{exit, print};
use crate::mcp::{self, BearerTokens, HttpOptions, McpServer, TokensError};
use std::io;
use std::process::ExitCode;
use std::time::Duration;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long calls in flight may go on after the first signal.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves until the first signal, and then until calls are done or the second signal.
pub(super) async fn serve(server: McpServer, command: ServeHttp) -> ExitCode {
    let end = CancellationToken::new();
    let options = match options(&command) {
        Ok(options) => options.shutdown(end.clone(), DRAIN),
        Err(problem) => {
            print::error(&problem);
            return ExitCode::from(exit::USAGE);
        }
    };
    let mut signals = match Signals::hear() {
        Ok(signals) => signals,
        Err(error) => return exit::served(Err(error)),
    };
    // Whoever reads the line may send a signal at once.
    let serving = mcp::serve_http(server, &command.address, options, |address| {
        print::status(&format!("listening on http://{address}/mcp"));
    });
    let ending = async {
        signals.next().await;
        end.cancel();
        signals.next().await;
    };
    tokio::select! {
        served = serving => exit::served(served),
        () = ending => ExitCode::from(exit::ERROR),
    }
}

fn options(command: &ServeHttp) -> Result<HttpOptions, String> {
    let mut options = HttpOptions::default().sessions(command.sessions);
    if let Some(limit) = command.hang_up_after {
        options = options.hang_up_after(limit);
    }
    for host in &command.hosts {
        options = options.allow_host(host);
    }
    for origin in &command.origins {
        options = options.try_allow_origin(origin)?;
    }
    if command.insecure_no_auth {
        options = options.insecure_no_auth();
    }
    Ok(match tokens(command).map_err(|error| error.to_string())? {
        Some(tokens) => options.auth(tokens),
        None => options,
    })
}

/// Those in the variable and those in the file.
fn tokens(command: &ServeHttp) -> Result<Option<BearerTokens>, TokensError> {
    let variable = command.token_variable.as_deref().map(BearerTokens::from_env).transpose()?;
    let file = command.token_file.as_deref().map(BearerTokens::from_file).transpose()?;
    match (variable, file) {
        (Some(variable), Some(file)) => variable.and(file).map(Some),
        (variable, file) => Ok(variable.or(file)),
    }
}

/// Requests to end, heard from when it is made.
#[cfg(unix)]
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    fn hear() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Requests to end.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn hear() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
