use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) {}
}

#[toolset]
impl Clock {
    /// Set the time.
    #[tool]
    async fn set(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
