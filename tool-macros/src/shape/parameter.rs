//! Parameters that can be neither arguments nor injected values.

use super::forbidden::{Construct, Position};
use super::{lifetimes, shared_state};
use crate::item::plain_ident;
use crate::kind::Kind;
use crate::types::{generic, optional, spelled, ungrouped};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Error, Pat, PatType, Type, TypeReference};

const OWNED: &str = "an argument must be owned; write";
const NAMED: &str = "a parameter needs a type; name it, as in `String` or `&Db`";

/// Types that are never state unless a user's own type wraps them.
const PLAIN: [&str; 16] = [
    "String", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
    "u16", "u32", "u64", "usize",
];

/// Types and modules that may contain them in types of arguments.
const AROUND: [&str; 14] = [
    "Box",
    "BTreeMap",
    "BTreeSet",
    "Duration",
    "HashMap",
    "HashSet",
    "Option",
    "PathBuf",
    "Value",
    "Vec",
    "VecDeque",
    "std",
    "collections",
    "str",
];

/// Whether a type is certainly an argument's. For other types only the compiler can decide.
pub(crate) fn is_plain_argument(ty: &Type) -> bool {
    words(ty.to_token_stream())
        .iter()
        .all(|word| PLAIN.contains(&word.as_str()) || AROUND.contains(&word.as_str()))
}

fn words(tokens: TokenStream) -> Vec<String> {
    let words_in = |token| match token {
        TokenTree::Group(group) => words(group.stream()),
        TokenTree::Ident(word) => vec![word.to_string()],
        _ => Vec::new(),
    };
    tokens.into_iter().flat_map(words_in).collect()
}

/// Whether a parameter's shape is rejected.
pub(crate) fn is_unsupported(typed: &PatType) -> bool {
    !check(typed, Kind::Tool).is_empty()
}

/// All reasons why a parameter cannot be in the generated code.
pub(super) fn check(typed: &PatType, kind: Kind) -> Vec<Error> {
    let mut errors = Vec::new();
    match ungrouped(&typed.ty) {
        Type::Reference(reference) => errors.extend(injected(reference)),
        ty => match extractor(&typed.pat, ty) {
            Some(error) => errors.push(error),
            None => {
                errors.extend(pattern(&typed.pat));
                errors.extend(check_owned(&typed.ty));
            }
        },
    }
    errors.extend(conditions(typed, kind));
    errors
}

/// `State(db): State<Db>` and `Json(point): Json<Point>`, as in handlers of web frameworks.
fn extractor(pattern: &Pat, ty: &Type) -> Option<Error> {
    let (kind, inner) = generic(ty)?;
    let name = match pattern {
        Pat::TupleStruct(extractor) => plain_ident(extractor.elems.first()?),
        // A user's own type may be a `Json<T>`; `Parameters<T>` is that of rmcp.
        _ if kind == "Parameters" => plain_ident(pattern),
        _ => return None,
    };
    let name = name.map_or_else(|| "name".to_owned(), ToString::to_string);
    let message = match kind.to_string().as_str() {
        "State" | "Extension" => {
            let borrowed = shared_state::borrowed(inner);
            format!("state is borrowed, not extracted; write `{name}: {borrowed}`")
        }
        "Json" | "Parameters" | "Query" | "Path" => format!(
            "arguments are not extracted; write a parameter for each, or `#[arg(flatten)] {name}: {}`",
            spelled(inner)
        ),
        _ => return None,
    };
    Some(Error::new_spanned(quote!(#pattern: #ty), message))
}

/// An argument's name is its name in JSON; an injected value may be destructured.
fn pattern(pattern: &Pat) -> Option<Error> {
    if plain_ident(pattern).is_some() {
        return None;
    }
    let message = match pattern {
        Pat::Ident(pat) if pat.by_ref.is_some() => {
            "a parameter needs a plain name; remove `ref` and borrow inside the body"
        }
        Pat::Ident(_) => "a parameter needs a plain name; match the value inside the body",
        Pat::Wild(_) => "a parameter needs a name, which is its name in JSON; write `_name`",
        _ => {
            "a parameter needs a plain name, which is its name in JSON; destructure inside the body"
        }
    };
    Some(match pattern {
        Pat::Ident(pat) if pat.by_ref.is_some() => Error::new(pat.by_ref.span(), message),
        other => Error::new_spanned(other, message),
    })
}

fn conditions(typed: &PatType, kind: Kind) -> impl Iterator<Item = Error> {
    let attributes = typed.attrs.iter();
    let conditional =
        attributes.filter(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr"));
    conditional.map(move |attribute| {
        let one = if kind == Kind::Tool { "schema" } else { "list of arguments" };
        let message = format!(
            "a {} cannot change its {one} by configuration; put `#[cfg]` on the function",
            kind.noun()
        );
        Error::new_spanned(attribute, message)
    })
}

/// A reference parameter is injected; one that cannot be was meant as an argument.
fn injected(reference: &TypeReference) -> Option<Error> {
    let target = ungrouped(&reference.elem);
    if let Some(instead) = owned_instead(target) {
        return Some(Error::new_spanned(reference, format!("{OWNED} {instead}")));
    }
    if let Type::TraitObject(_) = target {
        let object = shareable(target);
        let message = format!(
            "state is found by its type, and a `dyn Trait` has no size; write `&Arc<{object}>`"
        );
        return Some(Error::new_spanned(target, message));
    }
    if let Some(found) = Position::Injected.in_type(target) {
        let message = match found.construct {
            Construct::Impl => {
                "state is found by its type; name it instead of `impl Trait`, as in `&Db`"
            }
            _ => NAMED,
        };
        return Some(found.error(target, message));
    }
    check_mutable(reference, target).or_else(|| static_lifetime(reference))
}

/// A trait object with the bounds that shared state needs.
fn shareable(object: &Type) -> String {
    let mut written = spelled(object);
    for bound in ["Send", "Sync"] {
        if !written.contains(bound) {
            written.push_str(" + ");
            written.push_str(bound);
        }
    }
    written
}

fn check_mutable(reference: &TypeReference, target: &Type) -> Option<Error> {
    let token = reference.mutability.as_ref()?;
    let message = match is_context(target) {
        true => "the context is shared; write `&ToolContext`",
        false => {
            "an injected value is shared between calls; write `&T` and a `Mutex` or atomics inside `T`"
        }
    };
    Some(Error::new(token.span(), message))
}

fn static_lifetime(reference: &TypeReference) -> Option<Error> {
    reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static").map(|lifetime| {
        Error::new(
            lifetime.span(),
            "an injected value is borrowed for the call; write `&T` without a lifetime",
        )
    })
}

/// The owned type to write. The injection trait rejects an alias of `str`.
fn owned_instead(target: &Type) -> Option<String> {
    let Type::Path(path) = target else {
        return matches!(target, Type::Slice(_)).then(|| "`Vec<T>` instead of `&[T]`".to_owned());
    };
    let name = path.path.get_ident()?.to_string();
    let owned = match name.as_str() {
        "str" => "String",
        plain if PLAIN.contains(&plain) => plain,
        _ => return None,
    };
    Some(format!("`{owned}` instead of `&{name}`"))
}

fn check_owned(ty: &Type) -> Option<Error> {
    let whole = |message: String| Some(Error::new_spanned(ty, message));
    if is_context(shared_state::inside(ty)) {
        return whole("the context is borrowed for the call; write `&ToolContext`".to_owned());
    }
    if let Some(message) = unsized_argument(ty).or_else(|| shared_state::check(ty)) {
        return whole(message);
    }
    let Some(found) = Position::Argument.in_type(ty) else { return lifetimes::in_argument(ty) };
    let message = match found.construct {
        Construct::Impl => {
            "an argument needs a schema and cannot be `impl Trait`; name the type, as in `String`"
                .to_owned()
        }
        Construct::Object => {
            "an argument needs a schema and cannot be `dyn Trait`; name the type, as in `String`"
                .to_owned()
        }
        Construct::Placeholder => NAMED.to_owned(),
        Construct::Text => format!("{OWNED} `String` instead of `&str`"),
        Construct::Reference => return Some(found.error(ty, behind_reference(ty))),
        Construct::Lifetime => format!("{OWNED} a type without lifetimes, as in `String`"),
        Construct::Pointer => format!("{OWNED} the type behind the pointer"),
        Construct::Rc => {
            "an argument is sent between threads, and an `Rc` cannot be; write the type inside it"
                .to_owned()
        }
    };
    Some(found.error(ty, message))
}

fn unsized_argument(ty: &Type) -> Option<String> {
    match ungrouped(ty) {
        Type::Slice(_) => Some(format!("{OWNED} `Vec<T>` instead of `[T]`")),
        Type::Path(path) if path.path.is_ident("str") => {
            Some(format!("{OWNED} `String` instead of `str`"))
        }
        Type::TraitObject(_) => Some(format!("{OWNED} the name of a type instead of `dyn Trait`")),
        _ => None,
    }
}

/// `Option<&Db>` would be state that may be missing.
fn behind_reference(ty: &Type) -> String {
    match optional(ty).map(ungrouped) {
        Some(Type::Reference(reference)) if is_context(&reference.elem) => {
            "the context is always there; write `&ToolContext`".to_owned()
        }
        Some(Type::Reference(reference)) if owned_instead(&reference.elem).is_none() => {
            let target = spelled(&reference.elem);
            format!(
                "an injected value is always there; write `&{target}`, or `Option<{target}>` if it is an argument"
            )
        }
        _ => format!("{OWNED} the type behind the reference"),
    }
}

pub(super) fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "ToolContext"))
}
