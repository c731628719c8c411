use tool_runtime::prelude::*;

async fn load() -> i64 {
    1
}

/// Add numbers.
#[tool]
async fn add(
    /// First.
    a: i64,
    /// Second.
    #[arg(default = a + 1)]
    b: i64,
    /// Third.
    #[arg(default = "1".parse::<i64>()?)]
    c: i64,
    /// Fourth.
    #[arg(default = load().await)]
    d: i64,
    /// Fifth.
    #[arg(default = return)]
    e: i64,
    /// Sixth.
    #[arg(example = a)]
    f: i64,
) -> i64 {
    a + b + c + d + e + f
}

fn main() {}
