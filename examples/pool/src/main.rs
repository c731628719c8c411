//! A pool for an agent: tools from several sources, rules around them, and concurrent calls.
//!
//! ```text
//! cargo run -p pool
//! ```

mod notebook;

use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::pool::{PoolConfig, Registry};
use tool_runtime::prelude::*;

/// Add two integers.
#[tool(read_only, idempotent)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

/// The caller. A hook provides it; a model cannot set it.
struct Caller(&'static str);

/// Greet the caller.
#[tool(read_only)]
async fn greet(caller: &Caller) -> String {
    format!("Hello, {}!", caller.0)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Shout {
    /// The text to shout.
    text: String,
}

/// Builds the pool: linked tools, a toolset that a file configures, a closure, and hooks around
/// them.
async fn assembled() -> Result<ToolPool, Box<dyn std::error::Error>> {
    let config = PoolConfig::from_file(concat!(env!("CARGO_MANIFEST_DIR"), "/tools.toml"))?;
    let shout = Tool::builder("shout", "Say it louder.")
        .read_only(true)
        .handler(|shout: Shout| async move { shout.text.to_uppercase() });
    let provide_caller =
        Hook::before("greet", |_: HookCall| async { Before::proceed().provide(Caller("Ada")) })
            .provides::<Caller>();
    let careful = Hook::before("notebook.write", |call: HookCall| async move {
        Before::ask(format!("let the model do {}?", call.arguments()))
    });
    let yes = |request: ApprovalRequest| async move {
        println!("asked: {}", request.question());
        Approval::approved()
    };
    let pool = ToolPool::builder()
        .linked()
        .config(&Registry::linked(), config)
        .add(shout)
        .hook(provide_caller)
        .hook(careful)
        .approver(yes)
        .build()
        .await?;
    Ok(pool)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = assembled().await?;

    // Reads run concurrently; the read after the write waits for the write.
    let calls = [
        ("add", r#"{"a": 2, "b": 40}"#),
        ("greet", "{}"),
        ("notebook.read", r#"{"number": 0}"#),
        ("notebook.write", r#"{"text": "Buy a map."}"#),
        ("notebook.read", r#"{"number": 1}"#),
        ("shout", r#"{"txt": "hello"}"#),
    ];
    let calls = calls.map(|(name, arguments)| ToolCall::new(name, arguments));
    for result in pool.call_all(calls).await {
        let mark = if result.is_error() { "!" } else { " " };
        println!("{mark} {}: {}", result.name(), result.observation().to_text());
    }

    // A skill sees only the tools that it needs, and so does every agent that it starts.
    let skill = pool.restrict(["notebook.*"])?;
    let inner = pool.restrict(["*.read", "add"])?;
    let denied = pool.call(ToolCall::new("add", r#"{"a": 1, "b": 1}"#)).await;
    println!("! add: {}", denied.observation().to_text());
    println!("\n{}", pool.report());
    drop((inner, skill));

    pool.close().await;
    Ok(())
}
