//! Return types that have no schema.

use super::forbidden::{Construct, Position};
use crate::kind::Kind;
use crate::types::ungrouped;
use quote::ToTokens;
use syn::{Error, GenericArgument, Ident, PathArguments, Type};

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

/// The success type of a return type, and how many results are around it: 1 for `Result<T, E>` and `Option<Result<T, E>>`,
/// whatever the path to an alias of that name. `None` for the type of `fmt::Result`.
pub(crate) fn success(output: &Type) -> (usize, Option<&Type>) {
    let Some((name, argument)) = generic(output) else { return (0, Some(output)) };
    if is_result(output) {
        let (depth, success) = argument.map_or((0, None), success);
        return (1 + depth, success);
    }
    match argument {
        Some(argument) if name == "Option" && is_result(argument) => (1, None),
        _ => (0, Some(output)),
    }
}

/// Whether a type is a result by its name. A type of that name without arguments is one only in `fmt`.
fn is_result(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else { return false };
    let mut segments = path.path.segments.iter().rev();
    let is_named = segments.next().is_some_and(|last| last.ident == "Result");
    let is_of_fmt = segments.next().is_some_and(|module| module.ident == "fmt");
    is_named && (is_of_fmt || generic(ty).is_some_and(|(_, argument)| argument.is_some()))
}

/// The name of a type, and its first argument that is a type.
fn generic(ty: &Type) -> Option<(&Ident, Option<&Type>)> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last()?;
    let argument = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(argument)) => Some(argument),
            _ => None,
        },
        _ => None,
    };
    Some((&last.ident, argument))
}

/// Whether a type is `&str`, of whatever lifetime.
pub(crate) fn is_borrowed_str(ty: &Type) -> bool {
    let Type::Reference(reference) = ungrouped(ty) else { return false };
    matches!(ungrouped(&reference.elem), Type::Path(path) if path.path.is_ident("str"))
}
