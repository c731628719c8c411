//! Tells people of questions: by a command, or a webhook, one after another.

use crate::config::Notify;
use reqwest::Url;
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;
use tool_runtime::approvals::PendingApproval;
use tool_runtime_mcp::http_client;

/// The time that a notification may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Limit on notifications that wait. Others are counted in the next one.
const MAX_WAITING: usize = 64;

/// Tells of questions in a task.
#[derive(Clone)]
pub(crate) struct Notifier {
    queue: Sender<Value>,
    settings: Arc<Notify>,
    untold: Arc<AtomicUsize>,
}

impl Notifier {
    /// Needs a runtime of tokio.
    pub(crate) fn start(settings: Notify) -> Self {
        let (queue, waiting) = channel(MAX_WAITING);
        let settings = Arc::new(settings);
        tokio::spawn(work(Arc::clone(&settings), waiting));
        Self { queue, settings, untold: Arc::default() }
    }

    pub(crate) fn tell(&self, question: &PendingApproval) {
        let untold = self.untold.swap(0, Ordering::Relaxed);
        let message = message(self.settings.page.as_deref(), question, untold);
        if self.queue.try_send(message).is_err() {
            self.untold.fetch_add(untold + 1, Ordering::Relaxed);
        }
    }
}

async fn work(settings: Arc<Notify>, mut waiting: Receiver<Value>) {
    while let Some(message) = waiting.recv().await {
        if !settings.command.is_empty() {
            let ran = timeout(LIMIT, run(&settings.command, &message)).await;
            let what = "the command `approvals.notify.command`";
            warn(what, &message, ran.unwrap_or_else(|_| Err(late())));
        }
        if let Some(address) = &settings.webhook {
            let sent = timeout(LIMIT, send(address, &message)).await;
            let what = "the webhook `approvals.notify.webhook`";
            warn(what, &message, sent.unwrap_or_else(|_| Err(late())));
        }
    }
}

fn late() -> String {
    format!("it took longer than {LIMIT:?}")
}

/// The question waits nevertheless.
fn warn(what: &str, message: &Value, ended: Result<(), String>) {
    if let Err(reason) = ended {
        let question = message["id"].as_str();
        tracing::warn!(question, "{what} failed: {reason}");
    }
}

fn message(page: Option<&str>, question: &PendingApproval, untold: usize) -> Value {
    let PendingApproval { id, tool, question: text, rule, caller, expires_at, .. } = question;
    let name = if caller.is_empty() { "an anonymous caller" } else { caller };
    let page = page.map(|page| format!(" {page}")).unwrap_or_default();
    let others = match untold {
        0 => String::new(),
        count => format!(" {count} more were not told of."),
    };
    let [shown, tool_shown, name] = [text, tool, name].map(plain);
    json!({
        "text": format!("{shown} {tool_shown} of {name} waits for an answer.{page}{others}"),
        "id": id,
        "tool": tool,
        "question": text,
        "rule": rule,
        "caller": caller,
        "expires_at": expires_at,
    })
}

/// A line without the markup of chats.
fn plain(text: impl AsRef<str>) -> String {
    let line: String =
        text.as_ref().chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

async fn run(command: &[String], message: &Value) -> Result<(), String> {
    let (program, arguments) = command.split_first().ok_or("it is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn().map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // It may not read it.
        drop(input.write_all(format!("{message}\n").as_bytes()).await);
    }
    match child.wait().await {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Posts a message. A redirect is not followed: it would repeat the message elsewhere, and tell the address.
async fn send(address: &str, message: &Value) -> Result<(), String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    let client = http_client::builder(url.scheme() == "https")?;
    let client = client.redirect(Policy::none()).build().map_err(http_client::reason)?;
    let request = client.post(url).header("content-type", "application/json");
    let response = request.body(message.to_string()).send().await.map_err(http_client::reason)?;
    match response.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("it answered {status}")),
    }
}
