//! Negative ends of ranges of unsigned integers, for which rustc suggests `u8::MAX`.

use crate::expressions::bare;
use crate::types;
use syn::{Expr, ExprLit, ExprUnary, Ident, Type, UnOp};

/// A negative end of a range of an unsigned type, and the type's name.
pub(crate) fn negative_end<'a>(range: &'a Expr, ty: &'a Type) -> Option<(&'a Expr, &'a Ident)> {
    let (Expr::Range(range), Some(name)) = (bare(range), name(ty)) else { return None };
    let mut ends = [&range.start, &range.end].into_iter().flatten();
    ends.find(|end| is_negative(end)).map(|end| (&**end, name))
}

fn is_negative(end: &Expr) -> bool {
    let Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) = bare(end) else { return false };
    matches!(bare(expr), Expr::Lit(ExprLit { .. }))
}

/// `u8` of `u8` and of `Option<u8>`.
fn name(ty: &Type) -> Option<&Ident> {
    const UNSIGNED: [&str; 5] = ["u8", "u16", "u32", "u64", "usize"];
    if let Some((name, inner)) = types::generic(ty) {
        return (name == "Option").then(|| self::name(inner)).flatten();
    }
    let Type::Path(path) = types::ungrouped(ty) else { return None };
    path.path.get_ident().filter(|name| UNSIGNED.iter().any(|known| name == known))
}
