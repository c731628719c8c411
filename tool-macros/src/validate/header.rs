//! Rules for arguments that clients repeat in an HTTP header (`x-mcp-header`).

use crate::diagnostics::Diagnostics;
use crate::model::{Argument, Model};
use std::collections::HashSet;
use syn::LitStr;

pub(super) fn headers(model: &Model<'_>, diagnostics: &mut Diagnostics) {
    let mut seen = HashSet::new();
    for argument in model.arguments() {
        let Some(header) = &argument.options.header else {
            continue;
        };
        token(header, diagnostics);
        check_position(argument, header, diagnostics);
        if !seen.insert(header.value().to_ascii_lowercase()) {
            let text = "two parameters have this header, ignoring case; write another name";
            diagnostics.error_at(header.span(), text);
        }
    }
}

/// Checks that a header name is a token of RFC 9110.
fn token(header: &LitStr, diagnostics: &mut Diagnostics) {
    let name = header.value();
    let is_token_char =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token_char) {
        diagnostics.error_at(
            header.span(),
            format!("bad header name {name:?}; write letters, digits and hyphens, as in `header = \"Region\"`, which becomes `Mcp-Param-Region`"),
        );
    }
}

fn check_position(argument: &Argument<'_>, header: &LitStr, diagnostics: &mut Diagnostics) {
    let options = &argument.options;
    if options.flatten.is_present() {
        diagnostics.error_at(
            header.span(),
            "a flattened parameter is not one value for a header; remove `header`",
        );
    }
    if options.secret.is_present() {
        diagnostics.error_at(
            header.span(),
            "headers are read and logged on their way, so they must not contain secrets; remove `header`",
        );
    }
}
