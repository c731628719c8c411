//! The environment of a child: a few variables of this process, and those of its entry.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};

/// Inherited variables: paths, user and language.
///
/// The first line is the list of the official SDKs. The other variables are not secret: without them `npx` and
/// `uvx` cannot download anything behind a company's proxy, and messages change their language.
#[cfg(not(windows))]
const INHERITED: &[&str] = &[
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER", //
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR", //
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", //
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY", //
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];
/// Inherited variables, as above; the first three lines are the list of the official SDKs.
#[cfg(windows)]
const INHERITED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PROCESSOR_ARCHITECTURE", //
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "SYSTEMDRIVE", //
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR", //
    "COMSPEC",
    "PATHEXT",
    "LANG",
    "TZ", //
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", //
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// Prefixes of the names of inherited variables.
#[cfg(not(windows))]
const INHERITED_FAMILIES: &[&str] = &["LC_", "XDG_"];
/// Prefixes of the names of inherited variables.
#[cfg(windows)]
const INHERITED_FAMILIES: &[&str] = &[];

/// The environment of a child: inherited variables, which `given` ones override.
pub(super) fn environment(given: &BTreeMap<String, String>) -> BTreeMap<OsString, OsString> {
    merged(env::vars_os(), given)
}

fn merged(
    ours: impl Iterator<Item = (OsString, OsString)>,
    given: &BTreeMap<String, String>,
) -> BTreeMap<OsString, OsString> {
    let inherited = ours.filter(|(name, value)| is_inherited(name, value));
    let configured = given.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.map(|(name, value)| (spelled(name), value)).chain(configured).collect()
}

fn is_inherited(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let is_known = INHERITED.iter().any(|known| same(known, name))
        || INHERITED_FAMILIES.iter().any(|family| name.starts_with(family));
    is_known && !is_shell_function(value) && !is_proxy_with_password(name, value)
}

/// Whether a value is an exported shell function, which shells run when they start.
fn is_shell_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

/// Whether the address of a proxy contains a password. Such a variable is not inherited; an entry
/// may set it in `env`.
fn is_proxy_with_password(name: &str, value: &OsStr) -> bool {
    let is_proxy = name.len() > 6 && name[name.len() - 6..].eq_ignore_ascii_case("_proxy");
    is_proxy && !same_ignoring_case(name, "no_proxy") && value.as_encoded_bytes().contains(&b'@')
}

/// Compares names of variables, on Windows regardless of case.
fn same(known: &str, name: &str) -> bool {
    if cfg!(windows) { same_ignoring_case(known, name) } else { known == name }
}

fn same_ignoring_case(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Upper-case names on Windows, so that given variables replace inherited ones and `PATH` is found.
fn spelled(name: OsString) -> OsString {
    if cfg!(windows) { name.to_ascii_uppercase() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(ours: &[(&str, &str)], given: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours = ours.iter().map(|(name, value)| (name.into(), value.into()));
        let configured = given.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let text = |text: OsString| text.into_string().expect("UTF-8");
        let merged = merged(ours, &configured.collect());
        merged.into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn names(of: &[(&str, &str)]) -> Vec<String> {
        merge(of, &[]).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn secrets_of_the_host_are_not_inherited() {
        let ours = [("AWS_SECRET_ACCESS_KEY", "x"), ("GITHUB_TOKEN", "x"), ("PATH", "/bin")];
        assert_eq!(names(&ours), ["PATH"]);
        assert!(names(&[("LD_PRELOAD", "x.so"), ("NODE_OPTIONS", "--inspect")]).is_empty());
    }

    #[cfg(not(windows))]
    #[test]
    fn families_of_variables_are_inherited() {
        let ours = [("LC_ALL", "C"), ("XDG_CACHE_HOME", "/c"), ("LCX", "x"), ("MY_LC_", "x")];
        assert_eq!(names(&ours), ["LC_ALL", "XDG_CACHE_HOME"]);
    }

    #[test]
    fn shell_functions_are_not_inherited() {
        assert!(names(&[("TERM", "() { :; }; echo gotcha")]).is_empty());
    }

    #[test]
    fn only_a_proxy_without_a_password_is_inherited() {
        let proxy = "http://proxy.example:8080";
        let ours = [("HTTPS_PROXY", proxy), ("HTTP_PROXY", "http://me:secret@proxy.example")];
        assert_eq!(names(&ours), ["HTTPS_PROXY"]);
        assert_eq!(names(&[("NO_PROXY", "a@b")]), ["NO_PROXY"]);
    }

    #[test]
    fn configured_variables_have_priority() {
        let merged = merge(&[("PATH", "/bin")], &[("PATH", "/opt"), ("TOKEN", "() t@")]);
        let expected = [("PATH", "/opt"), ("TOKEN", "() t@")];
        assert_eq!(merged, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
