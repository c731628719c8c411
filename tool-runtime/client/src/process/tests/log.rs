//! Standard error of a child in the log.

use super::support::{redactor, script, start};
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::subscriber::NoSubscriber;
use tracing::{Event, Metadata, Subscriber, span};

/// Events of the log, a string each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "tool_runtime::mcp::server_stderr"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("no panic").push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").expect("it is a string");
    }
}

#[tokio::test]
async fn every_line_is_logged_with_the_name_of_the_server() {
    let log = Log::default();
    // While a subscriber is the only one of the process, an event that a thread without one reaches first is forgotten.
    let _is_first = tracing::subscriber::set_global_default(NoSubscriber::new());
    let _guard = tracing::subscriber::set_default(log.clone());
    let mut command = script("echo one >&2; echo not this; echo \"two: $TOKEN\" >&2");
    command.env.insert("TOKEN".to_owned(), "s3cret-value".to_owned());
    command.redactor = redactor(&[("${TOKEN}", "s3cret-value")]);
    start(&command).await.child.exited().await;
    let lines = log.0.lock().expect("no panic").clone();
    let expected =
        ["DEBUG message=one server=\"test\"", "DEBUG message=two: ${TOKEN} server=\"test\""];
    assert_eq!(lines, expected);
}
