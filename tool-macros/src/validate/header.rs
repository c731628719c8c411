//! Arguments that clients repeat in a header of their HTTP request (`x-mcp-header`).

use crate::mistakes::Mistakes;
use crate::model::{Argument, Model};
use std::collections::HashSet;
use syn::LitStr;

pub(super) fn headers(model: &Model<'_>, mistakes: &mut Mistakes) {
    let mut seen = HashSet::new();
    for argument in model.arguments() {
        let Some(header) = &argument.options.header else {
            continue;
        };
        token(header, mistakes);
        placed(argument, header, mistakes);
        if !seen.insert(header.value().to_ascii_lowercase()) {
            let text = "two parameters have this header, whatever the case of its letters; write another name";
            mistakes.at(header.span(), text);
        }
    }
}

/// RFC 9110's token.
fn token(header: &LitStr, mistakes: &mut Mistakes) {
    let name = header.value();
    let is_token_char =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token_char) {
        mistakes.at(
            header.span(),
            format!("bad header name {name:?}; write letters, digits and hyphens, as in `header = \"Region\"`, which becomes `Mcp-Param-Region`"),
        );
    }
}

fn placed(argument: &Argument<'_>, header: &LitStr, mistakes: &mut Mistakes) {
    let options = &argument.options;
    if options.flatten.is_present() {
        mistakes.at(
            header.span(),
            "a flattened parameter is not one value for a header; remove `header`",
        );
    }
    if options.secret.is_present() {
        mistakes.at(
            header.span(),
            "headers are read and logged on their way; a secret does not go there, remove `header`",
        );
    }
}
