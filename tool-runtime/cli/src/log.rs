//! The log on standard error, written by a thread of its own: a host that does not read it, or
//! has closed it, must not keep a call from its answer. What does not fit is lost.

use std::backtrace::BacktraceStatus;
use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How many lines wait at most.
const LINES: usize = 4096;

/// How long the end of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_millis(200);

static LOG: OnceLock<Log> = OnceLock::new();

/// A second call, or a subscriber that the user has set, changes nothing.
pub(super) fn start(otherwise: Targets) {
    let Ok(log) = Log::start() else { return };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .log_internal_errors(false)
        .with_writer(log.clone());
    let subscriber = tracing_subscriber::registry().with(filter(otherwise)).with(lines);
    if subscriber.try_init().is_ok() {
        let _first = LOG.set(log);
    }
}

/// `RUST_LOG`: a level, or levels by module, as in `warn,my_crate=debug`.
fn filter(otherwise: Targets) -> Targets {
    let given = std::env::var("RUST_LOG").ok();
    let parsed = given.and_then(|given| given.parse().ok());
    parsed.unwrap_or(otherwise)
}

/// Lets panics go the way of the log: the usual hook writes to standard error itself, and waits
/// for a host that does not read it.
pub(super) fn panics() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        match backtrace.status() {
            BacktraceStatus::Captured => tracing::error!("{panic}\n{backtrace}"),
            _ => tracing::error!("{panic}"),
        }
    }));
}

/// Waits until what was logged is written, but not for long.
pub(super) fn finish() {
    let Some(log) = LOG.get() else { return };
    let (written, wait) = sync_channel(1);
    if log.0.try_send(Entry::Mark(written)).is_ok() {
        let _in_time = wait.recv_timeout(LAST_LINES);
    }
}

/// What the thread is sent.
enum Entry {
    Line(Vec<u8>),
    Mark(SyncSender<()>),
}

#[derive(Clone)]
struct Log(SyncSender<Entry>);

impl Log {
    fn start() -> io::Result<Self> {
        let (sender, entries) = sync_channel(LINES);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write(&entries))?;
        Ok(Self(sender))
    }
}

fn write(entries: &Receiver<Entry>) {
    for entry in entries {
        match entry {
            Entry::Line(line) => drop(io::stderr().write_all(&line)),
            Entry::Mark(written) => drop(written.try_send(())),
        }
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The formatter hands over whole lines.
impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // Full: the line is lost, the call goes on.
        drop(self.0.try_send(Entry::Line(line.to_vec())));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
