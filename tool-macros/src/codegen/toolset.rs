//! Generated code of toolsets: the items of each method, and the list of methods.

use super::generate;
use super::items::allowed;
use crate::model::Model;
use crate::names::hygienic;
use crate::toolset::Toolset;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// All items generated for a block.
pub(crate) fn toolset(toolset: &Toolset<'_>, tools: &[Model<'_>]) -> TokenStream {
    let tools: Vec<&Model<'_>> = tools.iter().filter(|tool| is_written(tool)).collect();
    let actions = tools.iter().map(|tool| generate(tool));
    let list = list(toolset, &tools);
    quote!(#(#actions)* #list)
}

/// Whether items are generated for a method. rustc reports a second method of the same name; a second
/// struct of the same name has been reported.
fn is_written(tool: &Model<'_>) -> bool {
    let is_second = tool.duplicate.as_ref().is_some_and(|duplicate| duplicate == tool.ident());
    tool.is_free() && !is_second && tool.same_struct.is_none()
}

/// `impl ToolsetMethods for Terminal`, and the registration.
fn list(toolset: &Toolset<'_>, tools: &[&Model<'_>]) -> TokenStream {
    let (runtime, ty, name) = (toolset.runtime(), toolset.ty(), toolset.name());
    let allowed = allowed(&toolset.block.attributes);
    let methods = tools.iter().map(|tool| method(tool));
    let registration = registration(toolset);
    let items = quote_spanned! {hygienic(Span::call_site())=>
        const NAME: &'static ::core::primitive::str = #name;
        fn methods() -> &'static [__tool::Method] {
            const METHODS: &[__tool::Method] = &[#(#methods),*];
            METHODS
        }
    };
    let implementation = quote_spanned! {hygienic(ty.span())=>
        #[automatically_derived]
        impl __tool::ToolsetMethods for #ty { #items }
    };
    quote_spanned! {hygienic(Span::call_site())=>
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
    quote_spanned!(hygienic(Span::call_site())=> #(#conditions)* __tool::Method::from_action::<#action>())
}

/// Registers the toolset. A missing `impl Toolset` is reported at the type.
fn registration(toolset: &Toolset<'_>) -> TokenStream {
    if toolset.options.register == Some(false) {
        return TokenStream::new();
    }
    let ty = toolset.ty();
    let kind = quote_spanned!(hygienic(ty.span())=> __tool::ToolsetKind::from_type::<#ty>);
    quote_spanned! {hygienic(Span::call_site())=>
        __tool::inventory::submit! { #kind(::core::file!(), ::core::line!()) }
    }
}
