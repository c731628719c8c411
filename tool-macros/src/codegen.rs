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
//! Instead of a `derive`, one reader that all tools share decodes each value by its own type, and one function generates
//! schemas from the tables. A method of a toolset is generated as if it were outside its block, with `Self` spelled out; its
//! `run` borrows the value from the context. Prompts and resources have the same tables and decoder, and another trait.
//!
//! Trait bounds on a user's type are required once and at the type's own span, or through
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
use crate::names::{self, hygienic};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// All items generated for a function.
pub(crate) fn generate(model: &Model<'_>) -> TokenStream {
    let runtime = model.runtime();
    let allowed = items::allowed_in(model);
    let conditions = model.conditions();
    let action = items::action_struct(model, &allowed);
    let claim = (model.kind != Kind::Resource).then(|| items::name_claim(model));
    let descriptions = items::descriptions(model);
    let values = model.arguments().map(values::functions);
    let tables = arguments::tables(model);
    let output = (model.kind == Kind::Tool).then(|| output::function(model));
    let implementation = implementation(model);
    let typed = (model.kind == Kind::Tool).then(|| tool::call_action(model));
    let registration = registration(model);
    quote_spanned! {hygienic(Span::call_site())=>
        #action
        #claim
        #(#conditions)*
        #(#allowed)*
        const _: () = {
            use #runtime::__private as __tool;
            #descriptions
            #(#values)*
            #tables
            #output
            #implementation
            #typed
            #registration
        };
    }
}

/// `impl Action for AddAction`.
fn implementation(model: &Model<'_>) -> TokenStream {
    let (action, output) = (model.action(), model.output());
    let key = items::key(model);
    let settings = items::settings(model);
    let decode = arguments::decode(model);
    let check = arguments::check(model);
    let run = call::run(model);
    let (definition, others) = match model.kind {
        Kind::Tool => (tool::definition(model), tool::tool_items(model)),
        Kind::Prompt | Kind::Resource => {
            (prompt_resource::definition(model), prompt_resource::completers(model))
        }
    };
    // A private type that a public tool returns is reported here.
    let (returned, _) = names::ends(&output);
    let output = quote_spanned!(hygienic(returned)=> type Output = #output;);
    let action_trait = names::action_trait(model.kind);
    let items = quote_spanned! {hygienic(Span::call_site())=>
        #key
        #output
        #definition
        #settings
        #decode
        #check
        #run
        #others
    };
    quote_spanned! {hygienic(model.ident().span())=>
        #[automatically_derived]
        impl __tool::#action_trait for #action { #items }
    }
}

fn registration(model: &Model<'_>) -> Option<TokenStream> {
    if model.options.register == Some(false) || model.toolset.is_some() {
        return None;
    }
    let (action, registration) = (model.action(), names::registration(model.kind));
    Some(quote_spanned! {hygienic(Span::call_site())=>
        __tool::inventory::submit! {
            __tool::#registration::from_action::<#action>(::core::file!(), ::core::line!())
        }
    })
}
