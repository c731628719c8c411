//! Parse, model, validate, generate. The user's function comes back in every case.

#[cfg(test)]
mod tests;
mod toolset;

pub(crate) use toolset::expand_toolset;

use crate::codegen;
use crate::item::{self, ToolFn};
use crate::kind::Kind;
use crate::mistakes::Mistakes;
use crate::model::Model;
use crate::renamed;
use crate::validate;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Lit, Path};

/// The whole of `#[tool]`, as a function of tokens so that tests can call it.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_as(Kind::Tool, options, item)
}

/// The whole of `#[prompt]`.
pub(crate) fn expand_prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_as(Kind::Prompt, options, item)
}

/// The whole of `#[resource]`.
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

/// The function, its mistakes, and the action as far as it can be made: whoever names the
/// action elsewhere is not punished for a mistake in its function.
fn expand_fn(kind: Kind, options: TokenStream, function: &ToolFn) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let noun = kind.noun();
    if let Some(second) = function.attributes.iter().find(|a| item::is_named(a, noun)) {
        let message = format!("`#[{noun}]` is given twice; put all options into one of the two");
        mistakes.on(second, message);
        let error = mistakes.into_error().map(Error::into_compile_error);
        return quote!(#function #error);
    }
    let model = Model::new(kind, options, function, &mut mistakes);
    validate::validate(&model, &mut mistakes);
    let is_found = is_found(noun, model.options.runtime.as_ref(), &mut mistakes);
    let error = mistakes.into_error().map(Error::into_compile_error);
    let generated = (is_found && model.is_free()).then(|| codegen::generate(&model));
    quote!(#function #generated #error)
}

/// Whether generated code finds the runtime, as far as the manifest tells.
pub(crate) fn is_found(attribute: &str, given: Option<&Path>, mistakes: &mut Mistakes) -> bool {
    let Some(name) = renamed::runtime().filter(|_| given.is_none()) else {
        return true;
    };
    let message = format!(
        "the runtime is named `{name}` in this crate; write `#[{attribute}(crate = ::{name})]`"
    );
    mistakes.at(Span::call_site(), message);
    false
}

/// Nothing in place of `#[tool = "x"]`, which rustc refuses by itself. It hands us the literal as
/// if it stood between parentheses, so only the source tells.
fn without_assigned(options: TokenStream) -> TokenStream {
    let is_literal = syn::parse2::<Lit>(options.clone()).is_ok();
    let source = is_literal.then(|| Span::call_site().source_text()).flatten();
    let is_assigned = |source: &str| source.split('(').next().is_some_and(|it| it.contains('='));
    match source.as_deref().is_some_and(is_assigned) {
        true => TokenStream::new(),
        false => options,
    }
}

/// A struct or a const gets one clear sentence; a function with a slip keeps syn's own words.
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
