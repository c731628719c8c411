//! What no tool can have, whatever its types turn out to be: refused by shape alone.
//!
//! A parameter that is refused here has no place in the generated action.

mod block;
mod receiver;

pub(crate) use block::block_refusals;

use crate::item::ToolFn;
use crate::item::{Place, plain_ident};
use crate::kind::Kind;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, Pat, PatType, ReturnType, Signature, Type, TypeReference};

const OWNED: &str = "an argument must be owned; write";

/// Everything about a function's shape that keeps generated code from calling it.
pub(crate) fn refusals(function: &ToolFn, place: Place, kind: Kind) -> Vec<Error> {
    let signature = &function.signature;
    let mut refused = qualifiers(signature, kind);
    refused.extend(generics(signature, kind));
    refused.extend(body(function, kind));
    refused.extend(receiver::refused(signature, place, kind));
    for input in &signature.inputs {
        if let FnArg::Typed(typed) = input {
            refused.extend(refused_parameter(typed, kind));
        }
    }
    if let ReturnType::Type(_, output) = &signature.output {
        refused.extend(refused_output(output, kind));
    }
    refused
}

/// Whether a parameter's shape is refused.
pub(crate) fn is_refused(typed: &PatType) -> bool {
    !refused_parameter(typed, Kind::Tool).is_empty()
}

/// Why a return type has no schema of its own.
pub(crate) fn refused_output(output: &Type, kind: Kind) -> Option<Error> {
    let noun = kind.noun();
    let found = Find { static_references: true }.in_tokens(output.to_token_stream())?;
    let message = match found {
        Found::Impl(_) if kind == Kind::Tool => {
            "a tool's output has a schema and no `impl Trait`; name the type".to_owned()
        }
        Found::Impl(_) => format!("a {noun}'s output is no `impl Trait`; name the type"),
        _ => format!(
            "a {noun}'s output outlives the call; return an owned value, as in `String` instead of `&str`"
        ),
    };
    Some(found.error(output, message))
}

/// The type inside the invisible groups that `macro_rules!` puts around its fragments.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

fn qualifiers(signature: &Signature, kind: Kind) -> Vec<Error> {
    let (noun, mut refused) = (kind.noun(), Vec::new());
    if let syn::Safety::Unsafe(token) = &signature.safety {
        let message = format!("a {noun} cannot be `unsafe`; write a safe function around it");
        refused.push(Error::new(token.span(), message));
    }
    if let Some(abi) = &signature.abi {
        let message = format!("a {noun} cannot be `extern`; write a plain function around it");
        refused.push(Error::new_spanned(abi, message));
    }
    if let Some(variadic) = &signature.variadic {
        let message = format!("a {noun} has a fixed list of arguments; write a `Vec<T>` parameter");
        refused.push(Error::new_spanned(variadic, message));
    }
    refused
}

/// One mistake for generics and what constrains them.
fn generics(signature: &Signature, kind: Kind) -> Option<Error> {
    let generics = &signature.generics;
    let is_lifetime = |parameter: &GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    if let Some(parameter) = generics.params.iter().find(|parameter| !is_lifetime(parameter)) {
        let one =
            if kind == Kind::Tool { "exactly one JSON schema" } else { "one list of arguments" };
        let message = format!("a {} has {one} and no generics; name the types", kind.noun());
        return Some(Error::new_spanned(parameter, message));
    }
    if let Some(lifetime) = generics.params.first() {
        return Some(Error::new_spanned(
            lifetime,
            "an injected value is borrowed for the call; write `&T` without a lifetime",
        ));
    }
    let predicate = generics.where_clause.as_ref()?.predicates.first()?;
    Some(Error::new_spanned(
        predicate,
        format!("a {} has no generics to constrain; remove the `where` clause", kind.noun()),
    ))
}

fn body(function: &ToolFn, kind: Kind) -> Option<Error> {
    (!function.has_body()).then(|| {
        Error::new(
            function.signature.ident.span(),
            format!("`#[{}]` needs a function with a body; write a free function that calls the trait method", kind.noun()),
        )
    })
}

fn refused_parameter(typed: &PatType, kind: Kind) -> Vec<Error> {
    let mut refused = Vec::new();
    match ungrouped(&typed.ty) {
        Type::Reference(reference) => refused.extend(borrowed(reference)),
        _ => {
            refused.extend(pattern(&typed.pat));
            refused.extend(owned(&typed.ty));
        }
    }
    refused.extend(conditions(typed, kind));
    refused
}

/// An argument's name is its name in JSON; an injected value may be destructured.
fn pattern(pattern: &Pat) -> Option<Error> {
    if plain_ident(pattern).is_some() {
        return None;
    }
    let message = match pattern {
        Pat::Ident(pat) if pat.by_ref.is_some() => {
            "a parameter needs a plain name; remove `ref` and borrow inside the body"
        }
        Pat::Ident(_) => "a parameter needs a plain name; match the value inside the body",
        Pat::Wild(_) => "a parameter needs a name, which is its name in JSON; write `_name`",
        _ => {
            "a parameter needs a plain name, which is its name in JSON; destructure inside the body"
        }
    };
    Some(match pattern {
        Pat::Ident(pat) if pat.by_ref.is_some() => Error::new(pat.by_ref.span(), message),
        other => Error::new_spanned(other, message),
    })
}

fn conditions(typed: &PatType, kind: Kind) -> impl Iterator<Item = Error> {
    let attributes = typed.attrs.iter();
    let conditional =
        attributes.filter(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr"));
    conditional.map(move |attribute| {
        let one = if kind == Kind::Tool { "schema" } else { "list of arguments" };
        let message = format!(
            "a {} has one {one} whatever is configured; put `#[cfg]` on the function",
            kind.noun()
        );
        Error::new_spanned(attribute, message)
    })
}

/// A reference parameter is injected; what cannot be was meant as an argument.
fn borrowed(reference: &TypeReference) -> Option<Error> {
    let target = ungrouped(&reference.elem);
    if let Some(instead) = owned_instead(target) {
        return Some(Error::new_spanned(reference, format!("{OWNED} {instead}")));
    }
    if let Some(token) = &reference.mutability {
        let message = match is_context(target) {
            true => "the context is shared; write `&ToolContext`",
            false => {
                "an injected value is shared between calls; write `&T` and a `Mutex` or atomics inside `T`"
            }
        };
        return Some(Error::new(token.span(), message));
    }
    reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static").map(|lifetime| {
        Error::new(
            lifetime.span(),
            "an injected value is borrowed for the call; write `&T` without a lifetime",
        )
    })
}

/// Only for the message's sake: an alias of `str` is caught by the injection trait.
fn owned_instead(target: &Type) -> Option<&'static str> {
    match target {
        Type::Slice(_) => Some("`Vec<T>` instead of `&[T]`"),
        Type::Path(path) if path.path.is_ident("str") => Some("`String` instead of `&str`"),
        _ => None,
    }
}

fn owned(ty: &Type) -> Option<Error> {
    if is_context(ungrouped(ty)) {
        return Some(Error::new_spanned(
            ty,
            "the context is borrowed for the call; write `&ToolContext`",
        ));
    }
    let found = Find { static_references: false }.in_tokens(ty.to_token_stream())?;
    let message = match found {
        Found::Impl(_) => {
            "an argument has a schema and no `impl Trait`; name the type, as in `String`".to_owned()
        }
        Found::Text(_) => format!("{OWNED} `String` instead of `&str`"),
        Found::Reference(_) => format!("{OWNED} the type behind the reference"),
        Found::Lifetime(_) => format!("{OWNED} a type without lifetimes, as in `String`"),
    };
    Some(found.error(ty, message))
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "ToolContext"))
}

/// Looks for borrows and `impl Trait` in a type's tokens, however deep.
struct Find {
    /// Whether `&'static T` is fine.
    static_references: bool,
}

enum Found {
    Impl(Span),
    /// `&str`.
    Text(Span),
    Reference(Span),
    Lifetime(Span),
}

impl Find {
    fn in_tokens(&self, tokens: TokenStream) -> Option<Found> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        (0..tokens.len()).find_map(|index| self.at(&tokens, index))
    }

    fn at(&self, tokens: &[TokenTree], index: usize) -> Option<Found> {
        let next = tokens.get(index + 1);
        match &tokens[index] {
            TokenTree::Group(group) => self.in_tokens(group.stream()),
            TokenTree::Ident(ident) if ident == "impl" => Some(Found::Impl(ident.span())),
            TokenTree::Punct(punct) if punct.as_char() == '\'' && !is_ident(next, "static") => {
                Some(Found::Lifetime(punct.span()))
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' && begins_type(tokens, index) => {
                let is_static = is_ident(tokens.get(index + 2), "static");
                if is_static && self.static_references {
                    return None;
                }
                let text = if is_static { tokens.get(index + 3) } else { next };
                Some(match is_ident(text, "str") {
                    true => Found::Text(punct.span()),
                    false => Found::Reference(punct.span()),
                })
            }
            _ => None,
        }
    }
}

/// An `&` behind a value is an operator: `[u8; A & B]`.
fn begins_type(tokens: &[TokenTree], index: usize) -> bool {
    match index.checked_sub(1).map(|before| &tokens[before]) {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() != '>',
        Some(_) => false,
    }
}

fn is_ident(token: Option<&TokenTree>, name: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == name)
}

impl Found {
    /// An `impl Trait` or a borrow at the type's beginning is the whole type's mistake.
    fn error(&self, ty: &Type, message: impl std::fmt::Display) -> Error {
        match ungrouped(ty) {
            whole @ (Type::ImplTrait(_) | Type::Reference(_)) => Error::new_spanned(whole, message),
            _ => Error::new(self.span(), message),
        }
    }

    fn span(&self) -> Span {
        match self {
            Self::Impl(span) | Self::Text(span) | Self::Reference(span) | Self::Lifetime(span) => {
                *span
            }
        }
    }
}
