//! The raw list inside an attribute: `name = "x", read_only, tags("a", "b")`.
//!
//! A mistake in one entry does not hide the others: parsing goes on after the next comma.

use crate::names;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitStr, Path, Token, parenthesized};

/// All mistakes found so far.
#[derive(Default)]
pub(crate) struct Mistakes(Option<Error>);

impl Mistakes {
    /// Adds one.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// Adds one at a span.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(Error::new(span, message));
    }

    /// Keeps the value of a result, or its mistake.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// All of them as one error, if there are any.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.0
    }
}

/// One option: its key and what stands behind it.
struct Entry {
    key: Ident,
    value: Value,
}

enum Value {
    Flag,
    Assigned(Expr),
    List(Vec<Expr>),
}

/// The entries of one attribute, taken out one by one by the struct that knows their meaning.
pub(crate) struct Entries {
    attribute: &'static str,
    known: &'static [&'static str],
    entries: Vec<Entry>,
}

impl Entries {
    /// Parses the tokens between the attribute's parentheses and refuses unknown and
    /// repeated keys.
    pub(crate) fn parse(
        attribute: &'static str,
        known: &'static [&'static str],
        tokens: TokenStream,
        mistakes: &mut Mistakes,
    ) -> Self {
        let parsed = (|input: ParseStream<'_>| Ok(parse_all(input, mistakes))).parse2(tokens);
        let mut entries = Self {
            attribute,
            known,
            entries: parsed.unwrap_or_default(),
        };
        entries.refuse_unknown(mistakes);
        entries.refuse_repeated(mistakes);
        entries
    }

    fn refuse_unknown(&mut self, mistakes: &mut Mistakes) {
        let (attribute, known) = (self.attribute, self.known);
        self.entries.retain(|entry| {
            let key = names::unraw(&entry.key);
            let is_known = known.contains(&key.as_str());
            if !is_known {
                mistakes.at(entry.key.span(), unknown(attribute, &key, known));
            }
            is_known
        });
    }

    fn refuse_repeated(&mut self, mistakes: &mut Mistakes) {
        let mut seen: Vec<String> = Vec::new();
        self.entries.retain(|entry| {
            let key = names::unraw(&entry.key);
            let repeated = seen.contains(&key);
            if repeated {
                mistakes.at(
                    entry.key.span(),
                    format!("option `{key}` is given twice; keep one of the two"),
                );
            }
            seen.push(key);
            !repeated
        });
    }

    fn take(&mut self, key: &str) -> Option<Entry> {
        debug_assert!(self.known.contains(&key), "`{key}` is not a known option");
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// `key`, `key = true` or `key = false`; the span is the key's.
    pub(crate) fn flag(&mut self, key: &str, mistakes: &mut Mistakes) -> Option<(bool, Span)> {
        let entry = self.take(key)?;
        let span = entry.key.span();
        match entry.value {
            Value::Flag => Some((true, span)),
            Value::Assigned(Expr::Lit(ExprLit {
                lit: Lit::Bool(flag),
                ..
            })) => Some((flag.value, span)),
            other => refuse(
                mistakes,
                other.span(span),
                format!("`{key}` is a flag; write `{key}`, `{key} = true` or `{key} = false`"),
            ),
        }
    }

    /// `key` alone: an option with no negative form.
    pub(crate) fn word(&mut self, key: &str, mistakes: &mut Mistakes) -> Option<Span> {
        let entry = self.take(key)?;
        let span = entry.key.span();
        match entry.value {
            Value::Flag => Some(span),
            other => refuse(
                mistakes,
                other.span(span),
                format!("`{key}` takes no value; write `{key}`"),
            ),
        }
    }

    /// `key = "text"`.
    pub(crate) fn text(
        &mut self,
        key: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<LitStr> {
        let entry = self.take(key)?;
        match entry.value {
            Value::Assigned(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })) => Some(text),
            other => refuse(
                mistakes,
                other.span(entry.key.span()),
                format!("`{key}` needs a string literal; write `{key} = {example}`"),
            ),
        }
    }

    /// `key = EXPR`.
    pub(crate) fn expression(
        &mut self,
        key: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<Expr> {
        let entry = self.take(key)?;
        match entry.value {
            Value::Assigned(expression) => Some(expression),
            other => refuse(
                mistakes,
                other.span(entry.key.span()),
                format!("`{key}` needs a value; write `{key} = {example}`"),
            ),
        }
    }

    /// `key` or `key = EXPR`.
    pub(crate) fn optional_expression(
        &mut self,
        key: &str,
        mistakes: &mut Mistakes,
    ) -> Option<(Span, Option<Expr>)> {
        let entry = self.take(key)?;
        let span = entry.key.span();
        match entry.value {
            Value::Flag => Some((span, None)),
            Value::Assigned(expression) => Some((span, Some(expression))),
            Value::List(_) => refuse(
                mistakes,
                span,
                format!("`{key}` takes no list; write `{key}` or `{key} = VALUE`"),
            ),
        }
    }

    /// `key = some::path`, or the same as a string literal.
    pub(crate) fn path(
        &mut self,
        key: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<Path> {
        let entry = self.take(key)?;
        let span = entry.value.span(entry.key.span());
        let path = match entry.value {
            Value::Assigned(Expr::Path(path)) if path.qself.is_none() => Some(path.path),
            Value::Assigned(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })) => text.parse_with(Path::parse_mod_style).ok(),
            _ => None,
        };
        path.or_else(|| {
            refuse(
                mistakes,
                span,
                format!("`{key}` needs a path; write `{key} = {example}`"),
            )
        })
    }

    /// `key = Name`.
    pub(crate) fn ident(
        &mut self,
        key: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<Ident> {
        let entry = self.take(key)?;
        let span = entry.value.span(entry.key.span());
        let ident = match &entry.value {
            Value::Assigned(Expr::Path(path)) => path.path.get_ident().cloned(),
            _ => None,
        };
        ident.or_else(|| {
            refuse(
                mistakes,
                span,
                format!("`{key}` needs a name; write `{key} = {example}`"),
            )
        })
    }

    /// `key("a", "b")`, or `key = "a"` for a single one.
    pub(crate) fn texts(&mut self, key: &str, mistakes: &mut Mistakes) -> Vec<LitStr> {
        let Some(entry) = self.take(key) else {
            return Vec::new();
        };
        let span = entry.key.span();
        let values = match entry.value {
            Value::Flag => Vec::new(),
            Value::Assigned(value) => vec![value],
            Value::List(values) => values,
        };
        if values.is_empty() {
            mistakes.at(
                span,
                format!("`{key}` is empty; write `{key}(\"a\", \"b\")`"),
            );
        }
        values
            .into_iter()
            .filter_map(|value| mistakes.keep(string(key, value)))
            .collect()
    }
}

impl Value {
    fn span(&self, key: Span) -> Span {
        match self {
            Self::Flag => key,
            Self::Assigned(value) => value.span(),
            Self::List(values) => values.first().map_or(key, Spanned::span),
        }
    }
}

fn refuse<T>(mistakes: &mut Mistakes, span: Span, message: String) -> Option<T> {
    mistakes.at(span, message);
    None
}

fn string(key: &str, value: Expr) -> syn::Result<LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Ok(text),
        other => Err(Error::new(
            other.span(),
            format!("`{key}` takes string literals; write `{key}(\"a\", \"b\")`"),
        )),
    }
}

fn unknown(attribute: &str, key: &str, known: &[&str]) -> String {
    match names::nearest(key, known) {
        Some(near) => format!("unknown option `{key}` of `#[{attribute}]`; did you mean `{near}`?"),
        None => format!(
            "unknown option `{key}` of `#[{attribute}]`; write one of `{}`",
            known.join("`, `")
        ),
    }
}

fn parse_all(input: ParseStream<'_>, mistakes: &mut Mistakes) -> Vec<Entry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        if let Some(entry) = mistakes.keep(input.parse::<Entry>()) {
            entries.push(entry);
        }
        skip_to_comma(input, mistakes);
    }
    entries
}

/// Ends an entry: what is left before the comma is a mistake unless one was already reported.
fn skip_to_comma(input: ParseStream<'_>, mistakes: &mut Mistakes) {
    if input.is_empty() || input.parse::<Token![,]>().is_ok() {
        return;
    }
    if mistakes.0.is_none() {
        mistakes.at(
            input.span(),
            "expected a comma between options; write `first, second = value`",
        );
    }
    while !input.is_empty() && !input.peek(Token![,]) {
        let _skipped: syn::Result<proc_macro2::TokenTree> = input.parse();
    }
    let _comma: syn::Result<Token![,]> = input.parse();
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            Error::new(
                error.span(),
                "expected an option; write `name`, `name = value` or `name(\"a\", \"b\")`",
            )
        })?;
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let value = assigned(&key, input)?;
            return Ok(Self { key, value });
        }
        if input.peek(syn::token::Paren) {
            let content;
            parenthesized!(content in input);
            let list = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
            return Ok(Self {
                key,
                value: Value::List(list.into_iter().collect()),
            });
        }
        Ok(Self {
            key,
            value: Value::Flag,
        })
    }
}

/// `crate = crate` and `crate = ::path` are paths that are no expressions of their own.
fn assigned(key: &Ident, input: ParseStream<'_>) -> syn::Result<Value> {
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Error::new(
            key.span(),
            format!("`{key}` needs a value behind the `=`; write `{key} = VALUE`"),
        ));
    }
    input.parse().map(Value::Assigned)
}
