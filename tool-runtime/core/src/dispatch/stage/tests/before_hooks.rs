use super::support::{ARGUMENTS, Notes, TOOK, admit, before, builder, call, pool};
use crate::dispatch::stage;
use crate::govern::hook::{Before, Hook, HookCall, ToolHooks};
use crate::tool::arguments::Arguments;
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::{Executor, Tool};
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::matching::pattern::ToolPattern;
use serde_json::json;

/// Notes the arguments it sees.
fn watcher(pattern: &str, notes: &Notes) -> Hook {
    let notes = notes.clone();
    Hook::before(pattern, move |call: HookCall| {
        notes.push(call.arguments());
        async { Before::proceed() }
    })
}

#[tokio::test]
async fn a_call_without_matching_hooks_is_admitted_unchanged() {
    let notes = Notes::default();
    let admitted = before([watcher("web.*", &notes), watcher("fs.read", &notes)]).await.unwrap();
    assert!(admitted.arguments.is_none() && admitted.context.is_none());
    assert_eq!(notes.all(), [ARGUMENTS]);
}

#[tokio::test]
async fn a_hook_sees_all_of_the_call() {
    let hook = Hook::before("*", |call: HookCall| async move {
        assert_eq!(call.name(), "fs.read");
        assert_eq!(call.arguments(), ARGUMENTS);
        assert_eq!(call.call_id(), Some("call_1"));
        assert_eq!(call.definition().description, "Read a file.");
        assert_eq!(call.context().call_id(), Some("call_1"));
        assert!(!format!("{call:?}").contains("a.txt"));
        Before::deny("seen")
    });
    assert_eq!(before([hook]).await.unwrap_err().class(), ErrorClass::Denied);
}

#[tokio::test]
async fn no_arguments_are_an_empty_object() {
    let notes = Notes::default();
    let pool = pool([watcher("*", &notes)]);
    admit(&pool, call(&pool, " ", ToolContext::default())).await.unwrap();
    assert_eq!(notes.all(), ["{}"]);
}

#[tokio::test]
async fn hooks_after_one_that_waits_run_in_order() {
    let notes = Notes::default();
    let waits = || {
        Hook::before("*", |_| async {
            tokio::task::yield_now().await;
            Before::rewrite(r#"{"path":"b"}"#).provide(User("ada"))
        })
    };
    let asks = Hook::before("*", |call: HookCall| async move {
        Before::deny(call.context().get::<User>().map_or("nobody", |user| user.0))
    });
    let denied = before([watcher("*", &notes), waits(), watcher("*", &notes), waits(), asks]).await;
    assert_eq!(notes.all(), [ARGUMENTS, r#"{"path":"b"}"#]);
    let denied = denied.unwrap_err();
    assert!(denied.message().ends_with("ada"), "{denied}");
}

#[tokio::test]
async fn hooks_run_in_order_and_see_rewrites() {
    let notes = Notes::default();
    let admitted = before([
        watcher("*", &notes),
        Hook::before("*", |_| async { Before::rewrite_with(&json!({"path": "b"})) }),
        watcher("*", &notes),
        Hook::before("fs.*", |_| async { Before::rewrite("") }),
        watcher("*", &notes),
    ])
    .await
    .unwrap();
    assert_eq!(notes.all(), [ARGUMENTS, r#"{"path":"b"}"#, "{}"]);
    assert_eq!(admitted.arguments.as_deref(), Some("{}"));
    assert!(admitted.context.is_none());
}

#[tokio::test]
async fn every_rewriting_is_validated_before_the_next_hook_sees_it() {
    let notes = Notes::default();
    let error =
        before([Hook::before("*", |_| async { Before::rewrite("oops") }), watcher("*", &notes)])
            .await
            .unwrap_err();
    assert_eq!(error.class(), ErrorClass::Internal);
    assert!(!error.message().contains("oops"), "{error}");
    assert_eq!(
        error.detail(),
        Some("the hook before `*` rewrote the arguments, and the tool rejects them: no JSON: oops")
    );
    assert!(notes.all().is_empty());
}

#[tokio::test]
async fn arguments_without_a_rewrite_are_not_validated_again() {
    struct Refuses;
    impl Executor for Refuses {
        fn call<'a>(
            &'a self,
            _: Arguments<'a>,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<Observation, CallError>> {
            Box::pin(async { Ok(Observation::default()) })
        }

        fn access(&self, _: Arguments<'_>) -> Result<Access, CallError> {
            Err(CallError::new(ErrorClass::Input, "never asked"))
        }
    }
    let tool = Tool::new(ToolDefinition::new("refuse", "Refuse."), Refuses);
    let pool = builder(tool, [Hook::before("*", |_| async { Before::proceed() })]).build().unwrap();
    assert!(admit(&pool, call(&pool, "{}", ToolContext::default())).await.is_ok());
}

struct User(&'static str);
struct Count(u32);

#[tokio::test]
async fn later_hooks_see_provided_values() {
    let admitted = before([
        Hook::before("*", |_| async { Before::proceed().provide(User("ada")) }),
        Hook::before("*", |call: HookCall| async move {
            assert_eq!(call.context().get::<User>().unwrap().0, "ada");
            Before::rewrite("{}").provide(User("bob")).provide(Count(3))
        }),
    ])
    .await
    .unwrap();
    let context = admitted.context.unwrap();
    assert_eq!(context.get::<User>().unwrap().0, "bob");
    assert_eq!(context.get::<Count>().unwrap().0, 3);
    assert_eq!(context.call_id(), Some("call_1"));
    assert_eq!(admitted.arguments.as_deref(), Some("{}"));
}

#[tokio::test]
async fn provided_values_are_seen_by_one_call() {
    let shared = ToolContext::default().with(User("pool"));
    let provides = |_| async { Before::proceed().provide(User("ada")).provide(Count(1)) };
    let pool = pool([Hook::before("*", provides)]);
    let admitted = admit(&pool, call(&pool, "{}", shared.clone())).await.unwrap();
    assert_eq!(admitted.context.unwrap().get::<User>().unwrap().0, "ada");
    assert_eq!(shared.get::<User>().unwrap().0, "pool");
}

#[tokio::test]
async fn a_denied_call_ends_with_the_reason() {
    let notes = Notes::default();
    let error =
        before([Hook::before("*", |_| async { Before::deny("ask first") }), watcher("*", &notes)])
            .await
            .unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
    assert_eq!(error.message(), "the call to `fs.read` is not allowed: ask first");
    assert!(notes.all().is_empty());
}

#[tokio::test]
async fn a_reason_keeps_its_lines_and_controls_no_terminal() {
    let deny = |_| async { Before::deny("\u{1b}[2Jno:\n- a\n- \u{7}b\n") };
    let error = before([Hook::before("*", deny)]).await.unwrap_err();
    let expected = "the call to `fs.read` is not allowed: no:\n- a\n- \\u{7}b";
    assert_eq!(error.message(), expected);
}

#[tokio::test]
async fn a_denial_without_a_reason_ends_without_a_colon() {
    let error = before([Hook::before("*", |_| async { Before::deny(" ") })]).await.unwrap_err();
    assert_eq!(error.message(), "the call to `fs.read` is not allowed");
}

#[tokio::test]
async fn patterns_are_texts_or_values() {
    let made = ToolPattern::regex("read$").unwrap();
    let error = before([Hook::before(made, |_| async { Before::deny("no") })]).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
    let owned = String::from("fs.*");
    let error = before([Hook::before(owned, |_| async { Before::deny("no") })]).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
}

/// It would not compile otherwise: calls run on any thread.
#[test]
fn the_runners_can_be_sent() {
    fn sendable<T: Send>(_: T) {}
    let (pool, error) = (pool([]), CallError::new(ErrorClass::Tool, ""));
    let call = call(&pool, "{}", ToolContext::default());
    let hooks = ToolHooks::default();
    sendable(stage::run_after_hooks(&hooks, &call, Err(error), TOOK));
    sendable(admit(&pool, call.clone()));
}

#[test]
fn a_decision_in_the_log_shows_neither_arguments_nor_values() {
    let text = format!("{:?}", Before::ask("Sure?").rewriting("hunter2").provide(User("hunter2")));
    assert!(text.contains("Sure?") && !text.contains("hunter2"), "{text}");
}
