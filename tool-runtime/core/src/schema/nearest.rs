//! Suggestions for a misspelt name.

use strsim::damerau_levenshtein;

#[cfg(test)]
mod tests;

/// Longer names are not compared: the distance costs the product of both lengths.
const MAX_LENGTH: usize = 128;

/// A prefix shorter than this is not enough to suggest a name.
const SHORTEST_PREFIX: usize = 2;

/// The candidates that are close to `name`, best first, at most `limit`.
///
/// A name is close if it differs only by case or by its word separators (`maxItems`, `max-items`, `max_items`), by few
/// edits for its length (`quary`), or if `name` is a prefix of this candidate alone (`desc`). Equally close names
/// are sorted alphabetically, independent of the order of the candidates.
pub fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let mut near = ranked(name, candidates.into_iter().collect());
    near.truncate(limit);
    near
}

fn ranked<'a>(name: &str, mut candidates: Vec<&'a str>) -> Vec<&'a str> {
    let wanted = normalize(name);
    if wanted.is_empty() || wanted.chars().count() > MAX_LENGTH {
        return Vec::new();
    }
    candidates.sort_unstable();
    candidates.dedup();
    let completion = sole_completion(&wanted, &candidates);
    let mut ranked: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&wanted, candidate, completion)?, candidate)))
        .collect();
    // Equally close names in alphabetical order.
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The distance of `candidate` from `wanted`, if small enough to suggest it.
fn distance(wanted: &str, candidate: &str, completion: Option<&str>) -> Option<usize> {
    let plain = normalize(candidate);
    let (short, long) = ordered(wanted.chars().count(), plain.chars().count());
    let allowed = allowed_edits(long);
    if long <= MAX_LENGTH && long - short <= allowed {
        let edits = damerau_levenshtein(wanted, &plain);
        if edits <= allowed {
            return Some(edits);
        }
    }
    // A completion ranks after every name that is a typing error away.
    (completion == Some(candidate)).then_some(MAX_LENGTH)
}

/// One edit per three letters, none in names of one or two letters, where any two names are close.
fn allowed_edits(length: usize) -> usize {
    length / 3
}

/// The one candidate that begins with `wanted`.
fn sole_completion<'a>(wanted: &str, candidates: &[&'a str]) -> Option<&'a str> {
    if wanted.chars().count() < SHORTEST_PREFIX {
        return None;
    }
    let mut longer = candidates.iter().filter(|candidate| normalize(candidate).starts_with(wanted));
    let first = longer.next()?;
    longer.next().is_none().then_some(*first)
}

/// The name in lower case, without word separators.
fn normalize(name: &str) -> String {
    let bare: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    // A name of separators only is still a name.
    if bare.is_empty() { name.to_owned() } else { bare }
}

/// Both numbers, the smaller one first.
fn ordered(a: usize, b: usize) -> (usize, usize) {
    if a <= b { (a, b) } else { (b, a) }
}
