//! Options of the attributes, read by `darling`.

mod known;
mod reader;

pub(crate) use known::unknown;

use crate::diagnostics::Diagnostics;
use crate::expressions::text;
use crate::hints::Hints;
use darling::ast::NestedMeta;
use darling::util::{Flag, PreservedStrExpr};
use darling::{Error, FromMeta, Result};
use known::{ARG, FORM, Known, METHOD, PROMPT, RESOURCE, TOOL, TOOLSET};
use proc_macro2::{Span, TokenStream, TokenTree};
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Lit, LitStr, Meta, Path};

/// Options of `#[tool]`, `#[prompt]` and `#[resource]`. Each attribute takes some of them.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct FunctionOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    #[darling(flatten)]
    pub(crate) hints: Hints,
    #[darling(with = strings)]
    pub(crate) tags: Vec<LitStr>,
    #[darling(rename = "scope", with = strings)]
    pub(crate) scopes: Vec<LitStr>,
    pub(crate) meta: Option<PreservedStrExpr>,
    #[darling(with = duration)]
    pub(crate) timeout: Option<Duration>,
    pub(crate) input_schema: Option<PreservedStrExpr>,
    pub(crate) visualize: Option<Path>,
    /// Keys that a call reads; an empty list if it reads nothing.
    #[darling(with = keys)]
    pub(crate) reads: Option<(Span, Vec<LitStr>)>,
    /// Keys that a call writes.
    #[darling(with = keys)]
    pub(crate) writes: Option<(Span, Vec<LitStr>)>,
    pub(crate) access: Option<Path>,
    pub(crate) action: Option<Ident>,
    pub(crate) register: Option<bool>,
    pub(crate) inline: Flag,
    #[darling(rename = "icon", with = strings)]
    pub(crate) icons: Vec<LitStr>,
    pub(crate) progress: Flag,
    pub(crate) task: Option<LitStr>,
    pub(crate) at_most_once: Flag,
    pub(crate) safe_to_retry: Flag,
    pub(crate) mime_type: Option<LitStr>,
    pub(crate) size: Option<PreservedStrExpr>,
    #[darling(with = strings)]
    pub(crate) audience: Vec<LitStr>,
    pub(crate) priority: Option<PreservedStrExpr>,
    #[darling(rename = "crate")]
    pub(crate) runtime: Option<Path>,
    /// The URI or URI template of a resource, the only option without a name.
    #[darling(skip)]
    pub(crate) uri: Option<LitStr>,
    /// Whether a description is written, if only in a way that is reported.
    #[darling(skip)]
    pub(crate) has_description: bool,
}

impl FunctionOptions {
    /// Reads the options of `#[tool(...)]` on a function.
    pub(crate) fn of_tool(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        Self::read_function(&TOOL, tokens, diagnostics)
    }

    /// Reads the options of `#[tool(...)]` on a method of a toolset.
    pub(crate) fn of_method(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        Self::read_function(&METHOD, tokens, diagnostics)
    }

    /// Reads the options of `#[prompt(...)]`.
    pub(crate) fn of_prompt(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        Self::read_function(&PROMPT, tokens, diagnostics)
    }

    fn read_function(known: &Known, tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let has_description = tokens.clone().into_iter().any(|token| match token {
            TokenTree::Literal(literal) => literal.to_string().starts_with('"'),
            TokenTree::Ident(name) => name == "description",
            _ => false,
        });
        Self { has_description, ..reader::read(known, tokens, diagnostics) }
    }

    /// Reads the URI and the options of `#[resource(...)]`.
    pub(crate) fn of_resource(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut items = reader::items(tokens, diagnostics);
        let uri = match items.first() {
            Some(NestedMeta::Lit(Lit::Str(uri))) => Some(uri.clone()),
            _ => items.iter().find_map(named_uri),
        };
        match items.first() {
            Some(NestedMeta::Lit(Lit::Str(_))) => drop(items.remove(0)),
            first if uri.is_none() => {
                diagnostics.error_at(
                    first.map_or_else(Span::call_site, Spanned::span),
                    "a resource needs its URI first, as a literal; write `#[resource(\"notes://{id}\")]`",
                );
                // Another expression in the position of the URI, such as a constant, is not read as an option, too.
                if first.is_some_and(|item| !reader::is_option(&RESOURCE, item)) {
                    drop(items.remove(0));
                }
            }
            _ => {}
        }
        Self { uri, ..reader::read_items(&RESOURCE, items, diagnostics) }
    }
}

/// Names of the URI, which has none.
const URI_NAMES: [&str; 3] = ["uri", "uri_template", "template"];

/// The literal of `uri = ".."`, which is reported as unknown and still read as the URI.
fn named_uri(item: &NestedMeta) -> Option<LitStr> {
    match item {
        NestedMeta::Meta(Meta::NameValue(pair))
            if URI_NAMES.iter().any(|name| pair.path.is_ident(name)) =>
        {
            text(&pair.value).cloned()
        }
        _ => None,
    }
}

/// Options of `#[toolset(...)]`, which hold for all of its tools.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct ToolsetOptions {
    pub(crate) prefix: Option<LitStr>,
    #[darling(flatten)]
    pub(crate) hints: Hints,
    #[darling(with = strings)]
    pub(crate) tags: Vec<LitStr>,
    #[darling(rename = "scope", with = strings)]
    pub(crate) scopes: Vec<LitStr>,
    #[darling(with = duration)]
    pub(crate) timeout: Option<Duration>,
    pub(crate) register: Option<bool>,
    #[darling(rename = "crate")]
    pub(crate) runtime: Option<Path>,
}

impl ToolsetOptions {
    /// Reads the options of `#[toolset(...)]`.
    pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        reader::read(&TOOLSET, tokens, diagnostics)
    }
}

/// Options of `#[arg(...)]` on one parameter.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct ArgOptions {
    pub(crate) rename: Option<LitStr>,
    #[darling(rename = "alias", with = strings)]
    pub(crate) aliases: Vec<LitStr>,
    /// `default` alone, or with an expression; the span is the name's.
    #[darling(with = default_value)]
    pub(crate) default: Option<(Span, Option<Expr>)>,
    pub(crate) range: Option<PreservedStrExpr>,
    pub(crate) length: Option<PreservedStrExpr>,
    pub(crate) pattern: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) example: Option<PreservedStrExpr>,
    pub(crate) secret: Flag,
    pub(crate) header: Option<LitStr>,
    /// The kind of text that patterns of declarations are about.
    pub(crate) match_as: Option<LitStr>,
    /// The function that suggests values while a user types.
    pub(crate) complete: Option<Path>,
    pub(crate) flatten: Flag,
    pub(crate) allow_unknown_fields: Flag,
    pub(crate) undocumented: Flag,
}

impl ArgOptions {
    /// Reads all `#[arg]` attributes of one parameter as if they were one.
    pub(crate) fn parse(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut items = Vec::new();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("arg")) {
            match &attribute.meta {
                Meta::List(list) => items.extend(reader::items(list.tokens.clone(), diagnostics)),
                _ => {
                    diagnostics
                        .error_on(attribute, "`#[arg]` needs options; write `#[arg(default = 1)]`");
                }
            }
        }
        reader::read_items(&ARG, items, diagnostics)
    }
}

/// Options of `#[form(...)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct FormOptions {
    #[darling(rename = "crate")]
    pub(crate) runtime: Option<Path>,
}

impl FormOptions {
    /// Reads the options of `#[form(...)]`.
    pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        reader::read(&FORM, tokens, diagnostics)
    }
}

/// `key("a", "b")`, or `key = "a"` for a single string.
fn strings(meta: &Meta) -> Result<Vec<LitStr>> {
    let strings = literals(meta)?;
    if strings.is_empty() { Err(Error::too_few_items(1)) } else { Ok(strings) }
}

/// A list that may be empty, as in `key()`. The span is the name's.
fn keys(meta: &Meta) -> Result<Option<(Span, Vec<LitStr>)>> {
    Ok(Some((meta.path().span(), literals(meta)?)))
}

fn literals(meta: &Meta) -> Result<Vec<LitStr>> {
    match meta {
        Meta::List(_) => FromMeta::from_meta(meta),
        _ => Ok(vec![LitStr::from_meta(meta)?]),
    }
}

fn duration(meta: &Meta) -> Result<Option<Duration>> {
    let text = String::from_meta(meta)?;
    let duration = humantime::parse_duration(&text).ok().filter(|duration| !duration.is_zero());
    duration.map(Some).ok_or_else(|| Error::unknown_value(&text))
}

fn default_value(meta: &Meta) -> Result<Option<(Span, Option<Expr>)>> {
    let value = match meta {
        Meta::Path(_) => None,
        _ => Some(PreservedStrExpr::from_meta(meta)?.0),
    };
    Ok(Some((meta.path().span(), value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use known::Known;

    fn unreadable_examples<T: FromMeta + Default>(known: &Known) -> Vec<&'static str> {
        let is_rejected = |example: &&str| {
            let tokens = example.parse().expect("an example is a list of tokens");
            let mut diagnostics = Diagnostics::default();
            reader::read::<T>(known, tokens, &mut diagnostics);
            diagnostics.into_error().is_some()
        };
        // A backtick separates alternative spellings of the option.
        let examples = known.options.iter().filter_map(|(.., example)| example.split('`').next());
        examples.filter(is_rejected).collect()
    }

    #[test]
    fn the_example_of_each_option_is_accepted() {
        for known in [&TOOL, &PROMPT, &RESOURCE] {
            assert!(
                unreadable_examples::<FunctionOptions>(known).is_empty(),
                "{}",
                known.attribute
            );
        }
        assert!(unreadable_examples::<ToolsetOptions>(&TOOLSET).is_empty());
        assert!(unreadable_examples::<ArgOptions>(&ARG).is_empty());
        assert!(unreadable_examples::<FormOptions>(&FORM).is_empty());
    }
}
