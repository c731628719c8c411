//! The arguments of an action as JSON, for hooks of typed calls.

use crate::model::Model;
use crate::names::at;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// `fn to_json`. Autoref omits values that are not `Serialize`; the names are in the table.
pub(super) fn to_json(model: &Model<'_>) -> TokenStream {
    let fields = model.arguments().map(|argument| argument.ident);
    let traits = model.arguments().next().map(
        |_| quote_spanned!(at(Span::call_site())=> use __tool::{OmitJson as _, WriteJson as _};),
    );
    quote_spanned! {at(Span::call_site())=>
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            #traits
            __tool::json_object(__PARAMETERS, &[#((&&__tool::JsonOf(&self.#fields)).json()),*])
        }
    }
}
