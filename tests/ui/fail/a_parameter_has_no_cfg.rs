use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// Where to.
    #[cfg(windows)]
    _drive: char,
    /// By what.
    #[cfg_attr(windows, allow(unused))]
    _by: String,
) {
}

fn main() {}
