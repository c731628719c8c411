//! The call of the user's function.

use crate::model::{Model, Parameter};
use crate::names::hygienic;
use crate::toolset::Toolset;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;

/// Calls the function, spanned at its name: a future that is not `Send` is reported there.
pub(super) fn run(model: &Model<'_>) -> TokenStream {
    let span = hygienic(model.ident().span());
    let signature = quote_spanned! {span=>
        fn run(self, __context: &__tool::ToolContext)
            -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send
    };
    let future = future(model);
    quote_spanned! {hygienic(Span::call_site())=>
        #signature { #future }
    }
}

fn future(model: &Model<'_>) -> TokenStream {
    let (ident, output) = (model.ident(), model.output());
    let span = hygienic(ident.span());
    if !model.is_callable {
        return quote_spanned!(span=> ::core::future::pending());
    }
    let callee = callee(model);
    let parameters = model.toolset.map(receiver).into_iter();
    let parameters = parameters.chain(model.parameters.iter().map(call_argument));
    let call = quote_spanned!(ident.span()=> #callee(#(#parameters),*));
    if model.function.signature.asyncness.is_some() {
        call
    } else if model.options.inline.is_present() {
        quote_spanned!(span=> async move { #call })
    } else {
        quote_spanned!(span=> __tool::blocking::<#output, _>(__context, move |__context| #call))
    }
}

/// `add`, or `<Counter>::add`.
fn callee(model: &Model<'_>) -> TokenStream {
    let ident = model.ident();
    match model.toolset.map(Toolset::ty) {
        Some(ty) => quote_spanned!(ident.span()=> <#ty>::#ident),
        None => ident.to_token_stream(),
    }
}

fn receiver(toolset: &Toolset<'_>) -> TokenStream {
    let ty = toolset.ty();
    quote_spanned!(hygienic(ty.span())=> __tool::receiver::<#ty>(__context))
}

fn call_argument(parameter: &Parameter<'_>) -> TokenStream {
    match parameter {
        Parameter::Argument(argument) => {
            let field = argument.ident;
            quote_spanned!(hygienic(Span::call_site())=> self.#field)
        }
        Parameter::Injected(injected) => {
            let target = injected.target();
            quote_spanned! {hygienic(target.span())=>
                <#target as __tool::Injectable>::borrow_from(__context)
            }
        }
    }
}
