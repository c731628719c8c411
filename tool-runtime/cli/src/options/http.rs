//! `serve --http ADDR ...`

use super::commands::{HTTP, flag, repeated, value};
use super::{seconds, texts};
use clap::{Arg, ArgMatches};
use std::path::PathBuf;
use std::time::Duration;
use tool_runtime_server::HttpOptions;

/// `serve --http ADDR ...`
#[derive(Default)]
pub(crate) struct ServeHttp {
    pub(crate) address: String,
    /// The options of the configuration of the program, which those of the command line change.
    pub(crate) base: HttpOptions,
    /// Whether SIGHUP reads the configuration again.
    pub(crate) reloads: bool,
    pub(crate) no_sessions: bool,
    /// Whether metrics are served at `/metrics`.
    #[cfg(feature = "otel")]
    pub(crate) has_metrics: bool,
    pub(crate) max_stream_duration: Option<Duration>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) token_variable: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    #[cfg(feature = "jwt")]
    pub(crate) jwt: Option<Jwt>,
    pub(crate) insecure_no_auth: bool,
    /// The files of the certificate and of the key.
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
}

/// `--auth-jwt-issuer URL --auth-jwt-audience URL`
#[cfg(feature = "jwt")]
pub(crate) struct Jwt {
    pub(crate) issuer: String,
    pub(crate) audience: String,
}

/// Options of `serve` beside `--http`, which all need it.
pub(super) fn options() -> Vec<Arg> {
    let options = [
        flag("no-sessions", "Give no sessions to clients of versions before 2026-07-28"),
        value(
            "max-stream-duration",
            "SECONDS",
            "Close the streams of calls in sessions after this time; clients resume them",
        )
        .value_parser(seconds),
        repeated(
            "allow-host",
            "HOST",
            "Accept this host name besides those of this machine; `*` is any; repeatable",
        ),
        repeated(
            "allow-origin",
            "ORIGIN",
            "Accept requests of web pages of this origin, such as `https://example.com`; `*` is any; repeatable",
        ),
        value(
            "auth-token-env",
            "VAR",
            "Require a bearer token of this environment variable, which has lines `TOKEN` or `NAME:TOKEN`",
        ),
        value("auth-token-file", "FILE", "Require a bearer token of this file, in the same format"),
        value(
            "tls-cert",
            "FILE",
            "Serve over TLS with this certificate and those of its issuers, in PEM; a changed file counts without a restart",
        )
        .requires("tls-key"),
        value("tls-key", "FILE", "The key of the certificate, in PEM").requires("tls-cert"),
        flag(
            "metrics",
            "Serve metrics for Prometheus at `/metrics`, with authentication to callers with the scope `metrics`",
        ),
        flag(
            "insecure-no-auth",
            "Let every client that reaches ADDR call every tool, even from other machines",
        ),
    ];
    let options = options.into_iter().chain(jwt_options());
    options.map(|option| option.requires("http").help_heading(HTTP)).collect()
}

fn jwt_options() -> [Arg; 2] {
    [
        // An issuer needs an audience: its tokens for other servers must be rejected.
        value(
            "auth-jwt-issuer",
            "URL",
            "Require a JSON Web Token of this issuer, whose metadata names its keys",
        )
        .requires("auth-jwt-audience")
        .conflicts_with_all(["auth-token-env", "auth-token-file"]),
        value(
            "auth-jwt-audience",
            "URL",
            "The URL of this server, which tokens have as their audience",
        )
        .requires("auth-jwt-issuer"),
    ]
}

/// The options for HTTP; `None` without an address.
pub(super) fn serve_http(matches: &ArgMatches) -> Option<ServeHttp> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Some(ServeHttp {
        address: text("http")?,
        no_sessions: matches.get_flag("no-sessions"),
        #[cfg(feature = "otel")]
        has_metrics: matches.get_flag("metrics"),
        max_stream_duration: matches.get_one("max-stream-duration").copied(),
        hosts: texts(matches, "allow-host"),
        origins: texts(matches, "allow-origin"),
        token_variable: text("auth-token-env"),
        token_file: text("auth-token-file").map(PathBuf::from),
        #[cfg(feature = "jwt")]
        jwt: text("auth-jwt-issuer")
            .zip(text("auth-jwt-audience"))
            .map(|(issuer, audience)| Jwt { issuer, audience }),
        insecure_no_auth: matches.get_flag("insecure-no-auth"),
        #[cfg(feature = "tls")]
        tls: text("tls-cert").map(PathBuf::from).zip(text("tls-key").map(PathBuf::from)),
        ..ServeHttp::default()
    })
}
