//! Recognizes literal secrets of an entry by their names and forms.

use tool_runtime_core::seam::is_secret_name;

/// Common words, which are not redacted.
const COMMON: [&str; 16] = [
    "default",
    "localhost",
    "production",
    "development",
    "staging",
    "enabled",
    "disabled",
    "verbose",
    "warning",
    "string",
    "object",
    "number",
    "boolean",
    "undefined",
    "required",
    "optional",
];

/// Prefixes of tokens of well-known issuers.
const TOKENS: [&str; 18] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "hf_",
    "eyJ",
];

/// Minimum length of a token.
const TOKEN_LENGTH: usize = 16;

/// Maximum length of an ordinary word.
const WORD_LENGTH: usize = 15;

/// Whether a value has the form of a token, independent of its name.
pub(super) fn is_token(value: &str) -> bool {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    value.len() >= TOKEN_LENGTH
        && TOKENS.iter().any(|begin| value.starts_with(begin))
        && value.contains(|c: char| c.is_ascii_digit())
        && value.chars().all(is_of_token)
}

/// Whether a value is a common word, which is not a secret under any name.
pub(super) fn is_common(value: &str) -> bool {
    COMMON.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether a value does not look like a secret: a path, an address, a number, a single word.
pub(super) fn is_plain(value: &str) -> bool {
    let is_path = value.starts_with(['/', '~', '.']) || value.get(1..3) == Some(":\\");
    let is_number = value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':'));
    let is_word = value.chars().all(|c| c.is_ascii_alphabetic());
    is_path || is_number || is_word || value.contains("://")
}

/// Whether a value of this name may be a secret, for text that need not stay exact: any value but an ordinary word, such
/// as `changed`, which status messages contain as well.
pub fn may_be_secret(name: &str, value: &str) -> bool {
    let is_word = value.chars().count() <= WORD_LENGTH && value.chars().all(char::is_alphabetic);
    !is_word || is_secret_name(name)
}

/// A secret and its secret parts: the token after `Bearer`, the password in an address or a connection string.
pub(super) fn parts(value: &str) -> Vec<&str> {
    let mut parts = vec![value];
    if let Some((_, token)) = value.trim().split_once(' ').filter(|(scheme, _)| is_scheme(scheme)) {
        parts.push(token.trim());
    }
    parts.extend(inside(value));
    parts
}

/// The secrets within a value that is not one itself.
pub(super) fn inside(value: &str) -> Vec<&str> {
    [in_url(value), in_pairs(value)].concat()
}

/// The values with names of secrets in a connection string: `Server=h;Password=X`, `host=h password=X`.
fn in_pairs(value: &str) -> Vec<&str> {
    let pairs = value.split(';').chain(value.split_whitespace());
    let named = pairs.filter_map(|pair| pair.split_once('='));
    let secret = named.filter(|(name, _)| !name.contains("://") && is_secret_name(name));
    secret.map(|(_, value)| value.trim().trim_matches(['"', '\''])).collect()
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "apikey"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The secrets of an address: its password, or the user without one, and values in its query with names of secrets.
fn in_url(value: &str) -> Vec<&str> {
    let Some((_, rest)) = value.split_once("://") else { return Vec::new() };
    let (rest, _) = rest.split_once('#').unwrap_or((rest, ""));
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = before.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let password = user.map(|user| user.split_once(':').map_or(user, |(_, password)| password));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value);
    password.into_iter().chain(named).collect()
}

/// The secrets among a command's arguments: `--token X`, `--token=X`, `TOKEN=X`, `Authorization: X`, those of
/// addresses and connection strings, and values in the form of a token.
pub(super) fn in_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let (mut found, mut is_awaited) = (Vec::new(), false);
    for arg in args {
        let is_flag = arg.starts_with('-');
        if is_awaited && !arg.starts_with("--") || is_token(arg) {
            found.extend(parts(arg));
        }
        let pair = arg.split_once('=').or_else(|| arg.split_once(": "));
        match pair.filter(|(name, _)| !name.contains("://") && is_secret_name(name)) {
            Some((_, value)) => found.extend(parts(value.trim())),
            None => match pair {
                Some((_, value)) if is_token(value.trim()) => found.push(value.trim()),
                _ => found.extend(inside(arg)),
            },
        }
        is_awaited = is_flag && pair.is_none() && is_secret_name(arg);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_recognized_by_their_form() {
        let args = ["serve", "sk-proj-8fQm2x1vXk9p", "--use=ghp_8fQm2x1vXk9p8fQm2x1v", "sk-learn"];
        assert_eq!(in_args(&args), ["sk-proj-8fQm2x1vXk9p", "ghp_8fQm2x1vXk9p8fQm2x1v"]);
        for value in ["sk-of-a-long-package-name", "hf_models/bert-base-1", "AKIA"] {
            assert!(!is_token(value), "{value}");
        }
    }

    #[test]
    fn secrets_of_arguments_are_found() {
        let args = [
            "--api-key",
            "sk-123456",
            "--token=tk-123456",
            "-e",
            "DB_PASSWORD=pw-123456",
            "--header",
            "Authorization: Bearer br-123456",
            "https://ada:ur-123456@h/p?page=2&access_token=qu-123456",
            "CONN=Server=h;Password=co-123456;Encrypt=true",
            "host=h password='li-123456'",
            "--log-level",
            "verbose",
            "--token",
            "--verbose",
            "/srv",
        ];
        assert_eq!(
            in_args(&args),
            [
                "sk-123456",
                "tk-123456",
                "pw-123456",
                "Bearer br-123456",
                "br-123456",
                "ur-123456",
                "qu-123456",
                "co-123456",
                "li-123456",
            ]
        );
    }

    #[test]
    fn ordinary_words_are_no_secrets_unless_their_name_says_so() {
        for value in ["changed", "Primary", "geändert", ""] {
            assert!(!may_be_secret("MODE", value), "{value}");
            assert!(may_be_secret("MODE_PASSWORD", value), "{value}");
        }
        for value in
            ["hunter2", "read-only", "qwertyuiopasdfghjkl", "two words", "12345678", "/srv/x"]
        {
            assert!(may_be_secret("MODE", value), "{value}");
        }
    }

    #[test]
    fn plain_values_are_distinguished_from_secrets() {
        for value in ["/home/ada", "~/x", "8080", "127.0.0.1:80", "platform", "https://h/", "C:\\x"]
        {
            assert!(is_plain(value), "{value}");
        }
        for value in ["hunter2-s3cret", "ghp_16C7e42F", "pass word"] {
            assert!(!is_plain(value), "{value}");
        }
    }
}
