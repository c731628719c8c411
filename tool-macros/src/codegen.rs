//! Generated code: the action struct, its implementation, its registration. One function per generated item.
//! Generated names begin with two underscores, because expressions of the user are in scope.
//!
//! Trait bounds on a user's type are required in one place and at the type's own span, or through
//! a qualified path, `<T as __tool::Trait>::item`. rustc then shows one error, however often
//! generated code uses the type.

mod access;
mod arguments;
mod json;
mod output;
mod prompt_resource;
mod toolset;
mod values;

pub(crate) use toolset::toolset;

use crate::docs::Docs;
use crate::hints::Hint;
use crate::kind::Kind;
use crate::model::{Model, Parameter};
use crate::names::{self, at};
use crate::toolset::Toolset;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Attribute;
use syn::spanned::Spanned;

/// All items generated for a function.
pub(crate) fn generate(model: &Model<'_>) -> TokenStream {
    if model.kind != Kind::Tool {
        return prompt_resource::generate(model);
    }
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

/// The lint levels of the function and of its `impl` block.
fn allowed_in(model: &Model<'_>) -> Vec<TokenStream> {
    let shared = model.toolset.map(|toolset| allowed(&toolset.block.attributes));
    let own = allowed(&model.function.attributes);
    shared.into_iter().flatten().chain(own).collect()
}

/// The lint levels of an item that hold for generated code as well.
pub(crate) fn allowed(attributes: &[Attribute]) -> Vec<TokenStream> {
    let mut allowed = Vec::new();
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("deprecated") {
            allowed.push(quote_spanned!(at(Span::call_site())=> #[allow(deprecated)]));
        }
        if let syn::Meta::List(list) = &attribute.meta
            && (path.is_ident("allow") || path.is_ident("expect"))
        {
            let lints = &list.tokens;
            allowed.push(quote_spanned!(at(Span::call_site())=> #[allow(#lints)]));
        }
    }
    allowed
}

/// `struct AddAction { a: i64 }` with the function's visibility and documentation.
fn action_struct(model: &Model<'_>, allowed: &[TokenStream]) -> TokenStream {
    let (visibility, ident) = (&model.function.visibility, model.action());
    let conditions = model.conditions();
    let docs = match model.docs {
        Docs::Missing => model.description(),
        ref docs => docs.to_token_stream(),
    };
    let fields = model.arguments().map(|argument| {
        let (name, ty, docs) = (argument.ident, argument.ty(), &argument.docs);
        quote!(#[doc = #docs] #visibility #name: #ty)
    });
    quote_spanned! {at(model.ident().span())=>
        #(#conditions)*
        #[doc = #docs]
        #(#allowed)*
        #visibility struct #ident { #(#fields),* }
    }
}

/// A type alias that makes a second tool of the same name a compile error.
fn name_claim(model: &Model<'_>) -> TokenStream {
    let (name, span) = model.name();
    let claim =
        names::claim_ident(model.kind, &name, at(span)).filter(|_| model.duplicate.is_none());
    let Some(claim) = claim else {
        return TokenStream::new();
    };
    let conditions = model.conditions();
    quote_spanned! {at(span)=>
        #(#conditions)*
        #[doc(hidden)]
        type #claim = ();
    }
}

/// Refuses empty descriptions that only the compiler can see, as those from `include_str!`.
fn descriptions(model: &Model<'_>) -> TokenStream {
    let tool =
        model.options.description.is_none().then(|| {
            refuse_empty(&model.docs, format!("{} `{}`", model.kind.noun(), model.ident()))
        });
    let parameters = model
        .arguments()
        .map(|argument| refuse_empty(&argument.docs, format!("parameter `{}`", argument.ident)));
    quote!(#tool #(#parameters)*)
}

fn refuse_empty(docs: &Docs, of: String) -> TokenStream {
    let Docs::Expression(text, span) = docs else {
        return TokenStream::new();
    };
    let message = format!("the description of {of} is empty; write what it means");
    quote_spanned! {at(*span)=>
        const _: () = ::core::assert!(!#text.trim_ascii().is_empty(), #message);
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
    let run = run(model);
    let observe = output::observe();
    let visualize = visualize(model);
    let access = access::access(model);
    let json = json::to_json(model);
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

/// Settings that the runtime needs and models do not see.
fn settings(model: &Model<'_>) -> TokenStream {
    let timeout = model.timeout().map(|timeout| {
        let (seconds, nanos) = (timeout.as_secs(), timeout.subsec_nanos());
        quote!(.timeout(#seconds, #nanos))
    });
    let schema = model.options.input_schema.as_ref().map(|_| quote!(.given_schema()));
    quote_spanned! {at(Span::call_site())=>
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS) #timeout #schema
        }
    }
}

/// Calls the function, spanned at its name: a future that is not `Send` is reported there.
fn run(model: &Model<'_>) -> TokenStream {
    let span = at(model.ident().span());
    let signature = quote_spanned! {span=>
        fn run(self, __context: &__tool::ToolContext)
            -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send
    };
    let future = future(model);
    quote_spanned! {at(Span::call_site())=>
        #signature { #future }
    }
}

fn future(model: &Model<'_>) -> TokenStream {
    let (ident, output) = (model.ident(), model.output());
    let span = at(ident.span());
    if !model.is_callable {
        return quote_spanned!(span=> ::core::future::pending());
    }
    let callee = callee(model);
    let parameters = model.toolset.map(receiver).into_iter();
    let parameters = parameters.chain(model.parameters.iter().map(call_argument));
    let call = quote_spanned!(ident.span()=> #callee(#(#parameters),*));
    if model.function.signature.asyncness.is_some() {
        call
    } else if model.options.inline.is_present() {
        quote_spanned!(span=> async move { #call })
    } else {
        quote_spanned!(span=> __tool::blocking::<#output, _>(__context, move |__context| #call))
    }
}

/// `add`, or `<Counter>::add`.
fn callee(model: &Model<'_>) -> TokenStream {
    let ident = model.ident();
    match model.toolset.map(Toolset::ty) {
        Some(ty) => quote_spanned!(ident.span()=> <#ty>::#ident),
        None => ident.to_token_stream(),
    }
}

fn receiver(toolset: &Toolset<'_>) -> TokenStream {
    let ty = toolset.ty();
    quote_spanned!(at(ty.span())=> __tool::receiver::<#ty>(__context))
}

fn call_argument(parameter: &Parameter<'_>) -> TokenStream {
    match parameter {
        Parameter::Argument(argument) => {
            let field = argument.ident;
            quote_spanned!(at(Span::call_site())=> self.#field)
        }
        Parameter::Injected(injected) => {
            let target = injected.target();
            quote_spanned! {at(target.span())=>
                <#target as __tool::Injectable>::borrow_from(__context)
            }
        }
    }
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
