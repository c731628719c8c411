//! The error of an unknown option of `main!`, at its name: a macro by example could only underline all of `main!`.

use crate::names;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::Error;

/// Takes the unknown name, and then the known ones.
pub(crate) fn unknown(input: TokenStream) -> TokenStream {
    let mut names = input.into_iter().filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name),
        // A fragment of a macro by example.
        TokenTree::Group(group) => syn::parse2::<Ident>(group.stream()).ok(),
        _ => None,
    });
    let Some(unknown) = names.next() else { return TokenStream::new() };
    let known: Vec<String> = names.map(|name| name.to_string()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let help = match names::nearest(&unknown.to_string(), &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of `{}`", known.join("`, `")),
    };
    Error::new(unknown.span(), format!("unknown option `{unknown}` of `main!`; {help}"))
        .to_compile_error()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn the_nearest_option_is_named() {
        let said = |input| unknown(input).to_string();
        assert!(said(quote!(sate state tools)).contains("did you mean `state`?"));
        assert!(said(quote!(foo state tools)).contains("write one of `state`, `tools`"));
    }
}
