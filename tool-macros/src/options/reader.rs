//! Reads the options of an attribute, as in `name = "x", read_only, tags("a", "b")`.
//!
//! An option that cannot be read is reported and left out; the others are still read.

use super::known::{Known, STRINGS, Usage, repeated, wrong};
use crate::diagnostics::Diagnostics;
use darling::FromMeta;
use darling::ast::NestedMeta;
use darling::util::path_to_string;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::slice;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Ident, Lit, LitStr, Meta, MetaNameValue, Token};

/// Reads the tokens between the parentheses of an attribute.
pub(super) fn read<T: FromMeta + Default>(
    known: &Known,
    tokens: TokenStream,
    diagnostics: &mut Diagnostics,
) -> T {
    let items = items(tokens, diagnostics);
    read_items(known, items, diagnostics)
}

/// Reads the valid options, and reports the others.
pub(super) fn read_items<T: FromMeta + Default>(
    known: &Known,
    items: Vec<NestedMeta>,
    diagnostics: &mut Diagnostics,
) -> T {
    let mut accepted = Vec::new();
    for item in items {
        let item = accept::<T>(known, &accepted, item, diagnostics);
        accepted.extend(item);
    }
    // Each was accepted by itself.
    T::from_list(&accepted).unwrap_or_default()
}

/// Reads a single option: an error of `darling` is then about its value.
fn accept<T: FromMeta>(
    known: &Known,
    accepted: &[NestedMeta],
    item: NestedMeta,
    diagnostics: &mut Diagnostics,
) -> Option<NestedMeta> {
    let Some((key, span)) = key(&item) else {
        match &item {
            NestedMeta::Lit(Lit::Str(text)) if known.has("description") => {
                diagnostics.error_on(text, unnamed(text));
            }
            _ => diagnostics.error_on(&item, NOT_AN_OPTION),
        }
        return None;
    };
    let usage = known.find(&key).map_err(|message| diagnostics.error_at(span, message)).ok()?;
    if accepted.iter().filter_map(self::key).any(|(other, _)| other == key) {
        diagnostics.error_at(span, repeated(usage));
        return None;
    }
    let item = with_strings(usage, item, diagnostics)?;
    if T::from_list(slice::from_ref(&item)).is_ok() {
        return Some(item);
    }
    match value(&item) {
        Some(value) => diagnostics.error_on(value, wrong(usage)),
        None => diagnostics.error_at(span, wrong(usage)),
    }
    None
}

const NOT_AN_OPTION: &str =
    "expected an option; write `name`, `name = value` or `name(\"a\", \"b\")`";

/// Whether an item has the name of an option.
pub(super) fn is_option(known: &Known, item: &NestedMeta) -> bool {
    key(item).is_some_and(|(key, _)| known.has(&key))
}

/// The error about a string without the name of its option: a name, or a description.
fn unnamed(text: &LitStr) -> String {
    let is_sentence = text.value().contains(' ');
    let option = if is_sentence { "description" } else { "name" };
    format!("a string needs the name of its option; write `{option} = {}`", text.token())
}

fn key(item: &NestedMeta) -> Option<(String, Span)> {
    let path = match item {
        NestedMeta::Meta(meta) => meta.path(),
        NestedMeta::NameValueInvalidExpr(invalid) => &invalid.path,
        NestedMeta::Lit(_) => return None,
    };
    Some((path_to_string(path), path.span()))
}

/// Reports and removes the elements of a list that are not strings; `None` if no element is left.
fn with_strings(
    usage: Usage,
    mut item: NestedMeta,
    diagnostics: &mut Diagnostics,
) -> Option<NestedMeta> {
    if let NestedMeta::Meta(Meta::List(list)) = &mut item
        && usage.1 == STRINGS
        && let Ok(elements) = NestedMeta::parse_meta_list(list.tokens.clone())
    {
        let is_string = |element: &NestedMeta| matches!(element, NestedMeta::Lit(Lit::Str(_)));
        let (strings, others): (Vec<_>, Vec<_>) = elements.into_iter().partition(is_string);
        others.iter().for_each(|element| diagnostics.error_on(element, wrong(usage)));
        if strings.is_empty() && !others.is_empty() {
            return None;
        }
        list.tokens = quote!(#(#strings),*);
    }
    Some(item)
}

/// The tokens after `=` or between parentheses, if there are any.
fn value(item: &NestedMeta) -> Option<TokenStream> {
    let value = match item {
        NestedMeta::Meta(Meta::NameValue(pair)) => pair.value.to_token_stream(),
        NestedMeta::Meta(Meta::List(list)) => list.tokens.clone(),
        NestedMeta::NameValueInvalidExpr(invalid) => invalid.value.clone(),
        _ => return None,
    };
    (!value.is_empty()).then_some(value)
}

/// The options as written. After a mistake, reading continues after the next comma.
pub(super) fn items(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Vec<NestedMeta> {
    let (mut items, mut is_reported) = (Vec::new(), false);
    let parse_items = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let item = item(input, diagnostics);
            let is_bad = item.is_err();
            is_reported |= is_bad || matches!(item, Ok(NestedMeta::NameValueInvalidExpr(_)));
            items.extend(diagnostics.keep(item));
            skip_to_comma(input, is_bad, diagnostics);
        }
        Ok(())
    };
    // A group with tokens after its expression, as in `default = (1 2)`, is an error at the end only.
    if let (Err(error), false) = (parse_items.parse2(tokens), is_reported) {
        let message = "expected one expression as the value of an option";
        diagnostics.error_at(error.span(), message);
    }
    items
}

fn item(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<NestedMeta> {
    if input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
        return colon_item(input, diagnostics);
    }
    if input.peek(Ident::peek_any) && input.peek2(Token![-]) {
        return Err(hyphenated(input)?);
    }
    let start = input.span();
    input.parse().map_err(|_| syn::Error::new(start, NOT_AN_OPTION))
}

/// The error about `read-only`.
fn hyphenated(input: ParseStream<'_>) -> syn::Result<syn::Error> {
    let (mut words, mut tokens) = (Vec::new(), TokenStream::new());
    loop {
        let word = input.call(Ident::parse_any)?;
        word.to_tokens(&mut tokens);
        words.push(word.to_string());
        if !input.peek(Token![-]) || !input.peek2(Ident::peek_any) {
            break;
        }
        input.parse::<Token![-]>()?.to_tokens(&mut tokens);
    }
    let message = format!("the name of an option has no hyphen; write `{}`", words.join("_"));
    Ok(syn::Error::new_spanned(tokens, message))
}

/// Reads `name: value` as `name = value`, which is reported.
fn colon_item(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<NestedMeta> {
    let key = input.call(Ident::parse_any)?;
    let colon: Token![:] = input.parse()?;
    let message = format!("an option takes its value after `=`; write `{key} = VALUE`");
    diagnostics.error_on(colon, message);
    let (path, eq_token) = (key.into(), Token![=](colon.span));
    let value = input.parse()?;
    Ok(NestedMeta::Meta(Meta::NameValue(MetaNameValue { path, eq_token, value })))
}

/// Skips the rest of an option, which is a mistake unless one was already reported.
fn skip_to_comma(input: ParseStream<'_>, is_reported: bool, diagnostics: &mut Diagnostics) {
    if !input.is_empty() && !input.peek(Token![,]) && !is_reported {
        let message = "expected a comma between options; write `first, second = value`";
        diagnostics.error_at(input.span(), message);
    }
    while !input.is_empty() && !input.peek(Token![,]) {
        let _skipped: syn::Result<TokenTree> = input.parse();
    }
    let _comma: syn::Result<Token![,]> = input.parse();
}
