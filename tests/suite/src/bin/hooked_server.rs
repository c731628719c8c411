//! A server whose hooks rewrite, deny, provide and replace.

use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

struct User(String);

/// Greet the logged-in user.
#[tool(register = false)]
async fn greet(
    /// The greeting.
    greeting: String,
    user: &User,
) -> String {
    format!("{greeting}, {}!", user.0)
}

/// Remove everything.
#[tool(register = false)]
async fn remove() {
    eprintln!("removed");
}

/// Tell a secret.
#[tool(register = false)]
async fn tell() -> &'static str {
    "hunter2"
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ToolPool::builder()
        .tool::<GreetAction>()
        .tool::<RemoveAction>()
        .tool::<TellAction>()
        .hook(Hook::before("greet", log_in).provides::<User>())
        .hook(Hook::before("remove", |_: HookCall| async { Before::deny("ask somebody else") }))
        .hook(Hook::after("*", redact))
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(McpServer::new(pool, "hooked", "1").serve_stdio())?)
}

async fn log_in(call: HookCall) -> Before {
    let user = User(format!("number {}", call.call_id().unwrap_or("?")));
    Before::rewrite(call.arguments().replace("Hi", "Good day")).provide(user)
}

async fn redact(_: HookCall, after: AfterCall) -> After {
    if after.observation().to_text().contains("hunter2") {
        return After::replace(Observation::text("(redacted)"));
    }
    After::keep()
}
