//! Error messages have a limited size, and secrets are not shown.

use super::support::{class, error_text, set_subscriber};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// More than any message needs, and far less than the input.
const SMALL: usize = 8_000;

/// One of a few.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    Green,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tree {
    #[allow(dead_code)]
    children: Vec<Tree>,
}

/// Take one of each.
#[tool(register = false)]
async fn take(
    /// A number.
    number: Option<i64>,
    /// A short text.
    #[arg(length = ..=5)]
    short: Option<String>,
    /// A word.
    #[arg(pattern = "^[a-z]+$")]
    word: Option<String>,
    /// A date.
    #[arg(format = "date")]
    date: Option<String>,
    /// A colour.
    colour: Option<Colour>,
    /// A tree.
    tree: Option<Tree>,
    /// Numbers.
    list: Option<Vec<i64>>,
) -> bool {
    let is_red = matches!(colour, Some(Colour::Red | Colour::Green));
    is_red
        || number.is_some()
        || short.is_some()
        || word.is_some()
        || date.is_some()
        || tree.is_some()
        || list.is_some()
}

fn builder() -> ToolPoolBuilder {
    let even = Tool::builder("even", "Take an even name.")
        .handler(|even: Even| async move { even.name.0 });
    ToolPool::builder().tool::<TakeAction>().add(even)
}

/// A name whose decoder rejects values and quotes them.
#[derive(schemars::JsonSchema)]
#[schemars(transparent)]
struct EvenName(String);

impl<'de> serde::Deserialize<'de> for EvenName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let name = String::deserialize(deserializer)?;
        if name.len() % 2 == 0 {
            return Ok(Self(name));
        }
        Err(D::Error::custom(format!("`{name}` is odd")))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Even {
    name: EvenName,
}

/// Take an even name.
#[tool(name = "even_too", register = false)]
async fn even_too(
    /// The name.
    name: EvenName,
) -> String {
    name.0
}

/// Rejected with a short message.
async fn rejected(pool: &ToolPool, tool: &str, arguments: &str) -> String {
    let result = pool.call(ToolCall::new(tool, arguments)).await;
    assert_eq!(class(&result), ErrorClass::Input);
    let error = result.error().expect("an error");
    let text = error.message().to_owned();
    assert!(text.len() < SMALL, "{} bytes: {:.300}", text.len(), text);
    assert!(error.detail().is_none_or(|detail| detail.len() < SMALL));
    assert!(error.issues().iter().all(|issue| issue.to_string().len() < SMALL));
    text
}

fn huge() -> String {
    "Ä".repeat(500_000)
}

#[tokio::test]
async fn a_large_invalid_value_is_not_repeated_in_the_error() {
    let pool = builder().build().expect("a pool");
    for name in ["number", "short", "word", "date", "colour", "tree", "list"] {
        let text = rejected(&pool, "take", &json!({ name: huge() }).to_string()).await;
        assert!(text.contains(&format!("`{name}`")), "{text:.300}");
    }
    let text = rejected(&pool, "take", &json!({ "list": [1, huge()] }).to_string()).await;
    assert!(text.contains("`list[1]`"), "{text:.300}");
    rejected(&pool, "take", &json!(huge()).to_string()).await;
    rejected(&pool, "take", &huge()).await;
    rejected(&pool, "take", &format!("{{\"number\": {}}}", "9".repeat(1_000_000))).await;
}

#[tokio::test]
async fn a_large_value_that_a_decoder_rejects_is_not_repeated() {
    let pool = builder().tool::<EvenTooAction>().build().expect("a pool");
    let odd = json!({ "name": "x".repeat(999_999) }).to_string();
    rejected(&pool, "even", &odd).await;
    rejected(&pool, "even_too", &odd).await;
    let text = rejected(&pool, "even_too", r#"{"name":"odd"}"#).await;
    assert!(text.contains("`odd` is odd"), "{text}");
}

#[tokio::test]
async fn large_names_are_not_repeated() {
    let pool = builder().build().expect("a pool");
    rejected(&pool, "take", &json!({ huge(): 1 }).to_string()).await;
    rejected(&pool, "take", &json!({ "tree": { huge(): 1, "children": [] } }).to_string()).await;
    let result = pool.call(ToolCall::new(huge(), "{}")).await;
    assert_eq!(class(&result), ErrorClass::NotFound);
    assert!(result.observation().to_text().len() < SMALL);
    assert!(pool.call_json(&huge(), "{}").await.len() < SMALL);
}

#[tokio::test]
async fn the_number_of_listed_mistakes_is_limited() {
    let pool = builder().build().expect("a pool");
    let unknown: serde_json::Map<String, Value> =
        (0..5_000).map(|field| (format!("field_{field}"), json!(field))).collect();
    let text = rejected(&pool, "take", &Value::Object(unknown).to_string()).await;
    assert!(text.contains("`field_0`"), "{text:.300}");
    let wrong: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
    let text = rejected(&pool, "take", &json!({ "list": wrong }).to_string()).await;
    assert!(text.contains("`list[0]`"), "{text:.300}");
    assert!(text.ends_with("\n(there may be more; these are the first)"), "{text}");
    assert_eq!(text.matches("must be an integer").count(), 32);
    let nodes: Vec<Value> = (0..5_000).map(|node| json!({ "node": node })).collect();
    rejected(&pool, "take", &json!({ "tree": { "children": nodes } }).to_string()).await;
}

#[tokio::test]
async fn deeply_nested_arguments_are_rejected_with_a_short_message() {
    let pool = builder().build().expect("a pool");
    let open = "[".repeat(100_000);
    let closed = format!("{open}{}", "]".repeat(100_000));
    for text in [open, closed] {
        rejected(&pool, "take", &text).await;
        rejected(&pool, "take", &format!("{{\"list\": {text}}}")).await;
    }
    let tree = |depth| {
        let (open, close) = (r#"{"children":["#.repeat(depth), "]}".repeat(depth));
        format!(r#"{{"tree":{open}{close}}}"#)
    };
    rejected(&pool, "take", &tree(10_000)).await;
    let deep = tree(50).replace("[]", "[7]");
    assert!(rejected(&pool, "take", &deep).await.contains("children[0]"));
    assert!(!pool.call(ToolCall::new("take", tree(50))).await.is_error());
}

/// Log in.
#[tool(register = false, writes("login:{user}"))]
async fn log_in(
    /// The user.
    user: String,
    /// The password.
    #[arg(secret, length = 8..)]
    password: String,
) -> Result<(), ToolError> {
    Err(ToolError::user(format!("{user} has another password of {} bytes", password.len())))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Login {
    #[allow(dead_code)]
    user: String,
    #[allow(dead_code)]
    #[schemars(extend("writeOnly" = true), length(min = 8))]
    password: EvenName,
}

/// Log output of every level.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<String>>);

impl<S: tracing::Subscriber> Layer<S> for Logged {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut Text(&mut self.0.lock().unwrap()));
    }
}

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0, "{field}={value:?}").expect("text");
    }
}

const SECRET: &str = "hunter2";

/// The behaviour of a hook.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Proceed,
    RewriteWrong,
    Panic,
    Ask,
}

fn hooked(mode: Mode, seen: &Logged) -> ToolPool {
    let (before, after) = (seen.clone(), seen.clone());
    let act = move |call: HookCall| {
        write!(before.0.lock().unwrap(), "{call:?}").expect("text");
        async move {
            match mode {
                Mode::Proceed => Before::proceed(),
                Mode::RewriteWrong => Before::rewrite(format!(r#"{{"password":"{SECRET}"}}"#)),
                Mode::Panic => panic!("no reason"),
                Mode::Ask => Before::ask("Log in?"),
            }
        }
    };
    let look = move |call: HookCall, outcome: AfterCall| {
        write!(after.0.lock().unwrap(), "{call:?} {outcome:?}").expect("text");
        async { After::keep() }
    };
    let approver_log = seen.clone();
    let approve = move |request: ApprovalRequest| {
        write!(approver_log.0.lock().unwrap(), "{request:?} {}", request.visual()).expect("text");
        async { Approval::rejected("no") }
    };
    let closure = Tool::builder("sign_in", "Sign in.").handler(|_: Login| async {});
    ToolPool::builder()
        .tool::<LogInAction>()
        .add(closure)
        .hook(Hook::before("*", act))
        .hook(Hook::after("*", look))
        .approver(approve)
        .build()
        .expect("a pool")
}

#[tokio::test]
async fn messages_logs_and_reports_contain_no_secrets() {
    let logged = Logged::default();
    let subscriber = tracing_subscriber::registry().with(logged.clone());
    let _logging = set_subscriber(subscriber);
    for mode in [Mode::Proceed, Mode::RewriteWrong, Mode::Panic, Mode::Ask] {
        let pool = hooked(mode, &logged);
        for tool in ["log_in", "sign_in"] {
            for password in [
                json!(SECRET),
                json!([SECRET]),
                json!({ SECRET: SECRET }),
                json!(format!("{SECRET}{SECRET}")),
                json!(format!("{SECRET}{SECRET}!")),
            ] {
                let arguments = json!({ "user": "ada", "password": password }).to_string();
                let result = pool.call(ToolCall::new(tool, arguments)).await;
                let log = logged.0.lock().unwrap();
                for received in [
                    format!("{result:?}"),
                    format!("{:?}", result.error().and_then(|error| error.detail())),
                    pool.report().to_string(),
                    format!("{pool:?}"),
                ] {
                    assert!(!received.contains(SECRET), "{mode:?} {tool} {password}: {received}");
                }
                assert!(!log.contains(SECRET), "{mode:?} {tool} {password}: {log}");
            }
        }
    }
    let log = logged.0.lock().unwrap();
    for part in ["HookCall", "AfterCall", "ApprovalRequest", "***", "invalid arguments", "class="] {
        assert!(log.contains(part), "{part} is not in {log}");
    }
}

#[tokio::test]
async fn a_typed_call_shows_no_secret() {
    let logged = Logged::default();
    for mode in [Mode::Proceed, Mode::RewriteWrong, Mode::Ask] {
        let login = LogInAction { user: "ada".into(), password: SECRET.into() };
        let error = login.call(&hooked(mode, &logged)).await.expect_err("too short");
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
    assert!(!logged.0.lock().unwrap().contains(SECRET));
}

#[tokio::test]
async fn values_of_plain_arguments_may_be_shown() {
    let pool = ToolPool::builder().tool::<LogInAction>().build().expect("a pool");
    let text = error_text(&pool, "log_in", r#"{"user":7,"password":"long enough"}"#).await;
    assert!(text.contains("`user` must be a string"), "{text}");
}
