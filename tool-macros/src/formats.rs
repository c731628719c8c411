//! Names in `format = "date-time"`: any name is accepted, except a misspelt one that would have
//! been enforced.

use crate::diagnostics::Diagnostics;
use syn::LitStr;

/// The formats that the runtime enforces.
const ENFORCED: [&str; 10] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"];

/// Reports a name that is clearly a misspelt one.
pub(crate) fn check(format: &LitStr, diagnostics: &mut Diagnostics) {
    let name = format.value();
    if name.trim().is_empty() {
        diagnostics.error_at(format.span(), "the format is empty; write `format = \"date-time\"`");
    } else if let Some(enforced) = nearest_enforced(&name) {
        diagnostics.error_at(
            format.span(),
            format!("unknown format `{name}`; did you mean `format = \"{enforced}\"`?"),
        );
    }
}

/// The enforced format that is nearest to a misspelt name: with other separators or case, or a long
/// name with a single typo.
fn nearest_enforced(name: &str) -> Option<&'static str> {
    let plain = |s: &str| s.replace(['-', '_', ' '], "").to_lowercase();
    let is_typo = |known: &str| {
        plain(name) == plain(known)
            || known.len() >= 5 && strsim::osa_distance(&plain(name), &plain(known)) == 1
    };
    if ENFORCED.contains(&name) {
        return None;
    }
    ENFORCED.into_iter().find(|known| is_typo(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_enforced_formats_are_found() {
        assert_eq!(nearest_enforced("datetime"), Some("date-time"));
        assert_eq!(nearest_enforced("DATE_TIME"), Some("date-time"));
        assert_eq!(nearest_enforced("emial"), Some("email"));
        assert_eq!(nearest_enforced("UUID"), Some("uuid"));
        assert_eq!(nearest_enforced("IPv4"), Some("ipv4"));
    }

    #[test]
    fn other_formats_are_only_advertised() {
        for name in
            ["date", "uri-reference", "iri", "regex", "int32", "password", "idn-email", "uid"]
        {
            assert_eq!(nearest_enforced(name), None, "{name}");
        }
    }
}
