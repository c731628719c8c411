//! Expansion of `#[toolset]`: the same steps for each tool of an `impl` block.

use super::{is_found, keyword_span, without_assigned};
use crate::codegen;
use crate::diagnostics::Diagnostics;
use crate::item::{self, ImplBlock, ToolFn};
use crate::model::{self, Model};
use crate::toolset::Toolset;
use crate::validate;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, Meta};

/// Expands `#[toolset]`. Takes `proc_macro2` tokens so that tests can call it.
pub(crate) fn expand_toolset(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<ImplBlock>(item.clone()) {
        Ok(block) => expand_block(options, &item, &block),
        Err(error) => {
            let error = not_a_block(&item, error).into_compile_error();
            quote!(#item #error)
        }
    }
}

/// The block, the actions of its methods, and all diagnostics.
fn expand_block(options: TokenStream, item: &TokenStream, block: &ImplBlock) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    if let Some(second) = block.attributes.iter().find(|a| item::is_named(a, "toolset")) {
        diagnostics
            .error_on(second, "`#[toolset]` is given twice; put all options into one of the two");
        let error = diagnostics.into_error().map(Error::into_compile_error);
        return quote!(#item #error);
    }
    let toolset = Toolset::new(without_assigned(options), block, &mut diagnostics);
    let is_found = is_found("toolset", toolset.options.runtime.as_ref(), &mut diagnostics);
    let functions = functions(block, &mut diagnostics);
    let tools = tools(&toolset, &functions, &mut diagnostics);
    tools.iter().for_each(|tool| validate::validate(tool, &mut diagnostics));
    validate::toolset(&toolset, &tools, &mut diagnostics);
    let error = diagnostics.into_error().map(Error::into_compile_error);
    let generated = (is_found && toolset.is_valid).then(|| codegen::toolset(&toolset, &tools));
    quote!(#block #generated #error)
}

/// Each method as a function outside the block, with its options.
fn functions(block: &ImplBlock, diagnostics: &mut Diagnostics) -> Vec<(TokenStream, ToolFn)> {
    let mut functions = Vec::new();
    for method in block.methods() {
        for second in method.tool_attributes.iter().skip(1) {
            diagnostics
                .error_on(second, "`#[tool]` is given twice; put all options into one of the two");
        }
        if let Some(Meta::NameValue(mark)) = method.tool_attributes.first().map(|mark| &mark.meta) {
            diagnostics.error_on(
                mark,
                "`#[tool]` takes options in parentheses; write `#[tool(read_only)]`",
            );
        }
        functions.push((method.options(&block.ty), method.as_function(&block.ty)));
    }
    functions
}

fn tools<'a>(
    toolset: &'a Toolset<'a>,
    functions: &'a [(TokenStream, ToolFn)],
    diagnostics: &mut Diagnostics,
) -> Vec<Model<'a>> {
    let model = |(options, function): &'a (TokenStream, ToolFn)| {
        Model::of_method(options.clone(), function, toolset, diagnostics)
    };
    let mut tools: Vec<Model<'a>> = functions.iter().map(model).collect();
    model::find_duplicates(&mut tools);
    tools
}

/// The error about an item that is not an `impl` block; a block with a syntax error keeps syn's error.
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
