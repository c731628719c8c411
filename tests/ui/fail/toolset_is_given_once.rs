use tool_runtime::prelude::*;

struct Clock;

#[toolset(read_only)]
#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn time(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
