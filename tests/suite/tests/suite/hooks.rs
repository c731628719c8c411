//! What stands before and after calls: rewriting, rules, questions, injected values.

use super::server::Server;
use super::support::{class, in_time};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tool_runtime::prelude::*;
use tool_runtime::{
    After, AfterCall, Approval, ApprovalRequest, Before, CallError, CancellationToken, Hook,
    HookCall, PoolError, ToolPoolBuilder,
};

/// What ran and what was seen, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Send a mail.
#[tool(name = "mail.send", register = false, writes("mail:{to}"))]
async fn send(
    /// To whom.
    #[arg(length = 3..)]
    to: String,
    /// What to say.
    #[arg(default = "hello")]
    text: String,
    seen: &Seen,
) -> String {
    seen.note(format!("sent to {to}"));
    format!("{text} to {to}")
}

/// List mails.
#[tool(name = "mail.list", read_only, register = false)]
async fn list(seen: &Seen) -> &'static str {
    seen.note("listed");
    "two mails"
}

/// Fail.
#[tool(register = false)]
async fn fail(seen: &Seen) -> Result<(), ToolError> {
    seen.note("failed");
    Err(ToolError::transient("busy"))
}

/// Panic.
#[tool(register = false)]
async fn explode(seen: &Seen) {
    seen.note("exploded");
    panic!("boom");
}

fn builder() -> (ToolPoolBuilder, Seen) {
    let seen = Seen::default();
    let builder = ToolPool::builder()
        .tool::<SendAction>()
        .tool::<ListAction>()
        .tool::<FailAction>()
        .tool::<ExplodeAction>()
        .state(seen.clone());
    (builder, seen)
}

fn pool(hooks: impl IntoIterator<Item = Hook>) -> (ToolPool, Seen) {
    let (builder, seen) = builder();
    let builder = hooks.into_iter().fold(builder, ToolPoolBuilder::hook);
    (builder.build().expect("a pool"), seen)
}

fn to_ada() -> ToolCall {
    ToolCall::new("mail.send", r#"{"to":"ada"}"#).with_call_id("1")
}

fn text(result: &ToolResult) -> String {
    assert!(!result.is_error(), "{result:?}");
    result.observation().to_text()
}

fn error(result: &ToolResult) -> &CallError {
    result.error().expect("an error")
}

#[tokio::test]
async fn a_rewriting_is_what_runs() {
    let rewrite = |_: HookCall| async { Before::rewrite(r#"{"to":"bob","text":"hi"}"#) };
    let (pool, seen) = pool([Hook::before("mail.send", rewrite)]);
    assert_eq!(text(&pool.call(to_ada()).await), "hi to bob");
    assert_eq!(seen.all(), ["sent to bob"]);
    let json = pool.call_json("mail.send", r#"{"to":"ada"}"#).await;
    assert!(json.contains("hi to bob"), "{json}");
}

#[tokio::test]
async fn a_rewriting_that_the_tool_refuses_never_runs() {
    for arguments in [r#"{"to":"x"}"#, r#"{"to":7}"#, r#"{"to":"ada","tone":"warm"}"#, "[", "{}"] {
        let rewrite = move |_: HookCall| async move { Before::rewrite(arguments) };
        let (pool, seen) = pool([Hook::before("mail.*", rewrite)]);
        let result = pool.call(to_ada()).await;
        // No model could correct what it did not write.
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
async fn what_a_type_itself_refuses_is_not_valid_either() {
    let open = Tool::builder("open", "Open.").handler(|code: Code| async move { code.code });
    let rewrite =
        |call: HookCall| async move { Before::rewrite(call.arguments().replace("4", "5")) };
    let pool =
        ToolPool::builder().add(open).hook(Hook::before("*", rewrite)).build().expect("a pool");
    let open = |code: u32| pool.call(ToolCall::new("open", json!({ "code": code }).to_string()));
    assert_eq!(text(&open(2).await), "2");
    let refused = open(3).await;
    assert_eq!(class(&refused), ErrorClass::Input);
    assert!(refused.observation().to_text().contains("codes are even"));
    assert_eq!(class(&open(4).await), ErrorClass::Internal);
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_does_not_start_and_waits_for_nothing() {
    let deny = |_: HookCall| async { Before::deny("write to `support` instead") };
    let (pool, seen) = pool([Hook::before("mail.send", deny)]);
    let result = in_time(pool.call(to_ada())).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    let text = result.observation().to_text();
    assert_eq!(text, "the call to `mail.send` is not allowed: write to `support` instead");
    assert!(!error(&result).is_retryable());
    assert!(seen.all().is_empty());
}

/// Keep a key until it is told to let go.
#[tool(register = false, writes("mail:ada"))]
async fn occupy(occupied: &Occupied) {
    occupied.began.notify_one();
    in_time(occupied.enough.notified()).await;
}

#[derive(Default)]
struct Occupied {
    began: Notify,
    enough: Notify,
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_touches_no_resource() {
    let deny = |call: HookCall| async move {
        if call.arguments().contains("rude") { Before::deny("no") } else { Before::proceed() }
    };
    let (builder, seen) = builder();
    let builder = builder.tool::<OccupyAction>().state(Occupied::default());
    let pool = builder.hook(Hook::before("*", deny)).build().expect("a pool");
    let context = pool.context();
    let occupied = context.get::<Occupied>().expect("state");
    let rude = || ToolCall::new("mail.send", r#"{"to":"ada","text":"rude"}"#);
    let holder = pool.call(ToolCall::new("occupy", ""));
    let others = async {
        in_time(occupied.began.notified()).await;
        // The key is held, and whoever is denied does not wait for it, nor keeps it from others.
        assert_eq!(class(&pool.call(rude()).await), ErrorClass::Denied);
        let polite = pool.call(to_ada());
        let release = async {
            assert_eq!(class(&pool.call(rude()).await), ErrorClass::Denied);
            occupied.enough.notify_one();
        };
        tokio::join!(polite, release).0
    };
    let (held, polite) = in_time(async { tokio::join!(holder, others) }).await;
    text(&held);
    assert_eq!(text(&polite), "hello to ada");
    assert_eq!(seen.all(), ["sent to ada"]);
}

#[tokio::test(start_paused = true)]
async fn a_rewritten_call_waits_for_what_it_then_touches() {
    let rewrite = |_: HookCall| async { Before::rewrite(r#"{"to":"ada"}"#) };
    let (builder, seen) = builder();
    let builder = builder.tool::<OccupyAction>().state(Occupied::default());
    let pool = builder.hook(Hook::before("mail.*", rewrite)).build().expect("a pool");
    let context = pool.context();
    let occupied = context.get::<Occupied>().expect("state");
    let send = async {
        in_time(occupied.began.notified()).await;
        let call = pool.call(ToolCall::new("mail.send", r#"{"to":"bob"}"#));
        let release = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            assert!(seen.all().is_empty(), "it did not wait");
            occupied.enough.notify_one();
        };
        tokio::join!(call, release).0
    };
    let (_, sent) =
        in_time(async { tokio::join!(pool.call(ToolCall::new("occupy", "")), send) }).await;
    assert_eq!(text(&sent), "hello to ada");
}

fn asking() -> Hook {
    Hook::before("mail.send", |call: HookCall| async move {
        Before::ask(format!("Send {}?", call.name())).rewriting(r#"{"to":"bob"}"#)
    })
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_is_denied() {
    let (pool, seen) = pool([asking()]);
    let result = pool.call(to_ada()).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    assert!(error(&result).detail().expect("a detail").contains("Send mail.send?"));
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn an_approver_decides_about_what_will_run() {
    let asked = Seen::default();
    let approver = {
        let asked = asked.clone();
        move |request: ApprovalRequest| {
            asked.note(format!(
                "{:?} {} {} {}",
                request.call_id(),
                request.question(),
                request.arguments(),
                request.visual()
            ));
            async { Approval::Approved }
        }
    };
    let (builder, seen) = builder();
    let pool = builder.hook(asking()).approver(approver).build().expect("a pool");
    assert_eq!(text(&pool.call(to_ada()).await), "hello to bob");
    assert_eq!(seen.all(), ["sent to bob"]);
    let expected = r#"Some("1") Send mail.send? {"to":"bob"} mail.send(to: "bob")"#;
    assert_eq!(asked.all(), [expected]);
    assert_eq!(text(&pool.call(ToolCall::new("mail.list", "")).await), "two mails");
    assert_eq!(asked.all().len(), 1);
}

#[tokio::test]
async fn a_rejected_call_does_not_run_and_neither_does_one_whose_approver_panics() {
    let (rejecting, seen) = builder();
    let reject = |_: ApprovalRequest| async { Approval::rejected("not on a Friday") };
    let pool = rejecting.hook(asking()).approver(reject).build().expect("a pool");
    let result = pool.call(to_ada()).await;
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    assert!(result.observation().to_text().ends_with("not on a Friday"));
    assert!(seen.all().is_empty());
    let (panicking, seen) = builder();
    let panic = |_: ApprovalRequest| async { panic!("no terminal") };
    let pool = panicking.hook(asking().fails_open()).approver(panic).build().expect("a pool");
    let result = pool.call(to_ada()).await;
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    assert!(!result.observation().to_text().contains("terminal"));
    assert!(seen.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_call() {
    let (builder, seen) = builder();
    let never = |_: ApprovalRequest| std::future::pending::<Approval>();
    let pool = builder.hook(asking()).approver(never).build().expect("a pool");
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (result, ()) =
        in_time(async { tokio::join!(pool.call_with(to_ada(), &context), cancel) }).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let context = pool.context().with_deadline(deadline.into_std());
    let result = in_time(pool.call_with(to_ada(), &context)).await;
    assert_eq!(class(&result), ErrorClass::Timeout);
    assert!(seen.all().is_empty());
}

struct User(&'static str);

/// Say who one is.
#[tool(register = false)]
async fn who_am_i(user: &User) -> String {
    user.0.to_owned()
}

fn log_in(pattern: &str) -> Hook {
    Hook::before(pattern.to_owned(), |_: HookCall| async { Before::proceed().provide(User("ada")) })
}

#[tokio::test]
async fn a_provided_value_is_injected() {
    let build = |hook: Option<Hook>| {
        let builder = ToolPool::builder().tool::<WhoAmIAction>();
        hook.into_iter().fold(builder, ToolPoolBuilder::hook).build()
    };
    let pool = build(Some(log_in("who_*").provides::<User>())).expect("a pool");
    assert_eq!(text(&pool.call(ToolCall::new("who_am_i", "")).await), "ada");
    assert_eq!(WhoAmIAction {}.call(&pool).await.expect("a typed call"), "ada");
    let complaint = |error: PoolError| error.to_string();
    for lacking in [None, Some(log_in("who_*")), Some(log_in("other").provides::<User>())] {
        let error = complaint(build(lacking).expect_err("nobody provides it"));
        assert!(error.contains("who_am_i") && error.contains("User"), "{error}");
    }
}

#[tokio::test]
async fn a_provided_value_takes_the_place_of_the_pools_and_a_broken_promise_is_one_result() {
    let pool = ToolPool::builder()
        .tool::<WhoAmIAction>()
        .state(User("nobody"))
        .hook(log_in("who_*"))
        .build()
        .expect("a pool");
    assert_eq!(text(&pool.call(ToolCall::new("who_am_i", "")).await), "ada");
    let empty = Hook::before("*", |_: HookCall| async { Before::proceed() }).provides::<User>();
    let pool = ToolPool::builder().tool::<WhoAmIAction>().hook(empty).build().expect("a pool");
    assert_eq!(class(&pool.call(ToolCall::new("who_am_i", "")).await), ErrorClass::Internal);
}

#[tokio::test]
async fn a_hook_is_for_the_tools_that_its_pattern_means() {
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
async fn a_pattern_that_is_none_is_refused_by_the_pool() {
    let (builder, _) = builder();
    let hook = Hook::after("/(/", |_: HookCall, _| async { After::keep() });
    let error = builder.hook(hook).build().expect_err("no pattern").to_string();
    assert!(error.contains("/(/"), "{error}");
}

fn panicking<T>(text: &'static str) -> T {
    panic!("{text}")
}

/// Hooks that decide nothing, each for a reason of its own.
fn undecided() -> [(&'static str, Hook); 4] {
    let fail = |_: HookCall| async { Err::<Before, _>(std::io::Error::other("secret path")) };
    let explode = |_: HookCall| async { panicking::<Before>("secret state") };
    let explode_at_once = |_: HookCall| -> std::future::Ready<Before> { panic!("secret state") };
    let hang = |_: HookCall| std::future::pending::<Before>();
    [
        ("failed: secret path", Hook::before("*", fail)),
        ("panicked: secret state", Hook::before("*", explode)),
        ("panicked: secret state", Hook::before("*", explode_at_once)),
        ("did not answer within 3s", Hook::before("*", hang).timeout(Duration::from_secs(3))),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_decides_nothing_refuses_the_call() {
    for (why, hook) in undecided() {
        let (pool, seen) = pool([hook]);
        let result = in_time(pool.call(to_ada())).await;
        assert_eq!(class(&result), ErrorClass::Internal);
        assert!(error(&result).detail().expect("a detail").contains(why), "{result:?}");
        assert!(!result.observation().to_text().contains("secret"), "{result:?}");
        assert!(seen.all().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_open_lets_the_call_pass() {
    for (_, hook) in undecided() {
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
async fn a_hook_has_thirty_seconds_unless_said_otherwise() {
    let hang = |_: HookCall| std::future::pending::<Before>();
    let (pool, _) = pool([Hook::before("*", hang)]);
    let began = tokio::time::Instant::now();
    in_time(pool.call(to_ada())).await;
    assert_eq!(began.elapsed().as_secs(), 30);
}

fn outcome_of(after: &AfterCall) -> String {
    match after.error_class() {
        Some(class) => format!("{class}: {}", after.observation().to_text()),
        None => after.observation().to_text(),
    }
}

fn watching(seen: &Seen) -> Hook {
    let seen = seen.clone();
    Hook::after("*", move |call: HookCall, after: AfterCall| {
        seen.note(format!("{} -> {}", call.name(), outcome_of(&after)));
        async { After::keep() }
    })
}

#[tokio::test(start_paused = true)]
async fn after_hooks_see_every_outcome_also_panics_and_calls_that_were_cut_short() {
    let watched = Seen::default();
    let slow = Tool::builder("slow", "Never end.")
        .timeout(Duration::from_secs(2))
        .handler(std::future::pending::<()>);
    let (builder, _) = builder();
    let pool = builder.add(slow).hook(watching(&watched)).build().expect("a pool");
    let calls = ["mail.list", "fail", "explode", "slow"].map(|name| ToolCall::new(name, ""));
    let results = in_time(pool.call_all(calls)).await;
    assert_eq!(results.iter().filter(|result| result.is_error()).count(), 3);
    let token = CancellationToken::new();
    token.cancel();
    let context = pool.context().with_cancellation(token);
    let result = pool.call_with(ToolCall::new("mail.list", ""), &context).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    let seen = watched.all();
    assert_eq!(seen[..2], ["mail.list -> two mails", "fail -> transient: busy"]);
    assert!(seen[2].starts_with("explode -> internal: "), "{seen:?}");
    assert!(seen[3].starts_with("slow -> timeout: "), "{seen:?}");
}

#[tokio::test]
async fn an_after_hook_replaces_what_comes_of_a_call() {
    let redact = |_: HookCall, after: AfterCall| async move {
        match after.is_error() {
            true => After::replace(Observation::text("try later")),
            false => After::replace(Observation::error("(redacted)")),
        }
    };
    let (pool, _) = pool([Hook::after("*", redact)]);
    let result = pool.call(ToolCall::new("mail.list", "")).await;
    assert!(result.is_error() && result.error().is_none());
    assert_eq!(result.observation().to_text(), "(redacted)");
    assert_eq!(text(&pool.call(ToolCall::new("fail", "")).await), "try later");
}

#[tokio::test(start_paused = true)]
async fn an_after_hook_that_decides_nothing_withholds_the_result_unless_it_fails_open() {
    let hooks = || {
        let fail = |_: HookCall, _: AfterCall| async { Err::<After, _>("disk full") };
        let explode = |_: HookCall, _: AfterCall| async { panicking::<After>("boom") };
        let hang = |_: HookCall, _: AfterCall| std::future::pending::<After>();
        [Hook::after("*", fail), Hook::after("*", explode), Hook::after("*", hang)]
    };
    for hook in hooks() {
        let (pool, seen) = pool([hook]);
        let result = in_time(pool.call(ToolCall::new("mail.list", ""))).await;
        assert_eq!(class(&result), ErrorClass::Internal);
        let text = result.observation().to_text();
        assert!(text.contains("ran, but its result was withheld") && !text.contains("two mails"));
        assert_eq!(seen.all(), ["listed"]);
    }
    for hook in hooks() {
        let (pool, _) = pool([hook.fails_open()]);
        assert_eq!(text(&in_time(pool.call(ToolCall::new("mail.list", ""))).await), "two mails");
    }
}

#[tokio::test]
async fn hooks_run_in_the_order_they_were_added_and_see_what_those_before_them_made() {
    let order = Seen::default();
    let extend = |number: usize| {
        let order = order.clone();
        Hook::before("mail.send", move |call: HookCall| {
            let to = call.arguments().matches('+').count();
            order.note(format!("before {number} sees {to}"));
            let plus = "+".repeat(to + 1);
            async move { Before::rewrite(json!({"to": format!("ada{plus}")}).to_string()) }
        })
    };
    let append = |number: usize| {
        let order = order.clone();
        Hook::after("mail.send", move |_: HookCall, after: AfterCall| {
            let text = after.observation().to_text();
            order.note(format!("after {number} sees {text}"));
            async move { After::replace(Observation::text(format!("{text}!"))) }
        })
    };
    let (pool, _) = pool([extend(1), append(1), extend(2), append(2)]);
    assert_eq!(text(&pool.call(to_ada()).await), "hello to ada++!!");
    let expected = [
        "before 1 sees 0",
        "before 2 sees 1",
        "after 1 sees hello to ada++",
        "after 2 sees hello to ada++!",
    ];
    assert_eq!(order.all(), expected);
}

#[tokio::test]
async fn after_a_denial_no_other_before_hook_runs() {
    let order = Seen::default();
    let deny = Hook::before("*", |_: HookCall| async { Before::deny("no") });
    let note = {
        let order = order.clone();
        Hook::before("*", move |call: HookCall| {
            order.note(call.name());
            async { Before::proceed() }
        })
    };
    let (pool, _) = pool([deny, note, watching(&order)]);
    assert_eq!(class(&pool.call(to_ada()).await), ErrorClass::Denied);
    assert_eq!(order.all(), ["mail.send -> denied: the call to `mail.send` is not allowed: no"]);
}

/// Notes name, arguments, id and class of each call that an after-hook sees, and that a refused
/// call took no time.
fn auditing(seen: &Seen) -> Hook {
    let seen = seen.clone();
    Hook::after("*", move |call: HookCall, after: AfterCall| {
        let class = after.error_class().map_or("ok", ErrorClass::as_str);
        let id = call.call_id().unwrap_or("-").to_owned();
        seen.note(format!("{id} {} {} {class}", call.name(), call.arguments()));
        async { After::keep() }
    })
}

#[tokio::test]
async fn after_hooks_see_each_refused_call_once() {
    let audit = Seen::default();
    let deny = Hook::before("mail.list", |_: HookCall| async { Before::deny("no") });
    let broken = Hook::before("explode", |_: HookCall| async { Err::<Before, _>("disk full") });
    let ask = Hook::before("fail", |_: HookCall| async { Before::ask("Fail?") });
    let approver = |_: ApprovalRequest| std::future::ready(Approval::rejected("not today"));
    let (builder, seen) = builder();
    let builder = [deny, broken, ask, auditing(&audit)].into_iter().fold(builder, |b, h| b.hook(h));
    let pool = builder.approver(approver).build().expect("a pool");
    let invalid = ToolCall::new("mail.send", r#"{"to":7}"#).with_call_id("a");
    let denied = ToolCall::new("mail.list", "").with_call_id("b");
    let unchecked = ToolCall::new("explode", "").with_call_id("c");
    let rejected = ToolCall::new("fail", "").with_call_id("d");
    for call in [invalid, denied, unchecked, rejected, ToolCall::new("mail.sent", "{}")] {
        assert!(pool.call(call).await.is_error());
    }
    let restriction = pool.restrict(["fail"]).expect("a pattern");
    let hidden = pool.call_json("mail.list", "").await;
    assert!(hidden.contains("is not available now"), "{hidden}");
    drop(restriction);
    let expected = [
        r#"a mail.send {"to":7} input"#,
        "b mail.list {} denied",
        "c explode {} internal",
        "d fail {} approval_rejected",
        "- mail.list {} denied",
    ];
    assert_eq!(audit.all(), expected);
    assert!(seen.all().is_empty(), "no tool ran");
}

#[tokio::test]
async fn after_hooks_see_what_hooks_made_of_a_call_before_it_was_refused() {
    let rewrite = |_: HookCall| async { Before::rewrite(r#"{"to":"bob"}"#).provide(7_u8) };
    let deny = |_: HookCall| async { Before::deny("no") };
    let audit = Seen::default();
    let note = {
        let audit = audit.clone();
        Hook::after("*", move |call: HookCall, after: AfterCall| {
            let provided = call.context().get::<u8>().copied();
            audit.note(format!("{} {provided:?} {:?}", call.arguments(), after.duration()));
            async { After::replace(Observation::text("later")) }
        })
    };
    let (pool, _) = pool([Hook::before("*", rewrite), Hook::before("*", deny), note]);
    assert_eq!(text(&pool.call(to_ada()).await), "later");
    assert_eq!(audit.all(), [r#"{"to":"bob"} Some(7) 0ns"#]);
}

#[tokio::test(start_paused = true)]
async fn after_hooks_see_calls_that_end_while_they_wait() {
    let audit = Seen::default();
    let hold = Tool::builder("hold", "Hold on.").handler(std::future::pending::<()>);
    let hang = |_: HookCall| std::future::pending::<Before>();
    let (builder, seen) = builder();
    let hang = Hook::before("fail", hang).timeout(Duration::from_secs(3600));
    let pool = builder.add(hold).hook(hang).hook(auditing(&audit)).build().expect("a pool");
    let soon = std::time::Instant::now() + Duration::from_secs(1);
    let context = pool.context().with_deadline(soon);
    // The second waits for its turn in the batch until the time is up.
    let calls = [ToolCall::new("hold", "").with_call_id("a"), to_ada().with_call_id("b")];
    let results = in_time(pool.batch(calls).context(&context).run()).await;
    assert_eq!([class(&results[0]), class(&results[1])], [ErrorClass::Timeout; 2]);
    // A pool that is closed while a hook waits.
    let waiting = pool.call(ToolCall::new("fail", "").with_call_id("c"));
    let (result, ()) = in_time(async { tokio::join!(waiting, pool.close()) }).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    let mut audited = audit.all();
    audited.sort();
    let expected =
        ["a hold {} timeout", r#"b mail.send {"to":"ada"} timeout"#, "c fail {} cancelled"];
    assert_eq!(audited, expected);
    assert!(seen.all().is_empty(), "no tool ran");
}

#[tokio::test]
async fn after_hooks_see_a_call_that_is_nested_too_deep() {
    let audit = Seen::default();
    let again = Tool::builder("again", "Call itself.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let inner = context.call(ToolCall::new("again", "").with_call_id("inner")).await;
            inner.error().map_or_else(|| inner.observation().to_text(), ToString::to_string)
        },
    );
    let pool = ToolPool::builder().add(again).hook(auditing(&audit)).build().expect("a pool");
    text(&pool.call(ToolCall::new("again", "")).await);
    let seen = audit.all();
    assert_eq!(seen[0], "inner again {} denied");
    assert!(seen[1..].iter().all(|call| call.ends_with("ok")), "{seen:?}");
}

#[tokio::test]
async fn hooks_see_each_call_of_a_batch_and_what_tools_call() {
    let calls = Seen::default();
    let note = {
        let calls = calls.clone();
        Hook::before("*", move |call: HookCall| {
            calls.note(format!("{} {:?}", call.name(), call.call_id()));
            async move { if call.name() == "fail" { Before::deny("no") } else { Before::proceed() } }
        })
    };
    let relay = Tool::builder("relay", "Pass it on.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let calls = [to_ada().with_call_id("inner"), ToolCall::new("fail", "")];
            let results = context.call_all(calls).await;
            assert_eq!(class(&results[1]), ErrorClass::Denied);
            text(&results[0])
        },
    );
    let (builder, seen) = builder();
    let pool = builder.add(relay).hook(note).build().expect("a pool");
    let results = pool
        .call_all([
            ToolCall::new("mail.list", "").with_call_id("1"),
            ToolCall::new("fail", "").with_call_id("2"),
            ToolCall::new("relay", "").with_call_id("3"),
        ])
        .await;
    let errors: Vec<bool> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(errors, [false, true, false]);
    assert_eq!(seen.all(), ["listed", "sent to ada"]);
    let expected = [
        r#"mail.list Some("1")"#,
        r#"fail Some("2")"#,
        r#"relay Some("3")"#,
        r#"mail.send Some("inner")"#,
        "fail None",
    ];
    assert_eq!(calls.all(), expected);
}

#[tokio::test]
async fn a_typed_call_is_shown_to_before_hooks() {
    let shown = Seen::default();
    let note = {
        let shown = shown.clone();
        Hook::before("mail.send", move |call: HookCall| {
            shown.note(call.arguments());
            async { Before::rewrite(r#"{"to":"bob"}"#) }
        })
    };
    let (pool, seen) = pool([note]);
    let send = SendAction { to: "ada".into(), text: "hi".into() };
    assert_eq!(send.call(&pool).await.expect("it runs"), "hello to bob");
    assert_eq!(shown.all(), [r#"{"to":"ada","text":"hi"}"#]);
    assert_eq!(seen.all(), ["sent to bob"]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Opaque {
    #[allow(dead_code)]
    inner: u8,
}

/// Take what cannot be shown.
#[tool(register = false)]
async fn swallow(
    /// What to take.
    opaque: Opaque,
) -> u8 {
    opaque.inner
}

#[tokio::test]
async fn a_typed_call_that_hooks_cannot_see_is_refused() {
    let pool = |hook: Option<Hook>| {
        let builder = ToolPool::builder().tool::<SwallowAction>();
        hook.into_iter().fold(builder, ToolPoolBuilder::hook).build().expect("a pool")
    };
    let swallow = || SwallowAction { opaque: Opaque { inner: 7 } };
    let proceed = |_: HookCall| async { Before::proceed() };
    let keep = |_: HookCall, _: AfterCall| async { After::keep() };
    assert_eq!(swallow().call(&pool(None)).await.expect("no hook"), 7);
    let other = Some(Hook::before("other", proceed));
    assert_eq!(swallow().call(&pool(other)).await.expect("no hook of it"), 7);
    for (hook, why) in
        [(Hook::before("*", proceed), "`Serialize`"), (Hook::after("*", keep), "results")]
    {
        let pool = pool(Some(hook));
        let error = swallow().call(&pool).await.expect_err("not let past");
        assert_eq!(error.class(), ErrorClass::Denied);
        assert!(error.message().contains(why) && error.message().contains("by name"), "{error}");
        let by_name = pool.call(ToolCall::new("swallow", r#"{"opaque":{"inner":8}}"#)).await;
        assert_eq!(text(&by_name), "8");
    }
}

#[tokio::test]
async fn a_typed_call_can_be_denied_and_its_rewriting_is_validated() {
    let deny = Hook::before("mail.*", |_: HookCall| async { Before::deny("no") });
    let wrong = Hook::before("mail.*", |_: HookCall| async { Before::rewrite(r#"{"to":"x"}"#) });
    for (hook, expected) in [(deny, ErrorClass::Denied), (wrong, ErrorClass::Internal)] {
        let (pool, seen) = pool([hook]);
        let send = SendAction { to: "ada".into(), text: "hi".into() };
        assert_eq!(send.call(&pool).await.expect_err("refused").class(), expected);
        assert!(seen.all().is_empty());
    }
}

#[tokio::test]
async fn hooks_that_run_at_once_do_not_see_each_others_values() {
    let count = Arc::new(AtomicUsize::new(0));
    let number = Hook::before("count", move |_: HookCall| {
        let mine = count.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::task::yield_now().await;
            Before::proceed().provide(mine)
        }
    });
    let tell = Tool::builder("count", "Count.").read_only(true).handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            context.get::<usize>().copied().unwrap_or(99).to_string()
        },
    );
    let pool = ToolPool::builder().add(tell).hook(number).build().expect("a pool");
    let results = pool.call_all(vec![ToolCall::new("count", ""); 5]).await;
    let texts: Vec<String> = results.iter().map(text).collect();
    assert_eq!(texts, ["0", "1", "2", "3", "4"]);
    assert!(pool.context().get::<usize>().is_none());
}

#[test]
fn hooks_stand_before_calls_over_mcp() {
    let mut server = Server::ready(env!("CARGO_BIN_EXE_hooked_server"));
    let mut call = |id: u64, name: &str, arguments: serde_json::Value| {
        let params = json!({"name": name, "arguments": arguments});
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        server.receive()["result"].clone()
    };
    let greeted = call(1, "greet", json!({"greeting": "Hi"}));
    assert_eq!(greeted["content"][0]["text"], "Good day, number 1!");
    let denied = call(2, "remove", json!({}));
    assert_eq!(denied["isError"], true);
    assert!(denied["content"][0]["text"].as_str().expect("text").ends_with("ask somebody else"));
    assert_eq!(call(3, "tell", json!({}))["content"][0]["text"], "(redacted)");
    let wrong = call(4, "greet", json!({"greeting": 7}));
    assert!(wrong["content"][0]["text"].as_str().expect("text").contains("must be a string"));
    server.finish();
}
