//! Names of variables, options and headers that have secrets.

/// Words that name a secret anywhere in a name.
const STRONG: [&str; 12] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "credential",
    "credentials",
    "jwt",
];

/// Words that name a secret at the end of a name.
const LAST: [&str; 10] =
    ["key", "pass", "pwd", "pw", "pat", "auth", "authorization", "cookie", "bearer", "signature"];

/// Words at the end of names that refer to a property of a secret, not to the secret.
const ABOUT: [&str; 12] = [
    "file", "path", "dir", "type", "name", "url", "uri", "endpoint", "mode", "length", "ttl",
    "timeout",
];

/// Whether a name is typical for a secret: `GITHUB_TOKEN`, `x-api-key`, `--password`.
pub fn is_secret_name(name: &str) -> bool {
    let words = split_words(name);
    let Some(last) = words.last() else { return false };
    if ABOUT.contains(&last.as_str()) {
        return false;
    }
    let pairs = words.windows(2).map(|pair| pair.concat());
    let is_likely_secret =
        words.iter().cloned().chain(pairs).any(|word| STRONG.contains(&word.as_str()));
    // `GITHUBTOKEN` cannot be split into words.
    is_likely_secret
        || LAST.contains(&last.as_str())
        || STRONG.iter().any(|word| last.ends_with(word))
}

/// Splits a name of any case into lower-case words.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_small = false;
    for c in name.chars() {
        let is_begin = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && is_after_small);
        if is_begin {
            words.push(String::new());
        }
        is_after_small = c.is_ascii_lowercase();
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "x-api-key",
            "--password",
            "apiKey",
            "Authorization",
            "API_KEY_1",
            "clientSecret",
            "DB_PASS",
            "MY_PW",
            "GITHUBTOKEN",
            "TOKEN",
            "Cookie",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "LOG_LEVEL",
            "TOKEN_FILE",
            "--auth-mode",
            "MAX_TOKENS",
            "KEYBOARD",
            "",
            "PATH",
            "monkey",
            "KEY_NAME",
            "TOKENIZER",
            "AUTHOR",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
