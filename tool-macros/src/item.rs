//! The user's function as written. The body stays unparsed.

mod block;
mod self_type;
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
    /// The body with its braces; `;` for a declaration.
    pub(crate) body: TokenStream,
    pub(crate) fn_kind: FnKind,
}

/// Whether a function is free or a method.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum FnKind {
    /// A function of a module or of a function body.
    Free,
    /// A method of a toolset's `impl` block.
    Method,
}

impl ToolFn {
    /// Whether the function is more than a declaration.
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
            fn_kind: FnKind::Free,
        })
    }
}

/// Whether an attribute is `#[arg(...)]`.
pub(crate) fn is_arg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("arg")
}

/// Whether an attribute starts a runtime, as `#[tokio::main]` does.
pub(crate) fn is_entry_point(attribute: &Attribute) -> bool {
    attribute.path().segments.len() > 1 && is_named(attribute, "main")
}

/// Whether an attribute makes a test of a function, as `#[test]` and `#[tokio::test]` do.
pub(crate) fn is_test(attribute: &Attribute) -> bool {
    is_named(attribute, "test")
}

/// Whether an attribute is the macro `name`, by any path.
pub(crate) fn is_named(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == name)
}

/// Whether an attribute of a parameter was probably meant as `#[arg(...)]`. Other attributes may
/// belong to a macro that runs later.
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
