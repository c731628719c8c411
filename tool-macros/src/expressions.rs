//! Expressions as written in the source.

use proc_macro2::{Delimiter, Group, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, LitFloat, LitStr, parse_quote};

/// The expression inside the invisible group that `macro_rules!` puts around its fragments.
pub(crate) fn ungrouped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungrouped(&group.expr),
        other => other,
    }
}

/// The expression inside its parentheses, which would be superfluous in generated code.
pub(crate) fn bare(expression: &Expr) -> &Expr {
    match ungrouped(expression) {
        Expr::Paren(paren) => bare(&paren.expr),
        other => other,
    }
}

/// The expression; an integer literal as a float, which rustc does not make of it.
pub(crate) fn as_float(expression: &Expr) -> Expr {
    match bare(expression) {
        Expr::Lit(ExprLit { lit: Lit::Int(value), .. }) if value.suffix().is_empty() => {
            let float = LitFloat::new(&format!("{}.0", value.base10_digits()), value.span());
            parse_quote!(#float)
        }
        Expr::Unary(negative) => {
            let (op, inner) = (negative.op, as_float(&negative.expr));
            parse_quote!(#op #inner)
        }
        other => other.clone(),
    }
}

/// A string literal.
pub(crate) fn text(expression: &Expr) -> Option<&LitStr> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}

/// The opening and the closing delimiter of a group. Both are empty for an invisible group.
pub(crate) fn delimiters(group: &Group) -> [&'static str; 2] {
    match group.delimiter() {
        Delimiter::Parenthesis => ["(", ")"],
        Delimiter::Brace => ["{", "}"],
        Delimiter::Bracket => ["[", "]"],
        Delimiter::None => ["", ""],
    }
}

/// An expression as in source code: tokens print with superfluous spaces.
pub(crate) fn spelled(expression: &impl ToTokens) -> String {
    let (mut text, mut is_after_word) = (String::new(), false);
    for token in expression.to_token_stream() {
        let is_word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        if is_word && is_after_word {
            text.push(' ');
        }
        match token {
            TokenTree::Group(group) => {
                let [open, close] = delimiters(&group);
                text += &format!("{open}{}{close}", spelled(&group.stream()));
            }
            TokenTree::Punct(sign) if matches!(sign.as_char(), ',' | ';') => {
                text += &format!("{sign} ");
            }
            token => text += &token.to_string(),
        }
        is_after_word = is_word;
    }
    text
}
