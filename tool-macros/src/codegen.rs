//! What the macro writes: the action struct, its implementation, its registration. One
//! function per generated item; every name of ours begins with two underscores, because the
//! user's own expressions are evaluated beside them.

use crate::docs::Docs;
use crate::limits::Limits;
use crate::model::{Argument, Injected, Model, Parameter};
use crate::names::{self, at};
use crate::options::Hint;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit};

/// Everything that follows the function.
pub(crate) fn generate(model: &Model<'_>) -> TokenStream {
    let runtime = model.runtime();
    let action = action_struct(model);
    let claim = name_claim(model);
    let constraints = model.arguments().map(constraint_functions);
    let tables = tables(model);
    let output = output_function(model);
    let implementation = action_impl(model);
    let registration = registration(model);
    let body = quote_spanned! {at(Span::call_site())=>
        use #runtime::__private as __tool;
        #(#constraints)*
        #tables
        #output
        #implementation
        #registration
    };
    quote_spanned! {at(Span::call_site())=>
        #action
        #claim
        const _: () = { #body };
    }
}

/// `struct AddAction { a: i64 }` with the function's visibility and documentation.
fn action_struct(model: &Model<'_>) -> TokenStream {
    let (visibility, ident) = (&model.function.visibility, model.action());
    let docs = documentation(&model.docs);
    let fields = model.arguments().map(|argument| {
        let (name, ty) = (argument.ident, argument.ty());
        let docs = documentation(&argument.docs);
        quote!(#docs #visibility #name: #ty)
    });
    quote_spanned! {at(Span::call_site())=>
        #docs
        #[allow(missing_docs)]
        #visibility struct #ident { #(#fields),* }
    }
}

fn documentation(docs: &Docs) -> TokenStream {
    match docs {
        Docs::Missing => TokenStream::new(),
        docs => quote!(#[doc = #docs]),
    }
}

/// A type whose only purpose is that two of one name do not compile.
fn name_claim(model: &Model<'_>) -> TokenStream {
    let (name, span) = model.name();
    let Some(claim) = names::claim_ident(&name, at(span)) else {
        return TokenStream::new();
    };
    quote_spanned! {at(Span::call_site())=>
        #[doc(hidden)]
        #[allow(dead_code, non_camel_case_types)]
        type #claim = ();
    }
}

/// The keys that decoding looks for, and the table that the schema is made from.
fn tables(model: &Model<'_>) -> TokenStream {
    let keys = model
        .arguments()
        .enumerate()
        .flat_map(|(index, argument)| keys(index, argument));
    let parameters = model.arguments().map(parameter);
    let needs = model.injected().map(|injected| {
        let target = injected.target;
        quote_spanned!(at(target.span())=> __tool::Need::of::<#target>())
    });
    quote_spanned! {at(Span::call_site())=>
        static __KEYS: &[__tool::Key] = &[#(#keys),*];
        static __PARAMETERS: &[__tool::Parameter] = &[#(#parameters),*];
        static __NEEDS: &[__tool::Need] = &[#(#needs),*];
    }
}

fn keys(index: usize, argument: &Argument<'_>) -> Vec<TokenStream> {
    if argument.options.flatten.is_some() {
        return vec![quote_spanned!(at(Span::call_site())=> __tool::Key::rest(#index))];
    }
    let name = argument.wire_name().map(|(name, _)| name);
    let aliases = argument.options.aliases.iter().map(syn::LitStr::value);
    name.into_iter()
        .chain(aliases)
        .map(|name| quote_spanned!(at(Span::call_site())=> __tool::Key::named(#name, #index)))
        .collect()
}

/// `Parameter::new::<i64>("a", "First addend.")` and what refines it.
fn parameter(argument: &Argument<'_>) -> TokenStream {
    let (ty, options, docs) = (argument.ty(), &argument.options, &argument.docs);
    let name = argument.wire_name().map(|(name, _)| name);
    let mut parameter = quote_spanned!(at(ty.span())=> __tool::Parameter::new::<#ty>(#name, #docs));
    if !options.aliases.is_empty() {
        let aliases = &options.aliases;
        parameter.extend(quote!(.aliases(&[#(#aliases),*])));
    }
    if options.flatten.is_some() {
        parameter.extend(quote!(.flattened()));
    }
    if options.secret.is_some() {
        parameter.extend(quote!(.secret()));
    }
    if options.default.is_some() {
        parameter.extend(quote!(.optional()));
    }
    let refinements = refinements(argument);
    if !refinements.is_empty() {
        parameter.extend(quote_spanned! {at(Span::call_site())=>
            .refined(|__schema| { #(#refinements)* })
        });
    }
    parameter
}

/// The statements that write defaults, examples and constraints into a property's schema.
fn refinements(argument: &Argument<'_>) -> Vec<TokenStream> {
    let options = &argument.options;
    let mut statements = Vec::new();
    for constraint in constraints(argument) {
        let function = constraint.function;
        statements.push(quote_spanned!(at(Span::call_site())=> __tool::Constraint::describe(&#function(), __schema);));
    }
    if let Some(default) = default_value(argument) {
        statements.push(advertise_default(argument, &default));
    }
    if let Some(example) = &options.example {
        let (ty, value) = (argument.ty(), typed_value(argument, example));
        statements.push(quote_spanned! {at(example.span())=> {
            let __example: #ty = #value;
            __tool::advertise_example(__schema, &__example);
        }});
    }
    statements
}

/// Autoref picks the silent branch where the type is not `Serialize`.
fn advertise_default(argument: &Argument<'_>, default: &TokenStream) -> TokenStream {
    let ty = argument.ty();
    quote_spanned! {at(Span::call_site())=> {
        #[allow(unused_imports)]
        use __tool::{AdvertiseDefault as _, OmitDefault as _};
        let __default: #ty = #default;
        (&&__tool::DefaultOf(&__default)).advertise(__schema);
    }}
}

/// The default as an expression of the parameter's type.
fn default_value(argument: &Argument<'_>) -> Option<TokenStream> {
    let ty = argument.ty();
    Some(match argument.options.default.as_ref()? {
        (span, None) => {
            quote_spanned!(at(*span)=> <#ty as ::core::default::Default>::default())
        }
        (_, Some(expression)) => typed_value(argument, expression),
    })
}

/// An expression of the parameter's type; a string literal is enough for `String`.
fn typed_value(argument: &Argument<'_>, expression: &Expr) -> TokenStream {
    let ty = argument.ty();
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) => {
            quote_spanned!(at(literal.span())=> __tool::text_default::<#ty>(#literal))
        }
        expression => expression.to_token_stream(),
    }
}

/// One constraint of one parameter: the private function that makes it.
struct ConstraintFn {
    function: Ident,
    constraint: TokenStream,
    made_by: TokenStream,
}

/// The constraints of a parameter. Each becomes one function, from which both the schema and
/// the check are taken.
fn constraints(argument: &Argument<'_>) -> Vec<ConstraintFn> {
    let (options, ty) = (&argument.options, argument.ty());
    let mut all = Vec::new();
    let mut add = |kind: &str, constraint: TokenStream, made_by: TokenStream| {
        all.push(ConstraintFn {
            function: constraint_ident(argument, kind),
            constraint,
            made_by,
        });
    };
    if let Some((lower, upper)) = bounds(options.range.as_ref()) {
        let kind = quote_spanned!(at(ty.span())=> __tool::Range<#ty>);
        add(
            "range",
            kind.clone(),
            quote!(__tool::Range::<#ty>::new(#lower, #upper)),
        );
    }
    if let Some((lower, upper)) = bounds(options.length.as_ref()) {
        let kind = quote_spanned!(at(ty.span())=> __tool::Length<#ty>);
        add(
            "length",
            kind,
            quote!(__tool::Length::<#ty>::new(#lower, #upper)),
        );
    }
    if let Some(pattern) = &options.pattern {
        let kind = quote_spanned!(at(ty.span())=> &'static __tool::Pattern<#ty>);
        add(
            "pattern",
            kind,
            quote!({
                static __PATTERN: __tool::Pattern<#ty> = __tool::Pattern::new(#pattern);
                &__PATTERN
            }),
        );
    }
    if let Some(format) = &options.format {
        let kind = quote_spanned!(at(ty.span())=> __tool::Format<#ty>);
        add("format", kind, quote!(__tool::Format::<#ty>::new(#format)));
    }
    all
}

fn bounds(range: Option<&Expr>) -> Option<(TokenStream, TokenStream)> {
    let expression = range?;
    let mut none = crate::entries::Mistakes::default();
    Limits::parse("range", expression, &mut none).map(|limits| limits.bounds())
}

fn constraint_ident(argument: &Argument<'_>, kind: &str) -> Ident {
    let name = argument.ident.map(names::unraw).unwrap_or_default();
    format_ident!("__{kind}_of_{name}", span = at(Span::call_site()))
}

fn constraint_functions(argument: &Argument<'_>) -> TokenStream {
    constraints(argument)
        .into_iter()
        .map(
            |ConstraintFn {
                 function,
                 constraint,
                 made_by,
             }| {
                quote_spanned! {at(Span::call_site())=>
                    fn #function() -> #constraint { #made_by }
                }
            },
        )
        .collect()
}

/// `impl Action for AddAction`.
fn action_impl(model: &Model<'_>) -> TokenStream {
    let (action, output) = (model.action(), model.output());
    let (name, _) = model.name();
    let deprecated = model
        .function
        .attributes
        .iter()
        .any(|a| a.path().is_ident("deprecated"));
    let allow = deprecated.then(|| quote!(#[allow(deprecated)]));
    let definition = definition(model);
    let settings = settings(model);
    let decode = decode(model);
    let check = check(model);
    let run = run(model);
    let observe = observe();
    let visualize = visualize(model);
    quote_spanned! {at(Span::call_site())=>
        #[automatically_derived]
        #allow
        impl __tool::Action for #action {
            const NAME: &'static ::core::primitive::str = #name;
            type Output = #output;
            #definition
            #settings
            #decode
            #check
            #run
            #observe
            #visualize
        }
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
    let meta = options
        .meta
        .as_ref()
        .map(|meta| quote_spanned!(at(meta.span())=> .meta(#meta)));
    let schema = options
        .input_schema
        .as_ref()
        .map(|schema| quote_spanned!(at(schema.span())=> .input_schema(#schema)));
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

/// One pass over the arguments' text, each value straight into its field.
fn decode(model: &Model<'_>) -> TokenStream {
    let slots: Vec<Ident> = model.arguments().map(slot).collect();
    let types: Vec<&syn::Type> = model.arguments().map(Argument::ty).collect();
    let fields: Vec<&Ident> = model
        .arguments()
        .filter_map(|argument| argument.ident)
        .collect();
    let arms = model
        .arguments()
        .enumerate()
        .map(|(index, argument)| read_arm(index, argument));
    let values = model
        .arguments()
        .enumerate()
        .map(|(index, argument)| value(index, argument));
    quote_spanned! {at(Span::call_site())=>
        fn decode(__arguments: __tool::Arguments) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            #(let mut #slots: ::core::option::Option<#types> = ::core::option::Option::None;)*
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index { #(#arms)* _ => __reader.skip()?, }
            }
            let __action = Self { #(#fields: #values),* };
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
    }
}

fn slot(argument: &Argument<'_>) -> Ident {
    let name = argument.ident.map(names::unraw).unwrap_or_default();
    format_ident!("__slot_{name}", span = at(Span::call_site()))
}

fn read_arm(index: usize, argument: &Argument<'_>) -> TokenStream {
    let slot = slot(argument);
    if argument.options.flatten.is_some() {
        return TokenStream::new();
    }
    let method = match argument.options.default {
        Some(_) => quote!(read_or_null),
        None => quote!(read),
    };
    quote_spanned!(at(argument.ty().span())=> #index => __reader.#method(&mut #slot)?,)
}

fn value(index: usize, argument: &Argument<'_>) -> TokenStream {
    let slot = slot(argument);
    if argument.options.flatten.is_some() {
        return quote_spanned!(at(argument.ty().span())=> { let _ = #slot; __reader.rest(#index)? });
    }
    match default_value(argument) {
        Some(default) => quote_spanned! {at(Span::call_site())=>
            match #slot { ::core::option::Option::Some(__value) => __value, ::core::option::Option::None => #default }
        },
        None => quote_spanned!(at(Span::call_site())=> __tool::required(#slot, #index)?),
    }
}

fn checks(index: usize, argument: &Argument<'_>) -> Vec<TokenStream> {
    let field = argument.ident;
    constraints(argument)
        .into_iter()
        .map(|constraint| {
            let function = constraint.function;
            quote_spanned!(at(Span::call_site())=> __tool::ensure(&#function(), &self.#field, #index)?;)
        })
        .collect()
}

/// The constraints of all arguments, for decoded and typed calls alike.
fn check(model: &Model<'_>) -> Option<TokenStream> {
    let checks: Vec<TokenStream> = model
        .arguments()
        .enumerate()
        .flat_map(|(index, argument)| checks(index, argument))
        .collect();
    (!checks.is_empty()).then(|| {
        quote_spanned! {at(Span::call_site())=>
            fn check(&self) -> ::core::result::Result<(), __tool::DecodeError> {
                #(#checks)*
                ::core::result::Result::Ok(())
            }
        }
    })
}

/// Calls the function, spanned at its name: a future that is not `Send` is reported there.
fn run(model: &Model<'_>) -> TokenStream {
    let (ident, output) = (model.ident(), model.output());
    let is_async = model.function.signature.asyncness.is_some();
    let parameters = model.parameters.iter().map(passed);
    let call = quote_spanned!(ident.span()=> #ident(#(#parameters),*));
    let future = if is_async {
        call
    } else if model.options.inline.is_some() {
        quote_spanned!(at(Span::call_site())=> ::core::future::ready(#call))
    } else {
        quote_spanned!(at(Span::call_site())=> __tool::blocking(__context, move |__context| #call))
    };
    let bound = at(ident.span());
    let signature = quote_spanned! {bound=>
        fn run(self, __context: &__tool::ToolContext)
            -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
    };
    quote_spanned! {at(Span::call_site())=>
        #[allow(unused_variables)]
        #signature { #future }
    }
}

fn passed(parameter: &Parameter<'_>) -> TokenStream {
    match parameter {
        Parameter::Argument(argument) => {
            let field = argument.ident;
            quote_spanned!(at(Span::call_site())=> self.#field)
        }
        Parameter::Injected(Injected { target, .. }) => {
            quote_spanned!(at(target.span())=> __tool::inject::<#target>(__context))
        }
    }
}

/// Finds by autoref what a return type is: a result or not, then ours, structured, or an error.
fn output_function(model: &Model<'_>) -> TokenStream {
    let output = model.output();
    let span = at(model.function.signature.output.span());
    quote_spanned! {span=>
        fn __output() -> __tool::Output<#output> {
            #[allow(unused_imports)]
            use __tool::{ErrorKind as _, MessageKind as _, OpaqueKind as _, OwnKind as _, PlainKind as _, StructuredKind as _, UnfitKind as _};
            let __returned = __tool::Returned::<#output>::NEW;
            let (__success, __failure) = (__returned.success(), __returned.failure());
            __returned.with((&&&__success).kind(), (&&&__failure).kind())
        }
    }
}

fn observe() -> TokenStream {
    quote_spanned! {at(Span::call_site())=>
        fn observe(__value: Self::Output) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
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
