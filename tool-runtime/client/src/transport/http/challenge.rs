//! `WWW-Authenticate` challenges of servers.

use tool_runtime_core::seam::one_line;

/// Limit on a part that is shown.
const MAX_PART: usize = 300;

/// The essentials of a header `WWW-Authenticate` as readable text.
pub(super) fn challenge_text(challenge: &str) -> String {
    let parameter = |name| parameter(challenge, name);
    let error = match (parameter("error"), parameter("error_description")) {
        (Some(error), Some(description)) => format!("`{error}`: {description}"),
        (Some(error), None) => format!("`{error}`"),
        (None, Some(description)) => description,
        (None, None) => String::new(),
    };
    let scope = parameter("scope").map(|scope| format!("it requires the scope `{scope}`"));
    let metadata = parameter("resource_metadata").map(|_| "it uses OAuth".to_owned());
    let parts = [Some(error).filter(|error| !error.is_empty()), scope, metadata];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A parameter of a challenge, quoted or not.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let lower = challenge.to_ascii_lowercase();
    let starts = lower.match_indices(name).map(|(at, _)| at);
    let begins = |at: &usize| {
        let is_whole = lower[..*at].chars().next_back().is_none_or(|c| " ,\t".contains(c));
        is_whole && lower[at + name.len()..].trim_start().starts_with('=')
    };
    let start = starts.into_iter().find(begins)? + name.len();
    let value = challenge[start..].trim_start().strip_prefix('=')?.trim_start();
    let value = match value.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => value.split([',', ' ', '\t']).next().unwrap_or_default().to_owned(),
    };
    Some(one_line(&value, MAX_PART))
}

fn unquoted(text: &str) -> String {
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            other => value.push(other),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::challenge_text;
    use proptest::prelude::*;

    #[test]
    fn challenges_have_readable_text() {
        for (challenge, words) in [
            ("Bearer", ""),
            (r#"Basic realm="far""#, ""),
            (
                r#"Bearer error="invalid_token", error_description="The \"old\" token expired""#,
                r#"`invalid_token`: The "old" token expired"#,
            ),
            (
                r#"Bearer resource_metadata="https://a.b/.well-known/x", scope="read write""#,
                "it requires the scope `read write`; it uses OAuth",
            ),
            (
                "Bearer ERROR=insufficient_scope,scope=files:read",
                "`insufficient_scope`; it requires the scope `files:read`",
            ),
        ] {
            assert_eq!(challenge_text(challenge), words, "{challenge}");
        }
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// No header value causes a panic.
        #[test]
        fn any_challenge_is_parsed_without_a_panic(challenge in "\\PC*|(error|scope|=|\"|,| |\\\\|ß)*") {
            challenge_text(&challenge);
        }
    }
}
