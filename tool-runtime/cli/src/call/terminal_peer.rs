//! The caller of a tool at a terminal: progress, log entries, questions.

use super::form;
use crate::approver::{TerminalApprover, is_attended};
use crate::{log, print};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tool_runtime_core::seam::{lock, one_line};
use tool_runtime_core::tool::peer::{
    LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerRequest, Progress,
};
use tool_runtime_core::vocabulary::BoxFuture;

/// Steps of a bar.
const STEPS: u64 = 1000;
/// Characters of a message.
const MAX_MESSAGE: usize = 100;
/// Time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(1);

/// The caller of `call`.
pub(crate) struct TerminalPeer {
    person: TerminalApprover,
    /// `None` before the first report, and where standard error is no terminal.
    bar: Mutex<Option<ProgressBar>>,
    last_line: Mutex<Option<Instant>>,
}

impl TerminalPeer {
    pub(crate) fn new() -> Self {
        Self { person: TerminalApprover::new(), bar: Mutex::default(), last_line: Mutex::default() }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = lock(&self.bar).take() {
            bar.finish_and_clear();
        }
    }

    /// Prints while the bar is hidden.
    fn above_bar(&self, print: impl FnOnce()) {
        match &*lock(&self.bar) {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn draw(&self, share: Option<f64>, text: String) {
        let mut bar = lock(&self.bar);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style("{spinner} {msg}"));
            bar
        });
        if let Some(share) = share {
            if bar.length().is_none() {
                bar.set_style(style("{bar:30} {msg}"));
                bar.set_length(STEPS);
            }
            bar.set_position(steps(share));
        }
        bar.set_message(text);
        bar.tick();
    }

    fn print(&self, share: Option<f64>, text: &str) {
        let mut last = lock(&self.last_line);
        let is_due = last.is_none_or(|last| last.elapsed() >= PAUSE);
        if is_due || share.is_some_and(|share| share >= 1.0) {
            *last = Some(Instant::now());
            print::to_stderr(&format!("progress: {text}"));
        }
    }

    async fn answer(&self, request: PeerRequest) -> Result<Value, PeerError> {
        self.finish();
        let is_approval = request.is_single_use();
        let (_, params) = request.into_parts();
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let content = match params.get("url").and_then(Value::as_str) {
            Some(url) => form::confirm_page(&self.person, message, url).await,
            None => {
                let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
                match is_approval {
                    true => form::decide(&self.person, message, schema).await,
                    false => form::fill(&self.person, message, schema).await,
                }
            }
        };
        Ok(match content {
            Some(content) => json!({ "action": "accept", "content": content }),
            None => json!({ "action": "cancel" }),
        })
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a share of the steps"
)]
fn steps(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * STEPS as f64) as u64
}

/// `3/7 reading a.txt`
fn text(progress: &Progress) -> String {
    let mut text = match progress.total {
        Some(total) => format!("{}/{total}", progress.done),
        None => progress.done.to_string(),
    };
    if let Some(message) = &progress.message {
        let _ = write!(text, " {}", one_line(message, MAX_MESSAGE));
    }
    text
}

impl Peer for TerminalPeer {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        let share = progress.total.filter(|total| *total > 0.0).map(|total| progress.done / total);
        match io::stderr().is_terminal() {
            true => self.draw(share, text(&progress)),
            false => self.print(share, &text(&progress)),
        }
    }

    fn accepts_log(&self, level: LogLevel) -> bool {
        level >= LogLevel::Info || log::shows_debug()
    }

    fn log(&self, entry: LogEntry) {
        let text = match &entry.data {
            Value::String(text) => text.clone(),
            data => data.to_string(),
        };
        self.above_bar(|| print::log(entry.level, &text));
    }

    fn can(&self, capability: PeerCapability) -> bool {
        capability.is_elicitation() && is_attended()
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(self.answer(request))
    }
}
