//! Attributes that end with a comma or are empty.

use tool_runtime::prelude::*;

/// Add.
// It would remove the commas.
#[rustfmt::skip]
#[tool(read_only, tags("math", "numbers",),)]
async fn add(
    /// First addend.
    #[arg(range = 1..=5,)]
    a: i64,
    /// Second addend.
    #[arg()]
    #[arg(default = 1,)]
    #[arg(example = 2)]
    b: i64,
) -> i64 {
    a + b
}

/// Rest.
#[tool()]
async fn rest() {}

struct Clock;

// It would remove the commas.
#[rustfmt::skip]
#[toolset()]
impl Clock {
    /// Tell the time.
    #[tool(read_only,)]
    async fn time(&self, #[arg(undocumented,)] zone: String) -> String {
        zone
    }
}

impl Toolset for Clock {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

#[test]
fn compiles_and_runs() {
    let definition = AddAction::definition();
    let argument = |name| definition.argument(name).expect("an argument").clone();
    assert_eq!(argument("a")["maximum"], 5);
    assert_eq!(argument("b")["default"], 1);
    assert_eq!(argument("b")["examples"], serde_json::json!([2]));
    assert_eq!(RestAction::NAME, "rest");
    assert_eq!(ClockTimeAction::NAME, "clock.time");
}
