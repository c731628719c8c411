//! Allowed origins of browser requests.

use super::hosts::is_plain;
use axum::http::Uri;
use std::net::IpAddr;

/// The pages from which browsers may ask: those of this machine, and those that were allowed.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    allowed: Vec<Allowed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowed {
    All,
    /// What browsers send for pages without an address.
    Null,
    Page(Page),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Page {
    scheme: String,
    host: String,
    /// None for any.
    port: Option<u16>,
}

impl Origins {
    /// Allows `https://example.com`, with `:port` or `:*` for any port; `null`; or `*` for all.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    pub(super) fn allow(&mut self, text: &str) -> Result<(), String> {
        let allowed = match text {
            "*" => Some(Allowed::All),
            "null" => Some(Allowed::Null),
            _ => match text.strip_suffix(":*") {
                Some(any) => page(any).map(|page| Allowed::Page(Page { port: None, ..page })),
                None => page(text).map(Allowed::Page),
            },
        };
        self.allowed.push(allowed.ok_or_else(|| {
            format!("`{text}` is not an origin; write `https://example.com`, perhaps with a port")
        })?);
        Ok(())
    }

    /// Whether a browser may ask from this page.
    pub(super) fn admit(&self, origin: &str) -> bool {
        let page = page(origin);
        let is_here = page.as_ref().is_some_and(Page::is_here);
        is_here
            || self.allowed.iter().any(|allowed| match (allowed, &page) {
                (Allowed::All, _) => true,
                (Allowed::Null, _) => origin == "null",
                (Allowed::Page(allowed), Some(page)) => allowed.covers(page),
                (Allowed::Page(_), None) => false,
            })
    }
}

impl Page {
    fn is_here(&self) -> bool {
        let is_loopback = self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        matches!(self.scheme.as_str(), "http" | "https")
            && (self.host == "localhost" || is_loopback)
    }

    fn covers(&self, other: &Self) -> bool {
        let is_port = self.port.is_none() || self.port == other.port;
        self.scheme == other.scheme && self.host == other.host && is_port
    }
}

/// A scheme, a host and a port, which may be left out where the scheme has one; nothing else.
fn page(text: &str) -> Option<Page> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    if !is_bare || text.ends_with('/') || !is_plain(authority) {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let port = authority.port_u16().or(match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    });
    let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
    Some(Page { host, port, scheme })
}

#[cfg(test)]
mod tests {
    use super::Origins;

    fn origins(allowed: &[&str]) -> Origins {
        let mut origins = Origins::default();
        for text in allowed {
            origins.allow(text).expect(text);
        }
        origins
    }

    #[test]
    fn pages_of_this_machine_may_ask() {
        for own in [
            "http://localhost",
            "https://LOCALHOST:8443",
            "http://127.0.0.1:3000",
            "http://[::1]:1",
        ] {
            assert!(origins(&[]).admit(own), "{own}");
        }
        for other in [
            "http://example.com",
            "http://localhost.example.com",
            "http://localhost@example.com",
            "http://example.com@localhost",
            "http://[::1].example.com",
            "http://localhost:99999",
            "file://localhost",
            "null",
            "localhost",
            "",
            "http://localhost/page",
        ] {
            assert!(!origins(&[]).admit(other), "{other}");
        }
    }

    #[test]
    fn others_are_allowed_with_their_port() {
        let origins = origins(&["https://a.example", "http://b.example:81", "http://c.example:*"]);
        assert!(origins.admit("https://a.example"));
        assert!(origins.admit("https://a.example:443"));
        assert!(!origins.admit("https://a.example:444"));
        assert!(!origins.admit("http://a.example"));
        assert!(origins.admit("http://b.example:81"));
        assert!(!origins.admit("http://b.example"));
        assert!(origins.admit("http://c.example:9"));
        assert!(!origins.admit("null"));
    }

    #[test]
    fn null_and_all_are_said_as_they_are() {
        assert!(origins(&["null"]).admit("null"));
        assert!(!origins(&["null"]).admit("http://example.com"));
        assert!(origins(&["*"]).admit("null"));
        assert!(origins(&["*"]).admit("http://example.com"));
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for text in ["example.com", "https://", "https://a.example/", "https://a.example/x", ""] {
            let problem = Origins::default().allow(text).expect_err(text);
            assert!(problem.contains("`https://example.com`"), "{problem}");
        }
    }
}
