//! Generated code of prompts and resources.

use super::items::{action_struct, allowed_in, descriptions, name_claim, settings};
use super::{arguments, call, values};
use crate::kind::Kind;
use crate::model::{Argument, Model};
use crate::names::{self, at};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// All items generated for a prompt or a resource.
pub(super) fn generate(model: &Model<'_>) -> TokenStream {
    let runtime = model.runtime();
    let allowed = allowed_in(model);
    let action = action_struct(model, &allowed);
    let claim = (model.kind == Kind::Prompt).then(|| name_claim(model));
    let descriptions = descriptions(model);
    let values = model.arguments().map(values::functions);
    let tables = arguments::tables(model);
    let implementation = implementation(model);
    let registration = registration(model);
    quote_spanned! {at(Span::call_site())=>
        #action
        #claim
        #(#allowed)*
        const _: () = {
            use #runtime::__private as __tool;
            #descriptions
            #(#values)*
            #tables
            #implementation
            #registration
        };
    }
}

/// `impl PromptAction for ReviewPrompt`.
fn implementation(model: &Model<'_>) -> TokenStream {
    let (action, output) = (model.action(), model.output());
    let key = key(model);
    let definition = definition(model);
    let settings = settings(model);
    let decode = arguments::decode(model);
    let check = arguments::check(model);
    let run = call::run(model);
    let completers = completers(model);
    let (returned, _) = names::ends(&output);
    let output = quote_spanned!(at(returned)=> type Output = #output;);
    let action_trait = names::action_trait(model.kind);
    let items = quote_spanned! {at(Span::call_site())=>
        #key
        #output
        #definition
        #settings
        #decode
        #check
        #run
        #completers
    };
    quote_spanned! {at(model.ident().span())=>
        #[automatically_derived]
        impl __tool::#action_trait for #action { #items }
    }
}

/// `const URI` of a resource, `const NAME` of a prompt.
fn key(model: &Model<'_>) -> TokenStream {
    match &model.options.uri {
        Some(uri) => quote_spanned! {at(Span::call_site())=>
            const URI: &'static ::core::primitive::str = #uri;
        },
        None => {
            let (name, _) = model.name();
            quote_spanned! {at(Span::call_site())=>
                const NAME: &'static ::core::primitive::str = #name;
            }
        }
    }
}

fn definition(model: &Model<'_>) -> TokenStream {
    let (options, description) = (&model.options, model.description());
    let title = options.title.as_ref().map(|title| quote!(.title(#title)));
    let mime_type = options.mime_type.as_ref().map(|mime_type| quote!(.mime_type(#mime_type)));
    let size = options.size.as_ref();
    let size = size.map(|size| quote_spanned!(at(size.span())=> .size(#size)));
    let roles = &options.audience;
    let audience = (!roles.is_empty()).then(|| quote!(.audience(&[#(#roles),*])));
    let priority = options.priority.as_ref();
    let priority = priority.map(|it| quote_spanned!(at(it.span())=> .priority(#it)));
    let icons = &options.icons;
    let meta = options.meta.as_ref();
    let meta = meta.map(|meta| quote_spanned!(at(meta.span())=> .meta(#meta)));
    let (made, begun) = match model.kind {
        Kind::Resource => {
            let (name, _) = model.name();
            (
                quote!(ResourceDefinition),
                quote!(ResourceDraft::new(Self::URI, #name, #description, __PARAMETERS)),
            )
        }
        _ => (
            quote!(PromptDefinition),
            quote!(PromptDraft::new(Self::NAME, #description, __PARAMETERS)),
        ),
    };
    quote_spanned! {at(Span::call_site())=>
        fn definition() -> __tool::#made {
            __tool::#begun #title #mime_type #size #audience #priority #(.icon(#icons))* #meta.finish()
        }
    }
}

/// The functions that complete arguments, if there are any.
fn completers(model: &Model<'_>) -> Option<TokenStream> {
    let completers: Vec<TokenStream> = model.arguments().filter_map(completer).collect();
    (!completers.is_empty()).then(|| {
        quote_spanned! {at(Span::call_site())=>
            fn completers() -> &'static [__tool::ArgumentCompleter] {
                const { &[#(#completers),*] }
            }
        }
    })
}

fn completer(argument: &Argument<'_>) -> Option<TokenStream> {
    let path = argument.options.complete.as_ref()?;
    let (name, _) = argument.wire_name();
    let complete = Ident::new("complete", at(path.span()));
    let function = quote_spanned! {at(path.span())=>
        |__prefix, __context| __tool::Complete::#complete(&#path, __prefix, __context)
    };
    Some(quote_spanned!(at(Span::call_site())=> __tool::ArgumentCompleter::new(#name, #function)))
}

fn registration(model: &Model<'_>) -> TokenStream {
    if model.options.register == Some(false) {
        return TokenStream::new();
    }
    let (action, registration) = (model.action(), names::registration(model.kind));
    quote_spanned! {at(Span::call_site())=>
        __tool::inventory::submit! {
            __tool::#registration::of::<#action>(::core::file!(), ::core::line!())
        }
    }
}
