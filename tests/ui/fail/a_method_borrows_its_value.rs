use std::sync::Arc;
use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    /// Set the time.
    #[tool]
    async fn set(&mut self) {}

    /// Stop the clock.
    #[tool]
    async fn stop(self) {}

    /// Share the clock.
    #[tool]
    async fn share(self: Arc<Self>) {}

    /// Keep the clock.
    #[tool]
    async fn keep(&'static self) {}

    /// Make a clock.
    #[tool]
    async fn make() {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
