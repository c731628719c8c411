//! The macros of `tool-runtime`.
//!
//! This crate is not meant to be named by users: depend on `tool-runtime`, which re-exports
//! the macros and documents every option where users look for it.
//!
//! The way of an expansion, a module a step:
//!
//! | step | module |
//! |---|---|
//! | parse the item, its body untouched | `item` |
//! | parse the options of the attributes | `options`, `hints` |
//! | find the runtime under another name | `renamed` |
//! | classify each parameter once | `model` |
//! | read the keys of `reads` and `writes`, and the URIs of resources | `access`, `uri` |
//! | refuse what can be seen to be wrong, all at once | `shape`, `validate`, `limits`, `unsigned`, `formats` |
//! | write the action, its implementation and its registration | `codegen` |
//!
//! `#[derive(Form)]` has no options but `crate`, and stands in `form` alone.

mod access;
mod codegen;
mod docs;
mod emit;
mod expand;
mod expressions;
mod form;
mod formats;
mod hints;
mod item;
mod kind;
mod limits;
mod mistakes;
mod model;
mod names;
mod options;
mod renamed;
mod shape;
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

#[allow(missing_docs, reason = "documented on the re-export in tool-runtime")]
#[proc_macro_derive(Form, attributes(form))]
pub fn form(item: TokenStream) -> TokenStream {
    form::derive(item.into()).into()
}
