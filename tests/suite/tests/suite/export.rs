//! Tools in the formats of model APIs.

mod command_line;
mod cut_answers;
pub(super) mod generate;
mod history;
pub(super) mod instances;
mod limits;
mod malformed_streams;
mod names;
mod recordings;
mod results;
mod round_trip;
mod schemas;
mod sdk;
mod streams;
mod tokens;

use suite::process::Ended;

/// The JSON list that a script printed after the log of its libraries.
fn printed(ended: &Ended) -> &str {
    ended.output.lines().rfind(|line| line.starts_with('[')).expect("a list")
}
