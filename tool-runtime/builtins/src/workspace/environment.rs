//! The variables of this process that programs which tools start get: those that say where things are, and no secrets.

use super::Environment;
use std::ffi::{OsStr, OsString};

/// Passed as they are.
const PASSED: &[&str] = &[
    // The user, the terminal, the language.
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    // Programs and toolchains.
    "PATH",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "NVM_DIR",
    "PYENV_ROOT",
    // Certificates.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "no_proxy",
    "NO_PROXY",
];

/// Passed with whatever follows.
const PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Passed unless they have a user or a password.
const PROXIES: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "ALL_PROXY",
];

/// The variables that programs get, and the number of those that are withheld. `more` are passed as well.
pub(super) fn passed(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    more: &[OsString],
) -> (Environment, usize) {
    let mut withheld = 0;
    let passed = variables.into_iter().filter(|(name, value)| {
        let is_passed = more.contains(name) || is_harmless(name, value);
        withheld += usize::from(!is_passed);
        is_passed
    });
    let passed = passed.collect();
    (passed, withheld)
}

fn is_harmless(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let has_user = || value.as_encoded_bytes().contains(&b'@');
    PASSED.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || (PROXIES.contains(&name) && !has_user())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_withheld_and_counted() {
        let given = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("XDG_CACHE_HOME", "/cache"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("http_proxy", "http://ada:secret@proxy:3128"),
            ("OPENAI_API_KEY", "sk-1"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("PATHS", "/x"),
            ("GREETING", "hello"),
        ];
        let given = given.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let (passed, withheld) = passed(given, &["GREETING".into()]);
        let names: Vec<_> = passed.keys().map(|name| name.to_str().unwrap()).collect();
        assert_eq!(names, ["GREETING", "HTTPS_PROXY", "LC_ALL", "PATH", "XDG_CACHE_HOME"]);
        assert_eq!(withheld, 4);
    }
}
