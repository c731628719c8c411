//! Generated code: the action struct, its implementation, its registration. One function per generated item.
//! Generated names begin with two underscores, because expressions of the user are in scope.
//!
//! For `async fn add(a: i64, #[arg(range = 1..=9)] b: i64) -> i64`, after the function itself:
//!
//! 1. `struct AddAction { a, b }` with the function's visibility.
//! 2. `type tool_named_add = ();`, so that two tools of one name in one module do not compile.
//! 3. An anonymous `const` with a function per constraint (schema and check use the same value), tables of keys, parameters
//!    and needs, `__output()`, where method resolution classifies the return type, `impl Action for AddAction`, and the
//!    registration.
//!
//! There is no `derive`: one reader that all tools share decodes each value by its own type, and one function makes schemas
//! from the tables. A method of a toolset is generated as if it stood outside of its block, with `Self` spelled out; its
//! `run` borrows the value from the context. Prompts and resources have the same tables and decoder, and another trait.
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
