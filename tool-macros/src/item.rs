//! The function as the user wrote it. Its body is kept as tokens: nobody here looks inside.

mod block;
mod own_type;

pub(crate) use block::ImplBlock;

use crate::docs;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Pat, Signature, Visibility};

/// A function with an unparsed body.
pub(crate) struct ToolFn {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// The braces and what is between them; empty for a declaration that ends in `;`.
    pub(crate) body: TokenStream,
}

/// Where a function stands.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// In a module or a body.
    Free,
    /// In the `impl` block of a toolset.
    Method,
}

impl ToolFn {
    /// Whether it is more than a declaration.
    pub(crate) fn has_body(&self) -> bool {
        self.body.clone().into_iter().any(|token| matches!(token, TokenTree::Group(_)))
    }
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
/// doc comments, our `#[arg]`, and what was refused in its place.
impl ToTokens for ToolFn {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let mut signature = self.signature.clone();
        for input in &mut signature.inputs {
            attributes_mut(input).retain(|attribute| !is_ours(attribute));
        }
        for attribute in self.attributes.iter().filter(|attribute| !is_arg(attribute)) {
            attribute.to_tokens(tokens);
        }
        self.visibility.to_tokens(tokens);
        signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

/// Whether a parameter attribute is read by the macro and must not reach rustc.
fn is_ours(attribute: &Attribute) -> bool {
    docs::is_doc(attribute) || is_arg(attribute) || is_mistaken_for_arg(attribute)
}

/// `#[arg(...)]`.
pub(crate) fn is_arg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("arg")
}

/// Whether it is the attribute macro `name`, by whatever path.
pub(crate) fn is_named(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == name)
}

/// What people write on a parameter when they mean `#[arg(...)]`. Other attributes may belong
/// to a macro that runs after this one.
pub(crate) fn is_mistaken_for_arg(attribute: &Attribute) -> bool {
    const MISTAKEN: [&str; 6] = ["args", "param", "params", "schemars", "serde", "tool"];
    MISTAKEN.iter().any(|name| attribute.path().is_ident(name))
}

/// The name of a parameter that is no pattern.
pub(crate) fn plain_ident(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        _ => None,
    }
}

fn attributes_mut(input: &mut FnArg) -> &mut Vec<Attribute> {
    match input {
        FnArg::Receiver(receiver) => &mut receiver.attrs,
        FnArg::Typed(typed) => &mut typed.attrs,
    }
}
