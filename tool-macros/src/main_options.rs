//! The options of `main!`, whose mistakes are reported at their word: a macro by example could only underline all of `main!`.

use crate::diagnostics::Diagnostics;
use crate::options;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use std::collections::HashSet;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Token};

const OPTIONS: [&str; 14] = [
    "state",
    "tools",
    "mcp",
    "remote",
    "runner",
    "trust_runners",
    "registry",
    "pool",
    "timeout",
    "name",
    "version",
    "about",
    "title",
    "instructions",
];

/// Names of other programs and frameworks, and what to write instead.
const INSTEAD: [(&str, &str); 10] = [
    ("description", "did you mean `about`?"),
    ("toolset", TOOLSET),
    ("toolsets", TOOLSET),
    ("prompts", LINKED),
    ("resources", LINKED),
    ("http", ADDRESS),
    ("host", ADDRESS),
    ("port", ADDRESS),
    ("transport", ADDRESS),
    ("servers", "did you mean `mcp`?"),
];
const TOOLSET: &str = "write `pool = |pool| pool.toolset::<T>(params)`";
const LINKED: &str = "they are served as they are linked in; remove it";
const ADDRESS: &str = "the command line says where to serve, as in `serve --http 127.0.0.1:8000`";

/// Reports names that are unknown or given twice, and `main!` inside a function. Takes the path of the runtime's items in
/// braces, and then the names.
pub(crate) fn check(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let Some(TokenTree::Group(private)) = tokens.next() else { return TokenStream::new() };
    let private = private.stream();
    let names = tokens.filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name),
        // A fragment of a macro by example.
        TokenTree::Group(group) => syn::parse2::<Ident>(group.stream()).ok(),
        _ => None,
    });
    let (mut diagnostics, mut seen) = (Diagnostics::default(), HashSet::new());
    for name in names {
        let is_first = seen.insert(name.to_string());
        if let Err(message) = check_name(&name) {
            diagnostics.error_at(name.span(), message);
        } else if !is_first && name != "state" && name != "pool" {
            let message = format!("option `{name}` is given twice; keep one of the two");
            diagnostics.error_at(name.span(), message);
        }
    }
    let error = diagnostics.into_error().map(Error::into_compile_error);
    // An example in documentation is inside a function that rustdoc writes.
    let is_example = std::env::var_os("UNSTABLE_RUSTDOC_TEST_PATH").is_some();
    let check = (!is_example).then(|| quote!(const _: () = #private::check_main(&self::main);));
    quote!(#check #error)
}

fn check_name(name: &Ident) -> Result<(), String> {
    let word = name.to_string();
    if OPTIONS.contains(&word.as_str()) {
        return Ok(());
    }
    Err(options::unknown(&word, "main!", &OPTIONS, &INSTEAD))
}

/// The error about options that are not `name = value, name = value`.
pub(crate) fn wrong(input: TokenStream) -> TokenStream {
    let read = |input: ParseStream<'_>| {
        while !input.is_empty() {
            option(input)?;
        }
        Err(input.error(FORM))
    };
    let error = read.parse2(input).map_or_else(|error: Error| error, |never: Never| match never {});
    error.into_compile_error()
}

enum Never {}

const FORM: &str = "the options of `main!` are `name = value`, with commas between them";

fn option(input: ParseStream<'_>) -> syn::Result<()> {
    let Ok(name) = input.parse::<Ident>() else { return Err(input.error(FORM)) };
    check_name(&name).map_err(|message| Error::new(name.span(), message))?;
    if !input.peek(Token![=]) {
        let message = format!("`{name}` needs a value; write `{name} = VALUE`");
        return Err(Error::new(name.span(), message));
    }
    input.parse::<Token![=]>()?;
    input.parse::<Expr>()?;
    if !input.is_empty() && input.parse::<Token![,]>().is_err() {
        return Err(input.error(FORM));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tokens: TokenStream) -> String {
        tokens.to_string()
    }

    #[test]
    fn unknown_options_are_reported() {
        for (option, help) in [
            (quote!(sate), "did you mean `state`?"),
            (quote!(port), "serve --http"),
            (quote!(toolsets), "pool.toolset::<T>(params)"),
            (quote!(wibble), "write one of `state`, `tools`"),
            (quote!(name name), "option `name` is given twice"),
        ] {
            let said = said(check(quote!({ runtime } #option)));
            assert!(said.contains(help), "{said}");
        }
        assert!(!said(check(quote!({ runtime } state state name))).contains("compile_error"));
    }

    #[test]
    fn options_of_another_form_are_reported() {
        for (options, problem) in [
            (quote!(state: Db), "`state` needs a value; write `state = VALUE`"),
            (quote!(trust_runners), "`trust_runners` needs a value"),
            (quote!(Db(1)), "unknown option `Db`"),
            (quote!(name = "a"; version = "1"), "with commas between them"),
            (quote!("a"), "with commas between them"),
        ] {
            let said = said(wrong(options));
            assert!(said.contains(problem), "{said}");
        }
    }
}
