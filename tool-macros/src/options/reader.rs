//! Reads the options of an attribute, as in `name = "x", read_only, tags("a", "b")`.
//!
//! An option that cannot be read is reported and left out; the others are still read.

use super::known::{Known, TEXTS, Usage, repeated, wrong};
use crate::mistakes::Mistakes;
use darling::FromMeta;
use darling::ast::NestedMeta;
use darling::util::path_to_string;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::slice;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Ident, Lit, Meta, MetaNameValue, Token};

/// Reads the tokens between the parentheses of an attribute.
pub(super) fn read<T: FromMeta + Default>(
    known: &Known,
    tokens: TokenStream,
    mistakes: &mut Mistakes,
) -> T {
    let items = items(tokens, mistakes);
    read_items(known, items, mistakes)
}

/// Reads the options that are sound, and reports the others.
pub(super) fn read_items<T: FromMeta + Default>(
    known: &Known,
    items: Vec<NestedMeta>,
    mistakes: &mut Mistakes,
) -> T {
    let mut accepted = Vec::new();
    for item in items {
        let item = accept::<T>(known, &accepted, item, mistakes);
        accepted.extend(item);
    }
    T::from_list(&accepted).unwrap_or_default()
}

/// Reads an option by itself: an error of `darling` is then about its value.
fn accept<T: FromMeta>(
    known: &Known,
    accepted: &[NestedMeta],
    item: NestedMeta,
    mistakes: &mut Mistakes,
) -> Option<NestedMeta> {
    let Some((key, span)) = key(&item) else {
        mistakes.on(&item, NOT_AN_OPTION);
        return None;
    };
    let usage = known.find(&key).map_err(|message| mistakes.at(span, message)).ok()?;
    if accepted.iter().filter_map(self::key).any(|(other, _)| other == key) {
        mistakes.at(span, repeated(usage));
        return None;
    }
    let item = with_texts(usage, item, mistakes)?;
    if T::from_list(slice::from_ref(&item)).is_ok() {
        return Some(item);
    }
    match value(&item) {
        Some(value) => mistakes.on(value, wrong(usage)),
        None => mistakes.at(span, wrong(usage)),
    }
    None
}

const NOT_AN_OPTION: &str =
    "expected an option; write `name`, `name = value` or `name(\"a\", \"b\")`";

fn key(item: &NestedMeta) -> Option<(String, Span)> {
    let path = match item {
        NestedMeta::Meta(meta) => meta.path(),
        NestedMeta::NameValueInvalidExpr(invalid) => &invalid.path,
        NestedMeta::Lit(_) => return None,
    };
    Some((path_to_string(path), path.span()))
}

/// Reports and removes the elements of a list that are not texts; `None` if no element is left.
fn with_texts(usage: Usage, mut item: NestedMeta, mistakes: &mut Mistakes) -> Option<NestedMeta> {
    if let NestedMeta::Meta(Meta::List(list)) = &mut item
        && usage.1 == TEXTS
        && let Ok(elements) = NestedMeta::parse_meta_list(list.tokens.clone())
    {
        let is_text = |element: &NestedMeta| matches!(element, NestedMeta::Lit(Lit::Str(_)));
        let (texts, others): (Vec<_>, Vec<_>) = elements.into_iter().partition(is_text);
        others.iter().for_each(|element| mistakes.on(element, wrong(usage)));
        if texts.is_empty() && !others.is_empty() {
            return None;
        }
        list.tokens = quote!(#(#texts),*);
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

/// The options as written. After a mistake, reading goes on behind the next comma.
pub(super) fn items(tokens: TokenStream, mistakes: &mut Mistakes) -> Vec<NestedMeta> {
    let all = |input: ParseStream<'_>| {
        let mut items = Vec::new();
        while !input.is_empty() {
            let item = item(input, mistakes);
            let is_reported = item.is_err();
            items.extend(mistakes.keep(item));
            skip_to_comma(input, is_reported, mistakes);
        }
        Ok(items)
    };
    all.parse2(tokens).unwrap_or_default()
}

fn item(input: ParseStream<'_>, mistakes: &mut Mistakes) -> syn::Result<NestedMeta> {
    if input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
        return colon_item(input, mistakes);
    }
    let start = input.span();
    input.parse().map_err(|_| syn::Error::new(start, NOT_AN_OPTION))
}

/// Reads `name: value` as `name = value`, which is reported.
fn colon_item(input: ParseStream<'_>, mistakes: &mut Mistakes) -> syn::Result<NestedMeta> {
    let key = input.call(Ident::parse_any)?;
    let colon: Token![:] = input.parse()?;
    let message = format!("an option takes its value after `=`; write `{key} = VALUE`");
    mistakes.on(colon, message);
    let (path, eq_token) = (key.into(), Token![=](colon.span));
    let value = input.parse()?;
    Ok(NestedMeta::Meta(Meta::NameValue(MetaNameValue { path, eq_token, value })))
}

/// Ends an option: what is left before the comma is a mistake unless one was already reported.
fn skip_to_comma(input: ParseStream<'_>, is_reported: bool, mistakes: &mut Mistakes) {
    if !input.is_empty() && !input.peek(Token![,]) && !is_reported {
        let message = "expected a comma between options; write `first, second = value`";
        mistakes.at(input.span(), message);
    }
    while !input.is_empty() && !input.peek(Token![,]) {
        let _skipped: syn::Result<TokenTree> = input.parse();
    }
    let _comma: syn::Result<Token![,]> = input.parse();
}
