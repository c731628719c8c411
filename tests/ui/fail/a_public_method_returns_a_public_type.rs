use tool_runtime::prelude::*;

struct Clock;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Time {
    hour: u8,
}

#[toolset]
impl Clock {
    /// Tell the time.
    #[tool]
    pub async fn time(&self) -> Time {
        Time { hour: 12 }
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
