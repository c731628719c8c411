//! The log on standard error, written by a separate thread: a host that does not read, or has closed, standard
//! error must not delay a call. Lines beyond the capacity of the queue are dropped.

use std::backtrace::BacktraceStatus;
use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Limit on queued lines.
const MAX_LINES: usize = 4096;

/// Time for queued lines to be written at the end of the process.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

static LOG: OnceLock<Log> = OnceLock::new();

/// Starts the log with these levels, unless `RUST_LOG` sets others. A subscriber that is already set stays.
pub(super) fn start(default: Targets) {
    let Ok(log) = Log::start() else { return };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .log_internal_errors(false)
        .with_writer(log.clone());
    let subscriber = tracing_subscriber::registry().with(filter(default)).with(lines);
    if subscriber.try_init().is_ok() {
        let _first = LOG.set(log);
    }
}

/// The levels of `RUST_LOG`: a level, or levels by module as in `warn,my_crate=debug`.
fn filter(default: Targets) -> Targets {
    let levels = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    levels.unwrap_or(default)
}

/// Logs panics: the standard hook writes to standard error and blocks on a host that does not read it.
pub(super) fn panics() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        match backtrace.status() {
            BacktraceStatus::Captured => tracing::error!("{panic}\n{backtrace}"),
            _ => tracing::error!("{panic}"),
        }
    }));
}

/// Waits a moment for queued lines to be written.
pub(super) fn finish() {
    let Some(log) = LOG.get() else { return };
    let (flushed, wait) = sync_channel(1);
    if log.0.try_send(Entry::Flush(flushed)).is_ok() {
        let _in_time = wait.recv_timeout(FLUSH_TIMEOUT);
    }
}

/// A message to the writing thread.
enum Entry {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

#[derive(Clone)]
struct Log(SyncSender<Entry>);

impl Log {
    fn start() -> io::Result<Self> {
        let (sender, entries) = sync_channel(MAX_LINES);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write(&entries))?;
        Ok(Self(sender))
    }
}

fn write(entries: &Receiver<Entry>) {
    for entry in entries {
        match entry {
            Entry::Line(line) => drop(io::stderr().write_all(&line)),
            Entry::Flush(flushed) => drop(flushed.try_send(())),
        }
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The formatter writes whole lines.
impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A line beyond the capacity is dropped.
        drop(self.0.try_send(Entry::Line(line.to_vec())));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
