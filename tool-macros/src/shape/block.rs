//! `impl` blocks that cannot be toolsets.

use crate::item::ImplBlock;
use crate::types;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Error, GenericParam, Type};

/// All reasons why a block cannot be a toolset.
pub(crate) fn block_errors(block: &ImplBlock) -> Vec<Error> {
    let mut errors = Vec::new();
    errors.extend(of_trait(block));
    errors.extend(generics(block).or_else(|| borrowed(&block.ty)));
    errors.extend(unnamed(&block.ty));
    errors
}

fn of_trait(block: &ImplBlock) -> Option<Error> {
    let (of_trait, token) = block.of_trait.as_ref()?;
    let name = types::name(&block.ty).map_or_else(|| "Type".to_owned(), ToString::to_string);
    let message = format!(
        "`#[toolset]` goes on the methods of the type itself; write `#[toolset] impl {name} {{ .. }}`"
    );
    Some(Error::new_spanned(quote!(#of_trait #token), message))
}

fn generics(block: &ImplBlock) -> Option<Error> {
    let is_lifetime = |parameter: &&GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    let parameters = &block.generics.params;
    if let Some(parameter) = parameters.iter().find(|parameter| !is_lifetime(parameter)) {
        return Some(Error::new_spanned(
            parameter,
            "the tools of a type have exactly one JSON schema each and no generics; name the types, as in `impl Store<String>`",
        ));
    }
    parameters.first().map(borrowing)
}

/// `impl Parser<'_>`.
fn borrowed(ty: &Type) -> Option<Error> {
    let lifetime = first_lifetime(ty.to_token_stream())?;
    Some(borrowing(lifetime))
}

fn borrowing(lifetime: impl ToTokens) -> Error {
    Error::new_spanned(
        lifetime,
        "a toolset lives as long as its pool and borrows nothing; give the type owned values and no lifetime",
    )
}

/// A lifetime that is not `'static`.
fn first_lifetime(tokens: TokenStream) -> Option<TokenStream> {
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                if let Some(found) = first_lifetime(group.stream()) {
                    return Some(found);
                }
            }
            TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                let name = tokens.next();
                if !matches!(&name, Some(TokenTree::Ident(name)) if name == "static") {
                    return Some(quote!(#quote #name));
                }
            }
            _ => {}
        }
    }
    None
}

fn unnamed(ty: &Type) -> Option<Error> {
    types::name(ty).is_none().then(|| {
        Error::new_spanned(
            ty,
            "a toolset is a type with a name of its own; write `struct Name(..)` around this type",
        )
    })
}
