//! Joins doc comments to one description, for functions and parameters.

use crate::expressions;
use crate::names;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, Meta};

/// The doc comments of one item.
pub(crate) enum Docs {
    /// No doc comment.
    Missing,
    /// Plain text, already trimmed.
    Text(String),
    /// Docs with a `#[doc = EXPR]` that only the compiler can evaluate, and its span.
    Expression(TokenStream, Span),
}

impl Docs {
    /// Reads all doc attributes, also with other attributes between them.
    pub(crate) fn from_attributes(attributes: &[Attribute]) -> Self {
        let values: Vec<&Expr> = attributes.iter().filter_map(doc_value).collect();
        if values.is_empty() {
            return Self::Missing;
        }
        let lines: Option<Vec<String>> = values.iter().map(|value| literal(value)).collect();
        match lines {
            Some(lines) => Self::Text(trimmed(&lines.join("\n"))),
            None => Self::Expression(concatenated(&values), first_expression(&values)),
        }
    }

    /// Whether a doc comment exists and is blank.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    /// Whether no doc comment exists.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

/// A `&'static str` expression; the empty string if docs are missing.
impl ToTokens for Docs {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Missing => "".to_tokens(tokens),
            Self::Text(text) => text.to_tokens(tokens),
            Self::Expression(expression, _) => expression.to_tokens(tokens),
        }
    }
}

/// Whether an attribute is a doc comment, in any spelling.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    doc_value(attribute).is_some()
}

fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

fn literal(value: &Expr) -> Option<String> {
    expressions::text(value).map(|text| undecorated(&text.value()))
}

/// Joins the parts at compile time: macros such as `include_str!` stay expressions.
fn concatenated(values: &[&Expr]) -> TokenStream {
    let parts = values.iter().map(|value| match literal(value) {
        Some(text) => text.to_token_stream(),
        None => value.to_token_stream(),
    });
    quote!(::core::concat!(#(#parts, "\n"),*))
}

/// The span of the first part that only the compiler can evaluate.
fn first_expression(values: &[&Expr]) -> Span {
    let expression = values.iter().find(|value| literal(value).is_none());
    expression.map_or_else(Span::call_site, |value| names::ends(value).0)
}

/// The text of one doc attribute: a line without its leading space, a block without its column of stars.
fn undecorated(text: &str) -> String {
    if !text.contains('\n') {
        return text.strip_prefix(' ').unwrap_or(text).to_owned();
    }
    let starred = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .all(|line| line.trim_start().starts_with('*'));
    text.lines()
        .map(|line| if starred { unstarred(line) } else { line.trim() })
        .collect::<Vec<_>>()
        .join("\n")
}

fn unstarred(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix('*').unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line)
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn text(attributes: &[Attribute]) -> String {
        match Docs::from_attributes(attributes) {
            Docs::Text(text) => text,
            Docs::Missing => "missing".to_owned(),
            Docs::Expression(tokens, _) => tokens.to_string(),
        }
    }

    #[test]
    fn lines_are_joined_across_other_attributes() {
        let attributes: Vec<Attribute> = vec![
            parse_quote!(#[doc = " One."]),
            parse_quote!(#[must_use]),
            parse_quote!(#[doc = "   indented"]),
        ];
        assert_eq!(text(&attributes), "One.\n  indented");
    }

    #[test]
    fn stars_of_block_comments_are_removed() {
        let attributes: Vec<Attribute> =
            vec![parse_quote!(#[doc = " First.\n     *\n     * Second.\n     "])];
        assert_eq!(text(&attributes), "First.\n\nSecond.");
    }

    #[test]
    fn an_included_file_stays_an_expression() {
        let attributes: Vec<Attribute> = vec![parse_quote!(#[doc = include_str!("a.md")])];
        assert!(text(&attributes).contains("include_str"));
    }

    #[test]
    fn blank_docs_are_empty_and_not_missing() {
        let attributes: Vec<Attribute> = vec![parse_quote!(#[doc = "  "])];
        assert!(Docs::from_attributes(&attributes).is_empty());
        assert!(Docs::from_attributes(&[]).is_missing());
    }
}
