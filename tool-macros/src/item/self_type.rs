//! Replaces `Self` in code that moves out of its `impl` block.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::Type;

/// Replaces `Self` by the type, with the span of `Self`.
pub(super) fn replace_self(tokens: TokenStream, ty: &Type) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let inner = replace_self(group.stream(), ty);
                let mut copy = Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                replaced.extend([TokenTree::Group(copy)]);
            }
            TokenTree::Ident(own) if own == "Self" => {
                let is_followed = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                replaced.extend(spelled(ty, own.span(), is_followed));
            }
            other => replaced.extend([other]),
        }
    }
    replaced
}

/// The type, in angle brackets if `::` follows and the type is not a plain path.
fn spelled(ty: &Type, span: Span, is_followed: bool) -> TokenStream {
    let spelled = located(ty.to_token_stream(), span);
    match is_followed && !is_plain(ty) {
        true => quote_spanned!(span=> <#spelled>),
        false => spelled,
    }
}

fn is_plain(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.qself.is_none() && path.path.segments.iter().all(|segment| segment.arguments.is_none())
}

fn located(tokens: TokenStream, span: Span) -> TokenStream {
    let with_span = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), located(group.stream(), span)).into();
        }
        let hygiene = token.span();
        token.set_span(hygiene.located_at(span));
        token
    };
    tokens.into_iter().map(with_span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;
    use syn::parse_quote;

    fn printed(tokens: TokenStream, ty: &Type) -> String {
        replace_self(tokens, ty).to_string().replace(' ', "")
    }

    #[test]
    fn self_is_replaced_by_the_type() {
        let plain: Type = parse_quote!(a::Clock);
        assert_eq!(printed(quote!(Option<Self>), &plain), "Option<a::Clock>");
        assert_eq!(printed(quote!([u8; Self::N]), &plain), "[u8;a::Clock::N]");
        let generic: Type = parse_quote!(Clock<u8>);
        assert_eq!(printed(quote!(Option<Self>), &generic), "Option<Clock<u8>>");
        assert_eq!(printed(quote!([u8; Self::N]), &generic), "[u8;<Clock<u8>>::N]");
    }
}
