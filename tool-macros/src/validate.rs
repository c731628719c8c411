//! What can be seen to be wrong without types, one rule a function, all mistakes at once.

use crate::docs::{self, Docs};
use crate::entries::Mistakes;
use crate::item;
use crate::limits::Limits;
use crate::model::{Argument, Injected, Model, Parameter};
use crate::options;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, LitStr, Pat, ReturnType, Type};

/// Applies every rule.
pub(crate) fn validate(model: &Model<'_>, mistakes: &mut Mistakes) {
    signature(model, mistakes);
    body(model, mistakes);
    receiver(model, mistakes);
    output(model, mistakes);
    description(model, mistakes);
    name(model, mistakes);
    hints(model, mistakes);
    inline(model, mistakes);
    for parameter in &model.parameters {
        match parameter {
            Parameter::Argument(argument) => self::argument(argument, mistakes),
            Parameter::Injected(injected) => self::injected(injected, mistakes),
        }
    }
    one_flatten(model, mistakes);
    distinct_names(model, mistakes);
}

fn signature(model: &Model<'_>, mistakes: &mut Mistakes) {
    let signature = &model.function.signature;
    if let syn::Safety::Unsafe(token) = &signature.safety {
        mistakes.at(
            token.span(),
            "a tool cannot be `unsafe`; write a safe function around it",
        );
    }
    if let Some(abi) = &signature.abi {
        mistakes.at(
            abi.span(),
            "a tool cannot be `extern`; write a plain function around it",
        );
    }
    if let Some(variadic) = &signature.variadic {
        mistakes.at(
            variadic.span(),
            "a tool has a fixed list of arguments; write a `Vec<T>` parameter",
        );
    }
    if let Some(parameter) = signature.generics.params.first() {
        mistakes.at(
            parameter.span(),
            "a tool has exactly one JSON schema and no generics; name the types",
        );
    }
    let clause = signature.generics.where_clause.as_ref();
    if let Some(predicate) = clause.and_then(|clause| clause.predicates.first()) {
        mistakes.at(
            predicate.span(),
            "a tool has no generics to constrain; remove the `where` clause",
        );
    }
}

fn body(model: &Model<'_>, mistakes: &mut Mistakes) {
    let has_body = model
        .function
        .body
        .clone()
        .into_iter()
        .any(|token| matches!(token, proc_macro2::TokenTree::Group(_)));
    if !has_body {
        mistakes.at(
            model.ident().span(),
            "`#[tool]` needs a function with a body; write a free function that calls the trait method",
        );
    }
}

fn receiver(model: &Model<'_>, mistakes: &mut Mistakes) {
    if let Some(FnArg::Receiver(receiver)) = model.function.signature.inputs.first() {
        mistakes.at(
            receiver.self_token.span(),
            "a tool is a free function and has no `self`; write the state as a parameter, as in `state: &State`",
        );
    }
}

fn output(model: &Model<'_>, mistakes: &mut Mistakes) {
    let ReturnType::Type(_, output) = &model.function.signature.output else {
        return;
    };
    match &**output {
        Type::ImplTrait(opaque) => mistakes.at(
            opaque.span(),
            "a tool's output has a schema and no `impl Trait`; name the type",
        ),
        Type::Reference(reference)
            if reference
                .lifetime
                .as_ref()
                .is_none_or(|l| l.ident != "static") =>
        {
            mistakes.at(
                reference.span(),
                "a tool's output outlives the call; return an owned value, as in `String` instead of `&str`",
            );
        }
        _ => {}
    }
}

fn description(model: &Model<'_>, mistakes: &mut Mistakes) {
    if let Some(text) = &model.options.description {
        if text.value().trim().is_empty() {
            mistakes.at(
                text.span(),
                "the description is empty; write what the tool does and when to use it",
            );
        }
        return;
    }
    let name = model.ident();
    if model.docs.is_missing() {
        mistakes.at(
            name.span(),
            format!("tool `{name}` has no description; write a `///` comment above it that says what it does and when to use it"),
        );
    } else if model.docs.is_empty() {
        mistakes.at(
            empty_doc_span(&model.function.attributes, name.span()),
            format!("the description of tool `{name}` is empty; write what the tool does and when to use it"),
        );
    }
}

fn empty_doc_span(attributes: &[Attribute], fallback: Span) -> Span {
    attributes
        .iter()
        .find(|attribute| docs::is_doc(attribute))
        .map_or(fallback, Spanned::span)
}

fn name(model: &Model<'_>, mistakes: &mut Mistakes) {
    let (name, span) = model.name();
    options::check_name(&name, span, mistakes);
}

fn hints(model: &Model<'_>, mistakes: &mut Mistakes) {
    let options = &model.options;
    if let (Some((true, _)), Some((true, span))) = (options.read_only, options.destructive) {
        mistakes.at(
            span,
            "a tool cannot be both `read_only` and `destructive`; write `read_only` if it changes nothing, else `destructive`",
        );
    }
}

fn inline(model: &Model<'_>, mistakes: &mut Mistakes) {
    if let (Some(span), Some(_)) = (model.options.inline, &model.function.signature.asyncness) {
        mistakes.at(
            span,
            "`inline` is for a plain `fn`, an `async fn` runs on the runtime's thread already; remove `inline`",
        );
    }
}

fn argument(argument: &Argument<'_>, mistakes: &mut Mistakes) {
    pattern_of(argument, mistakes);
    attributes(&argument.typed.attrs, mistakes);
    shape(argument.ty(), mistakes);
    described(argument, mistakes);
    flattened(argument, mistakes);
    ranges(argument, mistakes);
    lengths(argument, mistakes);
    if let Some(pattern) = &argument.options.pattern {
        regex(pattern, mistakes);
    }
}

fn pattern_of(argument: &Argument<'_>, mistakes: &mut Mistakes) {
    let remedy = match &*argument.typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_some() => {
            "a parameter needs a plain name; remove `ref` and borrow inside the body"
        }
        Pat::Ident(pat) if pat.subpat.is_some() => {
            "a parameter needs a plain name; match the value inside the body"
        }
        Pat::Ident(_) => return,
        Pat::Wild(_) => "a parameter needs a name, which is its name in JSON; write `_name`",
        _ => {
            "a parameter needs a plain name, which is its name in JSON; destructure inside the body"
        }
    };
    mistakes.at(argument.typed.pat.span(), remedy);
}

/// Attributes on parameters: ours are read, lint levels pass, everything else would be lost.
fn attributes(attributes: &[Attribute], mistakes: &mut Mistakes) {
    const LINTS: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];
    for attribute in attributes {
        let path = attribute.path();
        if item::is_ours(attribute) || LINTS.iter().any(|lint| path.is_ident(lint)) {
            continue;
        }
        if path.is_ident("cfg") || path.is_ident("cfg_attr") {
            mistakes.at(
                attribute.span(),
                "a tool has one schema whatever is configured; put `#[cfg]` on the function",
            );
        } else {
            mistakes.at(attribute.span(), "this attribute means nothing on a tool's parameter; write `#[arg(...)]`, or put it on the type");
        }
    }
}

fn shape(ty: &Type, mistakes: &mut Mistakes) {
    match ty {
        Type::ImplTrait(opaque) => mistakes.at(
            opaque.span(),
            "an argument has a schema and no `impl Trait`; name the type, as in `String`",
        ),
        Type::Path(path)
            if path
                .path
                .segments
                .last()
                .is_some_and(|s| s.ident == "ToolContext") =>
        {
            mistakes.at(
                path.span(),
                "the context is borrowed for the call; write `&ToolContext`",
            );
        }
        _ => {}
    }
}

fn described(argument: &Argument<'_>, mistakes: &mut Mistakes) {
    let options = &argument.options;
    let Some(name) = argument.ident else { return };
    let excused = options.undocumented.is_some() || options.flatten.is_some();
    match &argument.docs {
        Docs::Missing if !excused => mistakes.at(
            name.span(),
            format!("parameter `{name}` has no description; write a `///` comment above it, or `#[arg(undocumented)]`"),
        ),
        docs if docs.is_empty() => mistakes.at(
            empty_doc_span(&argument.typed.attrs, name.span()),
            format!("the description of parameter `{name}` is empty; write what the value means, or `#[arg(undocumented)]`"),
        ),
        _ => {}
    }
}

fn flattened(argument: &Argument<'_>, mistakes: &mut Mistakes) {
    let options = &argument.options;
    let Some(span) = options.flatten else { return };
    let has_own = options.rename.is_some()
        || !options.aliases.is_empty()
        || options.default.is_some()
        || options.range.is_some()
        || options.length.is_some()
        || options.pattern.is_some()
        || options.format.is_some()
        || options.example.is_some();
    if has_own {
        mistakes.at(span, "a flattened parameter has no name or value of its own; put the other options on the fields of its type");
    }
}

fn ranges(argument: &Argument<'_>, mistakes: &mut Mistakes) {
    let Some(range) = &argument.options.range else {
        return;
    };
    let Some(limits) = Limits::parse("range", range, mistakes) else {
        return;
    };
    limits.refuse_empty("range", mistakes);
    if let Some((_, Some(default))) = &argument.options.default {
        limits.refuse_default(default, mistakes);
    }
}

fn lengths(argument: &Argument<'_>, mistakes: &mut Mistakes) {
    let Some(length) = &argument.options.length else {
        return;
    };
    let Some(limits) = Limits::parse("length", length, mistakes) else {
        return;
    };
    limits.refuse_uncountable(mistakes);
    limits.refuse_empty("length", mistakes);
    if let Some((_, Some(default))) = &argument.options.default {
        limits.refuse_default_length(default, mistakes);
    }
}

fn regex(pattern: &LitStr, mistakes: &mut Mistakes) {
    if let Err(error) = regex_syntax::parse(&pattern.value()) {
        mistakes.at(
            pattern.span(),
            format!("bad pattern: {}; write a regular expression in the syntax of crate `regex`, which has no look-around", reason(&error)),
        );
    }
}

/// The one line of a regex error that says why; the rest draws the pattern again.
fn reason(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        other => other.to_string(),
    }
}

fn injected(injected: &Injected<'_>, mistakes: &mut Mistakes) {
    let Type::Reference(reference) = &*injected.typed.ty else {
        return;
    };
    for attribute in injected
        .typed
        .attrs
        .iter()
        .filter(|a| a.path().is_ident("arg"))
    {
        mistakes.at(attribute.span(), "a reference parameter is injected and no argument; remove `#[arg]`, or make the type owned");
    }
    let remaining: Vec<Attribute> = injected
        .typed
        .attrs
        .iter()
        .filter(|a| !a.path().is_ident("arg"))
        .cloned()
        .collect();
    attributes(&remaining, mistakes);
    if let Some(token) = &reference.mutability {
        mistakes.at(token.span(), "an injected value is shared between calls; write `&T` and a `Mutex` or atomics inside `T`");
    } else if let Some(lifetime) = &reference.lifetime {
        mistakes.at(
            lifetime.span(),
            "an injected value is borrowed for the call; write `&T` without a lifetime",
        );
    }
    borrowed_argument(injected.target, mistakes);
}

/// Only for the message's sake: an alias of `str` is caught by the injection trait.
fn borrowed_argument(target: &Type, mistakes: &mut Mistakes) {
    match target {
        Type::Slice(slice) => mistakes.at(
            slice.span(),
            "an argument must be owned; write `Vec<T>` instead of `&[T]`",
        ),
        Type::Path(path) if path.path.is_ident("str") => mistakes.at(
            path.span(),
            "an argument must be owned; write `String` instead of `&str`",
        ),
        _ => {}
    }
}

fn one_flatten(model: &Model<'_>, mistakes: &mut Mistakes) {
    for span in model.arguments().filter_map(|a| a.options.flatten).skip(1) {
        mistakes.at(
            span,
            "only one parameter can be flattened; put the fields into one struct",
        );
    }
}

fn distinct_names(model: &Model<'_>, mistakes: &mut Mistakes) {
    let mut seen: HashMap<String, ()> = HashMap::new();
    for argument in model.arguments().filter(|a| a.options.flatten.is_none()) {
        let aliases = argument
            .options
            .aliases
            .iter()
            .map(|alias| (alias.value(), alias.span()));
        for (name, span) in argument.wire_name().into_iter().chain(aliases) {
            if name.is_empty() {
                mistakes.at(
                    span,
                    "an argument's name is empty; write the name that JSON should have",
                );
            } else if seen.insert(name.clone(), ()).is_some() {
                mistakes.at(span, format!("two parameters are named `{name}` in JSON; write another name for one of them"));
            }
        }
    }
}
