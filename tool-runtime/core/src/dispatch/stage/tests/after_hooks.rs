use super::support::{ARGUMENTS, Notes, TOOK, after};
use crate::govern::hook::{After, AfterCall, Hook, HookCall};
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::Issue;
use crate::vocabulary::error::{CallError, ErrorClass};
use std::error::Error as _;
use std::future::ready;

/// Records the outcome that it receives, and keeps it.
fn watcher(pattern: &str, notes: &Notes) -> Hook {
    let notes = notes.clone();
    Hook::after(pattern, move |_, after: AfterCall| {
        let class = after.error_class().map_or("ok", ErrorClass::as_str);
        notes.push(format!("{class} {}", after.observation().to_text()));
        ready(After::keep())
    })
}

fn replace(text: &'static str) -> Hook {
    Hook::after("*", move |_, _| ready(After::replace(Observation::text(text))))
}

fn failed() -> CallError {
    let issue = Issue::new("path", "pattern", "`path` must be there");
    let error = CallError::new(ErrorClass::Tool, "no such file").with_detail("chain");
    error.with_issues(vec![issue])
}

#[tokio::test]
async fn an_unmodified_observation_is_unchanged() {
    let notes = Notes::default();
    let list = [watcher("web.*", &notes), watcher("fs.*", &notes)];
    let observation = Observation::text("a").with_visual("shown").with_error(true);
    let kept = after(list, Ok(observation)).await.unwrap();
    assert_eq!((kept.to_text(), kept.visualize()), ("a".to_owned(), "shown".to_owned()));
    assert!(kept.is_error());
    assert_eq!(notes.all(), ["ok a"]);
}

#[tokio::test]
async fn a_kept_error_is_the_same_error_with_its_source() {
    let source = std::io::Error::other("disk");
    let error = CallError::from(crate::vocabulary::error::ToolError::from(source));
    let error = after([watcher("*", &Notes::default())], Err(error)).await.unwrap_err();
    assert!(error.source().is_some());
}

#[tokio::test]
async fn hooks_run_in_order_and_see_replacements() {
    let notes = Notes::default();
    let list = [watcher("*", &notes), replace("b"), watcher("*", &notes), replace("c")];
    let last = after(list, Ok(Observation::text("a"))).await.unwrap();
    assert_eq!(last.to_text(), "c");
    assert_eq!(notes.all(), ["ok a", "ok b"]);
}

#[tokio::test]
async fn a_hook_receives_the_call_and_its_outcome() {
    let hook = Hook::after("*", |call: HookCall, after: AfterCall| async move {
        assert_eq!((call.name(), call.arguments()), ("fs.read", ARGUMENTS));
        assert_eq!(after.duration(), TOOK);
        let error = after.error().unwrap();
        assert_eq!((error.class(), error.message()), (ErrorClass::Tool, "no such file"));
        assert_eq!((error.detail(), error.issues()[0].path()), (Some("chain"), "path"));
        assert!(after.is_error() && after.observation().is_error());
        After::replace(Observation::text("seen"))
    });
    assert_eq!(after([hook], Err(failed())).await.unwrap().to_text(), "seen");
}

#[tokio::test]
async fn a_replaced_error_is_a_success() {
    let notes = Notes::default();
    let outcome = after([replace("instead"), watcher("*", &notes)], Err(failed())).await;
    assert_eq!(outcome.unwrap(), Observation::text("instead"));
    assert_eq!(notes.all(), ["ok instead"]);
}

#[tokio::test]
async fn an_error_may_be_replaced_by_an_error() {
    let hook = Hook::after("*", |_, _| ready(After::replace(Observation::error("worded"))));
    let seen = Hook::after("*", |_, after: AfterCall| async move {
        assert!(after.is_error() && after.error().is_none());
        After::keep()
    });
    assert!(after([hook, seen], Err(failed())).await.unwrap().is_error());
}

#[tokio::test]
async fn hooks_after_a_failed_one_see_a_withheld_result() {
    let notes = Notes::default();
    let fails = Hook::after("*", |_, _| async { Err::<After, _>("disk") });
    let list = [fails, watcher("*", &notes)];
    after(list, Ok(Observation::text("hunter2"))).await.unwrap_err();
    assert_eq!(
        notes.all(),
        ["internal `fs.read` ran, but its result was withheld because a check failed"]
    );
}

#[tokio::test]
async fn before_hooks_and_after_hooks_run_only_in_their_stage() {
    let before = || Hook::before("*", |_| async { crate::govern::hook::Before::deny("never") });
    assert!(after([before()], Ok(Observation::text("a"))).await.is_ok());
    assert!(super::support::before([replace("never")]).await.is_ok());
}

#[tokio::test]
async fn an_observation_kept_by_a_hook_is_still_returned() {
    let held = Notes::default();
    let keeper = std::sync::Arc::new(std::sync::Mutex::new(None));
    let shelf = keeper.clone();
    let hook = Hook::after("*", move |_, after: AfterCall| {
        *shelf.lock().unwrap() = Some(after);
        ready(After::keep())
    });
    let outcome = after([hook, watcher("*", &held)], Ok(Observation::text("a"))).await;
    assert_eq!(outcome.unwrap(), Observation::text("a"));
    assert_eq!(keeper.lock().unwrap().as_ref().unwrap().observation().to_text(), "a");
}
