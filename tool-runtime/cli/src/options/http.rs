//! `serve --http ADDR ...`

use super::commands::IGNORE_ARGUMENT;
use super::parser::Arguments;
use super::spec::{CommandSpec, Opt};
use super::usage_error::UsageError;
use std::path::PathBuf;
use std::time::Duration;

/// `serve --http ADDR ...`
pub(crate) struct ServeHttp {
    pub(crate) address: String,
    pub(crate) sessions: bool,
    pub(crate) max_stream_duration: Option<Duration>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) token_variable: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    #[cfg(feature = "jwt")]
    pub(crate) jwt: Option<Jwt>,
    pub(crate) insecure_no_auth: bool,
}

/// `--auth-jwt-issuer URL --auth-jwt-audience URL`
#[cfg(feature = "jwt")]
pub(crate) struct Jwt {
    pub(crate) issuer: String,
    pub(crate) audience: String,
}

const HTTP: Opt = Opt {
    value: Some("ADDR"),
    ..Opt::new(
        "http",
        "Serve over HTTP at this address instead: `8080` is 127.0.0.1:8080, port 0 any free port",
    )
};

const NO_SESSIONS: Opt =
    Opt::new("no-sessions", "Give no sessions to clients of versions before 2026-07-28");

const MAX_STREAM_DURATION: Opt = Opt {
    value: Some("SECONDS"),
    ..Opt::new(
        "max-stream-duration",
        "Close the streams of calls in sessions after this time; clients resume them",
    )
};

const ALLOW_HOST: Opt = Opt {
    value: Some("HOST"),
    is_repeatable: true,
    ..Opt::new(
        "allow-host",
        "Accept this host name besides those of this machine; `*` is any; repeatable",
    )
};

const ALLOW_ORIGIN: Opt = Opt {
    value: Some("ORIGIN"),
    is_repeatable: true,
    ..Opt::new(
        "allow-origin",
        "Accept requests of web pages of this origin, such as `https://example.com`; `*` is any; repeatable",
    )
};

const TOKEN_ENV: Opt = Opt {
    value: Some("VAR"),
    ..Opt::new(
        "auth-token-env",
        "Require a bearer token of this environment variable, which has lines `TOKEN` or `NAME:TOKEN`",
    )
};

const TOKEN_FILE: Opt = Opt {
    value: Some("FILE"),
    ..Opt::new("auth-token-file", "Require a bearer token of this file, in the same format")
};

#[cfg(feature = "jwt")]
const JWT_ISSUER: Opt = Opt {
    value: Some("URL"),
    ..Opt::new(
        "auth-jwt-issuer",
        "Require a JSON Web Token of this issuer, whose metadata names its keys",
    )
};

#[cfg(feature = "jwt")]
const JWT_AUDIENCE: Opt = Opt {
    value: Some("URL"),
    ..Opt::new("auth-jwt-audience", "The URL of this server, which tokens have as their audience")
};

const INSECURE: Opt = Opt::new(
    "insecure-no-auth",
    "Let every client that reaches ADDR call every tool, even from other machines",
);

/// Options of `serve`.
pub(super) const OPTIONS: &[Opt] = &[
    IGNORE_ARGUMENT,
    HTTP,
    NO_SESSIONS,
    MAX_STREAM_DURATION,
    ALLOW_HOST,
    ALLOW_ORIGIN,
    TOKEN_ENV,
    TOKEN_FILE,
    #[cfg(feature = "jwt")]
    JWT_ISSUER,
    #[cfg(feature = "jwt")]
    JWT_AUDIENCE,
    INSECURE,
];

/// The options for HTTP; `None` without an address.
pub(super) fn serve_http(
    command: &CommandSpec,
    arguments: &Arguments,
) -> Result<Option<ServeHttp>, UsageError> {
    let Some(address) = arguments.value(&HTTP) else {
        let mut of_http = OPTIONS.iter().filter(|option| option.long != IGNORE_ARGUMENT.long);
        return match of_http.find(|option| arguments.has(option)) {
            Some(option) => Err(UsageError::needs(command, option, &HTTP)),
            None => Ok(None),
        };
    };
    Ok(Some(ServeHttp {
        address: address.to_owned(),
        sessions: !arguments.has(&NO_SESSIONS),
        max_stream_duration: arguments.seconds(&MAX_STREAM_DURATION, 1)?,
        hosts: arguments.values(&ALLOW_HOST).map(str::to_owned).collect(),
        origins: arguments.values(&ALLOW_ORIGIN).map(str::to_owned).collect(),
        token_variable: arguments.value(&TOKEN_ENV).map(str::to_owned),
        token_file: arguments.value(&TOKEN_FILE).map(PathBuf::from),
        #[cfg(feature = "jwt")]
        jwt: jwt(command, arguments)?,
        insecure_no_auth: arguments.has(&INSECURE),
    }))
}

/// An issuer needs an audience: its tokens for other servers must be rejected.
#[cfg(feature = "jwt")]
fn jwt(command: &CommandSpec, arguments: &Arguments) -> Result<Option<Jwt>, UsageError> {
    let tokens = [&TOKEN_ENV, &TOKEN_FILE].into_iter().find(|option| arguments.has(option));
    match (arguments.value(&JWT_ISSUER), arguments.value(&JWT_AUDIENCE), tokens) {
        (None, None, _) => Ok(None),
        (Some(_), None, _) => Err(UsageError::needs(command, &JWT_ISSUER, &JWT_AUDIENCE)),
        (None, Some(_), _) => Err(UsageError::needs(command, &JWT_AUDIENCE, &JWT_ISSUER)),
        (Some(_), Some(_), Some(option)) => Err(UsageError::excludes(command, &JWT_ISSUER, option)),
        (Some(issuer), Some(audience), None) => {
            Ok(Some(Jwt { issuer: issuer.to_owned(), audience: audience.to_owned() }))
        }
    }
}
