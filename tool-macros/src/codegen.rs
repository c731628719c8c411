//! What the macro writes: the action struct, its implementation, its registration. One
//! function per generated item; every name of ours begins with two underscores, because the
//! user's own expressions are evaluated beside them.
//!
//! A user's type is asked for what it implements in one place and at its own span, or through
//! a qualified path, `<T as __tool::Trait>::item`: rustc then shows one error, however often
//! generated code needs the type.

mod arguments;
mod output;
mod values;

use crate::docs::Docs;
use crate::item::ToolFn;
use crate::model::{Model, Parameter};
use crate::names::{self, at};
use crate::options::Hint;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

/// Everything that follows the function.
pub(crate) fn generate(model: &Model<'_>) -> TokenStream {
    let runtime = model.runtime();
    let allowed = allowed(model.function);
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

/// What is allowed on the function is allowed in what is made from it.
fn allowed(function: &ToolFn) -> Vec<TokenStream> {
    let mut allowed = Vec::new();
    for attribute in &function.attributes {
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
    let docs = match model.docs {
        Docs::Missing => model.description(),
        ref docs => docs.to_token_stream(),
    };
    let fields = model.arguments().map(|argument| {
        let (name, ty, docs) = (argument.ident, argument.ty(), &argument.docs);
        quote!(#[doc = #docs] #visibility #name: #ty)
    });
    quote_spanned! {at(model.ident().span())=>
        #[doc = #docs]
        #(#allowed)*
        #visibility struct #ident { #(#fields),* }
    }
}

/// A type whose only purpose is that two of one name do not compile.
fn name_claim(model: &Model<'_>) -> TokenStream {
    let (name, span) = model.name();
    let Some(claim) = names::claim_ident(&name, at(span)) else {
        return TokenStream::new();
    };
    quote_spanned! {at(span)=>
        #[doc(hidden)]
        type #claim = ();
    }
}

/// Refuses empty descriptions that only the compiler can see, as those from `include_str!`.
fn descriptions(model: &Model<'_>) -> TokenStream {
    let tool = model
        .options
        .description
        .is_none()
        .then(|| refuse_empty(&model.docs, format!("tool `{}`", model.ident())));
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
    let items = quote_spanned! {at(Span::call_site())=>
        const NAME: &'static ::core::primitive::str = #name;
        type Output = #output;
        #definition
        #settings
        #decode
        #check
        #run
        #observe
        #visualize
    };
    quote_spanned! {at(model.ident().span())=>
        #[automatically_derived]
        impl __tool::Action for #action { #items }
    }
}

fn definition(model: &Model<'_>) -> TokenStream {
    let (options, description) = (&model.options, model.description());
    let title = options.title.as_ref().map(|title| quote!(.title(#title)));
    let hints = [
        ("read_only", options.read_only),
        ("destructive", options.destructive),
        ("idempotent", options.idempotent),
        ("open_world", options.open_world),
    ]
    .map(|(name, value)| hint(name, value));
    let tags = (!options.tags.is_empty()).then(|| {
        let tags = &options.tags;
        quote!(.tags(&[#(#tags),*]))
    });
    let meta = options.meta.as_ref();
    let meta = meta.map(|meta| quote_spanned!(at(meta.span())=> .meta(#meta)));
    let schema = options.input_schema.as_ref();
    let schema = schema.map(|schema| quote_spanned!(at(schema.span())=> .input_schema(#schema)));
    quote_spanned! {at(Span::call_site())=>
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, #description, __PARAMETERS)
                #title #(#hints)* #tags #meta #schema
                .output_schema(__output().schema())
                .finish()
        }
    }
}

fn hint(name: &str, value: Hint) -> Option<TokenStream> {
    let (given, _) = value?;
    let method = format_ident!("{name}");
    Some(quote!(.#method(#given)))
}

/// What the runtime must know and a model must not.
fn settings(model: &Model<'_>) -> TokenStream {
    let timeout = model.options.timeout.map(|timeout| {
        let (seconds, nanos) = (timeout.as_secs(), timeout.subsec_nanos());
        quote!(.timeout(#seconds, #nanos))
    });
    quote_spanned! {at(Span::call_site())=>
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS) #timeout
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
    let parameters = model.parameters.iter().map(passed);
    let call = quote_spanned!(ident.span()=> #ident(#(#parameters),*));
    if model.function.signature.asyncness.is_some() {
        call
    } else if model.options.inline.is_some() {
        quote_spanned!(span=> async move { #call })
    } else {
        quote_spanned!(span=> __tool::blocking::<#output, _>(__context, move |__context| #call))
    }
}

fn passed(parameter: &Parameter<'_>) -> TokenStream {
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
    Some(quote_spanned! {at(path.span())=>
        fn visualize(&self) -> ::core::option::Option<__tool::String> {
            ::core::option::Option::Some(__tool::shown(&#path(self)))
        }
    })
}

fn registration(model: &Model<'_>) -> TokenStream {
    if !model.options.register {
        return TokenStream::new();
    }
    let action = model.action();
    quote_spanned! {at(Span::call_site())=>
        __tool::inventory::submit! {
            __tool::Registration::of::<#action>(::core::file!(), ::core::line!())
        }
    }
}
