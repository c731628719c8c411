//! Allowed values of `Host`.
//!
//! Protects against DNS rebinding: a page anywhere can resolve its own name to this machine, and read the
//! answers.

use axum::http::uri::Authority;
use std::net::IpAddr;

/// The loopback names of a machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The allowed hosts.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Lower case, without brackets; with a port if only that port is allowed.
    allowed: Vec<(String, Option<u16>)>,
    all: bool,
}

impl Hosts {
    /// Loopback names, the address of the listener, and `allowed`: `name`, `name:port`, or `*` for all.
    pub(super) fn new(allowed: &[String], bound: Option<IpAddr>) -> Self {
        let bound = bound.filter(|address| !address.is_unspecified()).map(|ip| ip.to_string());
        let named = allowed.iter().map(|text| split(text));
        let own_names =
            LOOPBACK.map(str::to_owned).into_iter().chain(bound).map(|name| (name, None));
        Self {
            allowed: own_names.chain(named).collect(),
            all: allowed.iter().any(|text| text == "*"),
        }
    }

    /// Checks a string for [`Hosts::new`].
    ///
    /// # Errors
    /// The text is not a host; the error says what to write.
    pub(super) fn check(text: &str) -> Result<(), String> {
        let is_host = || {
            text.parse().is_ok_and(|authority: Authority| {
                !authority.host().is_empty() && is_host_and_port(&authority)
            })
        };
        if text == "*" || text.parse::<IpAddr>().is_ok() || is_host() {
            return Ok(());
        }
        Err(format!("`{text}` is not a host; write `example.com`, perhaps with a port"))
    }

    /// Whether this host is allowed.
    pub(super) fn allows(&self, authority: &str) -> bool {
        if self.all {
            return true;
        }
        let is_plain = authority.parse().is_ok_and(|authority| is_host_and_port(&authority));
        let (name, port) = split(authority);
        let is_allowed = |(own, only): &(String, Option<u16>)| {
            *own == name && only.is_none_or(|only| port == Some(only))
        };
        is_plain && self.allowed.iter().any(is_allowed)
    }
}

/// Whether the authority is a host with an optional port: no user, nothing after a bracket.
pub(super) fn is_host_and_port(authority: &Authority) -> bool {
    match authority.as_str().strip_prefix(authority.host()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()),
        None => false,
    }
}

/// Host and port, normalised for comparison.
fn split(text: &str) -> (String, Option<u16>) {
    let (name, port) = match text.parse::<Authority>() {
        Ok(authority) => (authority.host().to_owned(), authority.port_u16()),
        Err(_) => (text.to_owned(), None),
    };
    (name.trim_matches(['[', ']']).to_ascii_lowercase(), port)
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    fn hosts(allowed: &[&str], bound: &str) -> Hosts {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        Hosts::new(&allowed, bound.parse().ok())
    }

    #[test]
    fn loopback_names_are_allowed() {
        let hosts = hosts(&[], "0.0.0.0");
        for own in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:1", "[::1]"] {
            assert!(hosts.allows(own), "{own}");
        }
        for other in [
            "example.com",
            "localhost.example.com",
            "0.0.0.0",
            "localhost@example.com",
            "example.com@localhost",
            "[::1].example.com",
            "localhost:99999",
            "",
            "a b",
        ] {
            assert!(!hosts.allows(other), "{other}");
        }
    }

    #[test]
    fn the_bound_address_is_allowed() {
        assert!(hosts(&[], "192.0.2.1").allows("192.0.2.1:8080"));
        assert!(!hosts(&[], "192.0.2.1").allows("192.0.2.2:8080"));
    }

    #[test]
    fn other_hosts_are_allowed_by_name_and_port() {
        let hosts = hosts(&["Tools.Example.com", "other.example.com:81", "2001:db8::1"], "");
        assert!(hosts.allows("tools.example.com:443"));
        assert!(hosts.allows("other.example.com:81"));
        assert!(!hosts.allows("other.example.com"));
        assert!(hosts.allows("[2001:db8::1]:80"));
        assert!(!hosts.allows("example.com"));
    }

    #[test]
    fn an_invalid_host_is_rejected() {
        for text in ["*", "a.example", "a.example:81", "127.0.0.1", "::1", "[::1]:80", "LOCALHOST"]
        {
            assert_eq!(Hosts::check(text), Ok(()), "{text}");
        }
        for text in
            ["https://a.example", "a.example/", "ada@a.example", "a.example:x", "a b", ":80", ""]
        {
            let problem = Hosts::check(text).expect_err(text);
            assert!(problem.contains("`example.com`"), "{problem}");
        }
    }

    #[test]
    fn a_star_allows_all_hosts() {
        assert!(hosts(&["*"], "").allows("example.com"));
    }
}
