//! An `impl` block as written. Only methods with `#[tool]` are parsed.

use super::{FnKind, ToolFn, is_named, self_type, signature};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{Attribute, Generics, LitStr, Meta, Token, Type, Visibility, braced};

/// An `impl` block.
pub(crate) struct ImplBlock {
    pub(crate) attributes: Vec<Attribute>,
    unsafety: Option<Token![unsafe]>,
    impl_token: Token![impl],
    /// With the `where` clause.
    pub(crate) generics: Generics,
    /// The trait of a trait implementation, which is an error.
    pub(crate) of_trait: Option<(Type, Token![for])>,
    /// The type that the block implements.
    pub(crate) ty: Type,
    brace: Brace,
    inner_attributes: Vec<Attribute>,
    members: Vec<Member>,
}

enum Member {
    Tool(Box<ToolMethod>),
    /// A method without `#[tool]`, a const, a type or a macro.
    Other(TokenStream),
}

/// A method with `#[tool]`.
pub(crate) struct ToolMethod {
    /// `#[tool(...)]`; a second one is an error.
    pub(crate) tool_attributes: Vec<Attribute>,
    function: ToolFn,
}

impl ImplBlock {
    /// The methods with `#[tool]`, in order.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &ToolMethod> {
        self.members.iter().filter_map(|member| match member {
            Member::Tool(method) => Some(&**method),
            Member::Other(_) => None,
        })
    }
}

impl ToolMethod {
    /// The method as a function outside the block: `Self` is replaced by the type.
    pub(crate) fn as_function(&self, ty: &Type) -> ToolFn {
        let ToolFn { attributes, visibility, signature, body, fn_kind } = &self.function;
        let head = self_type::replace_self(quote!(#(#attributes)* #visibility #signature), ty);
        let (attributes, visibility, signature) = match syn::parse2::<ToolFn>(head) {
            Ok(head) => (head.attributes, head.visibility, head.signature),
            Err(_) => (attributes.clone(), visibility.clone(), signature.clone()),
        };
        ToolFn { attributes, visibility, signature, body: body.clone(), fn_kind: *fn_kind }
    }

    /// The options between the parentheses of `#[tool(...)]`.
    pub(crate) fn options(&self, ty: &Type) -> TokenStream {
        match self.tool_attributes.first().map(|mark| &mark.meta) {
            Some(Meta::List(list)) => self_type::replace_self(list.tokens.clone(), ty),
            _ => TokenStream::new(),
        }
    }
}

impl Parse for ImplBlock {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let unsafety = input.parse()?;
        let impl_token = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut ty: Type = input.parse()?;
        let mut of_trait = None;
        if input.peek(Token![for]) {
            of_trait = Some((ty, input.parse()?));
            ty = input.parse()?;
        }
        generics.where_clause = input.parse()?;
        let content;
        let brace = braced!(content in input);
        let inner_attributes = content.call(Attribute::parse_inner)?;
        let mut members = Vec::new();
        while !content.is_empty() {
            members.push(content.parse()?);
        }
        Ok(Self {
            attributes,
            unsafety,
            impl_token,
            generics,
            of_trait,
            ty,
            brace,
            inner_attributes,
            members,
        })
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility: Visibility = input.parse()?;
        if !is_function(input) {
            let rest = until_end(input)?;
            return Ok(Self::Other(quote!(#(#attributes)* #visibility #rest)));
        }
        let signature = signature::parse(input)?;
        let body = until_end(input)?;
        let (tool_attributes, attributes): (Vec<_>, Vec<_>) =
            attributes.into_iter().partition(|attribute| is_named(attribute, "tool"));
        if tool_attributes.is_empty() {
            return Ok(Self::Other(quote!(#(#attributes)* #visibility #signature #body)));
        }
        let function = ToolFn { attributes, visibility, signature, body, fn_kind: FnKind::Method };
        Ok(Self::Tool(Box::new(ToolMethod { tool_attributes, function })))
    }
}

fn is_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while ahead.peek(Token![const])
        || ahead.peek(Token![async])
        || ahead.peek(Token![unsafe])
        || ahead.peek(Token![extern])
        || ahead.peek(LitStr)
    {
        let _qualifier: syn::Result<TokenTree> = ahead.parse();
    }
    ahead.peek(Token![fn])
}

/// The tokens up to and including the body or the semicolon. Braces do not end a const or a type.
fn until_end(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let has_value = input.peek(Token![const]) || input.peek(Token![type]);
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let is_end = input.peek(Token![;]) || !has_value && input.peek(Brace);
        tokens.extend([input.parse::<TokenTree>()?]);
        if is_end {
            break;
        }
    }
    Ok(tokens)
}

/// Prints the block unchanged, except for `#[tool]` and the attributes that rustc does not accept
/// on parameters.
impl ToTokens for ImplBlock {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (attributes, unsafety, impl_token) =
            (&self.attributes, &self.unsafety, &self.impl_token);
        let (generics, ty) = (&self.generics, &self.ty);
        let of_trait = self.of_trait.as_ref().map(|(of_trait, token)| quote!(#of_trait #token));
        let condition = &generics.where_clause;
        tokens.extend(
            quote!(#(#attributes)* #unsafety #impl_token #generics #of_trait #ty #condition),
        );
        self.brace.surround(tokens, |tokens| {
            self.inner_attributes.iter().for_each(|attribute| attribute.to_tokens(tokens));
            self.members.iter().for_each(|member| member.to_tokens(tokens));
        });
    }
}

impl ToTokens for Member {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Tool(method) => method.function.to_tokens(tokens),
            Self::Other(other) => other.to_tokens(tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_printed_unchanged() {
        let block = quote! {
            #[allow(dead_code)]
            impl crate::Clock where Self: Sized {
                #![allow(unused)]
                const FACE: Face = Face { hours: { 12 } };
                pub const fn hours() -> [u8; { 12 }] { [0; 12] }
                type Hand = Vec<u8>;
                /// Documented.
                #[inline]
                pub(crate) async unsafe extern "C" fn raw(mut self: Box<Self>) { ..= @ }
                hands! { a b }
                hands!(a b);
            }
        };
        let parsed: ImplBlock = syn::parse2(block.clone()).expect("an impl block");
        assert_eq!(parsed.to_token_stream().to_string(), block.to_string());
    }
}
