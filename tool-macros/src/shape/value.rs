//! Defaults and examples: expressions that are evaluated outside the function.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, Expr};

/// The error about an expression that could only be evaluated inside the function, whose parameters have these names.
///
/// What is bound inside the expression is not looked into: there, the names mean something else.
pub(crate) fn value_error(kind: &str, value: &Expr, parameters: &[&Ident]) -> Option<Error> {
    let tokens = value.to_token_stream();
    (!has_bindings(tokens.clone())).then(|| first_error(kind, tokens, parameters)).flatten()
}

fn has_bindings(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_bindings(group.stream()),
        TokenTree::Ident(word) => {
            ["async", "fn", "for", "let", "match"].iter().any(|it| word == it)
        }
        TokenTree::Punct(sign) => sign.as_char() == '|',
        TokenTree::Literal(_) => false,
    })
}

fn first_error(kind: &str, tokens: TokenStream, parameters: &[&Ident]) -> Option<Error> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let sign = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(TokenTree::Punct(sign)) => Some(sign.as_char()),
        _ => None,
    };
    tokens.iter().enumerate().find_map(|(index, token)| {
        let before = sign(index.checked_sub(1));
        let or_else = match kind {
            "default" => ", or `Option<T>` and fill it in the body",
            _ => "",
        };
        let message = match token {
            // The words of a macro may mean anything.
            TokenTree::Group(_) if before == Some('!') => return None,
            TokenTree::Group(group) => return first_error(kind, group.stream(), parameters),
            TokenTree::Punct(it) if it.as_char() == '?' => {
                format!("the {kind} cannot fail; write a value without `?`{or_else}")
            }
            TokenTree::Ident(word) if word == "await" && before == Some('.') => {
                format!(
                    "the {kind} is made without waiting; write a value without `.await`{or_else}"
                )
            }
            TokenTree::Ident(word) if word == "return" => {
                format!("the {kind} is an expression; write the value without `return`")
            }
            TokenTree::Ident(word)
                if parameters.contains(&word) && is_value(before, tokens.get(index + 1)) =>
            {
                format!(
                    "the {kind} cannot use the parameter `{word}`; write a value of its own{or_else}"
                )
            }
            _ => return None,
        };
        Some(Error::new(token.span(), message))
    })
}

/// Whether a word between these tokens is a value: neither a field, a function, a type nor a macro.
fn is_value(before: Option<char>, after: Option<&TokenTree>) -> bool {
    let is_called = match after {
        Some(TokenTree::Group(_)) => true,
        Some(TokenTree::Punct(sign)) => matches!(sign.as_char(), ':' | '!'),
        _ => false,
    };
    !matches!(before, Some('.' | ':' | '\'')) && !is_called
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn said(value: Expr) -> Option<String> {
        let names: [Ident; 2] = [parse_quote!(a), parse_quote!(size)];
        value_error("default", &value, &names.each_ref()).map(|error| error.to_string())
    }

    #[test]
    fn what_needs_the_function_is_an_error() {
        for (value, expected) in [
            (parse_quote!(a + 1), "cannot use the parameter `a`"),
            (parse_quote!(vec![1].len().max((size))), "cannot use the parameter `size`"),
            (parse_quote!("1".parse()?), "without `?`"),
            (parse_quote!(load().await), "without `.await`"),
            (parse_quote!(return), "without `return`"),
        ] {
            let text = said(value).expect("an error");
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn the_same_words_may_mean_something_else() {
        let values: [Expr; 8] = [
            parse_quote!(size()),
            parse_quote!(a::B),
            parse_quote!(point().a),
            parse_quote!(Point { a: 1 }),
            parse_quote!(values.iter().map(|a| a + 1).sum()),
            parse_quote!({
                let a = 1;
                a
            }),
            parse_quote!(sql!("?", a)),
            parse_quote!(size!(1)),
        ];
        for value in values {
            assert_eq!(said(value.clone()), None, "{}", value.to_token_stream());
        }
    }
}
