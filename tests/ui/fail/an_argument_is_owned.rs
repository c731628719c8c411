use tool_runtime::prelude::*;

use std::borrow::Cow;

/// Go.
#[tool]
async fn go(
    /// Where to.
    _place: &str,
    /// Over what.
    _stops: &[String],
    /// By what.
    _by: Option<&str>,
    /// How.
    _how: Cow<'_, str>,
    /// For whom.
    _whom: &'static str,
) {
}

fn main() {}
