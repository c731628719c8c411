//! Attributes of serde and schemars on a parameter, and what to write instead.

use crate::expressions::{spelled, text};
use crate::item;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, MetaNameValue, Token};

type Items = Punctuated<Meta, Token![,]>;

/// What to write instead of an attribute, if that is known for all that it says.
pub(super) fn instead(attribute: &Attribute) -> Option<String> {
    let mut written = Written::default();
    parsed(&attribute.meta)?.iter().try_for_each(|item| written.add(item))?;
    let comment = written.description.map(|text| format!("write `/// {text}` above the parameter"));
    let options = (!written.options.is_empty())
        .then(|| format!("write `#[arg({})]`", written.options.join(", ")));
    match (comment, options) {
        (Some(comment), Some(options)) => Some(format!("{comment}, and {options}")),
        (comment, options) => comment.or(options),
    }
}

/// Whether an attribute that is none of ours has a description.
pub(super) fn describes(attribute: &Attribute) -> bool {
    let mut written = Written::default();
    let items = parsed(&attribute.meta).filter(|_| item::is_mistaken_for_arg(attribute));
    for item in items.iter().flatten() {
        written.add(item);
    }
    written.description.is_some()
}

/// The options of `#[arg(..)]` and the comment that say the same.
#[derive(Default)]
struct Written {
    options: Vec<String>,
    description: Option<String>,
}

impl Written {
    /// `None` if nothing says the same.
    fn add(&mut self, item: &Meta) -> Option<()> {
        let name = item.path().get_ident()?.to_string();
        let option = match (name.as_str(), item) {
            ("description" | "desc" | "doc", Meta::NameValue(pair)) => {
                self.description = Some(text(&pair.value)?.value());
                return Some(());
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
            ("range" | "length", Meta::List(_)) => bounds(&name, &parsed(item)?)?,
            ("regex", Meta::List(_)) => match parsed(item)?.first()? {
                Meta::NameValue(pair) if pair.path.is_ident("pattern") => option(pair),
                _ => return None,
            },
            ("email", Meta::Path(_)) => "format = \"email\"".to_owned(),
            ("url", Meta::Path(_)) => "format = \"uri\"".to_owned(),
            _ => return None,
        };
        self.options.push(option);
        Some(())
    }
}

fn parsed(meta: &Meta) -> Option<Items> {
    meta.require_list().ok()?.parse_args_with(Items::parse_terminated).ok()
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
