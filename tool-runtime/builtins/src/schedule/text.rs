//! Texts of results and errors.

/// The characters of an outcome that are stored.
pub(super) const MAX_OUTCOME: usize = 2000;

/// A question that names the nearest of some names.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |other: &str| {
        let (one, other) = (name.to_lowercase(), other.to_lowercase());
        strsim::damerau_levenshtein(&one, &other)
    };
    let near = names.map(|other| (distance(other), other)).min()?;
    let limit = (name.chars().count() / 3).max(2);
    (near.0 <= limit).then(|| format!("did you mean `{}`?", near.1))
}

/// The beginning of a text.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}.. ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// Whether a name of the model is short and has no control characters.
pub(super) fn is_name(name: &str, limit: usize) -> bool {
    !name.trim().is_empty() && name.chars().count() <= limit && !name.chars().any(char::is_control)
}
