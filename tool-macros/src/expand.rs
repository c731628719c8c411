//! Parse, model, validate, generate. The user's function comes back in every case.

#[cfg(test)]
mod tests;

use crate::codegen;
use crate::item::ToolFn;
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
    if let Some(second) = function.attributes.iter().find(|a| a.path().is_ident("tool")) {
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
    let keyword = syn::parse2::<syn::Item>(item.clone())
        .ok()
        .and_then(|item| keyword_span(&item))
        .unwrap_or_else(|| error.span());
    Error::new(keyword, "`#[tool]` goes on a function; write `#[tool] async fn name(...)`")
}

fn keyword_span(item: &syn::Item) -> Option<proc_macro2::Span> {
    use syn::spanned::Spanned as _;
    match item {
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
