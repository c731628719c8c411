//! Collects errors, so that one compilation shows all of them.

use proc_macro2::Span;
use quote::ToTokens;
use syn::Error;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Diagnostics(Option<Error>);

impl Diagnostics {
    /// Adds an error.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            empty => *empty = Some(error),
        }
    }

    /// Adds an error at a span.
    pub(crate) fn error_at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(Error::new(span, message));
    }

    /// Adds an error that underlines all of the tokens.
    pub(crate) fn error_on(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Returns the value of a result, or adds its error.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// All errors combined, if there are any.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.0
    }
}
