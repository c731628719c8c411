//! Shared state as an owned parameter, as in `db: Arc<Db>`.

use crate::types::{generic, spelled, ungrouped};
use syn::{Ident, Type};

/// The remedy for a type that is shared or locked.
pub(super) fn check(ty: &Type) -> Option<String> {
    let (name, inner) = generic(ty)?;
    if let Some(owned) = owned_type(inner) {
        // An `Arc<str>` is an ordinary argument.
        let message =
            || format!("an argument must be owned; write `{owned}` instead of `{}`", spelled(ty));
        return (name == "Rc").then(message);
    }
    if !is_shared(name) && !is_lock(name) {
        return None;
    }
    let (state, borrowed) = (inside(ty), borrowed(ty));
    let message = format!("shared state is borrowed; write `{borrowed}`");
    if let Type::TraitObject(_) = state {
        return Some(message);
    }
    Some(format!("{message}, or `{}` if it is an argument", spelled(unlocked(state))))
}

/// The reference to write for state: `&Db` for `Db` and `Arc<Db>`.
pub(super) fn borrowed(ty: &Type) -> String {
    let state = inside(ty);
    let is_object = matches!(state, Type::TraitObject(_));
    format!("&{}", spelled(if is_object { ty } else { state }))
}

/// `T` of `Arc<T>`, also of nested ones.
pub(super) fn inside(ty: &Type) -> &Type {
    match generic(ty) {
        Some((name, inner)) if is_shared(name) => inside(inner),
        _ => ungrouped(ty),
    }
}

/// The owned counterpart of an unsized type.
fn owned_type(ty: &Type) -> Option<&'static str> {
    match ungrouped(ty) {
        Type::Slice(_) => Some("Vec<T>"),
        Type::Path(path) if path.path.is_ident("str") => Some("String"),
        _ => None,
    }
}

fn unlocked(ty: &Type) -> &Type {
    match generic(ty) {
        Some((name, inner)) if is_shared(name) || is_lock(name) => unlocked(inner),
        _ => ungrouped(ty),
    }
}

fn is_shared(name: &Ident) -> bool {
    name == "Arc" || name == "Rc"
}

fn is_lock(name: &Ident) -> bool {
    name == "Mutex" || name == "RwLock"
}
