use tool_runtime::prelude::*;

trait Clock {
    /// Tell the time.
    #[tool]
    fn time() -> i64;
}

fn main() {}
