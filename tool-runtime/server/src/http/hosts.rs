//! For which names requests are answered.
//!
//! A page anywhere can have its own name lead to this machine, and then read what is answered to
//! it: only names that were meant are answered.

use axum::http::uri::Authority;
use std::net::IpAddr;

/// The names of this machine for itself.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The names for which requests are answered.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Lower case, without brackets; with a port if only that one is meant.
    allowed: Vec<(String, Option<u16>)>,
    all: bool,
}

impl Hosts {
    /// This machine's own names, the address that is listened on, and those that were allowed:
    /// `name`, `name:port`, or `*` for all.
    pub(super) fn new(allowed: &[String], bound: Option<IpAddr>) -> Self {
        let bound = bound.filter(|address| !address.is_unspecified()).map(|ip| ip.to_string());
        let named = allowed.iter().map(|text| split(text));
        let own = HERE.map(str::to_owned).into_iter().chain(bound).map(|name| (name, None));
        Self { allowed: own.chain(named).collect(), all: allowed.iter().any(|text| text == "*") }
    }

    /// Whether requests for this name are answered.
    pub(super) fn admit(&self, authority: &str) -> bool {
        if self.all {
            return true;
        }
        let is_plain = authority.parse().is_ok_and(|authority| is_plain(&authority));
        let (name, port) = split(authority);
        let is_allowed = |(own, only): &(String, Option<u16>)| {
            *own == name && only.is_none_or(|only| port == Some(only))
        };
        is_plain && self.allowed.iter().any(is_allowed)
    }
}

/// Whether it is a name and perhaps a port, and nothing else: no user, nothing behind a bracket.
pub(super) fn is_plain(authority: &Authority) -> bool {
    match authority.as_str().strip_prefix(authority.host()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()),
        None => false,
    }
}

/// Name and port, in the spelling in which names are compared.
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
    fn a_machine_answers_to_its_own_names() {
        let hosts = hosts(&[], "0.0.0.0");
        for own in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:1", "[::1]"] {
            assert!(hosts.admit(own), "{own}");
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
            assert!(!hosts.admit(other), "{other}");
        }
    }

    #[test]
    fn an_address_that_is_listened_on_is_one_of_them() {
        assert!(hosts(&[], "192.0.2.1").admit("192.0.2.1:8080"));
        assert!(!hosts(&[], "192.0.2.1").admit("192.0.2.2:8080"));
    }

    #[test]
    fn others_are_allowed_by_name_and_perhaps_port() {
        let hosts = hosts(&["Tools.Example.com", "other.example.com:81", "2001:db8::1"], "");
        assert!(hosts.admit("tools.example.com:443"));
        assert!(hosts.admit("other.example.com:81"));
        assert!(!hosts.admit("other.example.com"));
        assert!(hosts.admit("[2001:db8::1]:80"));
        assert!(!hosts.admit("example.com"));
    }

    #[test]
    fn a_star_allows_all() {
        assert!(hosts(&["*"], "").admit("example.com"));
    }
}
