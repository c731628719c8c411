//! Similar words: typing errors and abbreviations.

/// The weight of a word with a typing error.
const TYPO: f32 = 0.7;
/// The weight of an abbreviation, as `repo` of `repository`.
const SHORT: f32 = 0.6;
/// Shorter words are too similar to each other.
const MIN_LENGTH: usize = 4;

/// The similarity of a known word to an unknown one, if they are similar.
pub(crate) fn similarity(unknown: &str, known: &str) -> Option<f32> {
    if unknown.len().min(known.len()) < MIN_LENGTH {
        return None;
    }
    if is_one_error_apart(unknown.as_bytes(), known.as_bytes()) {
        return Some(TYPO);
    }
    (known.starts_with(unknown) || unknown.starts_with(known)).then_some(SHORT)
}

/// Whether the words differ by one inserted, missing, wrong or swapped byte.
fn is_one_error_apart(a: &[u8], b: &[u8]) -> bool {
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    match (a, b) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([a1, a2, a @ ..], [b1, b2, b @ ..]) if a1 == b2 && a2 == b1 && a == b => true,
        ([_, rest @ ..], b) if rest == b => true,
        (a, [_, rest @ ..]) => a == rest,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{SHORT, TYPO, similarity};

    #[test]
    fn words_with_one_error_are_similar() {
        for typo in ["calender", "calnedar", "calenda", "callendar"] {
            assert_eq!(similarity(typo, "calendar"), Some(TYPO), "{typo}");
        }
        assert_eq!(similarity("kalender", "calendar"), None);
        assert_eq!(similarity("kex", "key"), None);
    }

    #[test]
    fn abbreviations_are_similar() {
        assert_eq!(similarity("repo", "repositori"), Some(SHORT));
    }
}
