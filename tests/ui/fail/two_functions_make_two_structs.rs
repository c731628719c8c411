use tool_runtime::prelude::*;

/// Tell the time.
#[tool]
fn tell_time() -> i64 {
    12
}

/// Tell the time again.
#[tool]
#[allow(non_snake_case)]
fn tellTime() -> i64 {
    12
}

struct StopAction;

/// Stop.
#[tool]
fn stop() {}

/// Stop another clock.
#[tool(action = StopOtherAction)]
fn stop_other() {}

/// Stop all clocks.
#[tool(action = StopOtherAction)]
fn stop_all() {}

mod elsewhere {
    use tool_runtime::prelude::*;

    /// Tell the time elsewhere.
    #[tool(name = "elsewhere.tell_time")]
    fn tell_time() -> i64 {
        12
    }
}

fn main() {}
