//! Validates and redacts addresses of servers.

use super::findings::ValueProblem;
use fluent_uri::Uri;
use tool_runtime_core::seam::is_loopback;

/// Properties of a valid address.
pub(super) struct Address {
    pub(super) has_user_info: bool,
    /// Whether requests are sent unencrypted to another machine.
    pub(super) is_plaintext: bool,
}

/// # Errors
/// The text is not an `http` or `https` address. The error does not contain it.
pub(super) fn check(url: &str) -> Result<Address, ValueProblem> {
    const HELP: &str = "write an address as `https://example.com/mcp`";
    if url.trim().is_empty() {
        return Err(ValueProblem::new("the address is empty", HELP));
    }
    if url.trim() != url {
        return Err(ValueProblem::new("there is white space around the address", "remove it"));
    }
    let scheme = scheme(url)?;
    let uri = Uri::parse(url).map_err(|error| {
        let position = url.get(..error.index()).unwrap_or(url).chars().count() + 1;
        let text = format!("the address is malformed from its character {position} on");
        ValueProblem::new(
            text,
            "percent-encode characters that are not allowed in a URL, such as `%20` for a space",
        )
    })?;
    let authority = uri.authority().filter(|authority| !authority.host().is_empty());
    let Some(authority) = authority else {
        return Err(ValueProblem::new("the address has no host", HELP));
    };
    if authority.port_to_u16().is_err() {
        return Err(ValueProblem::new(
            "the port of the address is not valid",
            "write one from 1 to 65535",
        ));
    }
    let is_plaintext = scheme == "http" && !is_loopback(authority.host());
    Ok(Address { has_user_info: authority.has_userinfo(), is_plaintext })
}

fn scheme(url: &str) -> Result<String, ValueProblem> {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme {
        Some(scheme) if is_http(&scheme) => Ok(scheme),
        // The text before the colon is not shown: it may be a secret.
        Some(scheme) if url.contains("://") => {
            let help = match scheme.as_str() {
                "ws" | "wss" => "WebSockets are not supported; write the server's `https` address",
                _ => "write an `http` or `https` address",
            };
            Err(ValueProblem::new("the scheme of the address is not supported", help))
        }
        _ => {
            let help = if is_loopback(host(url)) { "`http://`" } else { "`https://`" };
            Err(ValueProblem::new("the address has no scheme", format!("begin it with {help}")))
        }
    }
}

/// The host of an address without a scheme.
fn host(address: &str) -> &str {
    let authority = &address[..address.find(['/', '?', '#']).unwrap_or(address.len())];
    match authority.split_once(']') {
        Some((host, _)) => host,
        None => authority.split_once(':').map_or(authority, |(host, _)| host),
    }
}

/// The printable part of an address, valid or not, without user information and query. Ambiguous text is
/// shortened more.
pub(super) fn redact(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if is_http(scheme) => (format!("{scheme}://"), rest),
        Some((_, rest)) => ("..://".to_owned(), rest),
        None if url.starts_with("${") => (String::new(), url),
        None => return "..".to_owned(),
    };
    let rest = match user_info_end(rest) {
        Some(end) => format!("..@{}", &rest[end..]),
        None => rest.to_owned(),
    };
    match rest.find(['?', '#']) {
        Some(end) => format!("{scheme}{}..", &rest[..=end]),
        None => scheme + &rest,
    }
}

fn is_http(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Start of the host after user information.
fn user_info_end(rest: &str) -> Option<usize> {
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if let Some(at) = authority.rfind('@') {
        return Some(at + 1);
    }
    // A password with a slash is malformed, but still a password.
    let port = authority.rsplit_once(':').map(|(_, port)| port)?;
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    if is_port { None } else { rest.rfind('@').map(|at| at + 1) }
}

#[cfg(test)]
mod tests {
    use super::{check, redact};

    #[test]
    fn a_loopback_address_without_a_scheme_suggests_http() {
        for (address, scheme) in [
            ("localhost:8080/mcp", "`http://`"),
            ("127.0.0.1:8080/mcp", "`http://`"),
            ("127.0.0.1", "`http://`"),
            ("[::1]:8080", "`http://`"),
            ("localhost.example.com/mcp", "`https://`"),
            ("example.com:8080/localhost", "`https://`"),
        ] {
            let problem =
                check(address).err().unwrap_or_else(|| panic!("`{address}` was accepted"));
            assert_eq!(problem.help, format!("begin it with {scheme}"), "{address}");
        }
    }

    #[test]
    fn only_http_and_https_are_addresses() {
        for good in [
            "https://example.com",
            "http://127.0.0.1:8080/mcp",
            "HTTPS://[::1]:9/x?y=z",
            "https://ada:pw@example.com/",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for (bad, words) in [
            ("", "the address is empty"),
            ("  ", "the address is empty"),
            ("file:///etc/passwd", "the scheme of the address is not supported"),
            ("ftp://example.com", "the scheme of the address is not supported"),
            ("javascript:alert(1)", "the address has no scheme"),
            ("wss://example.com", "the scheme of the address is not supported"),
            ("hunter2://example.com", "the scheme of the address is not supported"),
            ("example.com/mcp", "the address has no scheme"),
            ("localhost:8080/mcp", "the address has no scheme"),
            ("https://", "the address has no host"),
            ("https:///mcp", "the address has no host"),
            ("https:mcp", "the address has no host"),
            ("https://exa mple.com", "malformed from its character 12"),
            ("https://[::1", "malformed from its character 13"),
            ("https://example.com:99999/", "the port"),
            (" https://example.com", "white space around"),
        ] {
            let problem = check(bad).err().unwrap_or_else(|| panic!("`{bad}` was accepted"));
            assert!(problem.text.contains(words), "{bad}: {}", problem.text);
        }
    }

    #[test]
    fn plaintext_connections_are_recognized() {
        for (url, is_plaintext) in [
            ("http://example.com", true),
            ("http://localhost.example.com", true),
            ("http://127.1.2.3:80", false),
            ("http://[::1]/", false),
            ("http://LOCALHOST", false),
            ("https://example.com", false),
        ] {
            assert_eq!(
                check(url).ok().map(|address| address.is_plaintext),
                Some(is_plaintext),
                "{url}"
            );
        }
    }

    #[test]
    fn user_information_and_query_are_not_shown() {
        for (url, expected) in [
            ("https://example.com/a", "https://example.com/a"),
            ("https://example.com/@scope/a", "https://example.com/@scope/a"),
            ("https://example.com:8080/@scope/a", "https://example.com:8080/@scope/a"),
            ("https://u:p@example.com/a?k=v#f", "https://..@example.com/a?.."),
            ("https://u@p@example.com", "https://..@example.com"),
            ("https://u:p/w@example.com", "https://..@example.com"),
            ("https://u:p?w@example.com", "https://..@example.com"),
            ("https://example.com?mail=a@b", "https://example.com?.."),
            ("u:p@example.com", ".."),
            ("8fQm2x://example.com", "..://example.com"),
            ("${URL}", "${URL}"),
            ("${URL}?k=v", "${URL}?.."),
        ] {
            assert_eq!(redact(url), expected);
        }
    }
}
