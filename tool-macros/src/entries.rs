//! The raw list inside an attribute: `name = "x", read_only, tags("a", "b")`.
//!
//! A mistake in one entry does not hide the others: parsing goes on after the next comma.

use crate::mistakes::Mistakes;
use crate::names;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitStr, Path, Token, parenthesized};

/// The options of one attribute, and what to write instead of some that it does not have.
pub(crate) struct Known {
    pub(crate) attribute: &'static str,
    pub(crate) options: &'static [&'static str],
    pub(crate) instead: &'static [(&'static str, &'static str)],
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
    known: &'static Known,
    entries: Vec<Entry>,
}

impl Entries {
    /// Parses the tokens between the attribute's parentheses and refuses unknown and
    /// repeated keys.
    pub(crate) fn parse(
        known: &'static Known,
        tokens: TokenStream,
        mistakes: &mut Mistakes,
    ) -> Self {
        let parsed = (|input: ParseStream<'_>| Ok(parse_all(input, mistakes))).parse2(tokens);
        let mut entries = Self { known, entries: parsed.unwrap_or_default() };
        entries.refuse_unknown(mistakes);
        entries.refuse_repeated(mistakes);
        entries
    }

    fn refuse_unknown(&mut self, mistakes: &mut Mistakes) {
        let known = self.known;
        self.entries.retain(|entry| {
            let key = names::unraw(&entry.key);
            let is_known = known.options.contains(&key.as_str());
            if !is_known {
                mistakes.at(entry.key.span(), known.unknown(&key));
            }
            is_known
        });
    }

    fn refuse_repeated(&mut self, mistakes: &mut Mistakes) {
        let mut seen: Vec<String> = Vec::new();
        self.entries.retain(|entry| {
            let key = names::unraw(&entry.key);
            let is_repeated = seen.contains(&key);
            if is_repeated {
                let remedy = match key.as_str() {
                    "alias" | "tags" | "reads" | "writes" => format!("write `{key}(\"a\", \"b\")`"),
                    _ => "keep one of the two".to_owned(),
                };
                mistakes.at(entry.key.span(), format!("option `{key}` is given twice; {remedy}"));
            }
            seen.push(key);
            !is_repeated
        });
    }

    fn take(&mut self, key: &str) -> Option<Entry> {
        debug_assert!(self.known.options.contains(&key), "`{key}` is not a known option");
        let index = self.entries.iter().position(|entry| names::unraw(&entry.key) == key)?;
        Some(self.entries.remove(index))
    }

    /// Refuses an option that stands in the wrong place.
    pub(crate) fn refuse(&mut self, key: &str, why: &str, mistakes: &mut Mistakes) {
        if let Some(entry) = self.take(key) {
            mistakes.at(entry.key.span(), format!("`{key}` {why}"));
        }
    }

    /// `key`, `key = true` or `key = false`; the span is the key's.
    pub(crate) fn flag(&mut self, key: &str, mistakes: &mut Mistakes) -> Option<(bool, Span)> {
        let entry = self.take(key)?;
        let given = match &entry.value {
            Value::Flag => Some(true),
            Value::Assigned(value) => boolean(value),
            Value::List(_) => None,
        };
        match given {
            Some(given) => Some((given, entry.key.span())),
            None => entry
                .refuse(mistakes, format!("`{key}` is a flag; write `{key}` or `{key} = false`")),
        }
    }

    /// `key` alone: an option with no negative form.
    pub(crate) fn word(&mut self, key: &str, mistakes: &mut Mistakes) -> Option<Span> {
        let entry = self.take(key)?;
        match entry.value {
            Value::Flag => Some(entry.key.span()),
            _ => entry.refuse(mistakes, format!("`{key}` takes no value; write `{key}`")),
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
        match entry.assigned().and_then(text) {
            Some(text) => Some(text.clone()),
            None => entry.refuse(
                mistakes,
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
            _ => {
                entry.refuse(mistakes, format!("`{key}` needs a value; write `{key} = {example}`"))
            }
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
            Value::List(_) => entry.refuse(
                mistakes,
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
        match entry.assigned().and_then(path) {
            Some(path) => Some(path),
            None => {
                entry.refuse(mistakes, format!("`{key}` needs a path; write `{key} = {example}`"))
            }
        }
    }

    /// `key = Name`.
    pub(crate) fn ident(
        &mut self,
        key: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<Ident> {
        let entry = self.take(key)?;
        let ident = match entry.assigned() {
            Some(Expr::Path(path)) if path.qself.is_none() => path.path.get_ident().cloned(),
            _ => None,
        };
        ident.or_else(|| {
            entry.refuse(mistakes, format!("`{key}` needs a name; write `{key} = {example}`"))
        })
    }

    /// `key("a", "b")`, or `key = "a"` for a single one.
    pub(crate) fn texts(&mut self, key: &str, mistakes: &mut Mistakes) -> Vec<LitStr> {
        let Some(entry) = self.take(key) else {
            return Vec::new();
        };
        let values = match &entry.value {
            Value::Flag => &[],
            Value::Assigned(value) => std::slice::from_ref(value),
            Value::List(values) => values.as_slice(),
        };
        let remedy = format!("write `{key}(\"a\", \"b\")`");
        if values.is_empty() {
            mistakes.at(entry.key.span(), format!("`{key}` is empty; {remedy}"));
        }
        literals(key, values, &remedy, mistakes)
    }

    /// `key("a", "b")`, where `key()` says that there is nothing.
    pub(crate) fn list(
        &mut self,
        key: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<(Span, Vec<LitStr>)> {
        let entry = self.take(key)?;
        let remedy = format!("write `{key}{example}`");
        let values = match &entry.value {
            Value::Flag => {
                let message = format!("`{key}` needs a list; {remedy}, or `{key}()` for nothing");
                return entry.refuse(mistakes, message);
            }
            Value::Assigned(value) => std::slice::from_ref(value),
            Value::List(values) => values.as_slice(),
        };
        Some((entry.key.span(), literals(key, values, &remedy, mistakes)))
    }
}

fn literals(key: &str, values: &[Expr], remedy: &str, mistakes: &mut Mistakes) -> Vec<LitStr> {
    let mut texts = Vec::new();
    for value in values {
        match text(value) {
            Some(text) => texts.push(text.clone()),
            None => mistakes.on(value, format!("`{key}` takes string literals; {remedy}")),
        }
    }
    texts
}

impl Known {
    fn unknown(&self, key: &str) -> String {
        let said = format!("unknown option `{key}` of `#[{}]`", self.attribute);
        if let Some((_, instead)) = self.instead.iter().find(|(word, _)| *word == key) {
            return format!("{said}; {instead}");
        }
        match names::nearest(key, self.options) {
            Some(near) => format!("{said}; did you mean `{near}`?"),
            None => format!("{said}; write one of `{}`", self.options.join("`, `")),
        }
    }
}

impl Entry {
    fn assigned(&self) -> Option<&Expr> {
        match &self.value {
            Value::Assigned(value) => Some(ungrouped(value)),
            _ => None,
        }
    }

    /// Reports a value that does not fit, at the value where there is one.
    fn refuse<T>(&self, mistakes: &mut Mistakes, message: String) -> Option<T> {
        match &self.value {
            Value::Assigned(value) => mistakes.on(value, message),
            Value::List(values) if !values.is_empty() => {
                let mut tokens = TokenStream::new();
                values.iter().for_each(|value| value.to_tokens(&mut tokens));
                mistakes.on(tokens, message);
            }
            _ => mistakes.at(self.key.span(), message),
        }
        None
    }
}

/// The expression inside the invisible group that `macro_rules!` puts around its fragments.
pub(crate) fn ungrouped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungrouped(&group.expr),
        other => other,
    }
}

/// The expression inside its parentheses, which would be superfluous where it is put.
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

fn boolean(expression: &Expr) -> Option<bool> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Some(flag.value),
        _ => None,
    }
}

fn path(expression: &Expr) -> Option<Path> {
    match expression {
        Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        other => text(other)?.parse_with(Path::parse_mod_style).ok(),
    }
}

fn parse_all(input: ParseStream<'_>, mistakes: &mut Mistakes) -> Vec<Entry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        let entry = Entry::parse(input, mistakes);
        let entry = mistakes.keep(entry);
        let is_reported = entry.is_none();
        entries.extend(entry);
        skip_to_comma(input, is_reported, mistakes);
    }
    entries
}

/// Ends an entry: what is left before the comma is a mistake unless one was already reported.
fn skip_to_comma(input: ParseStream<'_>, is_reported: bool, mistakes: &mut Mistakes) {
    if input.is_empty() || input.parse::<Token![,]>().is_ok() {
        return;
    }
    if !is_reported {
        mistakes
            .at(input.span(), "expected a comma between options; write `first, second = value`");
    }
    while !input.is_empty() && !input.peek(Token![,]) {
        let _skipped: syn::Result<proc_macro2::TokenTree> = input.parse();
    }
    let _comma: syn::Result<Token![,]> = input.parse();
}

impl Entry {
    fn parse(input: ParseStream<'_>, mistakes: &mut Mistakes) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            Error::new(
                error.span(),
                "expected an option; write `name`, `name = value` or `name(\"a\", \"b\")`",
            )
        })?;
        if input.peek(Token![:]) {
            let colon: Token![:] = input.parse()?;
            mistakes
                .on(colon, format!("an option takes its value after `=`; write `{key} = VALUE`"));
            let value = assigned(&key, input)?;
            return Ok(Self { key, value });
        }
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let value = assigned(&key, input)?;
            return Ok(Self { key, value });
        }
        if input.peek(syn::token::Paren) {
            let content;
            parenthesized!(content in input);
            let list = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
            return Ok(Self { key, value: Value::List(list.into_iter().collect()) });
        }
        Ok(Self { key, value: Value::Flag })
    }
}

fn assigned(key: &Ident, input: ParseStream<'_>) -> syn::Result<Value> {
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Error::new(
            key.span(),
            format!("`{key}` needs a value behind the `=`; write `{key} = VALUE`"),
        ));
    }
    input.parse().map(Value::Assigned)
}
