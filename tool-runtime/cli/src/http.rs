//! `serve --http`: serves over HTTP until a signal arrives.

#[cfg(feature = "jwt")]
use super::options::Jwt;
use super::options::ServeHttp;
use super::{exit, log, print, signals};
use std::process::ExitCode;
use std::time::Duration;
#[cfg(feature = "mcp-client")]
use tool_runtime_client::{McpManager, McpServerStatus, McpState};
use tool_runtime_core::pool::ToolPool;
#[cfg(feature = "jwt")]
use tool_runtime_jwt::{JwtError, JwtVerifier};
#[cfg(feature = "jwt")]
use tool_runtime_server::ProtectedResource;
#[cfg(feature = "tls")]
use tool_runtime_server::Tls;
use tool_runtime_server::seam::{check_address, serve_http};
use tool_runtime_server::{BearerTokens, HttpOptions, McpServer, TokensError};

/// Time for calls in flight after the first signal.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until the first signal, then until calls in flight are done.
pub(super) async fn serve(server: McpServer, pool: &ToolPool, command: ServeHttp) -> ExitCode {
    let options = match options(&command) {
        Ok(options) => ready_when_connected(options, pool)
            .shutdown(signals::shutdown_token(command.reloads), DRAIN_TIMEOUT),
        Err(problems) => {
            problems.iter().for_each(|problem| print::error(problem));
            return ExitCode::from(exit::USAGE);
        }
    };
    // The signal handlers are installed by now: a program that waits for this line may send a signal immediately.
    let scheme = options.scheme();
    let serving = serve_http(server, &command.address, options, |address| {
        log::listening(&format!("{scheme}://{address}/mcp"));
    });
    exit::exit_code(serving.await)
}

/// The server is ready once a connection to each external server was attempted.
#[cfg(feature = "mcp-client")]
fn ready_when_connected(options: HttpOptions, pool: &ToolPool) -> HttpOptions {
    let managers = McpManager::of_pool(pool);
    options.ready_when(move || {
        let statuses = managers.iter().flat_map(McpManager::status);
        // A server that hangs is connected to again and again.
        let is_first = |it: &McpServerStatus| it.state == McpState::Connecting && !it.was_attempted;
        let connecting = statuses.filter(is_first);
        match connecting.count() {
            0 => Ok(()),
            1 => Err("an MCP server is being connected to".to_owned()),
            count => Err(format!("{count} MCP servers are being connected to")),
        }
    })
}

#[cfg(not(feature = "mcp-client"))]
fn ready_when_connected(options: HttpOptions, _: &ToolPool) -> HttpOptions {
    options
}

/// # Errors
/// All invalid options.
fn options(command: &ServeHttp) -> Result<HttpOptions, Vec<String>> {
    let mut options = command.base.clone();
    #[cfg(feature = "otel")]
    if super::telemetry::is_scraped() {
        options = options.metrics(super::telemetry::scrape);
    }
    if command.no_sessions {
        options = options.sessions(false);
    }
    if let Some(limit) = command.max_stream_duration {
        options = options.max_stream_duration(limit);
    }
    for host in &command.hosts {
        options = options.allow_host(host);
    }
    for origin in &command.origins {
        options = options.allow_origin(origin);
    }
    if command.insecure_no_auth {
        options = options.insecure_no_auth();
    }
    let mut problems = Vec::from_iter(check_address(&command.address).err());
    match tokens(command) {
        Ok(Some(tokens)) => options = options.auth(tokens),
        Ok(None) => {}
        Err(error) => problems.push(error.to_string()),
    }
    #[cfg(feature = "jwt")]
    if let Some(jwt) = &command.jwt {
        match jwt_verifier(jwt) {
            Ok((verifier, resource)) => {
                options = options.auth(verifier).protected_resource(resource);
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    #[cfg(feature = "tls")]
    if let Some((certificate, key)) = &command.tls {
        match Tls::from_files(certificate, key) {
            Ok(tls) => options = options.tls(tls),
            Err(error) => problems.push(error.to_string()),
        }
    }
    problems.splice(0..0, options.problems().iter().cloned());
    if problems.is_empty() { Ok(options) } else { Err(problems) }
}

#[cfg(feature = "jwt")]
fn jwt_verifier(jwt: &Jwt) -> Result<(JwtVerifier, ProtectedResource), JwtError> {
    let Jwt { issuer, audience } = jwt;
    let verifier = JwtVerifier::builder(issuer).audience(audience).build()?;
    Ok((verifier, ProtectedResource::new(audience).authorization_server(issuer)))
}

/// The tokens of the environment variable and of the token file, together.
fn tokens(command: &ServeHttp) -> Result<Option<BearerTokens>, TokensError> {
    let variable = command.token_variable.as_deref().map(BearerTokens::from_env).transpose()?;
    let file = command.token_file.as_deref().map(BearerTokens::from_file).transpose()?;
    match (variable, file) {
        (Some(variable), Some(file)) => variable.and(file).map(Some),
        (variable, file) => Ok(variable.or(file)),
    }
}
