use tool_runtime::prelude::*;

struct Clock;

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool(register = false, crate = ::tool_runtime)]
    async fn time(&self) -> i64 {
        0
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
