//! Attributes of serde and schemars on a parameter, and what to write instead.

use crate::expressions::text;
use crate::item;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, MetaNameValue, Token};

type Items = Punctuated<Meta, Token![,]>;

/// What to write instead of an attribute, if that is known for all that it says.
pub(super) fn instead(attribute: &Attribute) -> Option<String> {
    let items: Vec<Written> =
        parsed(&attribute.meta)?.iter().map(written).collect::<Option<_>>()?;
    let options: Vec<&str> = items.iter().filter_map(Written::option).collect();
    let options = (!options.is_empty()).then(|| format!("write `#[arg({})]`", options.join(", ")));
    let described = items.iter().find_map(Written::description);
    let comment = described.map(|text| format!("write `/// {text}` above the parameter"));
    match (comment, options) {
        (Some(comment), Some(options)) => Some(format!("{comment}, and {options}")),
        (comment, options) => comment.or(options),
    }
}

/// Whether an attribute that is none of ours has a description.
pub(super) fn describes(attribute: &Attribute) -> bool {
    let items = parsed(&attribute.meta).filter(|_| item::is_mistaken_for_arg(attribute));
    let mut parts = items.iter().flatten().filter_map(written);
    parts.any(|part| part.description().is_some())
}

/// A part of what to write.
enum Written {
    Option(String),
    Description(String),
}

impl Written {
    fn option(&self) -> Option<&str> {
        match self {
            Self::Option(option) => Some(option),
            Self::Description(_) => None,
        }
    }

    fn description(&self) -> Option<&str> {
        match self {
            Self::Option(_) => None,
            Self::Description(text) => Some(text),
        }
    }
}

fn parsed(meta: &Meta) -> Option<Items> {
    meta.require_list().ok()?.parse_args_with(Items::parse_terminated).ok()
}

fn written(item: &Meta) -> Option<Written> {
    let name = item.path().get_ident()?.to_string();
    let option = match (name.as_str(), item) {
        ("description" | "desc" | "doc", Meta::NameValue(pair)) => {
            return text(&pair.value).map(|text| Written::Description(text.value()));
        }
        // serde and schemars name a function.
        ("default", Meta::NameValue(pair)) => match text(&pair.value) {
            Some(function) => format!("default = {}()", function.value()),
            None => option(pair),
        },
        ("default" | "flatten", Meta::Path(_)) => name,
        ("rename" | "alias" | "example" | "pattern" | "format", Meta::NameValue(pair)) => {
            option(pair)
        }
        ("range", Meta::List(_)) => bounds("range", &parsed(item)?)?,
        ("length", Meta::List(_)) => bounds("length", &parsed(item)?)?,
        ("regex", Meta::List(_)) => match parsed(item)?.first()? {
            Meta::NameValue(pair) if pair.path.is_ident("pattern") => option(pair),
            _ => return None,
        },
        ("email", Meta::Path(_)) => "format = \"email\"".to_owned(),
        ("url", Meta::Path(_)) => "format = \"uri\"".to_owned(),
        _ => return None,
    };
    Some(Written::Option(option))
}

/// `range = 1..=5` for `range(min = 1, max = 5)`.
fn bounds(option: &str, items: &Items) -> Option<String> {
    let (mut start, mut end) = (String::new(), String::new());
    for item in items {
        let Meta::NameValue(pair) = item else { return None };
        let value = spelled(&pair.value);
        match pair.path.get_ident()?.to_string().as_str() {
            "min" => start = value,
            "max" => end = value,
            "equal" => (start, end) = (value.clone(), value),
            _ => return None,
        }
    }
    match (start.is_empty(), end.is_empty()) {
        (true, true) => None,
        (_, true) => Some(format!("{option} = {start}..")),
        _ => Some(format!("{option} = {start}..={end}")),
    }
}

fn option(pair: &MetaNameValue) -> String {
    format!("{} = {}", spelled(&pair.path), spelled(&pair.value))
}

fn spelled(tokens: &impl ToTokens) -> String {
    let printed = tokens.to_token_stream().to_string();
    printed.replace(" :: ", "::").replace(" (", "(").replace("- ", "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn known_attributes_are_written_as_options() {
        let said = |attribute: Attribute| instead(&attribute);
        let cases: [(Attribute, &str); 9] = [
            (parse_quote!(#[serde(rename = "b")]), "write `#[arg(rename = \"b\")]`"),
            (
                parse_quote!(#[serde(alias = "c", default)]),
                "write `#[arg(alias = \"c\", default)]`",
            ),
            (
                parse_quote!(#[serde(default = "limits::all")]),
                "write `#[arg(default = limits::all())]`",
            ),
            (parse_quote!(#[schemars(range(min = 1, max = 5))]), "write `#[arg(range = 1..=5)]`"),
            (parse_quote!(#[schemars(range(min = -1))]), "write `#[arg(range = -1..)]`"),
            (parse_quote!(#[schemars(length(max = MAX))]), "write `#[arg(length = ..=MAX)]`"),
            (
                parse_quote!(#[schemars(regex(pattern = "^a"), email)]),
                "write `#[arg(pattern = \"^a\", format = \"email\")]`",
            ),
            (
                parse_quote!(#[schemars(description = "The size.", length(equal = 2))]),
                "write `/// The size.` above the parameter, and write `#[arg(length = 2..=2)]`",
            ),
            (
                parse_quote!(#[param(description = "The size.")]),
                "write `/// The size.` above the parameter",
            ),
        ];
        for (attribute, expected) in cases {
            assert_eq!(said(attribute).as_deref(), Some(expected));
        }
        assert_eq!(said(parse_quote!(#[serde(with = "other")])), None);
        assert_eq!(said(parse_quote!(#[schemars(inner(length(min = 1)))])), None);
        assert_eq!(said(parse_quote!(#[tool])), None);
    }
}
