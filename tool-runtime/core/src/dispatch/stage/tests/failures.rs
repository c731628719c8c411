use super::support::{Notes, after, before, log};
use crate::govern::hook::{After, Before, Hook, HookCall};
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::{CallError, ErrorClass, ToolError};
use std::future::pending;
use std::io;
use std::time::Duration;

/// One hook of each kind of failure, and the expected message for the operator.
fn failing() -> Vec<(Hook, &'static str)> {
    vec![
        (
            Hook::before("fs.*", |_| async {
                Err::<Before, _>(ToolError::user("no").with_source(io::Error::other("disk")))
            }),
            "the hook before `fs.*` failed: no: disk",
        ),
        (
            Hook::before("fs.*", |_| async { Err::<Before, _>(io::Error::other("disk")) }),
            "the hook before `fs.*` failed: disk",
        ),
        (
            Hook::before("fs.*", |_| async { Err::<Before, _>(String::from("text")) }),
            "the hook before `fs.*` failed: text",
        ),
        (
            Hook::before("fs.*", |_| async { Err::<Before, _>(ToolError::internal("secret")) }),
            "the hook before `fs.*` failed: secret",
        ),
        (
            Hook::before("fs.*", |_| async { Err::<Before, _>(ToolError::user("plain")) }),
            "the hook before `fs.*` failed: plain",
        ),
        (
            Hook::before("fs.*", |_| async { panic!("in the future") as Before }),
            "the hook before `fs.*` panicked: in the future",
        ),
        (Hook::before("fs.*", at_once), "the hook before `fs.*` panicked: at once"),
        (
            Hook::before("fs.*", |_| pending::<Before>()),
            "the hook before `fs.*` did not answer within 30s",
        ),
        (
            Hook::before("fs.*", |_| pending::<Before>()).timeout(Duration::from_millis(5)),
            "the hook before `fs.*` did not answer within 5ms",
        ),
    ]
}

/// Panics before there is a future.
fn at_once(_: HookCall) -> std::future::Ready<Before> {
    panic!("{}", String::from("at once"))
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_rejects_the_call() {
    for (hook, detail) in failing() {
        let error = before([hook]).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Internal);
        assert_eq!(
            error.message(),
            "the call to `fs.read` was refused because a check failed; it was not run, and the failure has been logged"
        );
        assert_eq!(error.detail(), Some(detail));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_open_is_skipped_with_a_warning() {
    for (hook, detail) in failing() {
        let (lines, _guard) = log();
        let seen = Notes::default();
        let noted = seen.clone();
        let next = Hook::before("*", move |call: HookCall| {
            noted.push(call.name());
            async { Before::proceed() }
        });
        let admitted = before([hook.fails_open(), next]).await.unwrap();
        assert!(admitted.arguments.is_none() && admitted.context.is_none());
        assert_eq!(seen.all(), ["fs.read"]);
        let lines = lines.all();
        assert!(
            matches!(&lines[..], [line] if line.starts_with("WARN") && line.contains(detail)),
            "{lines:?}"
        );
    }
}

#[tokio::test]
async fn an_invalid_rewrite_of_a_hook_that_fails_open_is_discarded() {
    let (lines, _guard) = log();
    let hook = Hook::before("*", |_| async { Before::rewrite("oops") }).fails_open();
    let admitted = before([hook]).await.unwrap();
    assert!(admitted.arguments.is_none());
    assert!(lines.all()[0].contains("rewrote the arguments"), "{:?}", lines.all());
}

#[tokio::test(start_paused = true)]
async fn a_hook_within_its_timeout_completes() {
    let slow = Hook::before("*", |_| async {
        tokio::time::sleep(Duration::from_secs(29)).await;
        Before::deny("after a while")
    });
    assert_eq!(before([slow]).await.unwrap_err().class(), ErrorClass::Denied);
}

#[test]
fn a_hook_that_does_not_wait_needs_no_timer() {
    let deny = Hook::before("*", |_| async { Before::deny("at once") });
    let error = futures_util::FutureExt::now_or_never(before([deny])).unwrap().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
}

#[test]
fn a_hook_that_waits_without_a_timer_fails() {
    let waits = Hook::before("*", |_| pending::<Before>());
    let error = futures_util::FutureExt::now_or_never(before([waits])).unwrap().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Internal);
    assert!(error.detail().unwrap().starts_with("the hook before `*` panicked"));
}

/// One whose destructor panics, dropped because the hook runs out of time.
#[tokio::test(start_paused = true)]
async fn a_panic_while_a_hook_is_cancelled_is_a_failure() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let hook = Hook::before("*", |_| async {
        let _held = PanicsOnDrop;
        pending::<Before>().await
    });
    let error = before([hook]).await.unwrap_err();
    assert_eq!(error.detail(), Some("the hook before `*` panicked: dropped"));
}

#[tokio::test]
async fn a_panic_while_formatting_an_error_is_a_failure() {
    #[derive(Debug)]
    struct PanicsOnDisplay;
    impl std::fmt::Display for PanicsOnDisplay {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("unspeakable");
        }
    }
    impl std::error::Error for PanicsOnDisplay {}
    let hook =
        Hook::before("*", |_| async { Err::<Before, _>(ToolError::internal(PanicsOnDisplay)) });
    let error = before([hook]).await.unwrap_err();
    assert_eq!(error.detail(), Some("the hook before `*` panicked: unspeakable"));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_could_not_be_checked_is_withheld() {
    for (hook, detail) in [
        (
            Hook::after("*", |_, _| async { Err::<After, _>(io::Error::other("disk")) }),
            "the hook after `*` failed: disk",
        ),
        (
            Hook::after("*", |_, _| async { panic!("oh") as After }),
            "the hook after `*` panicked: oh",
        ),
        (
            Hook::after("*", |_, _| pending::<After>()),
            "the hook after `*` did not answer within 30s",
        ),
    ] {
        let secret = || Ok(Observation::text("hunter2"));
        let error = after([hook.clone()], secret()).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Internal);
        assert_eq!(
            error.message(),
            "`fs.read` ran, but its result was withheld because a check failed"
        );
        assert_eq!(error.detail(), Some(detail));
        let (lines, _guard) = log();
        assert_eq!(after([hook.fails_open()], secret()).await.unwrap().to_text(), "hunter2");
        let lines = lines.all();
        assert!(lines[0].starts_with("WARN") && lines[0].contains(detail), "{lines:?}");
    }
}

#[tokio::test]
async fn an_error_that_could_not_be_checked_is_withheld_as_an_error() {
    let fails = || Hook::after("*", |_, _| async { Err::<After, _>("disk") });
    let outcome = CallError::new(ErrorClass::Tool, "hunter2").with_detail("chain");
    let error = after([fails()], Err(outcome)).await.unwrap_err();
    assert_eq!(
        error.message(),
        "`fs.read` failed, and the reason was withheld because a check failed"
    );
    assert_eq!(error.detail(), Some("the hook after `*` failed: disk; withheld: hunter2 (chain)"));
}

#[tokio::test]
async fn a_call_that_ran_is_reported_as_run_after_a_second_failure() {
    let fails = || Hook::after("*", |_, _| async { Err::<After, _>("disk") });
    let error = after([fails(), fails()], Ok(Observation::text("a"))).await.unwrap_err();
    assert!(error.message().starts_with("`fs.read` ran"), "{error}");
    let details = error.detail().unwrap();
    assert_eq!(details.matches("the hook after `*` failed: disk").count(), 2, "{details}");
}
