//! Parses a function's signature, also one with a missing comma or colon, or with a default.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::Brace;
use syn::{Attribute, Expr, FnArg, Signature, Token, Type, parse_quote};

/// Parses a signature. A missing comma between two parameters, or a missing colon, is inserted silently, and what no
/// parameter has is left out: rustc has already reported it.
pub(super) fn parse(input: ParseStream<'_>) -> syn::Result<Signature> {
    let ahead = input.fork();
    match ahead.parse() {
        Ok(signature) => {
            input.advance_to(&ahead);
            Ok(signature)
        }
        Err(error) => completed(input).ok_or(error),
    }
}

fn completed(input: ParseStream<'_>) -> Option<Signature> {
    let ahead = input.fork();
    let mut tokens = TokenStream::new();
    let mut has_parameters = false;
    while !ahead.is_empty() && !ahead.peek(Brace) && !ahead.peek(Token![;]) {
        let mut token: TokenTree = ahead.parse().ok()?;
        if let TokenTree::Group(group) = &token
            && group.delimiter() == Delimiter::Parenthesis
            && !has_parameters
        {
            has_parameters = true;
            token = separated(group)?.into();
        }
        tokens.extend([token]);
    }
    let signature = syn::parse2(tokens).ok()?;
    input.advance_to(&ahead);
    Some(signature)
}

/// The parameters with a comma after each. A semicolon counts as a misspelt comma.
fn separated(list: &Group) -> Option<Group> {
    let parse_parameters = |input: ParseStream<'_>| {
        let mut parameters: Punctuated<FnArg, Token![,]> = Punctuated::new();
        while !input.is_empty() {
            let Some(parameter) = parameter(input)? else { break };
            parameters.push_value(parameter);
            if input.peek(Token![;]) {
                input.parse::<Token![;]>()?;
            }
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                input.parse::<Expr>()?;
            }
            let comma: Option<Token![,]> = input.parse()?;
            parameters.push_punct(comma.unwrap_or_else(|| Token![,](input.span())));
        }
        Ok(parameters)
    };
    let parameters = parse_parameters.parse2(list.stream()).ok()?;
    let mut group = Group::new(Delimiter::Parenthesis, parameters.into_token_stream());
    group.set_span(list.span());
    Some(group)
}

/// A parameter, also one without a colon or with a question mark after its name. `None` after the last one, for a comment
/// behind it.
fn parameter(input: ParseStream<'_>) -> syn::Result<Option<FnArg>> {
    let ahead = input.fork();
    if let Ok(parameter) = ahead.parse() {
        input.advance_to(&ahead);
        return Ok(Some(parameter));
    }
    let attrs = input.call(Attribute::parse_outer)?;
    if input.is_empty() {
        return Ok(None);
    }
    let name: Ident = input.parse()?;
    input.parse::<Option<Token![?]>>()?;
    input.parse::<Option<Token![:]>>()?;
    let ty: Type = input.parse()?;
    Ok(Some(parse_quote!(#(#attrs)* #name: #ty)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn names(tokens: TokenStream) -> Option<usize> {
        let signature = parse.parse2(tokens).ok()?;
        Some(signature.inputs.len())
    }

    #[test]
    fn a_comma_may_be_missing() {
        assert_eq!(names(quote!(fn go(a: i64 #[arg(secret)] b: Vec<u8> mut c: &str))), Some(3));
        assert_eq!(names(quote!(async fn go(a: i64; b: i64) -> i64)), Some(2));
    }

    #[test]
    fn parts_that_no_parameter_has_are_left_out() {
        assert_eq!(names(quote!(fn go(a: i64 = 1, b: i64))), Some(2));
        assert_eq!(names(quote!(fn go(a: i64, b?: i64))), Some(2));
        assert_eq!(names(quote!(fn go(a: i64, #[doc = "The first."]))), Some(1));
    }

    #[test]
    fn a_colon_may_be_missing() {
        assert_eq!(names(quote!(fn go(a: i64, #[arg(secret)] b Vec<u8>))), Some(2));
        assert_eq!(names(quote!(fn go(a: i64, b))), None);
    }
}
