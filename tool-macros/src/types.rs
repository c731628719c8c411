//! Types as they are written.

use quote::ToTokens;
use syn::Type;

/// The type inside the invisible groups that `macro_rules!` puts around its fragments.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

/// A type as people write it: tokens print with spaces that nobody types.
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
