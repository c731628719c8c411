//! Expansion of `#[tool]`, `#[prompt]` and `#[resource]`: parse, model, validate, generate. The user's
//! function is always emitted again.

#[cfg(test)]
mod tests;
mod toolset;

pub(crate) use toolset::expand_toolset;

use crate::codegen;
use crate::diagnostics::Diagnostics;
use crate::item::{self, ToolFn};
use crate::kind::Kind;
use crate::manifest;
use crate::model::Model;
use crate::shape;
use crate::surroundings::{self, Context};
use crate::validate;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Error, Lit, Path};

/// Expands `#[tool]`. Takes `proc_macro2` tokens so that tests can call it.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_as(Kind::Tool, options, item)
}

/// Expands `#[prompt]`.
pub(crate) fn expand_prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_as(Kind::Prompt, options, item)
}

/// Expands `#[resource]`.
pub(crate) fn expand_resource(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_as(Kind::Resource, options, item)
}

fn expand_as(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
    let options = without_assigned(options);
    match syn::parse2::<ToolFn>(item.clone()) {
        Ok(function) => expand_fn(kind, options, &function),
        Err(error) => {
            let error = not_a_function(kind, &item, error).into_compile_error();
            quote!(#item #error)
        }
    }
}

/// The function, its action, and all diagnostics. The action is generated in spite of mistakes, so
/// that its uses cause no other errors.
fn expand_fn(kind: Kind, options: TokenStream, function: &ToolFn) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let noun = kind.noun();
    if let Some(second) = function.attributes.iter().find(|a| item::is_named(a, noun)) {
        let message = format!("`#[{noun}]` is given twice; put all options into one of the two");
        diagnostics.error_on(second, message);
        let error = diagnostics.into_error().map(Error::into_compile_error);
        return quote!(#function #error);
    }
    if let Some(error) = misplaced(kind, function) {
        let error = error.into_compile_error();
        return quote!(#function #error);
    }
    let model = Model::new(kind, options, function, &mut diagnostics);
    validate::validate(&model, &mut diagnostics);
    let is_found = is_found(noun, model.options.runtime.as_ref(), &mut diagnostics);
    let error = diagnostics.into_error().map(Error::into_compile_error);
    let generated = (is_found && model.is_free() && model.same_struct.is_none())
        .then(|| codegen::generate(&model));
    quote!(#function #generated #error)
}

/// The error about a function in a block, where no items can follow it. One with `self` shows that itself.
fn misplaced(kind: Kind, function: &ToolFn) -> Option<Error> {
    let signature = &function.signature;
    if signature.receiver().is_some() || shape::mentions_self(function) || !function.has_body() {
        return None;
    }
    let parameters = signature.inputs.to_token_stream();
    let (name, noun) = (&signature.ident, kind.noun());
    let (context, remedy) = match (surroundings::context(name, &parameters)?, kind) {
        (Context::Free, _) => return None,
        (Context::Impl, Kind::Tool) => (
            "an `impl` block",
            ", or write `#[toolset]` above the block and `&self` as the first parameter",
        ),
        (Context::Impl, _) => ("an `impl` block", ""),
        (Context::Trait, _) => ("a trait", ""),
    };
    let message =
        format!("`{name}` is in {context}, and a {noun} is a free function; move it out{remedy}");
    Some(Error::new(name.span(), message))
}

/// Reports a runtime that the manifest renames, unless the path is given.
pub(crate) fn is_found(
    attribute: &str,
    given: Option<&Path>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(name) = manifest::runtime().filter(|_| given.is_none()) else {
        return true;
    };
    let message = format!(
        "the runtime is named `{name}` in this crate; write `#[{attribute}(crate = ::{name})]`"
    );
    diagnostics.error_at(Span::call_site(), message);
    false
}

/// Drops the literal of `#[tool = "x"]`, which rustc rejects anyway. It passes the literal as if
/// it were in parentheses, so only the source shows the difference.
fn without_assigned(options: TokenStream) -> TokenStream {
    let is_literal = syn::parse2::<Lit>(options.clone()).is_ok();
    let source = is_literal.then(|| Span::call_site().source_text()).flatten();
    let is_assigned =
        |source: &str| source.split('(').next().is_some_and(|name| name.contains('='));
    match source.as_deref().is_some_and(is_assigned) {
        true => TokenStream::new(),
        false => options,
    }
}

/// The error about an item that is not a function; a function with a syntax error keeps syn's error.
fn not_a_function(kind: Kind, item: &TokenStream, error: Error) -> Error {
    let is_function = item
        .clone()
        .into_iter()
        .any(|token| matches!(&token, proc_macro2::TokenTree::Ident(ident) if ident == "fn"));
    if is_function {
        return error;
    }
    let parsed = syn::parse2::<syn::Item>(item.clone()).ok();
    let keyword = parsed.as_ref().and_then(keyword_span).unwrap_or_else(|| error.span());
    let noun = kind.noun();
    let remedy = match (kind, parsed) {
        (Kind::Tool, Some(syn::Item::Impl(_))) => {
            "write `#[toolset]` here, and `#[tool]` on each method".to_owned()
        }
        (Kind::Resource, _) => {
            "write `#[resource(\"notes://{id}\")] async fn name(...)`".to_owned()
        }
        _ => format!("write `#[{noun}] async fn name(...)`"),
    };
    Error::new(keyword, format!("`#[{noun}]` goes on a function; {remedy}"))
}

fn keyword_span(item: &syn::Item) -> Option<proc_macro2::Span> {
    use syn::spanned::Spanned as _;
    match item {
        syn::Item::Fn(item) => Some(item.sig.fn_token.span()),
        syn::Item::Struct(item) => Some(item.struct_token.span()),
        syn::Item::Enum(item) => Some(item.enum_token.span()),
        syn::Item::Const(item) => Some(item.const_token.span()),
        syn::Item::Static(item) => Some(item.static_token.span()),
        syn::Item::Impl(item) => Some(item.impl_token.span()),
        syn::Item::Trait(item) => Some(item.trait_token.span()),
        syn::Item::Mod(item) => Some(item.mod_token.span()),
        _ => None,
    }
}
