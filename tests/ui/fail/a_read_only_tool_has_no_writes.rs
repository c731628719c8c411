use tool_runtime::prelude::*;

struct Clock;

#[toolset(read_only)]
impl Clock {
    /// Set the time.
    #[tool(writes("clock:"))]
    async fn set(&self) {}

    /// Tell the time.
    #[tool(reads("clock:"), writes())]
    async fn tell(&self) {}
}

/// Set the time.
#[tool(read_only, writes("clock:"))]
async fn set() {}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
