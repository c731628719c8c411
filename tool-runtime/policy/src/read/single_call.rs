//! Reads a call on the command line.

use super::case;
use super::document::read_as;
use super::problem::PolicyError;
use super::syntax::{Format, Text};
use crate::case::SampleCall;

/// Reads a call that is a document of its own, in YAML if the feature is on, else JSON.
pub(crate) fn single_call(text: &str) -> Result<SampleCall, PolicyError> {
    let format = if cfg!(feature = "yaml") { Format::Yaml } else { Format::Json };
    let mut problems = Vec::new();
    let call = read_as(&Text::new(text, format), &mut problems, case::call);
    call.ok_or_else(|| PolicyError::new(problems))
}
