//! Questions inside hooks, batches and tasks, and with values that panic on drop.

use super::questions::{VERSIONS, answering, calls};
use super::support::pool_of;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::peer::Answer;
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Question, Reply, TestClient};

fn yes() -> Reply {
    Reply::accept(json!({ "sure": true }))
}

/// Ask whether to continue.
#[tool(register = false)]
async fn ask_to_continue(context: &ToolContext) -> Result<String, ToolError> {
    Ok(format!("{:?}", context.ask::<bool>("sure", "Sure?").await?))
}

#[tokio::test]
async fn a_hook_asks_the_user_before_a_call() {
    for version in VERSIONS {
        let consent = Hook::before("*", |call: HookCall| async move {
            let question = format!("May `{}` run?", call.name());
            match call.context().ask::<bool>("may", question).await {
                Ok(Answer::Accepted(true)) => Before::proceed(),
                _ => Before::deny("the user does not want that"),
            }
        });
        let pool = ToolPool::builder()
            .tool::<AskToContinueAction>()
            .hook(consent)
            .build()
            .expect("a pool");
        for (may, expected) in [(true, "Accepted(true)"), (false, "the user does not want that")] {
            let client = TestClient::builder(&pool)
                .protocol_version(version)
                .answer(move |question: Question| async move {
                    match question.message() {
                        "May `ask_to_continue` run?" => Reply::accept(json!({ "may": may })),
                        _ => yes(),
                    }
                })
                .connect()
                .await;
            let result = client.call("ask_to_continue", json!({})).await.expect("a result");
            assert!(result.to_text().contains(expected), "{version:?}: {}", result.to_text());
            assert_eq!(client.questions().len(), if may { 2 } else { 1 });
        }
    }
}

#[tokio::test]
async fn a_batch_within_a_call_asks() {
    /// Call a tool that asks twice, in sequence or concurrently.
    #[tool(register = false)]
    async fn ask_two(context: &ToolContext) -> Result<String, ToolError> {
        let calls = [ToolCall::new("ask_to_continue", ""), ToolCall::new("ask_to_continue", "")];
        let results = context.call_all(calls).await;
        Ok(results.iter().map(|r| r.observation().to_text()).collect::<Vec<_>>().join(" "))
    }
    let pool = ToolPool::builder().tool::<AskTwoAction>().tool::<AskToContinueAction>().build();
    let pool = pool.expect("a pool");
    for version in VERSIONS {
        let client = answering(&pool, version, yes()).await;
        let result = client.call("ask_two", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "Accepted(true) Accepted(true)", "{version:?}");
    }
}

/// Ask before deleting a file, unless it is safe.
#[tool(register = false, read_only)]
async fn delete_file(
    /// The file to delete.
    what: String,
    context: &ToolContext,
) -> Result<String, ToolError> {
    if what == "safe" {
        return Ok(what);
    }
    let answer = context.ask::<bool>("sure", format!("Drop {what}?")).await?;
    Ok(format!("{what}: {:?}", answer.accepted()))
}

/// Ask another question with the same key.
#[tool(register = false, read_only)]
async fn keep_files(context: &ToolContext) -> Result<String, ToolError> {
    let answer = context.ask::<bool>("sure", "Keep all?").await?;
    Ok(format!("kept: {:?}", answer.accepted()))
}

/// Call other tools.
#[tool(register = false)]
async fn delete_files(
    /// The file to delete.
    what: Vec<String>,
    /// Whether all are called at once.
    at_once: bool,
    context: &ToolContext,
) -> String {
    let delete_file = |what| ToolCall::new("delete_file", json!({ "what": what }).to_string());
    let calls = what.iter().map(delete_file).chain([ToolCall::new("keep_files", "")]);
    let mut results = Vec::new();
    if at_once {
        results = context.call_all(calls).await;
    } else {
        for call in calls {
            results.push(context.call(call).await);
        }
    }
    results.iter().map(|r| r.observation().to_text()).collect::<Vec<_>>().join(", ")
}

/// A client whose user accepts some questions.
async fn accepting(pool: &ToolPool, version: ProtocolVersion, message: &'static str) -> TestClient {
    let answer = move |question: Question| async move {
        Reply::accept(json!({ "sure": question.message() == message }))
    };
    TestClient::builder(pool).protocol_version(version).answer(answer).connect().await
}

#[tokio::test]
async fn each_nested_call_has_its_own_question_keys() {
    let pool = ToolPool::builder().tool::<DeleteFilesAction>().tool::<DeleteFileAction>();
    let pool = pool.tool::<KeepFilesAction>().build().expect("a pool");
    for version in VERSIONS {
        for at_once in [false, true] {
            let client = accepting(&pool, version, "Drop b?").await;
            let arguments = json!({ "what": ["a", "safe", "b"], "at_once": at_once });
            let result = client.call("delete_files", arguments).await.expect("a result");
            let expected = "a: Some(false), safe, b: Some(true), kept: Some(false)";
            assert_eq!(result.to_text(), expected, "{version:?} {at_once}");
            let questions = client.questions();
            let keys: Vec<_> = questions.iter().filter_map(Question::key).collect();
            match version {
                ProtocolVersion::V2026_07_28 => assert_eq!(keys, ["1/sure", "3/sure", "4/sure"]),
                _ => assert_eq!(questions.len(), 3),
            }
        }
    }
}

#[tokio::test]
async fn a_typed_nested_call_has_its_own_question_keys() {
    /// Ask, then call a tool that asks.
    #[tool(register = false)]
    async fn ask_twice(context: &ToolContext) -> Result<String, ToolError> {
        let answer = context.ask::<bool>("sure", "Drop any?").await?.accepted();
        let pool = context.pool().ok_or("there is no pool")?;
        let drop_b = DeleteFileAction { what: "b".to_owned() };
        let dropped = drop_b.call_with(&pool, context).await?;
        Ok(format!("{answer:?}, {dropped}"))
    }
    let pool = ToolPool::builder().tool::<AskTwiceAction>().tool::<DeleteFileAction>();
    let pool = pool.build().expect("a pool");
    for version in VERSIONS {
        let client = accepting(&pool, version, "Drop b?").await;
        let result = client.call("ask_twice", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "Some(false), b: Some(true)", "{version:?}");
    }
}

#[tokio::test]
async fn an_answer_is_not_reused_for_a_changed_nested_call() {
    /// Call a tool with different arguments in each run.
    #[tool(register = false)]
    async fn call_changed(runs: &AtomicUsize, context: &ToolContext) -> String {
        let file = if runs.fetch_add(1, Ordering::SeqCst) == 0 { "a" } else { "b" };
        let call = ToolCall::new("delete_file", json!({ "what": file }).to_string());
        context.call(call).await.observation().to_text()
    }
    let pool = ToolPool::builder().tool::<CallChangedAction>().tool::<DeleteFileAction>();
    let pool = pool.state(AtomicUsize::new(0)).build().expect("a pool");
    let client = accepting(&pool, ProtocolVersion::V2026_07_28, "Drop a?").await;
    let result = client.call("call_changed", json!({})).await.expect("a result");
    assert_eq!(result.to_text(), "b: Some(false)");
    let questions = client.questions();
    let messages: Vec<&str> = questions.iter().map(Question::message).collect();
    assert_eq!(messages, ["Drop a?", "Drop b?"]);
}

#[tokio::test]
async fn a_task_of_the_tool_asks() {
    /// Ask from another task.
    #[tool(register = false)]
    async fn ask_in_task(context: &ToolContext) -> Result<String, ToolError> {
        let context = context.clone();
        let task = tokio::spawn(async move { context.ask::<bool>("sure", "Sure?").await });
        Ok(format!("{:?}", task.await.expect("no panic")?))
    }
    for version in VERSIONS {
        let client = answering(&pool_of::<AskInTaskAction>(), version, yes()).await;
        let result = client.call("ask_in_task", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "Accepted(true)", "{version:?}");
    }
}

#[tokio::test]
async fn a_panic_in_a_destructor_does_not_lose_the_question() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "boom");
        }
    }
    /// Ask while holding a value that panics when it is dropped.
    #[tool(register = false)]
    async fn ask_with_guard(context: &ToolContext) -> Result<String, ToolError> {
        let guard = PanicsOnDrop;
        let answer = context.ask::<bool>("sure", "Sure?").await?;
        std::mem::forget(guard);
        Ok(format!("{answer:?}"))
    }
    for version in VERSIONS {
        let client = answering(&pool_of::<AskWithGuardAction>(), version, yes()).await;
        let result = client.call("ask_with_guard", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "Accepted(true)", "{version:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_stop_waiting_for_an_answer() {
    /// Ask, with a short time limit.
    #[tool(register = false)]
    async fn ask_briefly(context: &ToolContext) -> Result<String, ToolError> {
        let ask = context.ask::<bool>("sure", "Sure?");
        match tokio::time::timeout(Duration::from_secs(1), ask).await {
            Ok(answer) => Ok(format!("{:?}", answer?)),
            Err(_) => Ok("timed out".to_owned()),
        }
    }
    let pool = pool_of::<AskBrieflyAction>();
    let slow = |_| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        yes()
    };
    // In 2026-07-28 the time of a question does not count towards the limit of the call.
    let stateless = TestClient::builder(&pool).answer(slow).connect().await;
    let result = stateless.call("ask_briefly", json!({})).await.expect("a result");
    assert_eq!(result.to_text(), "Accepted(true)");
    let stateful = TestClient::builder(&pool)
        .protocol_version(ProtocolVersion::V2025_11_25)
        .answer(slow)
        .connect()
        .await;
    let result = stateful.call("ask_briefly", json!({})).await.expect("a result");
    assert_eq!(result.to_text(), "timed out");
    stateful.notification("notifications/cancelled").await;
    stateful.close().await;
}

#[tokio::test]
async fn notifications_around_a_question_arrive() {
    /// Report progress before and after a question.
    #[tool(register = false)]
    async fn ask_with_progress(context: &ToolContext) -> Result<String, ToolError> {
        context.progress(1, 2, "before");
        let answer = context.ask::<bool>("sure", "Sure?").await?;
        context.progress(2, 2, "after");
        Ok(format!("{answer:?}"))
    }
    for version in VERSIONS {
        let client = answering(&pool_of::<AskWithProgressAction>(), version, yes()).await;
        let record = client.call("ask_with_progress", json!({})).recorded().await;
        assert_eq!(record.result.expect("a result").to_text(), "Accepted(true)");
        let amounts: Vec<_> = record.progress.iter().map(|report| report.done).collect();
        assert_eq!(amounts, [1.0, 2.0]);
        // Each round is a request with its own progress.
        let received = client.notifications();
        let tokens: Vec<_> =
            received.iter().map(|received| &received.params["progressToken"]).collect();
        assert_eq!(tokens[0] == tokens[1], version == ProtocolVersion::V2025_11_25);
    }
}

#[tokio::test]
async fn an_invalid_form_is_an_error_of_the_tool() {
    #[derive(serde::Deserialize, schemars::JsonSchema, Form)]
    struct Deep {
        /// A nested struct, which is not a form.
        #[allow(dead_code)]
        #[schemars(with = "Vec<Vec<String>>")]
        inner: Vec<Vec<String>>,
    }
    /// Ask for a form with a nested field.
    #[tool(register = false)]
    async fn deep(context: &ToolContext) -> Result<String, ToolError> {
        context.ask::<Deep>("deep", "Everything?").await?;
        Ok(String::new())
    }
    for version in VERSIONS {
        let client = answering(&pool_of::<DeepAction>(), version, yes()).await;
        let result = client.call("deep", json!({})).await.expect("a result");
        assert!(result.is_error());
        assert!(result.to_text().contains("`inner`"), "{}", result.to_text());
        assert!(client.questions().is_empty());
        assert_eq!(calls(&client), 1);
    }
}

#[tokio::test]
async fn a_client_that_disconnects_during_a_question_ends_the_call() {
    tokio::time::pause();
    let client = TestClient::builder(&pool_of::<AskToContinueAction>())
        .protocol_version(ProtocolVersion::V2025_11_25)
        .answer(|_| std::future::pending())
        .answer_timeout(Duration::from_secs(60))
        .connect()
        .await;
    let call = client.call("ask_to_continue", json!({})).start();
    while client.questions().is_empty() {
        tokio::task::yield_now().await;
    }
    client.close().await;
    assert!(call.await.expect("a result").is_error());
}

/// A toolset value that counts interruptions.
#[derive(Default)]
struct Shell(AtomicUsize);

/// A shell that asks first.
#[toolset(register = false)]
impl Shell {
    /// Run a confirmed action.
    #[tool]
    async fn run(&self, context: &ToolContext) -> Result<String, ToolError> {
        let sure = context.ask::<bool>("sure", "Sure?").await?;
        Ok(format!("{sure:?}, stopped {}", self.0.load(Ordering::SeqCst)))
    }
}

impl Toolset for Shell {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::default())
    }

    fn interrupt(&self, _: &ToolContext) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn each_run_that_a_question_ends_is_interrupted() {
    for (version, expected) in
        [(ProtocolVersion::V2026_07_28, "stopped 1"), (ProtocolVersion::V2025_11_25, "stopped 0")]
    {
        let pool = ToolPool::builder().toolset::<Shell>(()).build().await.expect("a pool");
        let client = answering(&pool, version, yes()).await;
        let result = client.call("shell.run", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), format!("Accepted(true), {expected}"));
    }
}
