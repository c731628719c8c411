//! A server with a toolset value that prints when it is closed.

use std::time::Duration;
use tool_runtime::prelude::*;
use tool_runtime::toolset::SharedBy;

struct Shop;

impl Toolset for Shop {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }

    async fn close(&self) {
        eprintln!("closed");
    }
}

#[toolset]
impl Shop {
    /// Never end.
    #[tool]
    async fn wait(&self) {
        eprintln!("waiting");
        std::future::pending::<()>().await;
    }

    /// Report progress forever.
    #[tool(progress)]
    async fn count(&self, context: &ToolContext) {
        for count in 0_u32.. {
            context.progress(count, None, "");
            tokio::task::yield_now().await;
        }
    }

    /// Fail with a message for the caller.
    #[tool]
    async fn read(&self) -> std::io::Result<String> {
        std::fs::read_to_string("/no/such/file")
    }

    /// Ask the user; report why the question was not answered.
    #[tool]
    async fn ask(&self, context: &ToolContext) -> Result<String, ToolError> {
        match context.ask::<bool>("sure", "Sure?").await {
            Ok(_) => Ok("answered".into()),
            Err(error) => Ok(error.to_string()),
        }
    }
}

/// A value of a session, which takes some time to close.
struct Cart;

impl Toolset for Cart {
    type Params = ();
    const SHARED_BY: SharedBy = SharedBy::Session;

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }

    async fn close(&self) {
        tokio::time::sleep(Duration::from_millis(300)).await;
        eprintln!("cleared");
    }
}

#[toolset]
impl Cart {
    /// Answer at once.
    #[tool]
    async fn ping(&self) {}
}

tool_runtime::main!();
