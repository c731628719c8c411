//! The macros of `tool-runtime`.
//!
//! This crate is not meant to be named by users: depend on `tool-runtime`, which re-exports
//! the macros and documents every option where users look for it.
//!
//! Steps of an expansion, each in its own module:
//!
//! | step | module |
//! |---|---|
//! | parse the item, its body untouched | `item` |
//! | read the options of the attributes, with `darling` | `options`, `hints` |
//! | find the runtime under another name | `manifest` |
//! | classify each parameter once | `model`, `toolset` |
//! | read the keys of `reads` and `writes`, and the URIs of resources | `access`, `uri` |
//! | look at the rest of the file, of which an attribute gets its function alone | `surroundings` |
//! | report all mistakes that are visible without types | `shape`, `validate`, `limits`, `unsigned`, `formats` |
//! | generate the action, its implementation and its registration | `codegen` |
//!
//! `#[derive(Form)]` has no options but `crate`, and is implemented in `form`; `external_tools!` in
//! `external`.

mod access;
mod codegen;
mod diagnostics;
mod docs;
mod emit;
mod expand;
mod expressions;
#[cfg(feature = "external")]
mod external;
mod form;
mod formats;
mod hints;
mod item;
mod kind;
mod limits;
mod manifest;
mod model;
mod names;
mod options;
mod shape;
mod surroundings;
mod toolset;
mod types;
mod unsigned;
mod uri;
mod validate;

use proc_macro::TokenStream;

#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(options.into(), item.into()).into()
}

#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand_prompt(options.into(), item.into()).into()
}

#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand_resource(options.into(), item.into()).into()
}

#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro_attribute]
pub fn toolset(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand_toolset(options.into(), item.into()).into()
}

#[cfg(feature = "external")]
#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro]
pub fn external_tools(input: TokenStream) -> TokenStream {
    external::expand(input.into()).into()
}

#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro_derive(Form, attributes(form))]
pub fn form(item: TokenStream) -> TokenStream {
    form::derive(item.into()).into()
}
