//! Prints the user's function.

use crate::item::{ToolFn, is_arg, is_entry_point, is_mistaken_for_arg, is_test};
use crate::{docs, shape};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, FnArg};

/// Prints the function unchanged, except for doc comments, `#[arg]` and rejected attributes on
/// parameters, which rustc does not accept. A signature that rustc would reject anyway is
/// replaced by one that compiles.
impl ToTokens for ToolFn {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let replacement = shape::replacement(self);
        let (mut signature, body) =
            replacement.unwrap_or_else(|| (self.signature.clone(), self.body.clone()));
        for input in &mut signature.inputs {
            attributes_mut(input).retain(|attribute| !is_ours(attribute));
        }
        let is_unprintable = |attribute: &Attribute| {
            is_arg(attribute) || is_entry_point(attribute) || is_test(attribute)
        };
        for attribute in self.attributes.iter().filter(|attribute| !is_unprintable(attribute)) {
            attribute.to_tokens(tokens);
        }
        self.visibility.to_tokens(tokens);
        signature.to_tokens(tokens);
        body.to_tokens(tokens);
    }
}

/// Whether an attribute of a parameter is read by the macro and must not reach rustc.
fn is_ours(attribute: &Attribute) -> bool {
    docs::is_doc(attribute) || is_arg(attribute) || is_mistaken_for_arg(attribute)
}

fn attributes_mut(input: &mut FnArg) -> &mut Vec<Attribute> {
    match input {
        FnArg::Receiver(receiver) => &mut receiver.attrs,
        FnArg::Typed(typed) => &mut typed.attrs,
    }
}
