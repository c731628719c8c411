//! Lifetimes that a signature declares and uses.

use crate::surroundings::{self, Lifetimes};
use crate::types::ungrouped;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;
use syn::{Error, FnArg, GenericParam, Lifetime, Signature, Type};

/// The error about a declared lifetime of an injected value, or an unused one. Lifetimes in
/// arguments and outputs have other checks.
pub(super) fn check(lifetime: &Lifetime, signature: &Signature) -> Option<Error> {
    let name = lifetime.ident.to_string();
    let names = |tokens: TokenStream| named(tokens).contains(&name);
    let is_borrow = |input: &FnArg| match input {
        FnArg::Typed(typed) => matches!(ungrouped(&typed.ty), Type::Reference(_)),
        FnArg::Receiver(_) => true,
    };
    let mut borrows = signature.inputs.iter().filter(|input| is_borrow(input));
    if borrows.any(|input| names(input.to_token_stream())) {
        let message = "an injected value is borrowed for the call; write `&T` without a lifetime";
        return Some(Error::new_spanned(lifetime, message));
    }
    let is_used =
        names(signature.inputs.to_token_stream()) || names(signature.output.to_token_stream());
    let message = format!("no parameter has the lifetime `{lifetime}`; remove `<{lifetime}>`");
    (!is_used).then(|| Error::new_spanned(lifetime, message))
}

/// The error about a lifetime that is not declared.
pub(super) fn undeclared(signature: &Signature) -> Error {
    let declared = declared(signature);
    let uses_undeclared_lifetime =
        |input: &&FnArg| !named(input.to_token_stream()).is_subset(&declared);
    let message = "an injected value is borrowed for the call; write `&T` without a lifetime";
    match signature.inputs.iter().find(uses_undeclared_lifetime) {
        Some(FnArg::Typed(typed)) => Error::new_spanned(&typed.ty, message),
        _ => Error::new(signature.ident.span(), message),
    }
}

/// The error about a type of this file that has a lifetime which is not written, or which it borrows with. `'static` of a type
/// that passes it on, as to a `Cow`, is owned.
pub(super) fn in_argument(ty: &Type) -> Option<Error> {
    let tokens: Vec<TokenTree> = ty.to_token_stream().into_iter().collect();
    tokens.iter().enumerate().find_map(|(index, token)| {
        let TokenTree::Ident(name) = token else { return None };
        let sign = |at: usize| match tokens.get(index + at) {
            Some(TokenTree::Punct(sign)) => Some(sign.as_char()),
            _ => None,
        };
        if sign(1) == Some(':') {
            return None;
        }
        let is_written = sign(1) == Some('<') && sign(2) == Some('\'');
        let message = match surroundings::lifetimes(name)? {
            Lifetimes::Passed if is_written => return None,
            Lifetimes::Passed => format!("write `{name}<'static>`"),
            Lifetimes::Borrowed => {
                format!("write owned types in `{name}`, as in `String` instead of `&str`")
            }
        };
        Some(Error::new(name.span(), format!("an argument must be owned; {message}")))
    })
}

/// The names of the declared lifetimes.
pub(super) fn declared(signature: &Signature) -> HashSet<String> {
    let lifetimes = signature.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Lifetime(lifetime) => Some(lifetime.lifetime.ident.to_string()),
        _ => None,
    });
    lifetimes.collect()
}

/// The names of the lifetimes in some tokens, without `'static` and `'_`.
pub(super) fn named(tokens: TokenStream) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut is_behind_quote = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => names.extend(named(group.stream())),
            TokenTree::Ident(name) if is_behind_quote && name != "static" && name != "_" => {
                names.insert(name.to_string());
            }
            _ => {}
        }
        is_behind_quote = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '\'');
    }
    names
}

/// The number of borrows without a named lifetime.
pub(super) fn elided(tokens: TokenStream) -> usize {
    count(tokens, |sign, next| match sign {
        '&' => !is_quote(next),
        '\'' => matches!(next, Some(TokenTree::Ident(name)) if name == "_"),
        _ => false,
    })
}

/// The number of borrows, with or without a named lifetime.
pub(super) fn borrows(tokens: TokenStream) -> usize {
    count(tokens, |sign, next| match sign {
        '&' => !is_quote(next),
        sign => sign == '\'',
    })
}

fn count(tokens: TokenStream, is_counted: fn(char, Option<&TokenTree>) -> bool) -> usize {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let count_token = |(index, token): (usize, &TokenTree)| match token {
        TokenTree::Group(group) => count(group.stream(), is_counted),
        TokenTree::Punct(sign) => usize::from(is_counted(sign.as_char(), tokens.get(index + 1))),
        _ => 0,
    };
    tokens.iter().enumerate().map(count_token).sum()
}

fn is_quote(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(sign)) if sign.as_char() == '\'')
}
