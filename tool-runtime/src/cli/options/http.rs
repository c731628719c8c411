//! `serve --http ADDR ...`

use super::Command;
use super::forms::{Opt, SERVE};
use super::mistake::Mistake;
use super::read::Given;

/// `serve --http ADDR ...`
pub(in crate::cli) struct ServeHttp {
    pub(in crate::cli) address: String,
    pub(in crate::cli) no_sessions: bool,
}

const ADDRESS: Opt = Opt {
    value: Some("ADDR"),
    ..Opt::new(
        "http",
        "Serve over HTTP here instead: `8080` is 127.0.0.1:8080, port 0 any that is free",
    )
};

const NO_SESSIONS: Opt =
    Opt::new("no-sessions", "Answer clients before 2026-07-28 without sessions, too");

/// What `serve` takes beside `--http`.
pub(super) const OPTIONS: &[Opt] = &[ADDRESS, NO_SESSIONS];

/// The command in what was given.
pub(super) fn command(given: Given) -> Result<Command, Mistake> {
    let Some(address) = given.value(ADDRESS.long) else {
        return match OPTIONS.iter().find(|option| given.has(option.long)) {
            Some(option) => Err(Mistake::needs(&SERVE, option, &ADDRESS)),
            None => Ok(Command::Serve),
        };
    };
    Ok(Command::ServeHttp(ServeHttp {
        address: address.to_owned(),
        no_sessions: given.has(NO_SESSIONS.long),
    }))
}
