//! Secrets of a pool: masked in all output, expanded by tools.

use super::support::{Log, pool_of, set_subscriber};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tool_runtime::content::Icon;
use tool_runtime::export::Api;
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallEvent, CallStage, OutputLimits, Receipt, Recorder,
};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::peer::{
    LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerRequest, Progress,
};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::secret::{SecretTemplate, Secrets};
use tool_runtime::testing::{Question, Reply, TestClient};
use tool_runtime::tool::TextArguments;
use tool_runtime::{BoxFuture, Principal, Prompt, Resource};

const KEY: &str = "s3cret-k3y/+=";

fn secrets() -> Secrets {
    Secrets::new().with("KEY", KEY)
}

/// Everything that reaches the caller or a person beside the result.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn all(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

impl Peer for Seen {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.note(progress.message.unwrap_or_default());
    }

    fn accepts_log(&self, _: LogLevel) -> bool {
        true
    }

    fn log(&self, entry: LogEntry) {
        self.note(entry.data.to_string());
    }

    fn can(&self, _: PeerCapability) -> bool {
        true
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        self.note(Value::from(request.params().clone()).to_string());
        Box::pin(async { Ok(json!({ "action": "decline" })) })
    }
}

impl Recorder for Seen {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        if let CallStage::Finished { outcome, .. } = event.stage {
            self.note(format!("{outcome:?}"));
        }
        Receipt::recorded()
    }
}

/// Say text through one channel.
#[tool(register = false)]
async fn say(
    /// The number of the channel.
    channel: u8,
    /// The text.
    text: String,
    context: &ToolContext,
) -> Result<Observation, ToolError> {
    context.progress(1, 2, &text);
    context.log(LogLevel::Info, &text);
    context.log_data(LogLevel::Info, json!({ &text: [&text] }));
    let _ = context.ask::<bool>("sure", format!("Show {text}?")).await?;
    let half = text.len() / 2;
    let half = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Ok(match channel {
        0 => Observation::text(&text).with_meta(&text, json!([&text])),
        1 => Observation::json(&json!({ "in": { &text: &text } }))?,
        2 => Observation::text(&text[..half]).with_content(ContentBlock::text(&text[half..])),
        3 => ContentBlock::resource(format!("a:{text}"), &text).into(),
        4 => Observation::from(ContentBlock::link(&text, &text)).with_visual(&text),
        5 => Observation::error(&text),
        6 => return Err(ToolError::user(&text)),
        7 => return Err(ToolError::internal(text)),
        _ => panic!("{text}"),
    })
}

fn saying(seen: &Seen, secrets: Secrets) -> ToolPool {
    let approver_log = seen.clone();
    let approver = move |request: ApprovalRequest| {
        approver_log.note(format!("{} {}", request.question(), request.visual()));
        async { Approval::approved() }
    };
    let ask = Hook::before("*", |call: HookCall| async move {
        Before::ask(format!("Run with {}?", call.arguments()))
    });
    let after = seen.clone();
    let after = Hook::after("*", move |_: HookCall, outcome: AfterCall| {
        after.note(outcome.observation().visualize());
        async { After::keep() }
    });
    let pool = ToolPool::builder().tool::<SayAction>().secrets(secrets);
    let pool = pool.hook(ask).hook(after).approver(approver).recorder(seen.clone());
    pool.build().unwrap()
}

async fn all_output(secret: &str, text: &str, channel: u8) -> String {
    let (seen, log) = (Seen::default(), Log::default());
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG);
    let _guard = set_subscriber(subscriber.with_writer(log.clone()).finish());
    let pool = saying(&seen, Secrets::new().with("KEY", secret));
    let call = ToolCall::json("say", json!({ "channel": channel, "text": text }));
    let context = pool.context().with_peer(Arc::new(seen.clone()));
    let result = pool.call_with(call, &context).await;
    let result = serde_json::to_string(result.observation()).unwrap()
        + &format!("{:?} {}", result.error(), result.observation().visualize());
    [result, seen.all(), log.text()].join("\n")
}

#[tokio::test]
async fn a_secret_is_masked_in_every_channel() {
    for channel in 0..9 {
        let output = all_output(KEY, &format!("the key is {KEY}, keep it"), channel).await;
        assert!(!output.contains("k3y"), "{channel}: {output}");
        assert!(output.matches("${KEY}").count() >= 7, "{channel}: {output}");
    }
}

proptest! {
    #![proptest_config(crate::property::cases(60))]

    #[test]
    fn no_secret_survives_in_any_channel(
        secret in "[!-~]{4}[ -~é]{3,20}[!-~]",
        before in "[a-z ]{0,5}",
        encoding in 0_usize..5,
        channel in 0_u8..9,
    ) {
        let whole = format!("{before}{secret}.");
        let encoded = match encoding {
            0 => whole,
            1 => Value::from(whole).to_string(),
            2 => secret.bytes().map(|b| format!("%{b:02X}")).collect(),
            3 => secret.bytes().map(|b| format!("{b:02x}")).collect(),
            _ => secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let output = runtime.block_on(all_output(&secret, &encoded, channel));
        let in_json = Value::from(&*encoded).to_string();
        prop_assert!(!output.contains(&encoded) && !output.contains(in_json.trim_matches('"')), "{output}");
    }
}

#[tokio::test]
async fn a_client_reads_no_secret() {
    let pool = ToolPool::builder().tool::<SayAction>().secrets(secrets()).build().unwrap();
    let answer = |_: Question| async { Reply::accept(json!({ "sure": true })) };
    let client = TestClient::builder(&pool).answer(answer).connect().await;
    let call = json!({ "channel": 2, "text": KEY });
    let record = client.call("say", call).recorded().await;
    assert_eq!(record.result.unwrap().to_text(), "${KEY}\n");
    assert_eq!(record.progress[0].message.as_deref(), Some("${KEY}"));
    assert_eq!(client.questions()[0].message(), "Show ${KEY}?");
}

#[tokio::test]
async fn secrets_are_masked_before_a_result_is_cut() {
    /// Print a lot.
    #[tool(register = false)]
    async fn print() -> String {
        format!("{}{KEY}{}", "a".repeat(6), "b".repeat(500))
    }
    let limits = OutputLimits::none().text(100);
    let pool = ToolPool::builder().tool::<PrintAction>().secrets(secrets()).output_limits(limits);
    let text = pool.build().unwrap().call(ToolCall::new("print", "")).await;
    let text = text.observation().to_text();
    assert!(text.starts_with("aaaaaa${") && !text.contains("s3c"), "{text}");
}

/// A log without secrets of its own.
#[tokio::test]
async fn the_log_of_calls_has_no_secret_of_the_pool() {
    use tool_runtime::audit::EventLog;
    struct Echo;
    impl tool_runtime::govern::PolicyEngine for Echo {
        fn decide(
            &self,
            call: &tool_runtime::govern::CallView<'_>,
        ) -> tool_runtime::govern::Decision {
            tool_runtime::govern::Decision::ask(format!("Let it run with {}?", call.arguments()))
        }
    }
    let schema = json!({ "type": "object", "properties": { "key": {}, "pin": {} } });
    let login = Tool::builder("login", "Log in.").input_schema(schema).handler(|| async { "in" });
    let (log, secrets) = (EventLog::memory(), secrets().with("PIN", "86420975"));
    let pool = ToolPool::builder().add(login).secrets(secrets).policy(Echo).install(log.clone());
    let pool = pool.approver(|_: ApprovalRequest| async { Approval::approved() }).build().unwrap();
    let arguments = json!({ "key": format!("Bearer {KEY}"), "pin": 86_420_975 });
    let named = pool.for_principal(Principal::new(format!("ada {KEY}")));
    named.call(ToolCall::json("login", arguments).with_call_id(format!("call {KEY}"))).await;
    pool.call(ToolCall::json("unknown", json!({ "key": KEY }))).await;
    pool.call(ToolCall::new("login", format!("{{ {KEY}"))).await;
    let records = log.reader().await.unwrap().records().collect::<Result<Vec<_>, _>>().unwrap();
    let text: String =
        records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    assert!(!text.contains("s3cret") && !text.contains("86420975"), "{text}");
    let proposed = records[0].arguments_text();
    assert!(serde_json::from_str::<Value>(&proposed).unwrap()["pin"].is_string(), "{proposed}");
}

#[tokio::test]
async fn an_after_hook_cannot_show_a_secret() {
    let show = Hook::after("*", |_: HookCall, _: AfterCall| async {
        After::replace(Observation::text(KEY))
    });
    let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    let pool = ToolPool::builder().add(ping).hook(show).secrets(secrets()).build().unwrap();
    let result = pool.call(ToolCall::new("ping", "")).await;
    assert_eq!(result.observation().to_text(), "${KEY}");
}

#[tokio::test]
async fn prompts_and_resources_show_no_secret() {
    let prompt = Prompt::builder("hello", "Say hello.").handler(|| async { KEY });
    let resource = Resource::builder("a:b", "b", "A text.").handler(|| async { KEY });
    let pool = ToolPool::builder().add_prompt(prompt).add_resource(resource).secrets(secrets());
    let pool = pool.build().unwrap();
    let prompt = pool.get_prompt("hello", &TextArguments::new(), &pool.context()).await.unwrap();
    assert_eq!(prompt.messages[0].content.as_text(), Some("${KEY}"));
    let contents = pool.read_resource("a:b", &pool.context()).await.unwrap();
    assert_eq!(contents[0].text.as_deref(), Some("${KEY}"));
}

#[tokio::test]
async fn definitions_show_no_secret_of_the_pool() {
    let schema = json!({
        "type": "object",
        "properties": { "key": { "type": "string", "title": KEY, "default": KEY, "enum": [KEY, "other"] } },
    });
    let connect = Tool::builder("connect", format!("Connect by {KEY}."))
        .title(format!("Connect {KEY}"))
        .input_schema(schema)
        .icon(Icon::new(format!("https://example.com/?key={KEY}")))
        .meta([("example/key".to_owned(), json!(KEY))].into_iter().collect())
        .handler(|| async {});
    let prompt = Prompt::builder("hello", format!("Say {KEY}.")).handler(|| async { "hello" });
    let resource = Resource::builder("a:b", format!("b {KEY}"), "A text.").handler(|| async { "" });
    let pool = ToolPool::builder().add(connect).add_prompt(prompt).add_resource(resource);
    let pool = pool.secrets(secrets()).build().unwrap();
    let client = TestClient::stateful(&pool).await;
    let (prompts, resources) = (
        client.pages("prompts/list").await.unwrap(),
        client.pages("resources/list").await.unwrap(),
    );
    let greeting = pool.get_prompt("hello", &TextArguments::new(), &pool.context()).await.unwrap();
    let export = pool.snapshot().export(Api::OpenAiChat);
    for (place, shown) in [
        ("listed", json!(client.list_tools().await).to_string()),
        ("as JSON", pool.definitions_json().to_string()),
        ("exported", json!(export.definitions()).to_string()),
        ("prompts", json!(prompts).to_string()),
        ("prompt", format!("{:?}", greeting.description)),
        ("resources", json!(resources).to_string()),
    ] {
        assert!(shown.contains("${KEY}") && !shown.contains("k3y"), "{place}: {shown}");
    }
    let listed = &client.list_tools().await[0].input_schema["properties"]["key"];
    assert_eq!(listed["enum"], json!(["${KEY}", "other"]));
}

/// Masked, it could not be called.
#[test]
fn a_name_with_a_secret_is_a_problem_of_the_pool() {
    let secrets = || Secrets::new().with("KEY", "s3cret-key");
    let schema = json!({ "type": "object", "properties": { "s3cret-key": {} } });
    let one = Tool::builder("get_s3cret-key", "Get.").handler(|| async {});
    let two = Tool::builder("set", "Set.").input_schema(schema).handler(|| async {});
    let resource = Resource::builder("a:s3cret-key", "b", "A text.").handler(|| async { "" });
    let pool = ToolPool::builder().add(one).add(two).add_resource(resource).secrets(secrets());
    let problems: Vec<String> =
        pool.build().unwrap_err().problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "tool `get_${KEY}`: its name contains a secret; give it another name",
            "tool `set`: the name of an argument contains a secret; give it another name",
            "resource `a:${KEY}`: its name or URI contains a secret; give it another one",
        ]
    );
}

/// The other tools of the pool stay.
#[test]
fn an_external_tool_with_a_secret_in_its_name_is_left_out() {
    for (source, column) in [(Source::mcp("s"), "mcp:s   "), (Source::runner("s"), "runner:s  ")] {
        let secrets = secrets();
        let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
        let pool = ToolPool::builder().add(ping).secrets(secrets.clone()).build().unwrap();
        secrets.hide([("..".to_owned(), "an0ther-key".to_owned())]);
        let tool = Tool::builder("get_an0ther-key", "Get.").handler(|| async {});
        pool.set_tools(&source, [tool]).unwrap();
        assert_eq!(pool.snapshot().tools().len(), 1);
        let report = pool.report().to_string();
        let reason = "quarantined: its name contains a secret; give it another name";
        assert!(report.contains(&format!("get_..  {column}{reason}")), "{report}");
    }
}

#[tokio::test]
async fn errors_and_completions_of_prompts_and_resources_show_no_secret() {
    let failing = || async { Err::<String, _>(ToolError::user(KEY)) };
    let prompt = Prompt::builder("hello", "Say hello.").handler(failing);
    let resource = Resource::builder("a:{b}", "b", "A text.")
        .complete("b", |_: String| vec![KEY])
        .handler(failing);
    let pool = ToolPool::builder().add_prompt(prompt).add_resource(resource).secrets(secrets());
    let pool = pool.build().unwrap();
    let context = pool.context();
    let error = pool.get_prompt("hello", &TextArguments::new(), &context).await.unwrap_err();
    assert_eq!(error.message(), "${KEY}");
    let error = pool.read_resource("a:b", &context).await.unwrap_err();
    assert_eq!(error.message(), "${KEY}");
    let completion = pool.complete_resource("a:{b}", "b", "", &context).await.unwrap();
    assert_eq!(completion.values, ["${KEY}"]);
}

#[tokio::test]
async fn a_rotated_secret_stays_masked() {
    let secrets = secrets();
    let pool = ToolPool::builder().tool::<SayAction>().secrets(secrets.clone()).build().unwrap();
    secrets.insert("KEY", "an0ther-key");
    secrets.hide([("..".to_owned(), "hidden-t0o".to_owned())]);
    let context = pool.context().with_peer(Arc::new(Seen::default()));
    let call = json!({ "channel": 0, "text": format!("{KEY} an0ther-key hidden-t0o") });
    let result = pool.call_with(ToolCall::json("say", call), &context).await;
    assert_eq!(result.observation().to_text(), "${KEY} ${KEY} ..");
}

/// Show the length of a header.
#[tool(register = false)]
async fn header(
    /// The header.
    value: SecretTemplate,
    secrets: &Secrets,
) -> Result<String, ToolError> {
    let header = value.expand(secrets)?;
    Ok(format!("{} is {}", header.expose(), header.expose().len()))
}

#[tokio::test]
async fn only_a_template_is_expanded_and_only_in_the_tool() {
    let seen = Seen::default();
    let approver_log = seen.clone();
    let approver = move |request: ApprovalRequest| {
        approver_log.note(request.arguments());
        async { Approval::approved() }
    };
    let ask = Hook::before("*", |_: HookCall| async { Before::ask("Run?") });
    let pool = ToolPool::builder().tool::<HeaderAction>().tool::<SayAction>().secrets(secrets());
    let pool = pool.hook(ask).approver(approver).build().unwrap();
    let context = pool.context().with_peer(Arc::new(Seen::default()));
    for (tool, arguments, expected) in [
        ("header", r#"{"value":"Bearer ${KEY}"}"#, "Bearer ${KEY} is 20"),
        ("header", r#"{"value":"$${KEY} ${"}"#, "${KEY} ${ is 9"),
        (
            "header",
            r#"{"value":"${KEI}"}"#,
            "`KEI` is not the name of a secret; did you mean `KEY`?",
        ),
        ("say", r#"{"channel":0,"text":"${KEY}"}"#, "${KEY}"),
    ] {
        let result = pool.call_with(ToolCall::new(tool, arguments), &context).await;
        assert_eq!(result.observation().to_text(), expected);
        assert_eq!(seen.all().lines().last(), Some(arguments));
    }
    let schema = HeaderAction::definition().input_schema;
    let text = json!({ "type": "string", "description": "The header." });
    assert_eq!(schema["properties"]["value"], text);
}

#[test]
fn secrets_and_templates_do_not_print() {
    let text = format!("{:?} {:?}", secrets(), secrets().redactor());
    assert!(text.contains("KEY") && !text.contains(KEY), "{text}");
}

#[tokio::test]
async fn a_pool_without_secrets_changes_nothing() {
    let pool = pool_of::<SayAction>();
    let context = pool.context().with_peer(Arc::new(Seen::default()));
    let call = ToolCall::json("say", json!({ "channel": 0, "text": KEY }));
    assert_eq!(pool.call_with(call, &context).await.observation().to_text(), KEY);
}
