//! Parse, model, validate, generate. The user's function comes back in every case.

#[cfg(test)]
mod tests;
mod toolset;

pub(crate) use toolset::expand_toolset;

use crate::codegen;
use crate::item::{self, ToolFn};
use crate::mistakes::Mistakes;
use crate::model::Model;
use crate::validate;
use proc_macro2::TokenStream;
use quote::quote;
use syn::Error;

/// The whole of `#[tool]`, as a function of tokens so that tests can call it.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<ToolFn>(item.clone()) {
        Ok(function) => expand_fn(options, &function),
        Err(error) => {
            let error = not_a_function(&item, error).into_compile_error();
            quote!(#item #error)
        }
    }
}

/// The function, its mistakes, and the action as far as it can be made: whoever names the
/// action elsewhere is not punished for a mistake in its function.
fn expand_fn(options: TokenStream, function: &ToolFn) -> TokenStream {
    let mut mistakes = Mistakes::default();
    if let Some(second) = function.attributes.iter().find(|a| item::is_named(a, "tool")) {
        mistakes.on(second, "`#[tool]` is given twice; put all options into one of the two");
        let error = mistakes.into_error().map(Error::into_compile_error);
        return quote!(#function #error);
    }
    let model = Model::new(options, function, &mut mistakes);
    validate::validate(&model, &mut mistakes);
    let error = mistakes.into_error().map(Error::into_compile_error);
    let generated = model.is_free().then(|| codegen::generate(&model));
    quote!(#function #generated #error)
}

/// A struct or a const gets one clear sentence; a function with a slip keeps syn's own words.
fn not_a_function(item: &TokenStream, error: Error) -> Error {
    let is_function = item
        .clone()
        .into_iter()
        .any(|token| matches!(&token, proc_macro2::TokenTree::Ident(ident) if ident == "fn"));
    if is_function {
        return error;
    }
    let parsed = syn::parse2::<syn::Item>(item.clone()).ok();
    let keyword = parsed.as_ref().and_then(keyword_span).unwrap_or_else(|| error.span());
    let remedy = match parsed {
        Some(syn::Item::Impl(_)) => "write `#[toolset]` here, and `#[tool]` on each method",
        _ => "write `#[tool] async fn name(...)`",
    };
    Error::new(keyword, format!("`#[tool]` goes on a function; {remedy}"))
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
