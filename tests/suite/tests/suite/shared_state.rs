//! State in an `Arc` that the program shares with its tools.

use super::support::text;
use std::sync::{Arc, Mutex};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::pool::PoolProblem;
use tool_runtime::prelude::*;

struct Db(&'static str);

/// Name the database.
#[tool(register = false)]
async fn by_value(db: &Db) -> &'static str {
    db.0
}

/// Name the shared database.
#[tool(register = false)]
async fn by_arc(db: &Arc<Db>) -> String {
    format!("shared {}", db.0)
}

/// Count up.
#[tool(register = false)]
async fn count(counter: &Mutex<i64>) -> i64 {
    let mut counter = counter.lock().unwrap();
    *counter += 1;
    *counter
}

/// Name the database of a prompt.
#[prompt(register = false)]
async fn database(db: &Db) -> &'static str {
    db.0
}

struct Reader;

#[toolset(register = false)]
impl Reader {
    /// Name the database.
    #[tool]
    async fn read(&self, db: &Db) -> &'static str {
        db.0
    }
}

impl Toolset for Reader {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

#[tokio::test]
async fn a_parameter_borrows_from_an_arc() {
    let counter = Arc::new(Mutex::new(40_i64));
    let pool = ToolPool::builder()
        .tool::<ByValueAction>()
        .tool::<ByArcAction>()
        .tool::<CountAction>()
        .prompt::<DatabasePrompt>()
        .toolset::<Reader>(())
        .state(Arc::new(Db("books")))
        .state(Arc::clone(&counter))
        .build()
        .await
        .expect("the state is there");
    assert_eq!(text(&pool, "by_value", "").await, "books");
    assert_eq!(text(&pool, "by_arc", "").await, "shared books");
    assert_eq!(text(&pool, "reader.read", "").await, "books");
    assert_eq!(text(&pool, "count", "").await, "41");
    assert_eq!(*counter.lock().unwrap(), 41, "one and the same value");
    assert_eq!(pool.context().get::<Db>().map(|db| db.0), Some("books"));
}

#[tokio::test]
async fn a_hook_provides_state_in_an_arc() {
    let hook = Hook::before("*", |_: HookCall| async {
        Before::proceed().provide(Arc::new(Db("of the hook")))
    });
    let hook = hook.provides::<Arc<Db>>();
    let pool = ToolPool::builder().tool::<ByValueAction>().hook(hook).build().expect("a pool");
    assert_eq!(text(&pool, "by_value", "").await, "of the hook");
}

#[test]
fn a_value_and_an_arc_of_its_type_are_rejected() {
    let arc = || Arc::new(Db("shared"));
    for builder in [
        ToolPool::builder().state(Db("own")).state(arc()),
        ToolPool::builder().state(arc()).state(Db("own")),
    ] {
        let error = builder.build().expect_err("two databases");
        assert!(matches!(error.problems(), [PoolProblem::AmbiguousState { .. }]), "{error}");
        let text = error.to_string();
        assert!(text.contains("as a `suite::shared_state::Db` and as an `Arc` of it"), "{text}");
    }
}
