//! Serves over HTTP until a signal ends it.

use super::options::ServeHttp;
use super::{exit, print};
use crate::mcp::{self, BearerTokens, HttpOptions, McpServer, TokensError};
use std::process::ExitCode;
use std::time::Duration;
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
    let serving = mcp::serve_http(server, &command.address, options, |address| {
        print::status(&format!("listening on http://{address}/mcp"));
    });
    let signals = async {
        signal().await;
        end.cancel();
        signal().await;
    };
    tokio::select! {
        served = serving => exit::served(served),
        () = signals => ExitCode::from(exit::ERROR),
    }
}

fn options(command: &ServeHttp) -> Result<HttpOptions, String> {
    let mut options = HttpOptions::default().sessions(command.sessions);
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

/// The next request to end.
#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else {
        tracing::warn!("signals cannot be heard: the server ends without finishing calls");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// The next request to end.
#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
