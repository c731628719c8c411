//! Generated code of tools: the action struct, its implementation, its registration.

use super::items::{action_struct, allowed_in, descriptions, name_claim, settings};
use super::{access, arguments, call, output, values};
use crate::hints::Hint;
use crate::model::Model;
use crate::names::{self, at};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

/// All items generated for a tool.
pub(super) fn generate(model: &Model<'_>) -> TokenStream {
    let runtime = model.runtime();
    let allowed = allowed_in(model);
    let conditions = model.conditions();
    let action = action_struct(model, &allowed);
    let claim = name_claim(model);
    let descriptions = descriptions(model);
    let values = model.arguments().map(values::functions);
    let tables = arguments::tables(model);
    let output = output::function(model);
    let implementation = action_impl(model);
    let registration = registration(model);
    quote_spanned! {at(Span::call_site())=>
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
            #registration
        };
    }
}

/// `impl Action for AddAction`.
fn action_impl(model: &Model<'_>) -> TokenStream {
    let (action, output) = (model.action(), model.output());
    let (name, _) = model.name();
    let definition = definition(model);
    let settings = settings(model);
    let decode = arguments::decode(model);
    let check = arguments::check(model);
    let run = call::run(model);
    let observe = output::observe();
    let visualize = visualize(model);
    let access = access::access(model);
    let json = arguments::to_json(model);
    // A private type that a public tool returns is reported here.
    let (returned, _) = names::ends(&output);
    let output = quote_spanned!(at(returned)=> type Output = #output;);
    let items = quote_spanned! {at(Span::call_site())=>
        const NAME: &'static ::core::primitive::str = #name;
        #output
        #definition
        #settings
        #decode
        #check
        #run
        #observe
        #visualize
        #access
        #json
    };
    quote_spanned! {at(model.ident().span())=>
        #[automatically_derived]
        impl __tool::Action for #action { #items }
    }
}

fn definition(model: &Model<'_>) -> TokenStream {
    let (options, description) = (&model.options, model.description());
    let given = &model.hints;
    let title = options.title.as_ref().map(|title| quote!(.title(#title)));
    let hints = [
        ("read_only", given.read_only),
        ("destructive", given.destructive),
        ("idempotent", given.idempotent),
        ("open_world", given.open_world),
    ]
    .map(|(name, value)| hint(name, value));
    let tags = model.tags();
    let tags = (!tags.is_empty()).then(|| quote!(.tags(&[#(#tags),*])));
    let meta = options.meta.as_ref();
    let meta = meta.map(|meta| quote_spanned!(at(meta.span())=> .meta(#meta)));
    let schema = options.input_schema.as_ref();
    let schema = schema.map(|schema| quote_spanned!(at(schema.span())=> .input_schema(#schema)));
    let presentation = presentation(model);
    quote_spanned! {at(Span::call_site())=>
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, #description, __PARAMETERS)
                #title #(#hints)* #tags #meta #schema #presentation
                .output_schema(__output().schema())
                .finish()
        }
    }
}

/// Icons, progress and task support.
fn presentation(model: &Model<'_>) -> TokenStream {
    let options = &model.options;
    let icons = &options.icons;
    let icons = (!icons.is_empty()).then(|| quote!(.icons(&[#(#icons),*])));
    let progress = options.progress.is_present().then(|| quote!(.reports_progress()));
    let task = options.task.as_ref().map(|task| {
        let support = if task.value() == "required" { "Required" } else { "Optional" };
        let support = format_ident!("{support}", span = at(task.span()));
        quote!(.task(__tool::TaskSupport::#support))
    });
    quote!(#icons #progress #task)
}

fn hint(name: &str, value: Hint) -> Option<TokenStream> {
    let given = *value?;
    let method = format_ident!("{name}");
    Some(quote!(.#method(#given)))
}

fn visualize(model: &Model<'_>) -> Option<TokenStream> {
    let path = model.options.visualize.as_ref()?;
    // Bound to a local first: for an unknown path, rustc would otherwise suggest a method of `self`.
    Some(quote_spanned! {at(path.span())=>
        fn visualize(&self) -> ::core::option::Option<__tool::String> {
            let __shown = #path;
            ::core::option::Option::Some(__tool::shown(&__shown(self)))
        }
    })
}

fn registration(model: &Model<'_>) -> TokenStream {
    if model.options.register == Some(false) || model.toolset.is_some() {
        return TokenStream::new();
    }
    let action = model.action();
    quote_spanned! {at(Span::call_site())=>
        __tool::inventory::submit! {
            __tool::Registration::of::<#action>(::core::file!(), ::core::line!())
        }
    }
}
