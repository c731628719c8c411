use tool_runtime::prelude::*;

struct Clock;

#[toolset(read_only, destructive)]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) {}

    /// Set the time.
    #[tool(destructive)]
    async fn set(&self) {}

    /// Stop the clock.
    #[tool(destructive, read_only)]
    async fn stop(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
