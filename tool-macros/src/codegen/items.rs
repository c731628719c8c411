//! Items and functions that tools, prompts and resources have in common.

use crate::docs::Docs;
use crate::model::Model;
use crate::names::{self, hygienic};
use crate::toolset::Toolset;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Attribute;

/// The lint levels of the function and of its `impl` block.
pub(super) fn allowed_in(model: &Model<'_>) -> Vec<TokenStream> {
    let shared = model.toolset.map(|toolset| allowed(&toolset.block.attributes));
    let of_function = allowed(&model.function.attributes);
    shared.into_iter().flatten().chain(of_function).collect()
}

/// The lint levels of an item that hold for generated code as well.
pub(crate) fn allowed(attributes: &[Attribute]) -> Vec<TokenStream> {
    let mut allowed = Vec::new();
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("deprecated") {
            allowed.push(quote_spanned!(hygienic(Span::call_site())=> #[allow(deprecated)]));
        }
        if let syn::Meta::List(list) = &attribute.meta
            && (path.is_ident("allow") || path.is_ident("expect"))
        {
            let lints = &list.tokens;
            allowed.push(quote_spanned!(hygienic(Span::call_site())=> #[allow(#lints)]));
        }
    }
    allowed
}

/// `struct AddAction { a: i64 }` with the function's visibility and documentation.
pub(super) fn action_struct(model: &Model<'_>, allowed: &[TokenStream]) -> TokenStream {
    let (visibility, ident) = (&model.function.visibility, model.action());
    let conditions = model.conditions();
    let docs = match model.docs {
        Docs::Missing => model.description(),
        ref docs => docs.to_token_stream(),
    };
    let fields = model.arguments().map(|argument| {
        let (name, ty, docs) = (argument.ident, argument.ty(), &argument.docs);
        quote!(#[doc = #docs] #visibility #name: #ty)
    });
    quote_spanned! {hygienic(model.ident().span())=>
        #(#conditions)*
        #[doc = #docs]
        #(#allowed)*
        #visibility struct #ident { #(#fields),* }
    }
}

/// A type alias that causes a compile error for a second tool of the same name.
pub(super) fn name_claim(model: &Model<'_>) -> TokenStream {
    let (name, span) = model.name();
    let claim =
        names::claim_ident(model.kind, &name, hygienic(span)).filter(|_| model.duplicate.is_none());
    let Some(claim) = claim else {
        return TokenStream::new();
    };
    let conditions = model.conditions();
    quote_spanned! {hygienic(span)=>
        #(#conditions)*
        #[doc(hidden)]
        type #claim = ();
    }
}

/// Rejects empty descriptions that only the compiler can evaluate, such as those from
/// `include_str!`.
pub(super) fn descriptions(model: &Model<'_>) -> TokenStream {
    let tool =
        model.options.description.is_none().then(|| {
            reject_empty(&model.docs, format!("{} `{}`", model.kind.noun(), model.ident()))
        });
    let parameters = model
        .arguments()
        .map(|argument| reject_empty(&argument.docs, format!("parameter `{}`", argument.ident)));
    quote!(#tool #(#parameters)*)
}

fn reject_empty(docs: &Docs, of: String) -> TokenStream {
    let Docs::Expression(text, span) = docs else {
        return TokenStream::new();
    };
    let message = format!("the description of {of} is empty; write what it means");
    quote_spanned! {hygienic(*span)=>
        const _: () = ::core::assert!(!#text.trim_ascii().is_empty(), #message);
    }
}

/// Settings that the runtime needs and models do not see.
pub(super) fn settings(model: &Model<'_>) -> TokenStream {
    let timeout = model.timeout().map(|timeout| {
        let (seconds, nanos) = (timeout.as_secs(), timeout.subsec_nanos());
        quote!(.timeout(#seconds, #nanos))
    });
    let schema = model.options.input_schema.as_ref().map(|_| quote!(.given_schema()));
    let method = model.toolset.map(Toolset::ty).map(|ty| quote!(.method_of::<#ty>()));
    quote_spanned! {hygienic(Span::call_site())=>
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS) #timeout #schema #method
        }
    }
}

/// `const URI` of a resource, `const NAME` of other actions.
pub(super) fn key(model: &Model<'_>) -> TokenStream {
    match &model.options.uri {
        Some(uri) => quote_spanned! {hygienic(Span::call_site())=>
            const URI: &'static ::core::primitive::str = #uri;
        },
        None => {
            let (name, _) = model.name();
            quote_spanned! {hygienic(Span::call_site())=>
                const NAME: &'static ::core::primitive::str = #name;
            }
        }
    }
}
