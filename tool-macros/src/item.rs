//! The function as the user wrote it. Its body is kept as tokens: nobody here looks inside.

mod block;
mod own_type;
mod signature;

pub(crate) use block::ImplBlock;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Pat, Signature, Visibility};

/// A function with an unparsed body.
pub(crate) struct ToolFn {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// The braces and what is between them; empty for a declaration that ends in `;`.
    pub(crate) body: TokenStream,
    pub(crate) place: Place,
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
            signature: signature::parse(input)?,
            body: input.parse()?,
            place: Place::Free,
        })
    }
}

/// `#[arg(...)]`.
pub(crate) fn is_arg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("arg")
}

/// `#[tokio::main]` and its like, which start a runtime of their own.
pub(crate) fn is_entry_point(attribute: &Attribute) -> bool {
    attribute.path().segments.len() > 1 && is_named(attribute, "main")
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

/// The name of a parameter that is not a pattern.
pub(crate) fn plain_ident(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        _ => None,
    }
}

/// The names of all parameters that are not patterns.
pub(crate) fn parameter_names(signature: &Signature) -> impl Iterator<Item = &Ident> {
    signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => plain_ident(&typed.pat),
        FnArg::Receiver(_) => None,
    })
}
