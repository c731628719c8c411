//! Bounds in `range = 1..=50` and `length = 1..=200`, and the checks that literals allow.

use crate::diagnostics::Diagnostics;
use crate::expressions::{as_float, bare, spelled, text};
use crate::names::hygienic;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, UnOp};

/// The two ends of a range expression.
pub(crate) struct Limits<'a> {
    range: &'a ExprRange,
}

impl<'a> Limits<'a> {
    /// Reads `option = EXPR`, which must be a range with at least one end.
    pub(crate) fn parse(
        option: &str,
        expression: &'a Expr,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        match bare(expression) {
            Expr::Range(range) if range.start.is_some() || range.end.is_some() => {
                Some(Self { range })
            }
            _ => {
                diagnostics.error_on(
                    expression,
                    format!(
                        "`{option}` needs a range with at least one end; write `{option} = 1..=50`"
                    ),
                );
                None
            }
        }
    }

    /// Reports literal bounds that exclude every value.
    pub(crate) fn report_empty(&self, option: &str, diagnostics: &mut Diagnostics) {
        let (Some(start), Some(end)) = (self.start(), self.end()) else {
            return;
        };
        if self.is_not_empty(start, end) {
            return;
        }
        diagnostics.error_on(
            self.range,
            format!(
                "{option} `{}` contains no value; write the smaller end first, as in `{option} = 1..=50`",
                spelled(self.range)
            ),
        );
    }

    /// Reports a length with a negative or fractional end.
    pub(crate) fn report_uncountable(&self, diagnostics: &mut Diagnostics) {
        for end in self.ends().filter(|end| !is_countable(end)) {
            diagnostics
                .error_on(end, "a length is a whole number from 0 up; write `length = 1..=200`");
        }
    }

    /// Whether no end is a negative or fractional literal.
    pub(crate) fn are_countable(&self) -> bool {
        self.ends().all(is_countable)
    }

    fn ends(&self) -> impl Iterator<Item = &Expr> {
        [&self.range.start, &self.range.end].into_iter().flatten().map(|end| &**end)
    }

    /// Reports a literal outside the bounds; `kind` is default or example.
    pub(crate) fn report_value(&self, kind: &str, value: &Expr, diagnostics: &mut Diagnostics) {
        if number(value).is_some_and(|value| !self.contains(value)) {
            self.report_outside(kind, value, "range", diagnostics);
        }
    }

    /// Reports a string literal as default or example that is too short or too long.
    pub(crate) fn report_text(&self, kind: &str, value: &Expr, diagnostics: &mut Diagnostics) {
        let Some(text) = text(value) else {
            return;
        };
        #[allow(clippy::cast_precision_loss, reason = "no literal is that long")]
        let length = text.value().chars().count() as f64;
        if !self.contains(length) {
            self.report_outside(kind, value, "length", diagnostics);
        }
    }

    fn report_outside(
        &self,
        kind: &str,
        value: &Expr,
        option: &str,
        diagnostics: &mut Diagnostics,
    ) {
        let article = if kind == "example" { "an" } else { "a" };
        diagnostics.error_on(
            value,
            format!(
                "the {kind} `{}` is outside the {option} `{}`; write {article} {kind} that the {option} allows",
                spelled(value),
                spelled(self.range)
            ),
        );
    }

    fn start(&self) -> Option<f64> {
        self.range.start.as_deref().and_then(number)
    }

    fn end(&self) -> Option<f64> {
        self.range.end.as_deref().and_then(number)
    }

    fn is_inclusive(&self) -> bool {
        matches!(self.range.limits, RangeLimits::Closed(_))
    }

    fn is_not_empty(&self, start: f64, end: f64) -> bool {
        if self.is_inclusive() { start <= end } else { start < end }
    }

    fn contains(&self, value: f64) -> bool {
        let above = self.start().is_none_or(|start| start <= value);
        above && self.end().is_none_or(|end| self.is_not_empty(value, end))
    }

    /// The two ends as `(Bound, Bound)`: types are left to the compiler, spans to the user.
    pub(crate) fn bounds(&self) -> (TokenStream, TokenStream) {
        self.bounds_with(|end| bare(end).clone())
    }

    /// The two ends for a float, which may be written as integers.
    pub(crate) fn float_bounds(&self) -> (TokenStream, TokenStream) {
        self.bounds_with(as_float)
    }

    fn bounds_with(&self, end: fn(&Expr) -> Expr) -> (TokenStream, TokenStream) {
        let lower = bound(self.range.start.as_deref().map(end), true);
        let upper = bound(self.range.end.as_deref().map(end), self.is_inclusive());
        (lower, upper)
    }
}

fn bound(end: Option<Expr>, inclusive: bool) -> TokenStream {
    let Some(end) = end else {
        return quote_spanned!(hygienic(Span::call_site())=> ::core::ops::Bound::Unbounded);
    };
    let kind = Ident::new(if inclusive { "Included" } else { "Excluded" }, hygienic(end.span()));
    quote_spanned!(hygienic(end.span())=> ::core::ops::Bound::#kind(#end))
}

fn is_countable(end: &Expr) -> bool {
    number(end).is_none_or(|end| end >= 0.0 && end.fract() == 0.0)
}

/// The value of a literal number. Integers above 2^53 are rounded; rustc checks them exactly.
pub(crate) fn number(expression: &Expr) -> Option<f64> {
    match bare(expression) {
        Expr::Lit(ExprLit { lit: Lit::Int(value), .. }) => value.base10_parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(value), .. }) => value.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|value| -value),
        _ => None,
    }
}
