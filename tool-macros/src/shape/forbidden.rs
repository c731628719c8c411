//! Finds constructs in types that generated code cannot name, at any depth.

use crate::item::{FnKind, ToolFn};
use crate::types::ungrouped;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, FnArg, ReturnType, Type};

/// The position of a type, which decides what is allowed in it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Position {
    /// An argument's type.
    Argument,
    /// The target of an injected reference: the compiler checks all but its shape.
    Injected,
    /// A return type: `&'static T` is allowed, and so are types that are not `Send`.
    Output,
}

/// A construct that is not allowed, and its span.
pub(super) struct Forbidden {
    pub(super) construct: Construct,
    span: Span,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Construct {
    Impl,
    /// `_`
    Placeholder,
    /// `&str`
    Text,
    Reference,
    Lifetime,
    /// `*const T`
    Pointer,
    /// `Rc<T>`
    Rc,
    /// `dyn Trait` without `Send`
    Object,
}

impl Position {
    /// The first construct that is not allowed.
    pub(super) fn in_type(self, ty: &Type) -> Option<Forbidden> {
        self.in_tokens(ty.to_token_stream())
    }

    fn in_tokens(self, tokens: TokenStream) -> Option<Forbidden> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        (0..tokens.len()).find_map(|index| self.find_at(&tokens, index))
    }

    fn find_at(self, tokens: &[TokenTree], index: usize) -> Option<Forbidden> {
        let construct = match &tokens[index] {
            TokenTree::Group(group) => return self.in_tokens(group.stream()),
            TokenTree::Ident(_) => self.at_word(tokens, index)?,
            TokenTree::Punct(punct) if self != Self::Injected => {
                self.at_punct(punct.as_char(), tokens, index)?
            }
            _ => return None,
        };
        Some(Forbidden { construct, span: tokens[index].span() })
    }

    fn at_word(self, tokens: &[TokenTree], index: usize) -> Option<Construct> {
        let is = |name| is_ident(tokens.get(index), name);
        let opens = |at: usize| is_punct(tokens.get(at), '<');
        let is_lifetime = index.checked_sub(1).is_some_and(|at| is_punct(tokens.get(at), '\''));
        match self {
            _ if is("impl") => Some(Construct::Impl),
            _ if is("_") && !is_lifetime => Some(Construct::Placeholder),
            Self::Argument if is("Rc") && opens(index + 1) => Some(Construct::Rc),
            Self::Argument if is("dyn") && !has_send_bound(&tokens[index..]) => {
                Some(Construct::Object)
            }
            _ => None,
        }
    }

    fn at_punct(self, punct: char, tokens: &[TokenTree], index: usize) -> Option<Construct> {
        let next = tokens.get(index + 1);
        match punct {
            '\'' if !is_ident(next, "static") => Some(Construct::Lifetime),
            '&' if begins_type(tokens, index) => self.at_reference(tokens, index),
            '*' if self == Self::Argument && begins_type(tokens, index) => Some(Construct::Pointer),
            _ => None,
        }
    }

    fn at_reference(self, tokens: &[TokenTree], index: usize) -> Option<Construct> {
        // `&'static str` is four tokens.
        let is_static = is_ident(tokens.get(index + 2), "static");
        if is_static && self == Self::Output {
            return None;
        }
        let target = tokens.get(if is_static { index + 3 } else { index + 1 });
        Some(if is_ident(target, "str") { Construct::Text } else { Construct::Reference })
    }
}

impl Forbidden {
    /// The error: about the whole type where it begins with the construct.
    pub(super) fn error(&self, ty: &Type, message: impl std::fmt::Display) -> Error {
        match ungrouped(ty) {
            whole @ (Type::ImplTrait(_) | Type::Reference(_) | Type::Ptr(_)) => {
                Error::new_spanned(whole, message)
            }
            _ => Error::new(self.span, message),
        }
    }
}

/// The first `Self` of a free function.
pub(super) fn names_self(function: &ToolFn) -> Option<Span> {
    let signature = &function.signature;
    if function.fn_kind == FnKind::Method || signature.receiver().is_some() {
        return None;
    }
    let inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => self_span(typed.ty.to_token_stream()),
        FnArg::Receiver(_) => None,
    });
    let output = match &signature.output {
        ReturnType::Type(_, output) => self_span(output.to_token_stream()),
        ReturnType::Default => None,
    };
    inputs.chain(output).next()
}

/// The span of `Self`.
pub(super) fn self_span(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => self_span(group.stream()),
        TokenTree::Ident(ident) if ident == "Self" => Some(ident.span()),
        _ => None,
    })
}

/// An `&` after a value is an operator: `[u8; A & B]`.
fn begins_type(tokens: &[TokenTree], index: usize) -> bool {
    match index.checked_sub(1).map(|before| &tokens[before]) {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() != '>',
        Some(_) => false,
    }
}

/// Whether a trait object has the bound `Send`.
fn has_send_bound(object: &[TokenTree]) -> bool {
    object.iter().any(|token| is_ident(Some(token), "Send"))
}

fn is_ident(token: Option<&TokenTree>, name: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == name)
}

fn is_punct(token: Option<&TokenTree>, expected: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == expected)
}
