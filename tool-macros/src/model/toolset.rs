//! The `impl` block as a toolset: what its tools have in common.

use super::Model;
use crate::item::ImplBlock;
use crate::mistakes::Mistakes;
use crate::names::{self, Runtime};
use crate::options::ToolsetOptions;
use crate::shape;
use proc_macro2::{Ident, Span, TokenStream};
use syn::Type;
use syn::spanned::Spanned;

/// Everything the later steps need to know of one toolset.
pub(crate) struct Toolset<'a> {
    pub(crate) block: &'a ImplBlock,
    pub(crate) options: ToolsetOptions,
    /// Whether items may stand behind the block: nothing about its shape was refused.
    pub(crate) is_sound: bool,
}

impl<'a> Toolset<'a> {
    /// Reads the options; mistakes are collected, never returned early.
    pub(crate) fn new(options: TokenStream, block: &'a ImplBlock, mistakes: &mut Mistakes) -> Self {
        let options = ToolsetOptions::parse(options, mistakes);
        let shape = shape::block_refusals(block);
        let is_sound = shape.is_empty();
        shape.into_iter().for_each(|mistake| mistakes.push(mistake));
        Self { block, options, is_sound }
    }

    /// The type whose methods are tools.
    pub(crate) fn ty(&self) -> &'a Type {
        &self.block.ty
    }

    /// The type's name without its path.
    pub(crate) fn type_ident(&self) -> Option<&'a Ident> {
        named(self.ty())
    }

    /// What stands in front of each tool's name, and the token it comes from.
    pub(crate) fn prefix(&self) -> (String, Span) {
        match &self.options.prefix {
            Some(prefix) => (prefix.value(), prefix.span()),
            None => (self.type_name(), self.ty().span()),
        }
    }

    /// The name in specs: the prefix, if there is one.
    pub(crate) fn name(&self) -> String {
        match self.prefix() {
            (prefix, _) if prefix.is_empty() => self.type_name(),
            (prefix, _) => prefix,
        }
    }

    /// The id of the tool that is called `own` among its siblings. A prefix that is refused is
    /// left out: one mistake, one message.
    pub(crate) fn tool_name(&self, own: &str) -> String {
        let (prefix, _) = self.prefix();
        match names::name_problem(&prefix) {
            None => format!("{prefix}.{own}"),
            Some(_) => own.to_owned(),
        }
    }

    /// Where generated code finds the runtime.
    pub(crate) fn runtime(&self) -> Runtime<'_> {
        Runtime(self.options.runtime.as_ref())
    }

    fn type_name(&self) -> String {
        let ident = self.type_ident();
        ident.map_or_else(String::new, |ident| names::snake_case(&names::unraw(ident)))
    }
}

/// Notes which methods are tools of an earlier one's name, or make a struct of its name. Those
/// behind `#[cfg]` may exclude each other: rustc and the pool find them.
pub(crate) fn find_twins(tools: &mut [Model<'_>]) {
    for index in 1..tools.len() {
        let (earlier, rest) = tools.split_at_mut(index);
        let [tool, ..] = rest else { return };
        if !tool.conditions().is_empty() {
            continue;
        }
        let certain = || earlier.iter().filter(|other| other.conditions().is_empty());
        let twin = certain().find(|other| other.name().0 == tool.name().0);
        let namesake = certain().find(|other| other.action() == tool.action());
        let (twin, namesake) =
            (twin.map(|it| it.ident().clone()), namesake.map(|it| it.ident().clone()));
        (tool.twin, tool.namesake) = (twin, namesake);
    }
}

/// The name of a type that is a path.
pub(crate) fn named(ty: &Type) -> Option<&Ident> {
    match crate::types::ungrouped(ty) {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}
