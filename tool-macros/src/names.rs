//! Names and spans of generated code.

use crate::kind::Kind;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;
use syn::ext::IdentExt;

/// Longest tool name that the MCP specification recommends.
pub(crate) const MAX_NAME_LENGTH: usize = 128;

/// A span for generated tokens, with the hygiene of the macro and the location of `span`.
pub(crate) fn hygienic(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The spans of the first and the last token.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// An identifier in its JSON form: `r#type` is `type`.
pub(crate) fn unraw(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The struct that holds the arguments: `web_search` becomes `WebSearchAction`, as a method of
/// `Browser` it becomes `BrowserWebSearchAction`; prompts and resources have other suffixes.
pub(crate) fn action_ident(kind: Kind, of: Option<&Ident>, function: &Ident) -> Ident {
    let of = of.map(unraw).unwrap_or_default();
    let pascal: String = unraw(function).split('_').map(capitalized).collect::<String>();
    let pascal = of + &pascal;
    let leads_with_digit = pascal.starts_with(|first: char| first.is_numeric());
    let underscore = if leads_with_digit { "_" } else { "" };
    format_ident!("{underscore}{pascal}{}", kind.suffix(), span = function.span())
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `HttpClient2` becomes `http_client2`, `HTTPClient` becomes `http_client`.
pub(crate) fn snake_case(ty: &str) -> String {
    let letters: Vec<char> = ty.chars().collect();
    let mut snake = String::new();
    for (index, letter) in letters.iter().enumerate() {
        if index > 0 && begins_word(&letters, index) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// An upper-case letter after a lower-case letter or a digit, or before a lower-case letter.
fn begins_word(letters: &[char], index: usize) -> bool {
    let before = letters[index - 1];
    let is_last_of_capitals = letters.get(index + 1).is_some_and(|next| next.is_lowercase());
    letters[index].is_uppercase()
        && before != '_'
        && (!before.is_uppercase() || is_last_of_capitals)
}

/// The trait that the struct implements.
pub(crate) fn action_trait(kind: Kind) -> Ident {
    let noun = if kind == Kind::Tool { "" } else { kind.suffix() };
    format_ident!("{noun}Action", span = hygienic(Span::call_site()))
}

/// The type that registers an item at link time.
pub(crate) fn registration(kind: Kind) -> Ident {
    let noun = if kind == Kind::Tool { "" } else { kind.suffix() };
    format_ident!("{noun}Registration", span = hygienic(Span::call_site()))
}

/// The name of an item whose duplicate is a compile error: two tools, or two prompts, of one module
/// must have different names.
///
/// `None` for an invalid name, and for the rare name without a distinct identifier; the pool finds
/// those duplicates when it is built.
pub(crate) fn claim_ident(kind: Kind, tool: &str, span: Span) -> Option<Ident> {
    if name_problem(tool).is_some() {
        return None;
    }
    let noun = kind.noun();
    if !tool.contains(['.', '-']) {
        return Some(format_ident!("{noun}_named_{tool}", span = span));
    }
    let ambiguous = tool.contains("_dot_") || tool.contains("_dash_");
    let spelled = tool.replace('.', "_dot_").replace('-', "_dash_");
    (!ambiguous).then(|| format_ident!("{noun}_spelled_{spelled}", span = span))
}

/// The problem with a tool name, if there is one.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if name.chars().count() > MAX_NAME_LENGTH {
        return Some(format!(
            "has {} characters and may have {MAX_NAME_LENGTH}",
            name.chars().count()
        ));
    }
    name.chars().find(|c| !allowed(*c)).map(|c| format!("contains {c:?}"))
}

/// The nearest candidate, if one is close enough to be a typo.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .map(|candidate| (similarity(word, candidate), *candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The similarity of two words; underscores and case are ignored.
fn similarity(a: &str, b: &str) -> f64 {
    let plain = |s: &str| s.replace('_', "").to_lowercase();
    strsim::jaro_winkler(&plain(a), &plain(b))
}

/// The path of the runtime in the user's crate: `::tool_runtime`, or that of `crate = path`.
pub(crate) struct Runtime<'a>(pub(crate) Option<&'a Path>);

impl ToTokens for Runtime<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self.0 {
            Some(path) => path.to_tokens(tokens),
            None => quote!(::tool_runtime).to_tokens(tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_named_after_its_function() {
        let name = |text: &str| {
            let ident: Ident = syn::parse_str(text).expect("an identifier");
            action_ident(Kind::Tool, None, &ident).to_string()
        };
        assert_eq!(name("add"), "AddAction");
        assert_eq!(name("search_notes"), "SearchNotesAction");
        assert_eq!(name("r#match"), "MatchAction");
        assert_eq!(name("__internal_v2"), "InternalV2Action");
        assert_eq!(name("_2d"), "_2dAction");
    }

    #[test]
    fn a_toolset_is_named_after_its_type() {
        for (ty, snake) in [
            ("Terminal", "terminal"),
            ("HttpClient2", "http_client2"),
            ("HTTPClient", "http_client"),
            ("HTTP2Client", "http2_client"),
            ("Already_Snake", "already_snake"),
            ("X", "x"),
        ] {
            assert_eq!(snake_case(ty), snake);
        }
    }

    #[test]
    fn an_invalid_name_has_a_reason() {
        assert_eq!(name_problem("web.search-2_b"), None);
        assert_eq!(name_problem(""), Some("is empty".into()));
        assert_eq!(name_problem("a b"), Some("contains ' '".into()));
        let long = "x".repeat(129);
        assert!(name_problem(&long).expect("too long").contains("129"));
    }

    #[test]
    fn claims_of_different_names_differ() {
        let claim = |name| claim_ident(Kind::Tool, name, Span::call_site()).map(|i| i.to_string());
        assert_ne!(claim("web.search"), claim("web_search"));
        assert_ne!(claim("web.search"), claim("web-search"));
        assert_eq!(claim("a.b_dot_c"), None);
    }

    #[test]
    fn the_nearest_option_is_found() {
        let known = ["read_only", "idempotent", "name"];
        assert_eq!(nearest("readonly", &known), Some("read_only"));
        assert_eq!(nearest("idempotant", &known), Some("idempotent"));
        assert_eq!(nearest("colour", &known), None);
    }
}
