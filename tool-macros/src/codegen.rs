//! Generated code: the action struct, its implementation, its registration. One function per generated item.
//! Generated names begin with two underscores, because expressions of the user are in scope.
//!
//! Trait bounds on a user's type are required in one place and at the type's own span, or through
//! a qualified path, `<T as __tool::Trait>::item`. rustc then shows one error, however often
//! generated code uses the type.

mod access;
mod arguments;
mod call;
mod items;
mod output;
mod prompt_resource;
mod tool;
mod toolset;
mod values;

pub(crate) use items::allowed;
pub(crate) use toolset::toolset;

use crate::kind::Kind;
use crate::model::Model;
use proc_macro2::TokenStream;

/// All items generated for a function.
pub(crate) fn generate(model: &Model<'_>) -> TokenStream {
    match model.kind {
        Kind::Tool => tool::generate(model),
        Kind::Prompt | Kind::Resource => prompt_resource::generate(model),
    }
}
