//! Resources that a call reads and writes.

use crate::access::Key;
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::names::hygienic;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::LitStr;
use syn::spanned::Spanned;

/// `const ACCESS`, if an access is declared.
pub(super) fn access(model: &Model<'_>) -> Option<TokenStream> {
    let (span, access) = match &model.options.access {
        Some(path) => (hygienic(path.span()), quote_spanned!(hygienic(path.span())=> #path)),
        None => (hygienic(Span::call_site()), declared(model)?),
    };
    Some(quote_spanned! {span=>
        const ACCESS: ::core::option::Option<fn(&Self) -> __tool::Access> =
            ::core::option::Option::Some(#access);
    })
}

/// `|__action| Access::none().reads_of(&["file:", ""], &[&__action.path])`.
fn declared(model: &Model<'_>) -> Option<TokenStream> {
    let options = &model.options;
    if options.reads.is_none() && options.writes.is_none() {
        return None;
    }
    let reads = keys(model, "reads_of", options.reads.as_ref());
    let writes = keys(model, "writes_of", options.writes.as_ref());
    // A key without placeholders needs no action.
    Some(quote_spanned! {hygienic(Span::call_site())=>
        |__action| {
            let _ = __action;
            __tool::Access::none() #(#reads)* #(#writes)*
        }
    })
}

fn keys(model: &Model<'_>, method: &str, given: Option<&(Span, Vec<LitStr>)>) -> Vec<TokenStream> {
    let method = Ident::new(method, hygienic(Span::call_site()));
    // Invalid keys have already been reported.
    let parsed = |key| Key::parse(key, model, &mut Diagnostics::default());
    let keys = given.into_iter().flat_map(|(_, keys)| keys).filter_map(parsed);
    keys.map(|key| {
        let literals = &key.literals;
        // A type that cannot be part of a key is reported at the key.
        let parts =
            key.parts.iter().map(|part| quote_spanned!(hygienic(key.span)=> &__action.#part));
        quote_spanned!(hygienic(key.span)=> .#method(&[#(#literals),*], &[#(#parts),*]))
    })
    .collect()
}
