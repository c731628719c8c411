//! Generated code behind an `impl` block: the items of each method, and the list of methods.

use super::allowed;
use crate::model::{Model, Toolset};
use crate::names::at;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// Everything that follows the block.
pub(crate) fn toolset(toolset: &Toolset<'_>, tools: &[Model<'_>]) -> TokenStream {
    let tools: Vec<&Model<'_>> = tools.iter().filter(|tool| is_written(tool)).collect();
    let actions = tools.iter().map(|tool| super::generate(tool));
    let list = list(toolset, &tools);
    quote!(#(#actions)* #list)
}

/// A second method of one name is rustc's to report, once; a second struct has been reported.
fn is_written(tool: &Model<'_>) -> bool {
    let is_second = tool.twin.as_ref().is_some_and(|twin| twin == tool.ident());
    tool.is_free() && !is_second && tool.namesake.is_none()
}

/// `impl ToolsetMethods for Terminal`, and the registration.
fn list(toolset: &Toolset<'_>, tools: &[&Model<'_>]) -> TokenStream {
    let (runtime, ty, name) = (toolset.runtime(), toolset.ty(), toolset.name());
    let allowed = allowed(&toolset.block.attributes);
    let methods = tools.iter().map(|tool| method(tool));
    let registration = registration(toolset);
    let items = quote_spanned! {at(Span::call_site())=>
        const NAME: &'static ::core::primitive::str = #name;
        fn methods() -> &'static [__tool::Method] {
            const METHODS: &[__tool::Method] = &[#(#methods),*];
            METHODS
        }
    };
    let implementation = quote_spanned! {at(ty.span())=>
        #[automatically_derived]
        impl __tool::ToolsetMethods for #ty { #items }
    };
    quote_spanned! {at(Span::call_site())=>
        #(#allowed)*
        const _: () = {
            use #runtime::__private as __tool;
            #implementation
            #registration
        };
    }
}

fn method(tool: &Model<'_>) -> TokenStream {
    let (action, conditions) = (tool.action(), tool.conditions());
    quote_spanned!(at(Span::call_site())=> #(#conditions)* __tool::Method::of::<#action>())
}

/// Spanned at the type: this is where a forgotten `impl Toolset` is reported.
fn registration(toolset: &Toolset<'_>) -> TokenStream {
    if toolset.options.register == Some(false) {
        return TokenStream::new();
    }
    let ty = toolset.ty();
    let kind = quote_spanned!(at(ty.span())=> __tool::ToolsetKind::of::<#ty>);
    quote_spanned! {at(Span::call_site())=>
        __tool::inventory::submit! { #kind(::core::file!(), ::core::line!()) }
    }
}
