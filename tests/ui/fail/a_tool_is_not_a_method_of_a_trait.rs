use tool_runtime::prelude::*;

trait Clock {
    fn time(&self) -> i64;
}

struct Sundial;

impl Clock for Sundial {
    /// Tell the time.
    #[tool]
    fn time(&self) -> i64 {
        0
    }
}

fn main() {}
