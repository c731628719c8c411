//! Expressions as written in the source.

use syn::{Expr, ExprLit, Lit, LitStr};

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

/// A string literal.
pub(crate) fn text(expression: &Expr) -> Option<&LitStr> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}
