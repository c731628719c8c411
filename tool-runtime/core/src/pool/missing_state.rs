//! What to write for state that a tool, prompt or resource borrows and the pool does not have.

use crate::tool::context::State;

/// Types that the context has by a method.
const OF_CONTEXT: [(&str, &str); 3] = [
    ("::CancellationToken", "context.cancelled()"),
    ("::ToolPool", "context.pool()"),
    ("::Session", "context.session()"),
];

/// The remedy for a type that is missing in the state.
pub(super) fn remedy(state: &State, type_name: &str) -> String {
    let of_context = OF_CONTEXT.iter().find(|(name, _)| type_name.ends_with(name));
    if let Some((_, method)) = of_context {
        return format!(
            "it is a part of the context: write `context: &ToolContext` and `{method}`"
        );
    }
    if let Some(similar) = similar_type(state, type_name) {
        return format!(
            "it has a `{similar}`; give or borrow the same type, with `?` or `.await` if it is still a result or a future"
        );
    }
    if state.type_names().iter().any(|name| name.ends_with("{{closure}}")) {
        return "a future was given as state; add `.await` to it".to_owned();
    }
    "add `.state(value)` to the pool, or `state = value` to `main!`, or `.provides::<T>()` to the hook that provides it; or, if it is an argument, take it without `&`".to_owned()
}

/// A type in the state that contains the missing one, or is contained in it.
fn similar_type(state: &State, type_name: &str) -> Option<&'static str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let inner = type_name.split(|c| !is_path(c)).rfind(|path| !path.is_empty());
    let is_similar = |name: &&'static str| name.contains(type_name) || inner == Some(*name);
    state.type_names().iter().copied().find(is_similar)
}
