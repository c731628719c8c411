//! The options of `#[prompt(...)]` and `#[resource(...)]`.

use super::{PROMPT, RESOURCE, ToolOptions, timeout};
use crate::entries::Entries;
use crate::hints::Hints;
use crate::mistakes::Mistakes;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitStr, Token};

/// What prompts and resources say beside what tools say, too.
#[derive(Default)]
pub(crate) struct OfferOptions {
    /// The URI of a resource, or the template of URIs.
    pub(crate) uri: Option<LitStr>,
    pub(crate) icon: Option<LitStr>,
    pub(crate) mime_type: Option<LitStr>,
    pub(crate) size: Option<Expr>,
    pub(crate) audience: Vec<LitStr>,
    pub(crate) priority: Option<Expr>,
}

impl OfferOptions {
    /// Reads the options of `#[prompt(...)]`, reporting every mistake.
    pub(crate) fn of_prompt(tokens: TokenStream, mistakes: &mut Mistakes) -> (ToolOptions, Self) {
        let mut entries = Entries::parse(&PROMPT, tokens, mistakes);
        let shared = shared(&mut entries, mistakes);
        (shared, Self { icon: icon(&mut entries, mistakes), ..Self::default() })
    }

    /// Reads the options of `#[resource(...)]`, reporting every mistake.
    pub(crate) fn of_resource(tokens: TokenStream, mistakes: &mut Mistakes) -> (ToolOptions, Self) {
        let (uri, rest) = first_literal(tokens);
        let named = named_uri(rest.clone());
        if uri.is_none() && named.is_none() {
            let message = "a resource needs its URI first; write `#[resource(\"notes://{id}\")]`";
            mistakes.at(
                rest.clone().into_iter().next().map_or_else(Span::call_site, |t| t.span()),
                message,
            );
        }
        let mut entries = Entries::parse(&RESOURCE, rest, mistakes);
        let shared = shared(&mut entries, mistakes);
        let own = Self {
            uri: uri.or(named),
            icon: icon(&mut entries, mistakes),
            mime_type: entries.text("mime_type", "\"text/plain\"", mistakes),
            size: entries.expression("size", "1024", mistakes),
            audience: entries.texts("audience", mistakes),
            priority: entries.expression("priority", "0.5", mistakes),
        };
        (shared, own)
    }
}

/// The string literal at the front, and what stands behind its comma.
fn first_literal(tokens: TokenStream) -> (Option<LitStr>, TokenStream) {
    let parser = |input: ParseStream<'_>| {
        let literal: LitStr = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok((Some(literal), input.parse()?))
    };
    parser.parse2(tokens.clone()).unwrap_or((None, tokens))
}

/// The literal of `uri = ".."`, which is refused as an option and read as what it means.
fn named_uri(tokens: TokenStream) -> Option<LitStr> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let key =
        tokens.iter().position(|token| matches!(token, TokenTree::Ident(key) if key == "uri"))?;
    syn::parse2(tokens.get(key + 2)?.to_token_stream()).ok()
}

fn icon(entries: &mut Entries, mistakes: &mut Mistakes) -> Option<LitStr> {
    entries.text("icon", "\"https://example.com/icon.png\"", mistakes)
}

/// What tools have, too.
fn shared(entries: &mut Entries, mistakes: &mut Mistakes) -> ToolOptions {
    ToolOptions {
        name: entries.text("name", "\"review\"", mistakes),
        title: entries.text("title", "\"Review\"", mistakes),
        description: entries.text("description", "\"Review code.\"", mistakes),
        meta: entries.expression("meta", "json!({ \"key\": 1 })", mistakes),
        timeout: timeout(entries, mistakes),
        action: entries.ident("action", "MyAction", mistakes),
        register: entries.flag("register", mistakes).is_none_or(|(given, _)| given),
        icons: Vec::new(),
        progress: None,
        task: None,
        inline: entries.word("inline", mistakes),
        runtime: entries.path("crate", "::tool_runtime", mistakes),
        hints: Hints::default(),
        tags: Vec::new(),
        input_schema: None,
        visualize: None,
        reads: None,
        writes: None,
        access: None,
    }
}
