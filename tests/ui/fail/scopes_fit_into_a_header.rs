use tool_runtime::prelude::*;

/// Answer at once.
#[tool(scope = "notes write")]
async fn ping() {}

struct Clock;

#[toolset(register = false, scope("clock", ""))]
impl Clock {
    /// Tell the time.
    #[tool(scopes("clock:read"))]
    async fn now(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
