//! Converts a return value to an observation.

use crate::model::Model;
use crate::names::hygienic;
use crate::shape;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;

/// Selects by autoref how a return type is converted. The type is repeated in the bound that rejects
/// other types, so that rustc underlines it.
pub(super) fn function(model: &Model<'_>) -> TokenStream {
    let output = model.output();
    let arrow = hygienic(model.function.signature.output.span());
    // Of a result, rustc underlines only the type of a success.
    let succeeded = model.written_output().and_then(|output| shape::success(output).1);
    let succeeded = succeeded.map_or_else(|| output.clone(), ToTokens::to_token_stream);
    let success = conversion("__success", &succeeded, arrow);
    let failure = conversion("__failure", &output, arrow);
    quote_spanned! {hygienic(Span::call_site())=>
        fn __output() -> __tool::Output<#output> {
            use __tool::{ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _, UnsupportedErrorKind as _, DirectKind as _, PlainKind as _, ReportedKind as _, StructuredKind as _, UnsupportedKind as _};
            let __returned = __tool::Returned::<#output>::NEW;
            let (__success, __failure) = (__returned.success(), __returned.failure());
            __returned.with(#success, #failure)
        }
    }
}

fn conversion(probe: &str, output: &TokenStream, span: Span) -> TokenStream {
    let probe = Ident::new(probe, hygienic(Span::call_site()));
    quote_spanned!(span=> (&&&&&#probe).kind().accept::<#output>())
}

pub(super) fn observe() -> TokenStream {
    quote_spanned! {hygienic(Span::call_site())=>
        fn observe(__value: Self::Output) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
    }
}
