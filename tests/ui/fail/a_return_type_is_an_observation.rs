use tool_runtime::prelude::*;

struct Point;

/// Go.
#[tool]
async fn go() -> Point {
    Point
}

type Fallible<T> = Result<T, String>;

/// Go.
#[tool]
async fn go_home() -> Fallible<Vec<Point>> {
    Ok(vec![])
}

fn main() {}
