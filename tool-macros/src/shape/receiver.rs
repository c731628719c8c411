//! Receivers: a method of a toolset needs `&self`, a free function cannot have it.

use crate::item::FnKind;
use crate::kind::Kind;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Receiver, ReceiverKind, Signature};

/// The error about a missing or unsuitable receiver.
pub(super) fn check(signature: &Signature, fn_kind: FnKind, kind: Kind) -> Option<Error> {
    match (fn_kind, signature.receiver()) {
        (FnKind::Free, None) => None,
        (FnKind::Free, Some(receiver)) if kind != Kind::Tool => Some(Error::new(
            receiver.self_token.span(),
            format!(
                "a method cannot be a {}; write a free function with a parameter `state: &State`",
                kind.noun()
            ),
        )),
        (FnKind::Free, Some(receiver)) => Some(Error::new(
            receiver.self_token.span(),
            "a method is a tool of its type; move it to an `impl Type` block with `#[toolset]` above, or write a free function with a parameter `state: &State`",
        )),
        (FnKind::Method, None) => Some(missing(signature)),
        (FnKind::Method, Some(receiver)) => {
            let (span, message) = not_shared(receiver)?;
            Some(Error::new(span, message))
        }
    }
}

fn missing(signature: &Signature) -> Error {
    let name = &signature.ident;
    let message = format!(
        "`{name}` has no `&self`; write it as the first parameter, or make `{name}` a free function"
    );
    Error::new(name.span(), message)
}

/// The error about a receiver that is not `&self`.
fn not_shared(receiver: &Receiver) -> Option<(Span, &'static str)> {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(token)) => Some((
            token.span(),
            "the tools of a value share it and run at the same time; write `&self`, and put what changes behind a `Mutex`",
        )),
        ReceiverKind::Reference(_, Some(lifetime), _) if lifetime.ident == "static" => Some((
            lifetime.span(),
            "the value is borrowed for the call; write `&self` without a lifetime",
        )),
        ReceiverKind::Reference(..) => None,
        ReceiverKind::Typed(_, ty) => Some((
            ty.span(),
            "the tools of a value share it, and the runtime keeps it; write `&self`, and put what changes behind a `Mutex`",
        )),
        _ => Some((
            receiver.self_token.span(),
            "the tools of a value share it, and none can consume it; write `&self`",
        )),
    }
}
