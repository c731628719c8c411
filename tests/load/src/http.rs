//! Calls over HTTP connections that stay open.

mod connection;
mod endpoint;
mod response;

use crate::Load;
use crate::answer::Answer;
use crate::outcome::Outcome;
use crate::server::{Server, with_usage};
use connection::Connection;
use endpoint::Endpoint;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Text that a server prints before its URL when it listens.
const LISTENING: &str = "listening on ";

pub(crate) fn run(mut command: Command, load: &Load) -> io::Result<Outcome> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let server = Server::start(command, load.limit())?;
    let url = url(&server)?;
    run_at(&url, Some(server.id()), load)
}

/// Waits for the address of the server. Its other output is discarded.
fn url(server: &Server) -> io::Result<String> {
    let mut log = BufReader::new(server.log()).lines();
    for line in &mut log {
        if let Some((_, url)) = line?.split_once(LISTENING) {
            let url = url.trim().to_owned();
            thread::spawn(move || log.for_each(drop));
            return Ok(url);
        }
    }
    Err(io::Error::other("the server ended before it listened"))
}

pub(crate) fn run_at(url: &str, process: Option<u32>, load: &Load) -> io::Result<Outcome> {
    let mut endpoint = Endpoint::parse(url)?;
    endpoint.open_session(load.version)?;
    let ids = AtomicU64::new(1);
    let work = |time| all(&endpoint, load, &ids, time);
    work(load.warm_up())?;
    with_usage(process, || work(load.time))
}

/// Runs one client per call in flight.
fn all(endpoint: &Endpoint, load: &Load, ids: &AtomicU64, time: Duration) -> io::Result<Outcome> {
    let end = Instant::now() + time;
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..load.in_flight).map(|_| scope.spawn(|| one(endpoint, load, ids, end))).collect();
        let mut outcome = Outcome::default();
        for client in clients {
            outcome.merge(client.join().expect("a client does not panic")?);
        }
        Ok(outcome)
    })
}

/// Calls one after the other until the time is up.
fn one(endpoint: &Endpoint, load: &Load, ids: &AtomicU64, end: Instant) -> io::Result<Outcome> {
    let template = load.call.template(load.version);
    let head = endpoint.head(load.version, "tools/call", Some(&load.call.tool));
    let mut connection = Connection::open(endpoint)?;
    let mut outcome = Outcome::default();
    loop {
        let id = ids.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let response = connection.post(&head, &template.with(id))?;
        let now = Instant::now();
        let is_correct = response.status == 200
            && response.messages().map(Answer::parse).any(|answer| {
                answer.id() == Some(id) && answer.is_correct(load.call.expected.as_deref())
            });
        outcome.count(now - start, (!is_correct).then_some(&response.body));
        if now >= end {
            return Ok(outcome);
        }
    }
}
