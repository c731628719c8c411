//! Types as written in the source.

use quote::ToTokens;
use syn::{Ident, Type};

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
