//! Generated code that only tools have.

use super::{access, arguments, output};
use crate::hints::Hint;
use crate::model::Model;
use crate::names::hygienic;
use crate::shape::{is_borrowed_str, success};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

/// The items that only the actions of tools have.
pub(super) fn tool_items(model: &Model<'_>) -> TokenStream {
    let observe = output::observe();
    let visualize = visualize(model);
    let access = access::access(model);
    quote!(#observe #visualize #access)
}

/// `impl CallAction for AddAction`, for typed calls. The value is named by way of the output, so that a private type is
/// reported once. A static string is read back as an owned one.
pub(super) fn call_action(model: &Model<'_>) -> TokenStream {
    let (action, arguments) = (model.action(), arguments::typed(model));
    let (depth, success) = model.written_output().map_or((0, None), success);
    let mut value = quote!(<#action as __tool::Action>::Output);
    for _ in 0..depth {
        value = quote!(<#value as __tool::ResultType>::Value);
    }
    if success.is_some_and(is_borrowed_str) {
        value = quote!(__tool::String);
    }
    // An alias of a result has another name.
    let is_result = (depth == 0).then(|| {
        quote! {
            const IS_RESULT: ::core::primitive::bool = {
                use __tool::NotResult as _;
                <__tool::Returned<#value>>::IS_RESULT
            };
        }
    });
    quote_spanned! {hygienic(Span::call_site())=>
        #[automatically_derived]
        impl __tool::CallAction for #action {
            const TOOL: &'static ::core::primitive::str = <#action as __tool::Action>::NAME;
            #is_result
            type Value = #value;
        }
        #arguments
    }
}

pub(super) fn definition(model: &Model<'_>) -> TokenStream {
    let (options, description) = (&model.options, model.description());
    let declared = &model.hints;
    let title = options.title.as_ref().map(|title| quote!(.title(#title)));
    let hints = [
        ("read_only", declared.read_only),
        ("destructive", declared.destructive),
        ("idempotent", declared.idempotent),
        ("open_world", declared.open_world),
    ]
    .map(|(name, value)| hint(name, value));
    let tags = model.tags();
    let tags = (!tags.is_empty()).then(|| quote!(.tags(&[#(#tags),*])));
    let scopes = model.scopes();
    let scopes = (!scopes.is_empty()).then(|| quote!(.scopes(&[#(#scopes),*])));
    let meta = options.meta.as_ref();
    let meta = meta.map(|meta| quote_spanned!(hygienic(meta.span())=> .meta(#meta)));
    let schema = options.input_schema.as_ref();
    let schema =
        schema.map(|schema| quote_spanned!(hygienic(schema.span())=> .input_schema(#schema)));
    let (retry, presentation) = (retry_mode(model), presentation(model));
    quote_spanned! {hygienic(Span::call_site())=>
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, #description, __PARAMETERS)
                #title #(#hints)* #retry #tags #scopes #meta #schema #presentation
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
        let support = format_ident!("{support}", span = hygienic(task.span()));
        quote!(.task(__tool::TaskSupport::#support))
    });
    quote!(#icons #progress #task)
}

fn retry_mode(model: &Model<'_>) -> Option<TokenStream> {
    let options = &model.options;
    let at_most_once = options.at_most_once.is_present().then(|| quote!(.at_most_once()));
    at_most_once.or_else(|| options.safe_to_retry.is_present().then(|| quote!(.safe_to_retry())))
}

fn hint(name: &str, value: Hint) -> Option<TokenStream> {
    let value = *value?;
    let method = format_ident!("{name}");
    Some(quote!(.#method(#value)))
}

fn visualize(model: &Model<'_>) -> Option<TokenStream> {
    let path = model.options.visualize.as_ref()?;
    // Bound to a local first: for an unknown path, rustc would otherwise suggest a method of `self`.
    Some(quote_spanned! {hygienic(path.span())=>
        fn visualize(&self) -> ::core::option::Option<__tool::String> {
            let __visualize = #path;
            ::core::option::Option::Some(__tool::to_display(&__visualize(self)))
        }
    })
}
