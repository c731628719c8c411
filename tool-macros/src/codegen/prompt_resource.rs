//! Generated code that only prompts and resources have.

use crate::expressions::as_float;
use crate::kind::Kind;
use crate::model::{Argument, Model};
use crate::names::hygienic;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) fn definition(model: &Model<'_>) -> TokenStream {
    let (options, description) = (&model.options, model.description());
    let title = options.title.as_ref().map(|title| quote!(.title(#title)));
    let mime_type = options.mime_type.as_ref().map(|mime_type| quote!(.mime_type(#mime_type)));
    let size = options.size.as_ref();
    let size = size.map(|size| quote_spanned!(hygienic(size.span())=> .size(#size)));
    let roles = &options.audience;
    let audience = (!roles.is_empty()).then(|| quote!(.audience(&[#(#roles),*])));
    let priority = options.priority.as_ref().map(|value| as_float(&value.0));
    let priority = priority.map(|value| quote_spanned!(hygienic(value.span())=> .priority(#value)));
    let icons = &options.icons;
    let meta = options.meta.as_ref();
    let meta = meta.map(|meta| quote_spanned!(hygienic(meta.span())=> .meta(#meta)));
    let (made, with_identifier_start) = match model.kind {
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
    quote_spanned! {hygienic(Span::call_site())=>
        fn definition() -> __tool::#made {
            __tool::#with_identifier_start #title #mime_type #size #audience #priority #(.icon(#icons))* #meta.finish()
        }
    }
}

/// The functions that complete arguments, if there are any.
pub(super) fn completers(model: &Model<'_>) -> TokenStream {
    let completers: Vec<TokenStream> = model.arguments().filter_map(completer).collect();
    if completers.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {hygienic(Span::call_site())=>
        fn completers() -> &'static [__tool::ArgumentCompleter] {
            const { &[#(#completers),*] }
        }
    }
}

fn completer(argument: &Argument<'_>) -> Option<TokenStream> {
    let path = argument.options.complete.as_ref()?;
    let (name, _) = argument.wire_name();
    let complete = Ident::new("complete", hygienic(path.span()));
    let function = quote_spanned! {hygienic(path.span())=>
        |__prefix, __context| __tool::Complete::#complete(&#path, __prefix, __context)
    };
    Some(
        quote_spanned!(hygienic(Span::call_site())=> __tool::ArgumentCompleter::new(#name, #function)),
    )
}
