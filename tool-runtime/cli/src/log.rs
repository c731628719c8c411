//! The log on standard error, written by a separate thread: a host that does not read, or has closed, standard
//! error must not delay a call. Lines beyond the capacity of the queue are dropped. Secrets are masked in whole lines, so
//! that those of libraries show none either.

mod levels;

pub(super) use levels::{ERRORS, Serves};

#[cfg(feature = "http")]
use super::print;
use std::backtrace::BacktraceStatus;
use std::io::{self, IsTerminal as _, Write};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{Mask, lock, panic_is_reported};
use tracing::Level;
use tracing::instrument::WithSubscriber as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Limit on queued lines.
const MAX_LINES: usize = 4096;

/// Time for queued lines to be written at the end of the process.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

/// The form of lines, once the log is started.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Whether lines of level `debug` are shown, once the log is started.
static SHOWS_DEBUG: OnceLock<bool> = OnceLock::new();

static LOG: OnceLock<Log> = OnceLock::new();

/// The masks of all lines: the secrets of pools and of the entries of servers.
static MASKS: Mutex<Vec<Arc<dyn Mask>>> = Mutex::new(Vec::new());

/// Masks these secrets in all lines from now on.
pub(super) fn mask(secrets: Arc<dyn Mask>) {
    let mut masks = lock(&MASKS);
    if !masks.iter().any(|known| Arc::ptr_eq(known, &secrets)) {
        masks.push(secrets);
    }
}

/// Masks the secrets of a pool in all lines from now on.
pub(super) fn mask_secrets_of(pool: &ToolPool) {
    pool.snapshot().mask().cloned().into_iter().for_each(mask);
}

/// A line without secrets.
fn masked(line: &[u8]) -> Vec<u8> {
    let masks = lock(&MASKS).clone();
    if masks.is_empty() {
        return line.to_vec();
    }
    let line = String::from_utf8_lossy(line).into_owned();
    masks.iter().fold(line, |line, mask| mask.text(&line).into_owned()).into_bytes()
}

/// The options of the log: `--log-level` and `--log-format`.
#[derive(Clone, Debug, Default)]
pub(super) struct LogOptions {
    pub(super) levels: Option<Targets>,
    pub(super) format: LogFormat,
}

/// The form of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogFormat {
    #[default]
    Text,
    Json,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        match given {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!("`{given}` is not `text` or `json`")),
        }
    }
}

/// Starts the log with the levels of `--log-level`, else of `RUST_LOG`, else these. A subscriber that is already set stays.
pub(super) fn start(options: LogOptions, serves: Serves, default: Targets) {
    let levels = options.levels.unwrap_or_else(|| of_environment(default));
    let levels = levels::complete(levels, options.format, serves);
    let _is_first = SHOWS_DEBUG.set(levels.would_enable("tool_runtime_cli", &Level::DEBUG));
    if let Some(subscriber) = subscriber(levels, options.format)
        && subscriber.try_init().is_ok()
    {
        let _is_first = FORMAT.set(options.format);
    }
}

/// Whether lines of level `debug` are shown.
pub(super) fn shows_debug() -> bool {
    SHOWS_DEBUG.get() == Some(&true)
}

/// Whether lines are JSON. False before the log is started.
pub(super) fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// Says where a server listens, for programs that wait for the line: as text, or as a line of the log in JSON.
#[cfg(feature = "http")]
pub(super) fn listening(url: &str) {
    match is_json() {
        true => tracing::info!(target: levels::LISTENING, url, "listening on {url}"),
        false => print::to_stderr(&format!("listening on {url}")),
    }
}

/// Logs the warnings of a program's set-up, which runs before the command is known and the log is started. No
/// subscriber is set for the process: the program may still set its own.
pub(super) async fn during<F: Future>(setup: F) -> F::Output {
    let is_set = tracing::dispatcher::has_been_set();
    let levels = of_environment(Targets::new().with_default(LevelFilter::WARN));
    match subscriber(levels, LogFormat::Text).filter(|_| !is_set) {
        Some(subscriber) => setup.with_subscriber(subscriber).await,
        None => setup.await,
    }
}

/// Writes lines to the log. `None`: the log has no thread.
fn subscriber(
    levels: Targets,
    format: LogFormat,
) -> Option<impl tracing::Subscriber + Send + Sync> {
    let log = Log::get()?;
    let lines = tracing_subscriber::fmt::layer().log_internal_errors(false);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).with_writer(log).boxed(),
        LogFormat::Json => lines.json().with_writer(log).boxed(),
    };
    let lines = lines.with_filter(levels).boxed();
    #[cfg(not(feature = "otel"))]
    let layers = vec![lines];
    #[cfg(feature = "otel")]
    let layers: Vec<_> = [lines].into_iter().chain(super::telemetry::layer()).collect();
    Some(tracing_subscriber::registry().with(layers))
}

/// The levels of `RUST_LOG`: a level, or levels by module as in `warn,my_crate=debug`.
fn of_environment(default: Targets) -> Targets {
    let levels = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    levels.unwrap_or(default)
}

/// Prints no panic of a default or an example: the error of the pool says it.
pub(super) fn hide_reported_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic_is_reported() {
            print(panic);
        }
    }));
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
    /// The log of the process.
    fn get() -> Option<Self> {
        if LOG.get().is_none() {
            let _is_first = LOG.set(Self::start().ok()?);
        }
        LOG.get().cloned()
    }

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
        drop(self.0.try_send(Entry::Line(masked(line))));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime::secret::Secrets;

    #[test]
    fn a_line_shows_no_secret() {
        let secrets = |name: &str, secret: &str| Arc::new(Secrets::new().with(name, secret));
        mask(secrets("KEY", "s3cret-key"));
        mask(secrets("OTHER", "an0ther-key"));
        let line = masked(b"peer_info=Some(\"s3cret-key\") of an0ther-key\n");
        assert_eq!(String::from_utf8(line).unwrap(), "peer_info=Some(\"${KEY}\") of ${OTHER}\n");
    }
}
