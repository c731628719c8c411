//! The function as the user wrote it. Its body is kept as tokens: nobody here looks inside.

use crate::docs;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Visibility};

/// A function with an unparsed body.
pub(crate) struct ToolFn {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// The braces and what is between them; empty for a declaration that ends in `;`.
    pub(crate) body: TokenStream,
}

impl Parse for ToolFn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

/// Prints the function unchanged but for what rustc does not accept on parameters: their
/// doc comments and our `#[arg]`.
impl ToTokens for ToolFn {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let mut signature = self.signature.clone();
        for input in &mut signature.inputs {
            attributes_mut(input).retain(|attribute| !is_ours(attribute));
        }
        for attribute in &self.attributes {
            attribute.to_tokens(tokens);
        }
        self.visibility.to_tokens(tokens);
        signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

/// Whether a parameter attribute is read by the macro and must not reach rustc.
pub(crate) fn is_ours(attribute: &Attribute) -> bool {
    docs::is_doc(attribute) || attribute.path().is_ident("arg")
}

fn attributes_mut(input: &mut FnArg) -> &mut Vec<Attribute> {
    match input {
        FnArg::Receiver(receiver) => &mut receiver.attrs,
        FnArg::Typed(typed) => &mut typed.attrs,
    }
}
