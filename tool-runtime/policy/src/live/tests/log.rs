//! The log of versions that are read.

use super::{ALLOW, DENIES};
use crate::LivePolicy;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use tracing::subscriber::NoSubscriber;
use tracing::{Event, Metadata, Subscriber, span};

/// Events of the log, a string each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "tool_runtime_policy::live"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

/// What looking twice at a file takes.
fn watch(policy: &LivePolicy) {
    let seen = policy.look(None);
    policy.look(Some(seen));
}

#[test]
fn a_version_is_logged_once_whoever_reads_it() {
    let log = Log::default();
    // While a subscriber is the only one of the process, an event that a thread without one reaches first is forgotten.
    let _is_first = tracing::subscriber::set_global_default(NoSubscriber::new());
    let _guard = tracing::subscriber::set_default(log.clone());
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("policy.yaml");
    std::fs::write(&path, ALLOW).unwrap();
    let policy = LivePolicy::open(&path).unwrap();
    assert_eq!(log.take(), [""; 0], "who opens it has its mistakes");

    std::fs::write(&path, "rules: [{id: a, thn: deny}]").unwrap();
    assert!(policy.reload_if_changed().is_err());
    watch(&policy);
    assert!(policy.reload().is_err());
    let lines = log.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let expected = format!("the policy `{}` has mistakes, and the rules of before", path.display());
    assert!(lines[0].starts_with("ERROR") && lines[0].contains(&expected), "{lines:?}");
    assert!(lines[0].contains("rules[0].thn"), "{lines:?}");

    std::fs::write(&path, "rules: [{id: b, thn: deny}]").unwrap();
    watch(&policy);
    assert!(!policy.reload_if_changed().unwrap());
    assert_eq!(log.take().len(), 1);

    std::fs::write(&path, DENIES).unwrap();
    assert!(policy.reload_if_changed().unwrap());
    watch(&policy);
    let lines = log.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("was read again") && lines[0].contains("rules=1"), "{lines:?}");
}
