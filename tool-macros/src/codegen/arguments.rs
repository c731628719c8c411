//! Tables of a tool's arguments, and the code that decodes them from JSON into the action.

use super::values;
use crate::model::{Argument, Model};
use crate::names::{self, hygienic};
use crate::{shape, types, validate};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Index;
use syn::spanned::Spanned;

/// The keys for decoding, the parameters for the schema, and the state that a pool must have.
pub(super) fn tables(model: &Model<'_>) -> TokenStream {
    let keys = model.arguments().enumerate().flat_map(|(index, argument)| keys(index, argument));
    let types = types(model);
    let enumerated = model.arguments().enumerate();
    let parameters = enumerated.map(|(index, argument)| parameter(index, argument));
    let needs = model.injected().map(|injected| {
        let target = injected.target();
        quote_spanned!(hygienic(target.span())=> <#target as __tool::Injectable>::NEED)
    });
    quote_spanned! {hygienic(Span::call_site())=>
        #types
        static __KEYS: &[__tool::Key] = &[#(#keys),*];
        static __PARAMETERS: &[__tool::Parameter] = &[#(#parameters),*];
        static __NEEDS: &[__tool::Need] = &[#(#needs),*];
    }
}

fn keys(index: usize, argument: &Argument<'_>) -> Vec<TokenStream> {
    let span = hygienic(Span::call_site());
    if argument.options.flatten.is_present() {
        return vec![quote_spanned!(span=> __tool::Key::rest(#index))];
    }
    let (name, _) = argument.wire_name();
    let aliases = argument.options.aliases.iter().map(syn::LitStr::value);
    std::iter::once(name)
        .chain(aliases)
        .map(|name| quote_spanned!(span=> __tool::Key::named(#name, #index)))
        .collect()
}

/// The bounds on each argument's type, required once and at the type's own span.
fn types(model: &Model<'_>) -> TokenStream {
    let types = model.arguments().map(Argument::ty);
    let typed = model.arguments().map(argument_type);
    let missing_descriptions = model.arguments().filter_map(missing_description);
    quote_spanned! {hygienic(Span::call_site())=>
        #(#missing_descriptions)*
        const __TYPES: (#(__tool::ArgumentType<#types>,)*) = (#(#typed,)*);
    }
}

/// `argument::<i64>()`, or `<Uuid as OfUuid>::REQUIRED`.
fn argument_type(argument: &Argument<'_>) -> TokenStream {
    let (ty, options) = (argument.ty(), &argument.options);
    let (function, constant) = match () {
        () if options.flatten.is_present() => ("flattened", "FLATTENED"),
        () if options.default.is_some() => ("defaulted", "DEFAULTED"),
        () => ("argument", "REQUIRED"),
    };
    let span = hygienic(ty.span());
    let (function, constant) = (Ident::new(function, span), Ident::new(constant, span));
    let allows = options.allow_unknown_fields.is_present().then(|| quote!(.allow_unknown_fields()));
    match types::of_crate(ty) {
        Some(of_crate) => {
            let of_crate = Ident::new(of_crate, span);
            quote_spanned!(span=> <#ty as __tool::#of_crate>::#constant #allows)
        }
        None => quote_spanned!(span=> __tool::#function::<#ty>()#allows),
    }
}

/// Reports an argument without a description. rustc does not evaluate a constant with type errors,
/// so a type that cannot be an argument is the only error.
fn missing_description(argument: &Argument<'_>) -> Option<TokenStream> {
    if !argument.lacks_description() || shape::is_plain_argument(argument.ty()) {
        return None;
    }
    let (bounded, message) = (argument_type(argument), validate::missing_description(argument));
    Some(quote_spanned! {hygienic(argument.ident.span())=>
        const _: () = {
            let _ = #bounded;
            __tool::reject(#message)
        };
    })
}

/// `__TYPES.0.parameter("a", "First addend.")` and its refinements.
fn parameter(index: usize, argument: &Argument<'_>) -> TokenStream {
    let (options, docs) = (&argument.options, &argument.docs);
    let (name, _) = argument.wire_name();
    let index = Index::from(index);
    let mut parameter = quote_spanned! {hygienic(Span::call_site())=>
        __TYPES.#index.parameter(#name, #docs)
    };
    if !options.aliases.is_empty() {
        let aliases = &options.aliases;
        parameter.extend(quote!(.aliases(&[#(#aliases),*])));
    }
    if options.flatten.is_present() {
        parameter.extend(quote!(.flattened()));
    }
    if options.secret.is_present() {
        parameter.extend(quote!(.secret()));
    }
    if let Some(header) = &options.header {
        parameter.extend(quote!(.header(#header)));
    }
    parameter.extend(matched_as(argument));
    if options.default.is_some() {
        parameter.extend(quote!(.optional()));
    }
    for (method, statements) in [
        ("refined", values::limits_written(argument)),
        ("valued", values::values_written(argument)),
    ] {
        let method = Ident::new(method, hygienic(Span::call_site()));
        if !statements.is_empty() {
            parameter.extend(quote_spanned! {hygienic(Span::call_site())=>
                .#method(|__schema| { #(#statements)* })
            });
        }
    }
    parameter
}

/// `.matched_as(matched_text::<String>(MatchAs::Path))`. A type that is not text is reported once, at
/// the type.
fn matched_as(argument: &Argument<'_>) -> Option<TokenStream> {
    let (span, variant) = validate::match_as_variant(argument)?;
    if argument.options.flatten.is_present() {
        // Already reported.
        return None;
    }
    let variant = Ident::new(variant, hygienic(span));
    let text = values::constructor("matched_text", argument.ty());
    let span = hygienic(Span::call_site());
    Some(quote_spanned!(span=> .matched_as(#text (__tool::MatchAs::#variant))))
}

/// Decodes the arguments in one pass, each value directly into its field.
pub(super) fn decode(model: &Model<'_>) -> TokenStream {
    let action = names::action_trait(model.kind);
    let slots = model.arguments().map(slot);
    let fields = model.arguments().map(|argument| argument.ident);
    let enumerated = || model.arguments().enumerate();
    let arms = enumerated().map(|(index, argument)| read_arm(index, argument));
    let values = enumerated().map(|(index, argument)| value(index, argument));
    quote_spanned! {hygienic(Span::call_site())=>
        fn decode(__arguments: __tool::Arguments<'_>) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            #(let mut #slots = ::core::option::Option::None;)*
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index { #(#arms)* _ => __reader.skip()?, }
            }
            let __action = Self { #(#fields: #values),* };
            __tool::#action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
    }
}

fn slot(argument: &Argument<'_>) -> Ident {
    let name = names::unraw(argument.ident);
    format_ident!("__slot_{name}", span = hygienic(Span::call_site()))
}

fn read_arm(index: usize, argument: &Argument<'_>) -> TokenStream {
    let (slot, ty) = (slot(argument), Index::from(index));
    quote_spanned! {hygienic(Span::call_site())=>
        #index => __TYPES.#ty.read(&mut __reader, &mut #slot)?,
    }
}

fn value(index: usize, argument: &Argument<'_>) -> TokenStream {
    let (slot, ty) = (slot(argument), Index::from(index));
    match values::default_ident(argument) {
        Some(default) => quote_spanned! {hygienic(Span::call_site())=>
            match #slot { ::core::option::Option::Some(__value) => __value, ::core::option::Option::None => #default() }
        },
        None => quote_spanned! {hygienic(Span::call_site())=>
            __TYPES.#ty.end(#slot, &mut __reader, #index)?
        },
    }
}

/// The constraints of all arguments.
pub(super) fn check(model: &Model<'_>) -> Option<TokenStream> {
    let enumerated = model.arguments().enumerate();
    let checks: Vec<TokenStream> =
        enumerated.flat_map(|(index, argument)| checks(index, argument)).collect();
    (!checks.is_empty()).then(|| {
        quote_spanned! {hygienic(Span::call_site())=>
            fn check(&self) -> ::core::result::Result<(), __tool::DecodeError> {
                #(#checks)*
                ::core::result::Result::Ok(())
            }
        }
    })
}

fn checks(index: usize, argument: &Argument<'_>) -> impl Iterator<Item = TokenStream> {
    let field = argument.ident;
    values::constraint_idents(argument).map(move |constraint| {
        quote_spanned! {hygienic(Span::call_site())=>
            __tool::ensure(&#constraint(), &self.#field, #index)?;
        }
    })
}

/// `impl TypedArguments for AddAction`, under the condition that each argument can be written as JSON. The lifetime keeps
/// the condition from being required where the tool is defined. Autoref omits values that are not `Serialize`.
pub(super) fn typed(model: &Model<'_>) -> TokenStream {
    let action = model.action();
    let fields = model.arguments().map(|argument| argument.ident);
    let types: Vec<_> = model.arguments().map(Argument::ty).collect();
    let (parameters, traits) = match types.is_empty() {
        true => (None, None),
        false => (
            Some(quote!(<'__typed>)),
            Some(
                quote_spanned!(hygienic(Span::call_site())=> use __tool::{OmitJson as _, WriteJson as _};),
            ),
        ),
    };
    quote_spanned! {hygienic(Span::call_site())=>
        #[automatically_derived]
        impl #parameters __tool::TypedArguments for #action
        where
            #(#types: __tool::TypedArgument<'__typed>,)*
        {
            fn to_json(&self) -> ::core::option::Option<__tool::String> {
                #traits
                __tool::json_object(__PARAMETERS, &[#((&&__tool::JsonOf(&self.#fields)).json()),*])
            }
        }
    }
}
