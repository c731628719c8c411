//! Policies without a pool: documents, decisions, attacks.

mod attacks;
mod documents;
mod effective;
mod golden;
mod offerings;
mod people;
mod pools;
mod properties;
mod touches;

use crate::{Format, Policy, SampleCall};
use tool_runtime_core::{Decision, Effect};

pub(crate) fn yaml(text: &str) -> Policy {
    Policy::parse(text, Format::Yaml).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The mistakes of a text, each as `line key text; help`.
fn mistakes(text: &str, format: Format) -> Vec<String> {
    let error = Policy::parse(text, format).expect_err("a policy with mistakes");
    error.problems().iter().map(ToString::to_string).collect()
}

fn try_call(policy: &Policy, tool: &str, arguments: &str) -> Decision {
    policy.try_call(&SampleCall::new(tool).arguments_text(arguments))
}

fn effect(policy: &Policy, tool: &str, arguments: &str) -> Effect {
    try_call(policy, tool, arguments).effect()
}
