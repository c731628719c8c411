use tool_runtime::prelude::*;

/// Answer at once.
#[tool(title = "", tags("net", " "))]
async fn ping() {}

/// Say hello.
#[prompt(title = " ")]
async fn hello() -> &'static str {
    "Hello!"
}

struct Clock;

#[toolset(register = false, tags(""))]
impl Clock {
    /// Tell the time.
    #[tool]
    async fn now(&self) {}
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
