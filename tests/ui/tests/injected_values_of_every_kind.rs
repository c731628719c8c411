//! Injected parameters: accepted reference types and their lifetimes.

use std::fmt::Display;
use std::sync::{Arc, Mutex, RwLock};
use tool_runtime::ToolContext as Context;
use tool_runtime::prelude::*;

type Ctx = Context;
type Shared<T> = Arc<RwLock<T>>;

struct Store<T> {
    items: Mutex<Vec<T>>,
}

/// A type whose name ends like that of the context.
mod other {
    pub struct NoToolContext(pub i64);
}

/// Use the context by any name.
#[tool]
async fn contexts(a: &Ctx, b: &Context, c: &tool_runtime::ToolContext) -> bool {
    tokio::task::yield_now().await;
    a.is_cancelled() || b.is_cancelled() || c.is_cancelled()
}

/// Borrow across an await.
#[tool]
async fn borrow(
    /// The item to keep.
    item: String,
    store: &Store<String>,
    shared: &Shared<i64>,
    name: &Arc<dyn Display + Send + Sync>,
    number: &other::NoToolContext,
    text: &&'static str,
) -> String {
    let items = &store.items;
    tokio::task::yield_now().await;
    items.lock().unwrap().push(item);
    *shared.write().unwrap() += 1;
    let count = items.lock().unwrap().len();
    format!("{count} {} {name} {} {text}", shared.read().unwrap(), number.0)
}

/// Borrow on the blocking pool.
#[tool]
fn borrow_elsewhere(store: &Store<String>, context: &ToolContext) -> usize {
    assert!(context.get::<Store<String>>().is_some());
    store.items.lock().unwrap().len()
}

/// Borrow on the runtime's thread.
#[tool(inline)]
fn borrow_here(_: &ToolContext, Store { items }: &Store<String>) -> usize {
    items.lock().unwrap().len()
}

#[tokio::test]
async fn compiles_and_runs() {
    let pool = ToolPool::builder()
        .linked()
        .state(Store::<String> { items: Mutex::default() })
        .state(Shared::<i64>::default())
        .state::<Arc<dyn Display + Send + Sync>>(Arc::new("name"))
        .state(other::NoToolContext(7))
        .state("text")
        .build()
        .unwrap();
    assert!(pool.call_json("contexts", "").await.contains("false"));
    let text = pool.call_json("borrow", r#"{"item":"a"}"#).await;
    assert!(text.contains("1 1 name 7 text"), "{text}");
    assert!(pool.call_json("borrow_elsewhere", "").await.contains("\"1\""));
    assert!(pool.call_json("borrow_here", "").await.contains("\"1\""));
    let direct = borrow_here(&pool.context(), &Store { items: Mutex::default() });
    assert_eq!(direct, 0);
}
