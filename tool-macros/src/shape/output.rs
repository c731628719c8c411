//! Return types that have no schema.

use super::forbidden::{Construct, Position};
use crate::kind::Kind;
use crate::types::ungrouped;
use quote::ToTokens;
use syn::{Error, Type};

/// The reason why a return type cannot have a schema.
pub(crate) fn output_error(output: &Type, kind: Kind) -> Option<Error> {
    let noun = kind.noun();
    if let Some(message) = future(output, noun).or_else(|| unsized_output(output, noun)) {
        return Some(Error::new_spanned(output, message));
    }
    let found = Position::Output.in_type(output)?;
    let message = match found.construct {
        Construct::Impl if kind == Kind::Tool => {
            "a tool's output needs a schema and cannot be `impl Trait`; name the type".to_owned()
        }
        Construct::Impl => format!("a {noun}'s output cannot be `impl Trait`; name the type"),
        Construct::Placeholder => {
            format!("a {noun}'s output needs a type; name it, as in `String`")
        }
        _ => format!(
            "a {noun}'s output outlives the call; return an owned value, as in `String` instead of `&str`"
        ),
    };
    Some(found.error(output, message))
}

/// `impl Future<Output = T>` and `Pin<Box<dyn Future<Output = T>>>`.
fn future(output: &Type, noun: &str) -> Option<String> {
    let written = output.to_token_stream().to_string();
    let mut words = written.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_opaque = words.clone().any(|word| word == "impl" || word == "dyn");
    (is_opaque && words.any(|word| word == "Future")).then(|| {
        format!("a {noun} that waits is an `async fn`; write `async fn` and the type that the future gives")
    })
}

fn unsized_output(output: &Type, noun: &str) -> Option<String> {
    let remedy = match ungrouped(output) {
        Type::Never(_) => {
            return Some(format!(
                "a {noun} that never returns has no answer; name the type that it returns, as in `String`"
            ));
        }
        Type::Slice(_) => "write `Vec<T>` instead of `[T]`",
        Type::Path(path) if path.path.is_ident("str") => "write `String` instead of `str`",
        Type::TraitObject(_) => "name the type instead of `dyn Trait`",
        _ => return None,
    };
    Some(format!("a {noun}'s output must be owned; {remedy}"))
}
