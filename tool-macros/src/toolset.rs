//! Model of a toolset: the properties that its tools share.

use crate::diagnostics::Diagnostics;
use crate::item::ImplBlock;
use crate::names::{self, Runtime};
use crate::options::ToolsetOptions;
use crate::shape;
use crate::types;
use proc_macro2::{Ident, Span, TokenStream};
use syn::Type;
use syn::spanned::Spanned;

/// An `impl` block with everything that validation and code generation need.
pub(crate) struct Toolset<'a> {
    pub(crate) block: &'a ImplBlock,
    pub(crate) options: ToolsetOptions,
    /// Whether items can be generated for the block.
    pub(crate) is_valid: bool,
}

impl<'a> Toolset<'a> {
    /// Reads the options; diagnostics are collected, never returned early.
    pub(crate) fn new(
        options: TokenStream,
        block: &'a ImplBlock,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let options = ToolsetOptions::parse(options, diagnostics);
        let shape = shape::block_errors(block);
        let is_valid = shape.is_empty();
        shape.into_iter().for_each(|mistake| diagnostics.push(mistake));
        Self { block, options, is_valid }
    }

    /// The type whose methods are tools.
    pub(crate) fn ty(&self) -> &'a Type {
        &self.block.ty
    }

    /// The type's name without its path.
    pub(crate) fn type_ident(&self) -> Option<&'a Ident> {
        types::name(self.ty())
    }

    /// The prefix of each tool's name, and the span it comes from.
    pub(crate) fn prefix(&self) -> (String, Span) {
        match &self.options.prefix {
            Some(prefix) => (prefix.value(), prefix.span()),
            None => (self.type_name(), self.ty().span()),
        }
    }

    /// The name of the toolset: the prefix, or else the type's name.
    pub(crate) fn name(&self) -> String {
        match self.prefix() {
            (prefix, _) if prefix.is_empty() => self.type_name(),
            (prefix, _) => prefix,
        }
    }

    /// The full name of the tool `own`. An invalid prefix is omitted, since it was reported.
    pub(crate) fn tool_name(&self, own: &str) -> String {
        let (prefix, _) = self.prefix();
        match names::name_problem(&prefix) {
            None => format!("{prefix}.{own}"),
            Some(_) => own.to_owned(),
        }
    }

    /// The path of the runtime in generated code.
    pub(crate) fn runtime(&self) -> Runtime<'_> {
        Runtime(self.options.runtime.as_ref())
    }

    fn type_name(&self) -> String {
        let ident = self.type_ident();
        ident.map_or_else(String::new, |ident| names::snake_case(&names::unraw(ident)))
    }
}
