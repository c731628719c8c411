//! A replacement for a function whose signature rustc would reject anyway.
//!
//! The mistake has been reported by the macro. The replacement keeps the name and the valid parts,
//! so that rustc reports nothing more, neither here nor at a call.

use super::forbidden::{Construct, Forbidden, Position, names_self, self_span};
use super::lifetimes;
use crate::item::{self, ToolFn};
use crate::types::ungrouped;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::HashSet;
use syn::{FnArg, PatType, ReturnType, Signature, Type, parse_quote};

/// The signature and the body to print instead of the user's; `None` if the user's compile.
pub(crate) fn replacement(function: &ToolFn) -> Option<(Signature, TokenStream)> {
    let check = SignatureCheck::new(function);
    if !function.has_body() || check.is_valid() {
        return None;
    }
    let mut signature = function.signature.clone();
    (signature.constness, signature.variadic) = (None, None);
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input {
            check.replace(typed);
        }
    }
    if let ReturnType::Type(_, output) = &mut signature.output
        && !check.is_valid_output(output)
    {
        **output = parse_quote!(!);
    }
    Some((signature, quote!({ loop {} })))
}

/// The names that types of a signature may use.
struct SignatureCheck<'a> {
    signature: &'a Signature,
    lifetimes: HashSet<String>,
    has_self: bool,
}

impl<'a> SignatureCheck<'a> {
    fn new(function: &'a ToolFn) -> Self {
        Self {
            signature: &function.signature,
            lifetimes: lifetimes::declared(&function.signature),
            has_self: names_self(function).is_none(),
        }
    }

    fn is_valid(&self) -> bool {
        let inputs = self.signature.inputs.iter();
        let mut types = inputs.filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        });
        let names: Vec<String> =
            item::parameter_names(self.signature).map(ToString::to_string).collect();
        let distinct: HashSet<&String> = names.iter().collect();
        let output = match &self.signature.output {
            ReturnType::Type(_, output) => self.is_valid_output(output),
            ReturnType::Default => true,
        };
        self.signature.variadic.is_none()
            && output
            && distinct.len() == names.len()
            && types.all(|ty| self.is_valid_parameter(ty))
    }

    fn is_valid_parameter(&self, ty: &Type) -> bool {
        let is_borrowed = matches!(ungrouped(ty), Type::Reference(_));
        self.is_valid_type(ty) && (is_borrowed || lifetimes::in_argument(ty).is_none())
    }

    fn is_valid_type(&self, ty: &Type) -> bool {
        let is_sized = match ungrouped(ty) {
            Type::Slice(_) | Type::TraitObject(_) => false,
            Type::Path(path) => !path.path.is_ident("str"),
            _ => true,
        };
        let tokens = || ty.to_token_stream();
        let binds = tokens().to_string().contains("for <");
        let is_explicit = |found: Forbidden| found.construct != Construct::Placeholder;
        is_sized
            && Position::Injected.in_type(ty).is_none_or(is_explicit)
            && (self.has_self || self_span(tokens()).is_none())
            && (binds || lifetimes::named(tokens()).is_subset(&self.lifetimes))
    }

    /// A borrow without a lifetime gets that of the only borrowed parameter, or that of `self`.
    fn is_valid_output(&self, output: &Type) -> bool {
        let is_known = self.signature.receiver().is_some()
            || lifetimes::elided(output.to_token_stream()) == 0
            || lifetimes::borrows(self.signature.inputs.to_token_stream()) == 1;
        is_known && self.is_valid_type(output)
    }

    fn replace(&self, typed: &mut PatType) {
        *typed.pat = parse_quote!(_);
        if !self.is_valid_parameter(&typed.ty) {
            *typed.ty = parse_quote!(impl ::core::marker::Sized);
        }
    }
}
