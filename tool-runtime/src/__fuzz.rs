//! What the fuzz targets look into. Only there with `--cfg fuzzing`, and part of no promise.

use crate::action::Action;
use crate::arguments::Arguments;
use crate::input::InputModel;
use crate::issue::Issue;

#[cfg(feature = "mcp-server")]
pub use crate::mcp::fuzz::{Fate, fates, serve};

/// What walking the schema finds wrong; `None` if the arguments are no JSON.
pub fn issues<A: Action>(arguments: Arguments<'_>) -> Option<Vec<Issue>> {
    InputModel::new(&A::definition(), &A::settings()).issues(arguments).ok()
}
