//! Functions for the expressions of `#[arg]`: default, example, constraints. Each expression is used in
//! several items and emitted once.

use crate::diagnostics::Diagnostics;
use crate::expressions;
use crate::limits::Limits;
use crate::model::Argument;
use crate::names::{self, hygienic};
use crate::types;
use crate::unsigned;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Type};

/// All functions of one parameter.
pub(super) fn functions(argument: &Argument<'_>) -> TokenStream {
    let constraints = constraints(argument).into_iter().map(|constraint| constraint.function);
    let default = default(argument).map(|value| value_function("default", argument, &value));
    let example = &argument.options.example;
    let example = example
        .as_ref()
        .map(|value| value_function("example", argument, &expression(&value.0, argument.ty())));
    quote!(#default #example #(#constraints)*)
}

/// The function that makes the default, if there is one.
pub(super) fn default_ident(argument: &Argument<'_>) -> Option<Ident> {
    argument.options.default.as_ref().map(|_| ident("default", argument))
}

/// The functions that make the constraints.
pub(super) fn constraint_idents(argument: &Argument<'_>) -> impl Iterator<Item = Ident> {
    constraints(argument).into_iter().map(|constraint| constraint.ident)
}

/// The statements that write constraints into a property's schema.
pub(super) fn limits_written(argument: &Argument<'_>) -> Vec<TokenStream> {
    let span = hygienic(Span::call_site());
    constraint_idents(argument)
        .map(|constraint| quote_spanned!(span=> __tool::Constraint::describe(&#constraint(), __schema);))
        .collect()
}

/// The statements that write the default and the example into a property's schema.
pub(super) fn values_written(argument: &Argument<'_>) -> Vec<TokenStream> {
    let span = hygienic(Span::call_site());
    let default = default_ident(argument).map(|default| advertise_default(&default));
    let mut statements: Vec<TokenStream> = default.into_iter().collect();
    if argument.options.example.is_some() {
        let (ty, example) = (argument.ty(), ident("example", argument));
        statements
            .push(quote_spanned!(span=> __tool::advertise_example::<#ty>(__schema, &#example());));
    }
    statements
}

/// Autoref omits the default of a type that is not `Serialize`.
fn advertise_default(default: &Ident) -> TokenStream {
    quote_spanned! {hygienic(Span::call_site())=> {
        use __tool::{AdvertiseDefault as _, OmitDefault as _};
        (&&__tool::DefaultOf(&#default())).advertise(__schema);
    }}
}

/// The default as an expression of the parameter's type.
fn default(argument: &Argument<'_>) -> Option<TokenStream> {
    Some(match argument.options.default.as_ref()? {
        (span, None) => quote_spanned!(hygienic(*span)=> __tool::type_default()),
        (_, Some(value)) => expression(value, argument.ty()),
    })
}

/// A value as an expression of the parameter's type: a string literal is converted, another literal
/// for an `Option` is wrapped in `Some`.
fn expression(value: &Expr, ty: &Type) -> TokenStream {
    if let Some(text) = expressions::text(value) {
        return quote_spanned!(hygienic(text.span())=> __tool::text_default(#text));
    }
    let value = match types::is_float(ty) {
        true => &expressions::as_float(value),
        false => expressions::bare(value),
    };
    match is_literal(value) && types::optional(ty).is_some() {
        true => quote_spanned!(hygienic(value.span())=> ::core::option::Option::Some(#value)),
        false => value.to_token_stream(),
    }
}

fn is_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) => true,
        Expr::Unary(negative) => matches!(*negative.expr, Expr::Lit(_)),
        _ => false,
    }
}

fn value_function(kind: &str, argument: &Argument<'_>, value: &TokenStream) -> TokenStream {
    let (ident, ty) = (ident(kind, argument), argument.ty());
    quote_spanned! {hygienic(Span::call_site())=>
        #[allow(clippy::unnecessary_wraps)]
        fn #ident() -> #ty { #value }
    }
}

fn ident(kind: &str, argument: &Argument<'_>) -> Ident {
    let name = names::unraw(argument.ident);
    format_ident!("__{kind}_of_{name}", span = hygienic(Span::call_site()))
}

/// One constraint of one parameter: a private function that both the schema and the check use.
struct Constraint {
    ident: Ident,
    function: TokenStream,
}

fn constraints(argument: &Argument<'_>) -> Vec<Constraint> {
    let options = &argument.options;
    let mut constraints = Vec::new();
    let is_valid = |range: &&Expr| unsigned::negative_end(range, argument.ty()).is_none();
    let range = options.range.as_ref().map(|range| &range.0).filter(is_valid);
    let bounds = |limits: Limits<'_>| match types::is_float(argument.ty()) {
        true => limits.float_bounds(),
        false => limits.bounds(),
    };
    if let Some((lower, upper)) = limits(range).map(bounds) {
        let (_, last) = names::ends(argument.ty());
        let between = quote_spanned!(last=> ()(#lower, #upper));
        constraints.push(constraint(argument, "range", "Range", between));
    }
    let length =
        limits(options.length.as_ref().map(|length| &length.0)).filter(Limits::are_countable);
    if let Some((lower, upper)) = length.map(|limits| limits.bounds()) {
        constraints.push(constraint(argument, "length", "Length", quote!((#lower, #upper))));
    }
    if let Some(text) = &options.pattern {
        constraints.push(pattern(argument, text));
    }
    if let Some(format) = &options.format {
        constraints.push(constraint(argument, "format", "Format", quote!((#format))));
    }
    constraints
}

/// `fn __range_of_a() -> Range<i64> { range::<i64>()(...) }`.
fn constraint(argument: &Argument<'_>, kind: &str, name: &str, limits: TokenStream) -> Constraint {
    let (ident, ty) = (ident(kind, argument), argument.ty());
    let (name, made) = (Ident::new(name, hygienic(Span::call_site())), constructor(kind, ty));
    let function = quote_spanned! {hygienic(Span::call_site())=>
        fn #ident() -> __tool::#name<#ty> { #made #limits }
    };
    Constraint { ident, function }
}

/// A pattern is compiled once.
fn pattern(argument: &Argument<'_>, text: &LitStr) -> Constraint {
    let (ident, ty) = (ident("pattern", argument), argument.ty());
    let pattern = constructor("pattern", ty);
    let function = quote_spanned! {hygienic(Span::call_site())=>
        fn #ident() -> &'static __tool::Pattern<#ty> {
            static __PATTERN: __tool::Pattern<#ty> = #pattern(#text);
            &__PATTERN
        }
    };
    Constraint { ident, function }
}

/// `__tool::range::<i64>`, with exactly the type's span: rustc shows equal errors at equal spans
/// once.
pub(super) fn constructor(kind: &str, ty: &Type) -> TokenStream {
    let (first, last) = names::ends(ty);
    let kind = Ident::new(kind, first);
    let mut constructor = quote_spanned!(first=> __tool::#kind::<#ty);
    constructor.extend(quote_spanned!(last=> >));
    constructor
}

/// The limits as written; invalid ones have already been reported.
fn limits(range: Option<&Expr>) -> Option<Limits<'_>> {
    Limits::parse("range", range?, &mut Diagnostics::default())
}
