//! The call of the user's function.

use crate::model::{Model, Parameter};
use crate::names::hygienic;
use crate::toolset::Toolset;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
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
        match lock_before_await(model.function.body.clone()) {
            Some(lock) => without_guard(&call, lock),
            None => call,
        }
    } else if model.options.inline.is_present() {
        quote_spanned!(span=> async move { #call })
    } else {
        quote_spanned!(span=> __tool::blocking::<#output, _>(__context, move |__context| #call))
    }
}

/// Says at the lock that its guard must not be held across an `.await`. rustc says so only at the name of the function.
fn without_guard(call: &TokenStream, lock: Span) -> TokenStream {
    let span = hygienic(Span::call_site());
    let future = Ident::new("__future", span.located_at(lock));
    quote_spanned!(span=> { let #future = #call; __tool::without_guard(#future) })
}

/// The first call that may return a guard of a lock, with an `.await` after it.
fn lock_before_await(body: TokenStream) -> Option<Span> {
    let mut lock = None;
    awaits_after_lock(body, &mut lock).then_some(lock).flatten()
}

fn awaits_after_lock(tokens: TokenStream, lock: &mut Option<Span>) -> bool {
    const LOCKS: [&str; 5] = ["lock", "read", "write", "borrow", "borrow_mut"];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_dot =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(sign)) if sign.as_char() == '.');
    let is_await =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Ident(name)) if name == "await");
    let is_empty_call = |at: usize| {
        matches!(tokens.get(at), Some(TokenTree::Group(group))
            if group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty())
    };
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) if awaits_after_lock(group.stream(), lock) => return true,
            TokenTree::Ident(name) if at > 0 && is_dot(at - 1) => {
                if name == "await" && lock.is_some() {
                    return true;
                }
                let is_awaited = is_dot(at + 2) && is_await(at + 3);
                let is_lock = LOCKS.iter().any(|lock| name == lock) && is_empty_call(at + 1);
                if is_lock && !is_awaited && lock.is_none() {
                    *lock = Some(name.span());
                }
            }
            _ => {}
        }
    }
    false
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
