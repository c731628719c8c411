use tool_runtime::prelude::*;

/// Add.
#[tool]
async fn add(
    /// First addend.
    a: i64
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

struct Clock;

#[toolset]
impl Clock {
    /// Wait.
    #[tool]
    async fn wait(
        &self,
        /// The number of seconds.
        _seconds: u64;
        /// The reason.
        _what: String,
    ) {
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
