//! Several values of one toolset: by prefix, session or principal; and their parameters.

use super::support::{call, class, in_time, text};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;
use tool_runtime::Principal;
use tool_runtime::pool::{PoolProblem, Registry, Source, ToolSpec};
use tool_runtime::prelude::*;
use tool_runtime::testing::TestClient;
use tool_runtime::toolset::SharedBy;

/// Events of all values.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) made: AtomicUsize,
    pub(super) closed: AtomicUsize,
    is_closed: Notify,
}

impl Ledger {
    fn counts(&self) -> (usize, usize) {
        (self.made.load(Ordering::SeqCst), self.closed.load(Ordering::SeqCst))
    }

    /// Waits until a number of values are closed.
    pub(super) async fn closed(&self, count: usize) {
        in_time(async {
            loop {
                let notified = self.is_closed.notified();
                if self.closed.load(Ordering::SeqCst) >= count {
                    return;
                }
                notified.await;
            }
        })
        .await;
    }
}

/// A counter of calls that records its creation and its end.
pub(super) struct Tab<const BY: u8> {
    calls: AtomicUsize,
    ledger: Arc<Ledger>,
}

impl<const BY: u8> Tab<BY> {
    async fn open(context: &ToolContext) -> Result<Self, ToolError> {
        let ledger = context.get::<Arc<Ledger>>().ok_or_else(|| ToolError::user("no ledger"))?;
        ledger.made.fetch_add(1, Ordering::SeqCst);
        // Other calls request the same value meanwhile.
        tokio::task::yield_now().await;
        Ok(Self { calls: AtomicUsize::new(0), ledger: Arc::clone(ledger) })
    }

    fn count(&self) -> usize {
        self.calls.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn end(&self) {
        self.ledger.closed.fetch_add(1, Ordering::SeqCst);
        self.ledger.is_closed.notify_waiters();
    }
}

pub(super) type Shared = Tab<0>;
pub(super) type PerSession = Tab<1>;
pub(super) type PerPrincipal = Tab<2>;

#[toolset(register = false, prefix = "shared")]
impl Tab<0> {
    /// Count this call.
    #[tool(action = CountShared)]
    async fn call(&self) -> usize {
        self.count()
    }
}

#[toolset(register = false, prefix = "tab")]
impl Tab<1> {
    /// Count this call.
    #[tool(action = CountPerSession)]
    async fn call(&self) -> usize {
        self.count()
    }
}

#[toolset(register = false, prefix = "mine")]
impl Tab<2> {
    /// Count this call.
    #[tool(action = CountPerPrincipal)]
    async fn call(&self) -> usize {
        self.count()
    }
}

macro_rules! impl_toolset {
    ($($toolset:ty: $shared_by:ident),*) => {$(
        impl Toolset for $toolset {
            type Params = ();
            const SHARED_BY: SharedBy = SharedBy::$shared_by;

            async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
                Self::open(context).await
            }

            async fn close(&self) {
                self.end();
            }
        }
    )*};
}

impl_toolset!(Tab<0>: Pool, Tab<1>: Session, Tab<2>: Principal);

async fn pool_of<T: Toolset<Params = ()>>() -> (ToolPool, Arc<Ledger>) {
    let ledger = Arc::new(Ledger::default());
    let builder = ToolPool::builder().state(Arc::clone(&ledger)).toolset::<T>(());
    (builder.build().await.expect("a pool"), ledger)
}

#[tokio::test]
async fn tools_over_an_existing_value_share_it_and_close_it_once() {
    let ledger = Arc::<Ledger>::default();
    let value: Shared = Tab { calls: AtomicUsize::new(40), ledger: Arc::clone(&ledger) };
    let tools = Tool::of_toolset(Some("desk"), value);
    let pool = ToolPool::builder().add_from(&Source::Custom, tools).build().unwrap();
    assert_eq!(text(&pool, "desk.call", "").await, "41");
    assert_eq!(text(&pool, "desk.call", "").await, "42");
    pool.close().await;
    drop(pool);
    assert_eq!(ledger.counts(), (0, 1));
}

#[tokio::test]
async fn a_toolset_is_created_with_state_given_later() {
    let builder = ToolPool::builder().toolset::<Shared>(()).state(Arc::new(Ledger::default()));
    let pool = builder.build().await.expect("a pool");
    assert_eq!(text(&pool, "shared.call", "").await, "1");
}

#[tokio::test]
async fn two_values_of_one_type_have_separate_prefixes() {
    let builder = || ToolPool::builder().state(Arc::new(Ledger::default()));
    let builder_with = builder().toolset_as::<Shared>("left", ());
    let pool = builder_with.toolset_as::<Shared>("right", ()).build().await.expect("a pool");
    let names: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["left.call", "right.call"]);
    assert_eq!(text(&pool, "left.call", "").await, "1");
    assert_eq!(text(&pool, "left.call", "").await, "2");
    assert_eq!(text(&pool, "right.call", "").await, "1");
    let rejected = pool.call_json("right.call", r#"{"x":1}"#).await;
    assert!(rejected.contains("invalid arguments for `right.call`"), "{rejected}");

    let twice = builder().toolset::<Shared>(()).toolset::<Shared>(());
    let error = twice.build().await.expect_err("a collision");
    assert!(matches!(error.problems(), [PoolProblem::DuplicateToolset { .. }]), "{error}");
    assert!(error.to_string().contains(".toolset_as::<T>(\"prefix\", params)"), "{error}");
}

#[tokio::test]
async fn a_specification_gives_a_prefix() {
    let mut registry = Registry::new();
    registry.toolset::<Shared>().expect("a new name");
    let ping = Tool::builder("ping", "Answer.").handler(|| async { "pong" });
    registry.tool(ping).expect("a new name");
    let specs =
        r#"[{"name":"shared","prefix":"left"},{"name":"shared.call","prefix":"right"},"shared.*"]"#;
    let specs: Vec<ToolSpec> = serde_json::from_str(specs).expect("specifications");
    assert_eq!(serde_json::to_value(&specs[0]).unwrap(), json!({"name":"shared","prefix":"left"}));
    let builder = ToolPool::builder().state(Arc::new(Ledger::default()));
    let pool = builder.specs(&registry, &specs).build().await.expect("a pool");
    for name in ["left.call", "right.call", "shared.call"] {
        assert_eq!(text(&pool, name, "").await, "1", "{name}");
    }
    let error = registry.resolve(&[ToolSpec::new("ping").prefix("left")]).await.unwrap_err();
    assert!(error.to_string().contains("is not a toolset and takes no `prefix`"), "{error}");
}

#[allow(dead_code)]
mod served {
    use super::{Ledger, Shared};
    use std::sync::Arc;

    tool_runtime::main!(
        pool = |pool| pool.toolset_as::<Shared>("left", ()),
        state = Arc::new(Ledger::default()),
        pool = |pool| pool.allow(["left.*"]),
    );
}

#[tokio::test]
async fn main_adds_a_toolset_with_a_prefix() {
    let pool = served::pool().await.expect("a pool");
    assert_eq!(text(&pool, "left.call", "").await, "1");
}

#[tokio::test]
async fn a_factory_uses_the_pools_state() {
    let mut registry = Registry::new();
    registry
        .factory("greet", |(): (), context: ToolContext| async move {
            let greeting = context.get::<String>().ok_or(ToolError::user("no greeting"))?.clone();
            let greet = move || std::future::ready(greeting.clone());
            Ok::<_, ToolError>(Tool::builder("greet", "Greet.").handler(greet))
        })
        .expect("a new name");
    let builder = ToolPool::builder().state("Good day".to_owned());
    let pool = builder.specs(&registry, &[ToolSpec::new("greet")]).build().await.expect("a pool");
    assert_eq!(text(&pool, "greet", "").await, "Good day");
    let without = ToolPool::builder().specs(&registry, &[ToolSpec::new("greet")]).build().await;
    assert!(without.unwrap_err().to_string().contains("`greet`: no greeting"));
}

#[tokio::test]
async fn a_session_has_a_value_from_its_first_call_to_its_end() {
    let (pool, ledger) = pool_of::<PerSession>().await;
    let (one, other) = (pool.session(), pool.session());
    assert_eq!(ledger.counts(), (0, 0), "no call was made");
    let calls = (0..4).map(|_| call(one.pool(), "tab.call", ""));
    futures_util::future::join_all(calls).await;
    assert_eq!(ledger.counts(), (1, 0), "one value for calls that come at once");
    assert_eq!(text(one.pool(), "tab.call", "").await, "5");
    assert_eq!(text(other.pool(), "tab.call", "").await, "1");
    one.close().await;
    assert_eq!(ledger.counts(), (2, 1), "closed when `close` returns");
    let context = other.pool().context();
    drop(other);
    ledger.closed(2).await;
    let late = pool.call_with(ToolCall::new("tab.call", ""), &context).await;
    assert!(late.observation().to_text().contains("has ended"), "{late:?}");
    pool.close().await;
    assert_eq!(ledger.counts(), (2, 2));
}

#[tokio::test]
async fn closing_a_pool_closes_the_values_of_open_sessions() {
    let (pool, ledger) = pool_of::<PerSession>().await;
    let session = pool.session();
    text(session.pool(), "tab.call", "").await;
    pool.close().await;
    assert_eq!(ledger.counts(), (1, 1));
    session.close().await;
    assert_eq!(ledger.counts(), (1, 1), "once");
}

#[tokio::test]
async fn closing_a_pool_waits_for_values_of_just_ended_sessions() {
    let (pool, ledger) = pool_of::<PerSession>().await;
    let session = pool.session();
    text(session.pool(), "tab.call", "").await;
    drop(session);
    assert_eq!(ledger.counts(), (1, 0), "a separate task closes it");
    pool.close().await;
    assert_eq!(ledger.counts(), (1, 1));
}

#[tokio::test]
async fn a_call_without_a_session_is_rejected() {
    let (pool, ledger) = pool_of::<PerSession>().await;
    let result = pool.call(ToolCall::new("tab.call", "")).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    let received = result.observation().to_text();
    assert!(received.contains("the tools of `tab` need a session"), "{received}");
    assert_eq!(ledger.counts(), (0, 0));
}

#[tokio::test]
async fn sessions_of_a_principal_share_its_value() {
    let (pool, ledger) = pool_of::<PerPrincipal>().await;
    let context_of = |name: &str| pool.context().with_principal(Principal::new(name));
    for (context, count) in
        [(context_of("ada"), "1"), (context_of("ada"), "2"), (context_of("grace"), "1")]
    {
        let result = pool.call_with(ToolCall::new("mine.call", ""), &context).await;
        assert_eq!(result.observation().to_text(), count);
    }
    let anonymous = pool.call(ToolCall::new("mine.call", "")).await;
    assert_eq!(class(&anonymous), ErrorClass::Denied);
    let session = pool.session();
    assert_eq!(text(session.pool(), "mine.call", "").await, "1");
    session.close().await;
    assert_eq!(ledger.counts(), (3, 1));
    pool.close().await;
    assert_eq!(ledger.counts(), (3, 3));
}

#[tokio::test]
async fn a_client_over_stdio_is_a_session() {
    let (pool, ledger) = pool_of::<PerSession>().await;
    for client in [TestClient::stateless(&pool).await, TestClient::stateful(&pool).await] {
        for count in ["1", "2"] {
            let result = client.call("tab.call", json!({})).await.expect("an answer");
            assert_eq!(result.to_text(), count);
        }
        let before = ledger.closed.load(Ordering::SeqCst);
        client.close().await;
        ledger.closed(before + 1).await;
    }
    assert_eq!(ledger.counts(), (2, 2));
}
