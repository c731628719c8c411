//! `#[toolset]`: the same way for all methods of an `impl` block.

use super::{is_found, keyword_span, without_assigned};
use crate::codegen;
use crate::item::{self, ImplBlock, ToolFn};
use crate::mistakes::Mistakes;
use crate::model::{self, Model, Toolset};
use crate::validate;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, Meta};

/// The whole of `#[toolset]`, as a function of tokens so that tests can call it.
pub(crate) fn expand_toolset(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<ImplBlock>(item.clone()) {
        Ok(block) => expand_block(options, &item, &block),
        Err(error) => {
            let error = not_a_block(&item, error).into_compile_error();
            quote!(#item #error)
        }
    }
}

/// The block, its mistakes and those of its methods, and the actions as far as they can be made.
fn expand_block(options: TokenStream, item: &TokenStream, block: &ImplBlock) -> TokenStream {
    let mut mistakes = Mistakes::default();
    if let Some(second) = block.attributes.iter().find(|a| item::is_named(a, "toolset")) {
        mistakes.on(second, "`#[toolset]` is given twice; put all options into one of the two");
        let error = mistakes.into_error().map(Error::into_compile_error);
        return quote!(#item #error);
    }
    let toolset = Toolset::new(without_assigned(options), block, &mut mistakes);
    let is_found = is_found("toolset", toolset.options.runtime.as_ref(), &mut mistakes);
    let functions = functions(block, &mut mistakes);
    let tools = tools(&toolset, &functions, &mut mistakes);
    tools.iter().for_each(|tool| validate::validate(tool, &mut mistakes));
    validate::toolset(&toolset, &tools, &mut mistakes);
    let error = mistakes.into_error().map(Error::into_compile_error);
    let generated = (is_found && toolset.is_sound).then(|| codegen::toolset(&toolset, &tools));
    quote!(#block #generated #error)
}

/// Each method as if it stood outside of the block, with its options.
fn functions(block: &ImplBlock, mistakes: &mut Mistakes) -> Vec<(TokenStream, ToolFn)> {
    let mut functions = Vec::new();
    for method in block.methods() {
        for second in method.marks.iter().skip(1) {
            mistakes.on(second, "`#[tool]` is given twice; put all options into one of the two");
        }
        if let Some(Meta::NameValue(mark)) = method.marks.first().map(|mark| &mark.meta) {
            mistakes.on(mark, "`#[tool]` takes options in parentheses; write `#[tool(read_only)]`");
        }
        functions.push((method.options(&block.ty), method.outside(&block.ty)));
    }
    functions
}

fn tools<'a>(
    toolset: &'a Toolset<'a>,
    functions: &'a [(TokenStream, ToolFn)],
    mistakes: &mut Mistakes,
) -> Vec<Model<'a>> {
    let model = |(options, function): &'a (TokenStream, ToolFn)| {
        Model::of_method(options.clone(), function, toolset, mistakes)
    };
    let mut tools: Vec<Model<'a>> = functions.iter().map(model).collect();
    model::find_twins(&mut tools);
    tools
}

/// A struct or a function gets one clear sentence; a block with a slip keeps syn's own words.
fn not_a_block(item: &TokenStream, error: Error) -> Error {
    let Ok(parsed) = syn::parse2::<Item>(item.clone()) else {
        return error;
    };
    let remedy = match &parsed {
        Item::Impl(_) => return error,
        Item::Fn(_) => "write `#[tool]` on a function".to_owned(),
        Item::Struct(item) => format!("write it above `impl {} {{ .. }}`", item.ident),
        Item::Enum(item) => format!("write it above `impl {} {{ .. }}`", item.ident),
        _ => "write `#[toolset] impl Name { .. }`".to_owned(),
    };
    let keyword = keyword_span(&parsed).unwrap_or_else(|| error.span());
    Error::new(keyword, format!("`#[toolset]` goes on an `impl` block; {remedy}"))
}
