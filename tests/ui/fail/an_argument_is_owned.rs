use tool_runtime::prelude::*;

use std::borrow::Cow;

/// Go.
#[tool]
async fn go(
    /// The destination.
    _place: &str,
    /// The stops on the way.
    _stops: &[String],
    /// The vehicle.
    _by: Option<&str>,
    /// The speed.
    _how: Cow<'_, str>,
    /// The name of the person.
    _whom: &'static str,
) {
}

fn main() {}
