use tool_runtime::prelude::*;
use std::fmt::Display;

/// Go.
#[tool]
async fn go(_log: &impl Display, _store: &dyn Display, _sent: &(dyn Display + Send), _any: &_) {}

fn main() {}
