//! Identifiers for names of any characters.

use proc_macro2::{Ident, Span};
use std::collections::BTreeSet;

/// The identifiers of types that one file has so far.
#[derive(Default)]
pub(super) struct Idents(BTreeSet<String>);

impl Idents {
    /// The beginning of the types of a tool: `fetch.fetch_url` gives `FetchUrl`. The part before the last
    /// dot, usually the server's name, is left out. A second tool of that stem gets a number.
    pub(super) fn stem(&mut self, tool: &str) -> String {
        let stem = pascal(tool.rsplit('.').next().unwrap_or(tool));
        let mut number = 1;
        loop {
            let stem = if number == 1 { stem.clone() } else { format!("{stem}{number}") };
            if self.0.insert(format!("{stem}Action")) {
                return stem;
            }
            number += 1;
        }
    }

    /// A distinct name of a type.
    pub(super) fn of_type(&mut self, name: &str) -> Ident {
        ident(&distinct(name, "", &mut self.0))
    }
}

/// Members of one struct or enum, distinct.
pub(super) struct Members(BTreeSet<String>);

impl Members {
    pub(super) fn new() -> Self {
        Self(BTreeSet::new())
    }

    pub(super) fn field(&mut self, name: &str) -> Ident {
        ident(&distinct(&snake(name), "_", &mut self.0))
    }

    pub(super) fn variant(&mut self, name: &str) -> Ident {
        ident(&distinct(&pascal(name), "", &mut self.0))
    }
}

fn distinct(name: &str, separator: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}{separator}{number}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// An identifier; a keyword becomes a raw one.
fn ident(name: &str) -> Ident {
    if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        return Ident::new(&format!("{name}_"), Span::call_site());
    }
    match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, Span::call_site()),
        Err(_) => Ident::new_raw(name, Span::call_site()),
    }
}

/// The words of a name: separated by other characters than letters and digits, and before capitals.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut word, mut is_after_small) = (Vec::new(), String::new(), false);
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && is_after_small {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        is_after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

fn snake(name: &str) -> String {
    with_identifier_start(words(name).join("_"), "value")
}

/// `fetch_url` and `fetchUrl` become `FetchUrl`.
pub(super) fn pascal(name: &str) -> String {
    let capitalized = |word: String| {
        let (head, tail) = word.split_at(1);
        head.to_ascii_uppercase() + tail
    };
    with_identifier_start(words(name).into_iter().map(capitalized).collect(), "Value")
}

/// The name as an identifier: an underscore precedes a digit, and `otherwise` replaces an empty name.
fn with_identifier_start(name: String, otherwise: &str) -> String {
    match name.chars().next() {
        None => otherwise.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}
