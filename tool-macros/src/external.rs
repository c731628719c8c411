//! `external_tools!`: types for the calls of an external server's tools, from a file of their definitions.
//!
//! `definitions` reads the file, `types` turns schemas into types, `items` writes structs and enums. The
//! types are our own: the generator for whole documents, `typify`, fails on a schema that it cannot
//! express, and tools need one field of JSON there and types for the rest.

mod definitions;
mod idents;
mod items;
mod types;

#[cfg(test)]
mod tests;

use crate::manifest;
use definitions::Definition;
use idents::Idents;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::path::{Path, PathBuf};
use syn::LitStr;

/// The types for the file that the macro names.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let file: LitStr = match syn::parse2(input) {
        Ok(file) => file,
        Err(error) => {
            let help = r#"write the path of a file, as `external_tools!("servers/fetch.json")`"#;
            return syn::Error::new(error.span(), help).to_compile_error();
        }
    };
    let path = absolute(&file.value());
    let types = std::fs::read_to_string(&path)
        .map_err(|error| {
            format!("`{}`, in the folder of `Cargo.toml`, cannot be read: {error}", file.value())
        })
        .and_then(|text| generate(&text, &file.value()));
    match types {
        Ok(types) => {
            let path = path.to_string_lossy();
            // The compiler rebuilds the crate when the file changes.
            quote! { const _: &[::core::primitive::u8] = ::core::include_bytes!(#path); #types }
        }
        Err(problem) => syn::Error::new(file.span(), problem).to_compile_error(),
    }
}

fn absolute(file: &str) -> PathBuf {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    Path::new(&folder).join(file)
}

/// The types for the definitions in a string.
///
/// # Errors
/// The text does not hold definitions of tools.
fn generate(text: &str, file: &str) -> Result<TokenStream, String> {
    let definitions = definitions::read(text).map_err(|problem| format!("`{file}`: {problem}"))?;
    let runtime = Ident::new(manifest::runtime().unwrap_or("tool_runtime"), Span::call_site());
    let mut idents = Idents::default();
    let types =
        definitions.iter().map(|definition| types_of(definition, file, &runtime, &mut idents));
    Ok(types.collect())
}

/// The action of a tool, and the types of its arguments and its result.
fn types_of(tool: &Definition, file: &str, runtime: &Ident, idents: &mut Idents) -> TokenStream {
    let stem = idents.stem(&tool.name);
    let mut items = items::Items::new(runtime, idents);
    let action = items.action(tool, &stem);
    let output = items.output(tool, &stem);
    let items = items.finish();
    let (name, pinned) = (&tool.name, &tool.pinned);
    let value = output.unwrap_or_else(|| quote!(::#runtime::Observation));
    quote! {
        #items

        impl #action {
            /// The tool's id in the pool.
            pub const NAME: &'static ::core::primitive::str = #name;
        }

        #[automatically_derived]
        impl ::#runtime::__private::CallAction for #action {
            const TOOL: &'static ::core::primitive::str = #name;
            type Value = #value;
        }

        #[automatically_derived]
        impl ::#runtime::__private::TypedArguments for #action {
            fn to_json(&self) -> ::core::option::Option<::std::string::String> {
                ::#runtime::__private::to_json(self)
            }
        }

        const _: () = {
            use ::#runtime::__private as __tool;
            __tool::inventory::submit! { __tool::ExpectedTool::new(#name, #file, #pinned) }
        };
    }
}
