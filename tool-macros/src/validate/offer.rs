//! Mistakes in prompts, resources and completions.

use crate::kind::Kind;
use crate::limits;
use crate::mistakes::Mistakes;
use crate::model::{Argument, Model};
use crate::names;
use crate::uri;
use syn::LitStr;

/// Applies every rule.
pub(super) fn offer(model: &Model<'_>, mistakes: &mut Mistakes) {
    for argument in model.arguments() {
        fitting(model.kind, argument, mistakes);
    }
    mime_type(model, mistakes);
    audience(model, mistakes);
    priority(model, mistakes);
    if let Some(uri) = &model.options.uri {
        variables(uri, model, mistakes);
    }
}

/// Options of `#[arg]` that mean nothing here.
fn fitting(kind: Kind, argument: &Argument<'_>, mistakes: &mut Mistakes) {
    let options = &argument.options;
    if let (Kind::Tool, Some(path)) = (kind, &options.complete) {
        mistakes.on(
            path,
            "MCP completes the arguments of prompts and resources, not of tools; remove `complete`",
        );
    }
    if let (Kind::Prompt | Kind::Resource, true) = (kind, options.flatten.is_present()) {
        let message =
            format!("a {} takes its arguments one by one; write a parameter each", kind.noun());
        mistakes.at(options.flatten.span(), message);
    }
    if let (Kind::Prompt | Kind::Resource, Some(header)) = (kind, &options.header) {
        mistakes.on(header, "clients repeat arguments of tools in headers; remove `header`");
    }
    if kind != Kind::Resource {
        return;
    }
    if let Some((span, _)) = options.default {
        mistakes.at(span, "a variable of a URI is never left out; remove `default`");
    }
    for alias in &options.aliases {
        mistakes.on(alias, "a variable of a URI has one name; remove `alias`");
    }
}

fn mime_type(model: &Model<'_>, mistakes: &mut Mistakes) {
    let Some(mime_type) = &model.options.mime_type else { return };
    let value = mime_type.value();
    let is_mime_type = value.split_once('/').is_some_and(|(kind, rest)| {
        !kind.is_empty() && !rest.is_empty() && value.is_ascii() && !value.contains(' ')
    });
    if !is_mime_type && !value.contains(';') {
        mistakes.on(
            mime_type,
            format!("{value:?} is not a MIME type; write one, as in `mime_type = \"text/plain\"`"),
        );
    }
}

fn audience(model: &Model<'_>, mistakes: &mut Mistakes) {
    for role in &model.options.audience {
        if !["user", "assistant"].contains(&role.value().as_str()) {
            mistakes.on(role, "nobody else reads a resource; write `audience(\"user\")`, `audience(\"assistant\")` or both");
        }
    }
}

fn priority(model: &Model<'_>, mistakes: &mut Mistakes) {
    let Some(priority) = &model.options.priority else { return };
    if limits::literal(&priority.0).is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        mistakes.on(priority, "a priority lies between 0 and 1; write `priority = 0.5`");
    }
}

/// Every variable is a parameter, and the reverse.
fn variables(uri: &LitStr, model: &Model<'_>, mistakes: &mut Mistakes) {
    let variables = match uri::variables(&uri.value()) {
        Ok(variables) => variables,
        Err(problem) => {
            mistakes.on(uri, format!("bad URI of a resource: {problem}"));
            return;
        }
    };
    let arguments: Vec<String> = model.arguments().map(|argument| argument.wire_name().0).collect();
    for variable in variables.iter().filter(|variable| !arguments.contains(variable)) {
        mistakes.on(uri, unmatched(variable, &arguments, model.is_callable));
    }
    for argument in model.arguments() {
        let (name, span) = argument.wire_name();
        if !variables.contains(&name) {
            mistakes.at(span, format!("`{name}` stands nowhere in the URI; write `{{{name}}}` into it, or make the parameter a reference to state"));
        }
    }
}

fn unmatched(variable: &str, arguments: &[String], knows_all: bool) -> String {
    let names: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match names::nearest(variable, &names) {
        Some(near) => format!("no parameter is named `{variable}`; did you mean `{{{near}}}`?"),
        None if knows_all => {
            format!(
                "no parameter is named `{variable}`; add `{variable}: String` to the function, or remove `{{{variable}}}`"
            )
        }
        None => format!("no parameter is named `{variable}`; add one that can be an argument"),
    }
}
