//! Types as written in the source.

use quote::ToTokens;
use syn::{GenericArgument, Ident, PathArguments, Type};

/// The type inside the invisible groups that `macro_rules!` puts around its fragments.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

/// The name of a type that is a path, without the path.
pub(crate) fn name(ty: &Type) -> Option<&Ident> {
    match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

/// `T` of `Option<T>`.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    let (name, inner) = generic(ty)?;
    (name == "Option").then_some(inner)
}

/// The name and the argument of a type that has one argument.
pub(crate) fn generic(ty: &Type) -> Option<(&Ident, &Type)> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) if arguments.args.len() == 1 => Some((&last.ident, inner)),
        _ => None,
    }
}

/// Whether a type is a list, a set, a map, an array or a tuple, as far as its name tells.
pub(crate) fn is_compound(ty: &Type) -> bool {
    const NAMES: [&str; 6] = ["Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet"];
    match ungrouped(ty) {
        Type::Array(_) | Type::Tuple(_) => true,
        ty => name(ty).is_some_and(|name| NAMES.iter().any(|known| name == known)),
    }
}

/// Whether a type is `f32`, `f64`, or an `Option` of one.
pub(crate) fn is_float(ty: &Type) -> bool {
    let is_float = |ty: &Type| name(ty).is_some_and(|name| name == "f32" || name == "f64");
    is_float(ty) || optional(ty).is_some_and(is_float)
}

/// Crates whose types are arguments only with a feature: the runtime's trait for them, and the names of types that are not
/// those of others.
const OF_CRATES: [(&str, &str, &[&str]); 8] = [
    ("bytes", "OfBytes", &[]),
    ("chrono", "OfChrono", &["DateTime", "NaiveDate", "NaiveDateTime", "NaiveTime"]),
    ("indexmap", "OfIndexmap", &["IndexMap", "IndexSet"]),
    ("jiff", "OfJiff", &[]),
    ("rust_decimal", "OfRustDecimal", &["Decimal"]),
    ("semver", "OfSemver", &[]),
    ("url", "OfUrl", &["Url"]),
    ("uuid", "OfUuid", &["Uuid"]),
];

/// The trait for the crate of a type, as far as the name tells.
pub(crate) fn of_crate(ty: &Type) -> Option<&'static str> {
    let printed = ty.to_token_stream().to_string();
    let words: Vec<&str> = printed.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let of = |(name, of_crate, types): &(&str, &'static str, &[&str])| {
        let is_named = printed.starts_with(&format!("{name} ::"))
            || words.iter().any(|word| types.contains(word));
        is_named.then_some(*of_crate)
    };
    OF_CRATES.iter().find_map(of)
}

/// A type as in source code: tokens print with superfluous spaces.
pub(crate) fn spelled(ty: &Type) -> String {
    let printed = ty.to_token_stream().to_string();
    let tight = [
        (" < ", "<"),
        (" >", ">"),
        (" :: ", "::"),
        ("& ", "&"),
        (" ,", ","),
        ("[ ", "["),
        (" ]", "]"),
    ];
    tight.iter().fold(printed, |text, (loose, tight)| text.replace(loose, tight))
}
