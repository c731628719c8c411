//! Reads a call on the command line.

use super::case;
use super::object::{At, Mistakes};
use super::place::Place;
use super::problem::PolicyError;
use super::syntax::{Format, Text};
use crate::case::SampleCall;

/// Reads a call that is a document of its own, in YAML if the feature is on, else JSON.
pub(crate) fn single_call(text: &str) -> Result<SampleCall, PolicyError> {
    let format = if cfg!(feature = "yaml") { Format::Yaml } else { Format::Json };
    let text = Text::new(text, format);
    let mut problems = Vec::new();
    let mut mistakes = Mistakes::default();
    let value = text.parse(&mut problems);
    let root = value.as_ref().map(|value| At { place: Place::default(), value });
    let call = root.and_then(|at| case::call(&at, &mut mistakes));
    problems.extend(mistakes.0.into_iter().map(|(place, fault)| text.problem(&place, fault)));
    match call {
        Some(call) if problems.is_empty() => Ok(call),
        _ => Err(PolicyError::new(problems)),
    }
}
