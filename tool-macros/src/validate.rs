//! Rules that can be checked without types, one function each. Rules about a function's signature
//! are in `shape`.

mod access;
mod foreign;
mod header;
mod match_as;
mod metadata;
mod prompt_resource;
mod toolset;

pub(crate) use match_as::variant as match_as_variant;
pub(crate) use toolset::toolset;

use crate::diagnostics::Diagnostics;
use crate::docs;
use crate::expressions;
use crate::formats;
use crate::hints::is_given;
use crate::item;
use crate::kind::Kind;
use crate::limits::Limits;
use crate::model::{Argument, Injected, Model, Parameter};
use crate::names;
use crate::shape;
use crate::surroundings::Rival;
use crate::unsigned;
use darling::util::{Flag, PreservedStrExpr};
use proc_macro2::Span;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use std::collections::HashSet;
use syn::{Attribute, Expr, FnArg, LitStr};

/// Applies every rule.
pub(crate) fn validate(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    description(model, diagnostics);
    metadata::title_and_tags(model, diagnostics);
    attributes(model, diagnostics);
    name(model, diagnostics);
    hints(model, diagnostics);
    retry_mode(model, diagnostics);
    inline(model, diagnostics);
    access::access(model, diagnostics);
    metadata::icons(model, diagnostics);
    metadata::task(model, diagnostics);
    metadata::objects(model, diagnostics);
    header::headers(model, diagnostics);
    match_as::match_as(model, diagnostics);
    prompt_resource::prompt_resource(model, diagnostics);
    for parameter in &model.parameters {
        match parameter {
            Parameter::Argument(argument) => self::argument(argument, diagnostics),
            Parameter::Injected(injected) => self::injected(injected, diagnostics),
        }
    }
    one_flatten(model, diagnostics);
    distinct_names(model, diagnostics);
    if model.toolset.is_none() {
        distinct_action(model, diagnostics);
    }
}

/// Attributes where they have no meaning.
fn attributes(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    for attribute in model.function.attributes.iter().filter(|a| item::is_arg(a)) {
        diagnostics
            .error_on(attribute, "`#[arg]` describes a parameter; write it above the parameter");
    }
    for input in &model.function.signature.inputs {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                receiver.attrs.iter().filter(|a| item::is_arg(a)).for_each(|attribute| {
                    diagnostics.error_on(attribute, "`self` is not an argument; remove `#[arg]`");
                });
                continue;
            }
        };
        for attribute in typed.attrs.iter().filter(|a| item::is_mistaken_for_arg(a)) {
            let instead = foreign::instead(attribute);
            let instead = instead.unwrap_or_else(|| {
                "write `#[arg(...)]`, or put it on a field of a type".to_owned()
            });
            diagnostics.error_on(
                attribute,
                format!("this attribute means nothing on a parameter; {instead}"),
            );
        }
    }
}

fn description(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    if let Some(text) = &model.options.description {
        if text.value().trim().is_empty() {
            diagnostics.error_at(
                text.span(),
                format!("the description is empty; write {}", model.kind.empty_description_hint()),
            );
        }
        return;
    }
    let (name, noun, hint) = (model.ident(), model.kind.noun(), model.kind.description_hint());
    if model.options.has_description {
        // That it is no description is reported already.
    } else if model.docs.is_missing() {
        diagnostics.error_at(
            name.span(),
            format!("{noun} `{name}` has no description; write a `///` comment above it that says {hint}"),
        );
    } else if model.docs.is_empty() {
        diagnostics.error_at(
            empty_doc_span(&model.function.attributes, name.span()),
            format!(
                "the description of {noun} `{name}` is empty; write {}",
                model.kind.empty_description_hint()
            ),
        );
    }
}

fn empty_doc_span(attributes: &[Attribute], fallback: Span) -> Span {
    attributes
        .iter()
        .find(|attribute| docs::is_doc(attribute))
        .map_or(fallback, |attribute| attribute.pound_token.span)
}

fn name(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let (name, span) = model.name();
    // A resource is identified by its URI; its name is only displayed.
    if model.kind != Kind::Resource {
        check_name(model.kind, &name, span, diagnostics);
    } else if name.trim().is_empty() {
        diagnostics.error_at(span, "the name is empty; write what a list should show");
    }
}

/// Checks the name of a tool or a prompt against the MCP specification.
fn check_name(kind: Kind, name: &str, span: Span, diagnostics: &mut Diagnostics) {
    if let Some(problem) = names::name_problem(name) {
        diagnostics.error_at(
            span,
            format!(
                "bad {} name {name:?}: it {problem}; write 1 to {} of `A-Z a-z 0-9 _ - .`, as in `name = \"web.search\"`",
                kind.noun(),
                names::MAX_NAME_LENGTH
            ),
        );
    }
}

/// The struct of a function is the only item of its name.
fn distinct_action(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let (action, noun) = (model.action(), model.kind.noun());
    let how = format!("write another name, as in `#[{noun}(action = Name)]`");
    let message = match &model.same_struct {
        // rustc reports two functions of the same name.
        Some(Rival::Function(other)) if model.ident() == other => return,
        Some(Rival::Function(other)) => {
            format!("`{other}` makes the struct `{action}` already; {how}")
        }
        Some(Rival::Type) => {
            format!(
                "`{action}` is there already, and is the name of the struct of this {noun}; {how}"
            )
        }
        None => return,
    };
    diagnostics.error_at(action.span(), message);
}

fn hints(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    if let Some(span) = model.options.hints.contradiction() {
        contradiction(span, diagnostics);
    }
}

/// Checks `at_most_once` against the options that let a call run again.
fn retry_mode(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let options = &model.options;
    if !options.at_most_once.is_present() {
        return;
    }
    let span = options.at_most_once.span();
    if options.safe_to_retry.is_present() {
        diagnostics.error_at(
            span,
            "a tool cannot be both `at_most_once` and `safe_to_retry`; write `safe_to_retry` if a second call does no harm, else `at_most_once`",
        );
    }
    let (given, merged) = (&options.hints, &model.hints);
    for (name, own, merged) in [
        ("read_only", given.read_only, merged.read_only),
        ("idempotent", given.idempotent, merged.idempotent),
    ] {
        if !is_given(merged) {
            continue;
        }
        let text = match own {
            Some(_) => format!(
                "`at_most_once` contradicts `{name}`, by which a call may run again; remove one of the two"
            ),
            None => format!(
                "`at_most_once` contradicts `{name}` of `#[toolset]`, by which a call may run again; write `{name} = false` here, or remove `at_most_once`"
            ),
        };
        diagnostics.error_at(span, text);
    }
}

fn contradiction(span: Span, diagnostics: &mut Diagnostics) {
    diagnostics.error_at(
        span,
        "a tool cannot be both `read_only` and `destructive`; write `read_only` if it changes nothing, else `destructive`",
    );
}

fn inline(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let inline = model.options.inline;
    if inline.is_present() && model.function.signature.asyncness.is_some() {
        diagnostics.error_at(
            inline.span(),
            "`inline` is for a plain `fn`, an `async fn` runs on the runtime's thread already; remove `inline`",
        );
    }
}

fn argument(argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    argument_description(argument, diagnostics);
    flattened(argument, diagnostics);
    ranges(argument, diagnostics);
    lengths(argument, diagnostics);
    if let Some(pattern) = &argument.options.pattern {
        regex(pattern, argument, diagnostics);
    }
    if let Some(format) = &argument.options.format {
        formats::check(format, diagnostics);
    }
}

fn argument_description(argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    let name = argument.ident;
    // For other types, the compiler checks first whether they can be arguments.
    if argument.typed.attrs.iter().any(foreign::describes) {
        // That it is the wrong attribute is reported already.
    } else if argument.lacks_description() && shape::is_plain_argument(argument.ty()) {
        diagnostics.error_at(name.span(), missing_description(argument));
    } else if argument.docs.is_empty() {
        diagnostics.error_at(
            empty_doc_span(&argument.typed.attrs, name.span()),
            format!("the description of parameter `{name}` is empty; write what the value means, or `#[arg(undocumented)]`"),
        );
    }
}

/// The error about a parameter without a description.
pub(crate) fn missing_description(argument: &Argument<'_>) -> String {
    let name = argument.ident;
    format!(
        "parameter `{name}` has no description; write a `///` comment above it, or `#[arg(undocumented)]`"
    )
}

fn flattened(argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    let options = &argument.options;
    if !options.flatten.is_present() {
        return;
    }
    let has_own = options.rename.is_some()
        || !options.aliases.is_empty()
        || options.default.is_some()
        || options.range.is_some()
        || options.length.is_some()
        || options.pattern.is_some()
        || options.format.is_some()
        || options.example.is_some();
    if has_own {
        diagnostics.error_at(options.flatten.span(), "a flattened parameter has no name or value of its own; put the other options on the fields of its type");
    }
    if options.secret.is_present() {
        diagnostics.error_at(options.secret.span(), "a flattened parameter is not one value to hide; write `#[schemars(extend(\"writeOnly\" = true))]` on the secret fields of its type");
    }
}

fn ranges(argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    let Some(PreservedStrExpr(range)) = &argument.options.range else {
        return;
    };
    if let Some((end, ty)) = unsigned::negative_end(range, argument.ty()) {
        diagnostics.error_on(
            end,
            format!("a `{ty}` is never negative; write 0 or more, as in `range = 0..=50`"),
        );
        return;
    }
    let Some(limits) = Limits::parse("range", range, diagnostics) else {
        return;
    };
    limits.report_empty("range", diagnostics);
    for (kind, value) in values(argument) {
        limits.report_value(kind, value, diagnostics);
    }
}

/// The default and the example, where they are expressions.
fn values<'a>(argument: &'a Argument<'_>) -> impl Iterator<Item = (&'static str, &'a Expr)> {
    let options = &argument.options;
    let default = options.default.as_ref().and_then(|(_, value)| value.as_ref());
    let example = options.example.as_ref().map(|example| &example.0);
    default
        .map(|value| ("default", value))
        .into_iter()
        .chain(example.map(|value| ("example", value)))
}

fn lengths(argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    let Some(PreservedStrExpr(length)) = &argument.options.length else {
        return;
    };
    let Some(limits) = Limits::parse("length", length, diagnostics) else {
        return;
    };
    limits.report_uncountable(diagnostics);
    limits.report_empty("length", diagnostics);
    for (kind, value) in values(argument) {
        limits.report_text(kind, value, diagnostics);
    }
}

fn regex(pattern: &LitStr, argument: &Argument<'_>, diagnostics: &mut Diagnostics) {
    if let Err(error) = regex_syntax::parse(&pattern.value()) {
        diagnostics.error_at(
            pattern.span(),
            format!("bad pattern: {}; write a regular expression in the syntax of crate `regex`, which has no look-around", reason(&error)),
        );
        return;
    }
    // One that is too large for this is checked when the pool is built.
    let Ok(regex) = PikeVM::new(&pattern.value()) else { return };
    for (kind, value) in values(argument) {
        let Some(text) = expressions::text(value) else { continue };
        if !regex.is_match(&mut regex.create_cache(), &text.value()) {
            let (written, pattern) = (text.token(), pattern.value());
            diagnostics.error_at(
                text.span(),
                format!(
                    "the {kind} `{written}` does not match the pattern `{pattern}`; write one that the pattern allows"
                ),
            );
        }
    }
}

/// The reason in a regex error, without the drawing of the pattern.
fn reason(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        other => other.to_string(),
    }
}

fn injected(injected: &Injected<'_>, diagnostics: &mut Diagnostics) {
    for attribute in injected.typed.attrs.iter().filter(|a| item::is_arg(a)) {
        diagnostics.error_on(
            attribute,
            "a reference parameter is injected and not an argument; remove `#[arg]`, or make the type owned",
        );
    }
}

fn one_flatten(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let flattened = model.arguments().map(|a| a.options.flatten).filter(Flag::is_present);
    for flag in flattened.skip(1) {
        diagnostics.error_at(
            flag.span(),
            "only one parameter can be flattened; put the fields into one struct",
        );
    }
}

fn distinct_names(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let mut seen: HashSet<String> = HashSet::new();
    for argument in model.arguments().filter(|a| !a.options.flatten.is_present()) {
        let aliases = argument.options.aliases.iter();
        let aliases = aliases.map(|alias| (alias.value(), alias.span()));
        for (name, span) in std::iter::once(argument.wire_name()).chain(aliases) {
            if name.is_empty() {
                let message = "an argument's name is empty; write the name that JSON should have";
                diagnostics.error_at(span, message);
            } else if !seen.insert(name.clone()) {
                diagnostics.error_at(span, format!("two parameters are named `{name}` in JSON; write another name for one of them"));
            }
        }
    }
}
