//! Rules for prompts, resources and completions.

use crate::diagnostics::Diagnostics;
use crate::kind::Kind;
use crate::limits;
use crate::model::{Argument, Model};
use crate::names;
use crate::types;
use crate::uri;
use syn::LitStr;

/// Applies every rule.
pub(super) fn prompt_resource(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    for argument in model.arguments() {
        unsupported_options(model.kind, argument, diagnostics);
    }
    mime_type(model, diagnostics);
    audience(model, diagnostics);
    priority(model, diagnostics);
    if let Some(uri) = &model.options.uri {
        variables(uri, model, diagnostics);
    }
}

/// Options of `#[arg]` that this kind of function does not support.
fn unsupported_options(kind: Kind, argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    let options = &argument.options;
    if let (Kind::Tool, Some(path)) = (kind, &options.complete) {
        diagnostics.error_on(
            path,
            "MCP completes the arguments of prompts and resources, not of tools; remove `complete`",
        );
    }
    if let (Kind::Prompt | Kind::Resource, true) = (kind, options.flatten.is_present()) {
        let message =
            format!("a {} cannot flatten its arguments; write a parameter for each", kind.noun());
        diagnostics.error_at(options.flatten.span(), message);
    }
    if let (Kind::Prompt | Kind::Resource, Some(header)) = (kind, &options.header) {
        diagnostics
            .error_on(header, "only arguments of tools are sent in headers; remove `header`");
    }
    if kind != Kind::Resource {
        return;
    }
    if let Some((span, _)) = options.default {
        diagnostics.error_at(span, "a URI always has a value for its variable; remove `default`");
    }
    for alias in &options.aliases {
        diagnostics.error_on(alias, "a variable of a URI has one name; remove `alias`");
    }
    if types::is_compound(argument.ty()) {
        let message = format!(
            "a URI has one text for its variable `{}`; take it as a `String`, and split it in the function",
            argument.ident
        );
        diagnostics.error_on(argument.ty(), message);
    }
}

fn mime_type(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let Some(mime_type) = &model.options.mime_type else { return };
    let value = mime_type.value();
    let is_mime_type = value.split_once('/').is_some_and(|(kind, rest)| {
        !kind.is_empty() && !rest.is_empty() && value.is_ascii() && !value.contains([' ', '*'])
    });
    // Parameters after `;` are not checked.
    if !is_mime_type && !value.contains(';') {
        diagnostics.error_on(
            mime_type,
            format!("{value:?} is not a MIME type; write one, as in `mime_type = \"text/plain\"`"),
        );
    }
}

fn audience(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    for role in &model.options.audience {
        if !["user", "assistant"].contains(&role.value().as_str()) {
            diagnostics.error_on(role, "an audience is a user or an assistant; write `audience(\"user\")`, `audience(\"assistant\")` or both");
        }
    }
}

fn priority(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let Some(priority) = &model.options.priority else { return };
    if limits::number(&priority.0).is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        diagnostics
            .error_on(priority, "a priority must be between 0 and 1; write `priority = 0.5`");
    }
}

/// Checks that every variable is a parameter, and the reverse.
fn variables(uri: &LitStr, model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let variables = match uri::variables(&uri.value()) {
        Ok(variables) => variables,
        Err(problem) => {
            diagnostics.error_on(uri, format!("bad URI of a resource: {problem}"));
            return;
        }
    };
    let arguments: Vec<String> = model.arguments().map(|argument| argument.wire_name().0).collect();
    for variable in variables.iter().filter(|variable| !arguments.contains(variable)) {
        diagnostics.error_on(uri, unmatched(variable, &arguments, model.is_callable));
    }
    for argument in model.arguments() {
        let (name, span) = argument.wire_name();
        if !variables.contains(&name) {
            diagnostics.error_at(span, format!("`{name}` is not in the URI; add `{{{name}}}` to it, or make the parameter a reference to state"));
        }
    }
}

fn unmatched(variable: &str, arguments: &[String], is_complete: bool) -> String {
    let names: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match names::nearest(variable, &names) {
        Some(near) => format!("no parameter is named `{variable}`; did you mean `{{{near}}}`?"),
        None if is_complete => {
            format!(
                "no parameter is named `{variable}`; add `{variable}: String` to the function, or remove `{{{variable}}}`"
            )
        }
        None => {
            format!("no parameter is named `{variable}`; add one of a type that JSON can decode")
        }
    }
}
