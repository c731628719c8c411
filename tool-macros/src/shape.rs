//! Signatures that cannot be tools for any types.
//!
//! A parameter that is rejected here is left out of the generated action.

mod block;
mod forbidden;
mod lifetimes;
mod output;
mod parameter;
mod receiver;
mod replacement;
mod shared_state;
mod value;

pub(crate) use block::block_errors;
pub(crate) use output::{is_borrowed_str, output_error, success};
pub(crate) use parameter::{is_plain_argument, is_unsupported};
pub(crate) use replacement::replacement;
pub(crate) use value::value_error;

use crate::item::{self, FnKind, ToolFn};
use crate::kind::Kind;
use forbidden::names_self;
use quote::ToTokens;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ReturnType, Signature};

/// All reasons why generated code cannot call a function.
pub(crate) fn signature_errors(function: &ToolFn, fn_kind: FnKind, kind: Kind) -> Vec<Error> {
    let signature = &function.signature;
    let mut errors = qualifiers(signature, kind);
    errors.extend(generics(signature, kind));
    errors.extend(body(function, kind));
    errors.extend(receiver::check(signature, fn_kind, kind));
    errors.extend(entry_point(function, kind));
    errors.extend(test(function, kind));
    errors.extend(own_type(function, kind));
    errors.extend(duplicates(signature));
    for input in &signature.inputs {
        if let FnArg::Typed(typed) = input {
            errors.extend(parameter::check(typed, kind));
        }
    }
    if let ReturnType::Type(_, output) = &signature.output {
        errors.extend(output_error(output, kind));
    }
    if errors.is_empty() && replacement(function).is_some() {
        errors.push(lifetimes::undeclared(signature));
    }
    errors
}

fn qualifiers(signature: &Signature, kind: Kind) -> Vec<Error> {
    let (noun, mut errors) = (kind.noun(), Vec::new());
    if let syn::Safety::Unsafe(token) = &signature.safety {
        let message = format!("a {noun} cannot be `unsafe`; write a safe function around it");
        errors.push(Error::new(token.span(), message));
    }
    if let Some(abi) = &signature.abi {
        let message = format!("a {noun} cannot be `extern`; write a plain function around it");
        errors.push(Error::new_spanned(abi, message));
    }
    if let Some(variadic) = &signature.variadic {
        let message = format!("a {noun} has a fixed list of arguments; write a `Vec<T>` parameter");
        errors.push(Error::new_spanned(variadic, message));
    }
    errors
}

/// One error for generics and their bounds.
fn generics(signature: &Signature, kind: Kind) -> Option<Error> {
    let generics = &signature.generics;
    let is_lifetime = |parameter: &GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    if let Some(parameter) = generics.params.iter().find(|parameter| !is_lifetime(parameter)) {
        let one =
            if kind == Kind::Tool { "exactly one JSON schema" } else { "one list of arguments" };
        let message = format!("a {} has {one} and no generics; name the types", kind.noun());
        return Some(Error::new_spanned(parameter, message));
    }
    if let Some(GenericParam::Lifetime(lifetime)) = generics.params.first() {
        return lifetimes::check(&lifetime.lifetime, signature);
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

/// `#[tokio::main]` turns an `async fn` into a plain function that starts a runtime.
fn entry_point(function: &ToolFn, kind: Kind) -> Option<Error> {
    let attribute = function.attributes.iter().find(|a| item::is_entry_point(a))?;
    let written = attribute.path().to_token_stream().to_string().replace(' ', "");
    let message = format!(
        "a {} runs on the runtime of its server; remove `#[{written}]` here and write it above `fn main`",
        kind.noun()
    );
    Some(Error::new_spanned(attribute, message))
}

/// `#[test]` leaves out the function in all builds but those of tests.
fn test(function: &ToolFn, kind: Kind) -> Option<Error> {
    let attribute = function.attributes.iter().find(|a| item::is_test(a))?;
    let message = format!(
        "a test is not a {}; write the test as another function that calls this one",
        kind.noun()
    );
    Some(Error::new_spanned(attribute, message))
}

/// `Self` outside a toolset: a free function has no `Self`, and an action cannot be generated
/// inside an `impl` block.
fn own_type(function: &ToolFn, kind: Kind) -> Option<Error> {
    let written = names_self(function)?;
    let remedy = match kind {
        Kind::Tool => ", or `#[toolset]` above the `impl` block and `&self` as the first parameter",
        _ => "",
    };
    let message = format!("a free function has no `Self`; write the type's name{remedy}");
    Some(Error::new(written, message))
}

/// Whether a function that is not a method of a toolset names `Self`.
pub(crate) fn mentions_self(function: &ToolFn) -> bool {
    names_self(function).is_some()
}

/// Two parameters of one name.
fn duplicates(signature: &Signature) -> Vec<Error> {
    let mut seen = HashSet::new();
    let mut errors = Vec::new();
    for name in item::parameter_names(signature) {
        if !seen.insert(name.to_string()) {
            let message =
                format!("two parameters are named `{name}`; write another name for one of them");
            errors.push(Error::new(name.span(), message));
        }
    }
    errors
}
