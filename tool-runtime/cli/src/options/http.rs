//! `serve --http ADDR ...`

use super::mistake::Mistake;
use super::read::Given;
use super::syntax::{CommandSpec, Opt};
use std::num::NonZeroU64;
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
    pub(crate) insecure_no_auth: bool,
}

const ADDRESS: Opt = Opt {
    value: Some("ADDR"),
    ..Opt::new(
        "http",
        "Serve over HTTP here instead: `8080` is 127.0.0.1:8080, port 0 any that is free",
    )
};

const NO_SESSIONS: Opt = Opt::new(
    "no-sessions",
    "Give no sessions to clients that would have one, those before 2026-07-28",
);

const MAX_STREAM_DURATION: Opt = Opt {
    value: Some("SECONDS"),
    ..Opt::new(
        "max-stream-duration",
        "Close streams of calls in sessions after this long; clients come back for the rest",
    )
};

const ALLOW_HOST: Opt = Opt {
    value: Some("HOST"),
    is_repeated: true,
    ..Opt::new("allow-host", "Answer to this name, too, beside those of this machine; `*` is any")
};

const ALLOW_ORIGIN: Opt = Opt {
    value: Some("ORIGIN"),
    is_repeated: true,
    ..Opt::new(
        "allow-origin",
        "Let web pages of this origin ask, too: `https://example.com`; `*` is any",
    )
};

const TOKEN_ENV: Opt = Opt {
    value: Some("VAR"),
    ..Opt::new(
        "auth-token-env",
        "Require one of the bearer tokens in this environment variable, a line `TOKEN` or `NAME:TOKEN` each",
    )
};

const TOKEN_FILE: Opt = Opt {
    value: Some("FILE"),
    ..Opt::new("auth-token-file", "Require one of the bearer tokens in this file, in the same form")
};

const INSECURE: Opt = Opt::new(
    "insecure-no-auth",
    "Let everybody who reaches ADDR call every tool, even from other machines",
);

/// What `serve` takes.
pub(super) const OPTIONS: &[Opt] = &[
    ADDRESS,
    NO_SESSIONS,
    MAX_STREAM_DURATION,
    ALLOW_HOST,
    ALLOW_ORIGIN,
    TOKEN_ENV,
    TOKEN_FILE,
    INSECURE,
];

/// How to serve over HTTP; `None` if no address is given.
pub(super) fn read(
    form: &'static CommandSpec,
    given: &Given,
) -> Result<Option<ServeHttp>, Mistake> {
    let Some(address) = given.value(ADDRESS.long) else {
        return match OPTIONS.iter().find(|option| given.has(option.long)) {
            Some(option) => Err(Mistake::needs(form, option, &ADDRESS)),
            None => Ok(None),
        };
    };
    Ok(Some(ServeHttp {
        address: address.to_owned(),
        sessions: !given.has(NO_SESSIONS.long),
        max_stream_duration: seconds(given, &MAX_STREAM_DURATION)?,
        hosts: given.values(ALLOW_HOST.long),
        origins: given.values(ALLOW_ORIGIN.long),
        token_variable: given.value(TOKEN_ENV.long).map(str::to_owned),
        token_file: given.value(TOKEN_FILE.long).map(PathBuf::from),
        insecure_no_auth: given.has(INSECURE.long),
    }))
}

/// The value of an option that is a time, if it is given.
fn seconds(given: &Given, option: &Opt) -> Result<Option<Duration>, Mistake> {
    let read = |value: &str| match value.parse::<NonZeroU64>() {
        Ok(seconds) => Ok(Duration::from_secs(seconds.get())),
        Err(_) => Err(Mistake::bad_value(option, value)),
    };
    given.value(option.long).map(read).transpose()
}
