//! Before-hooks rewrite, validate, deny and fail.

use super::super::support::{class, in_time};
use super::{Seen, builder, error, panicking, pool, text, to_ada};
use serde_json::json;
use std::time::Duration;
use tokio::sync::Notify;
use tool_runtime::hook::{After, Before, Hook, HookCall};
use tool_runtime::prelude::*;

#[tokio::test]
async fn a_rewritten_call_runs_with_the_new_arguments() {
    let rewrite = |_: HookCall| async { Before::rewrite(r#"{"to":"bob","text":"hi"}"#) };
    let (pool, seen) = pool([Hook::before("mail.send", rewrite)]);
    assert_eq!(text(&pool.call(to_ada()).await), "hi to bob");
    assert_eq!(seen.all(), ["sent to bob"]);
    let json = pool.call_json("mail.send", r#"{"to":"ada"}"#).await;
    assert!(json.contains("hi to bob"), "{json}");
}

#[tokio::test]
async fn an_invalid_rewrite_is_an_internal_error() {
    for arguments in [r#"{"to":"x"}"#, r#"{"to":7}"#, r#"{"to":"ada","tone":"warm"}"#, "[", "{}"] {
        let rewrite = move |_: HookCall| async move { Before::rewrite(arguments) };
        let (pool, seen) = pool([Hook::before("mail.*", rewrite)]);
        let result = pool.call(to_ada()).await;
        // A model could not correct arguments that it did not write.
        assert_eq!(class(&result), ErrorClass::Internal, "{arguments}");
        assert!(error(&result).detail().expect("a detail").contains("the hook before `mail.*`"));
        assert_eq!(seen.all(), [] as [&str; 0]);
    }
}

#[tokio::test]
async fn hooks_see_valid_arguments_only() {
    let seen_by_hook = Seen::default();
    let note = {
        let seen = seen_by_hook.clone();
        move |call: HookCall| {
            seen.note(call.arguments());
            async { Before::proceed() }
        }
    };
    let (pool, seen) = pool([Hook::before("*", note)]);
    for arguments in [r#"{"to":"x"}"#, "[", "{}"] {
        let result = pool.call(ToolCall::new("mail.send", arguments)).await;
        assert_eq!(class(&result), ErrorClass::Input);
    }
    assert_eq!(class(&pool.call(ToolCall::new("nothing", "")).await), ErrorClass::NotFound);
    assert!(seen.all().is_empty() && seen_by_hook.all().is_empty());
    text(&pool.call(ToolCall::new("mail.list", "")).await);
    assert_eq!(seen_by_hook.all(), ["{}"]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Code {
    #[serde(deserialize_with = "even")]
    code: u32,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let code = <u32 as serde::Deserialize>::deserialize(deserializer)?;
    if code % 2 == 0 { Ok(code) } else { Err(serde::de::Error::custom("codes are even")) }
}

#[tokio::test]
async fn arguments_that_deserialize_rejects_are_invalid() {
    let open = Tool::builder("open", "Open.").handler(|code: Code| async move { code.code });
    let rewrite =
        |call: HookCall| async move { Before::rewrite(call.arguments().replace("4", "5")) };
    let pool =
        ToolPool::builder().add(open).hook(Hook::before("*", rewrite)).build().expect("a pool");
    let open = |code: u32| pool.call(ToolCall::new("open", json!({ "code": code }).to_string()));
    assert_eq!(text(&open(2).await), "2");
    let rejected = open(3).await;
    assert_eq!(class(&rejected), ErrorClass::Input);
    assert!(rejected.observation().to_text().contains("codes are even"));
    assert_eq!(class(&open(4).await), ErrorClass::Internal);
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_does_not_run() {
    let deny = |_: HookCall| async { Before::deny("write to `support` instead") };
    let (pool, seen) = pool([Hook::before("mail.send", deny)]);
    let result = in_time(pool.call(to_ada())).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    let text = result.observation().to_text();
    assert_eq!(text, "the call to `mail.send` is not allowed: write to `support` instead");
    assert!(!error(&result).is_retryable());
    assert!(seen.all().is_empty());
}

/// Hold a key until the test releases it.
#[tool(register = false, writes("mail:ada"))]
async fn hold_key(key_holder: &KeyHolder) {
    key_holder.began.notify_one();
    in_time(key_holder.enough.notified()).await;
}

#[derive(Default)]
struct KeyHolder {
    began: Notify,
    enough: Notify,
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_does_not_wait_for_resources() {
    let deny = |call: HookCall| async move {
        if call.arguments().contains("denied_call") {
            Before::deny("no")
        } else {
            Before::proceed()
        }
    };
    let (builder, seen) = builder();
    let builder = builder.tool::<HoldKeyAction>().state(KeyHolder::default());
    let pool = builder.hook(Hook::before("*", deny)).build().expect("a pool");
    let context = pool.context();
    let key_holder = context.get::<KeyHolder>().expect("state");
    let denied_call = || ToolCall::new("mail.send", r#"{"to":"ada","text":"denied_call"}"#);
    let holder = pool.call(ToolCall::new("hold_key", ""));
    let others = async {
        in_time(key_holder.began.notified()).await;
        // The key is held. A denied call neither waits for it nor takes it.
        assert_eq!(class(&pool.call(denied_call()).await), ErrorClass::Denied);
        let polite = pool.call(to_ada());
        let release = async {
            assert_eq!(class(&pool.call(denied_call()).await), ErrorClass::Denied);
            key_holder.enough.notify_one();
        };
        tokio::join!(polite, release).0
    };
    let (held, polite) = in_time(async { tokio::join!(holder, others) }).await;
    text(&held);
    assert_eq!(text(&polite), "hello to ada");
    assert_eq!(seen.all(), ["sent to ada"]);
}

#[tokio::test(start_paused = true)]
async fn a_rewritten_call_waits_for_the_resources_of_its_new_arguments() {
    let rewrite = |_: HookCall| async { Before::rewrite(r#"{"to":"ada"}"#) };
    let (builder, seen) = builder();
    let builder = builder.tool::<HoldKeyAction>().state(KeyHolder::default());
    let pool = builder.hook(Hook::before("mail.*", rewrite)).build().expect("a pool");
    let context = pool.context();
    let key_holder = context.get::<KeyHolder>().expect("state");
    let send = async {
        in_time(key_holder.began.notified()).await;
        let call = pool.call(ToolCall::new("mail.send", r#"{"to":"bob"}"#));
        let release = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            assert!(seen.all().is_empty(), "it did not wait");
            key_holder.enough.notify_one();
        };
        tokio::join!(call, release).0
    };
    let (_, sent) =
        in_time(async { tokio::join!(pool.call(ToolCall::new("hold_key", "")), send) }).await;
    assert_eq!(text(&sent), "hello to ada");
}

#[tokio::test]
async fn a_hook_applies_to_the_tools_that_match_its_pattern() {
    for (pattern, sends, lists) in [
        ("mail.send", true, false),
        ("mail.*", true, true),
        ("*", true, true),
        ("/send$/", true, false),
        ("send", false, false),
        ("mail", false, false),
        ("Mail.send", false, false),
    ] {
        let deny = Hook::before(pattern, |_: HookCall| async { Before::deny("no") });
        let (pool, _) = pool([deny]);
        let is_denied = |result: ToolResult| result.error().is_some();
        assert_eq!(is_denied(pool.call(to_ada()).await), sends, "{pattern}");
        assert_eq!(is_denied(pool.call(ToolCall::new("mail.list", "")).await), lists, "{pattern}");
    }
}

#[tokio::test]
async fn an_invalid_pattern_fails_the_build() {
    let (builder, _) = builder();
    let hook = Hook::after("/(/", |_: HookCall, _| async { After::keep() });
    let error = builder.hook(hook).build().expect_err("no pattern").to_string();
    assert!(error.contains("/(/"), "{error}");
}

/// Hooks that fail, each for another reason.
fn failing_hooks() -> [(&'static str, Hook); 4] {
    let fail = |_: HookCall| async { Err::<Before, _>(std::io::Error::other("secret path")) };
    let panics = |_: HookCall| async { panicking::<Before>("secret state") };
    let panics_before_its_future =
        |_: HookCall| -> std::future::Ready<Before> { panic!("secret state") };
    let hang = |_: HookCall| std::future::pending::<Before>();
    [
        ("failed: secret path", Hook::before("*", fail)),
        ("panicked: secret state", Hook::before("*", panics)),
        ("panicked: secret state", Hook::before("*", panics_before_its_future)),
        ("did not answer within 3s", Hook::before("*", hang).timeout(Duration::from_secs(3))),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_failing_hook_fails_the_call() {
    for (why, hook) in failing_hooks() {
        let (pool, seen) = pool([hook]);
        let result = in_time(pool.call(to_ada())).await;
        assert_eq!(class(&result), ErrorClass::Internal);
        assert!(error(&result).detail().expect("a detail").contains(why), "{result:?}");
        assert!(!result.observation().to_text().contains("secret"), "{result:?}");
        assert!(seen.all().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_hook_that_fails_open_is_ignored() {
    for (_, hook) in failing_hooks() {
        let (pool, seen) = pool([hook.fails_open()]);
        text(&in_time(pool.call(to_ada())).await);
        assert_eq!(seen.all(), ["sent to ada"]);
    }
    let wrong = |_: HookCall| async { Before::rewrite("{}") };
    let (pool, seen) = pool([Hook::before("*", wrong).fails_open()]);
    text(&pool.call(to_ada()).await);
    assert_eq!(seen.all(), ["sent to ada"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_times_out_after_thirty_seconds_by_default() {
    let hang = |_: HookCall| std::future::pending::<Before>();
    let (pool, _) = pool([Hook::before("*", hang)]);
    let began = tokio::time::Instant::now();
    in_time(pool.call(to_ada())).await;
    assert_eq!(began.elapsed().as_secs(), 30);
}
