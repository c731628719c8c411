//! Allowed origins of browser requests.

use super::hosts::is_host_and_port;
use axum::http::Uri;
use std::net::IpAddr;

/// The allowed origins: loopback origins and the configured ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    allowed: Vec<Allowed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowed {
    All,
    /// The origin that browsers send for pages without an address.
    Null,
    Page(Page),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Page {
    scheme: String,
    host: String,
    /// `None` for any port.
    port: Option<u16>,
}

impl Origins {
    /// Allows `https://example.com`, with `:port` or `:*` for any port; `null`; or `*` for all.
    ///
    /// # Errors
    /// The text is not an origin; the error says what to write.
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

    /// Whether this origin is allowed.
    pub(super) fn allows(&self, origin: &str) -> bool {
        let page = page(origin);
        let is_loopback = page.as_ref().is_some_and(Page::is_loopback);
        is_loopback
            || self.allowed.iter().any(|allowed| match (allowed, &page) {
                (Allowed::All, _) => true,
                (Allowed::Null, _) => origin == "null",
                (Allowed::Page(allowed), Some(page)) => allowed.covers(page),
                (Allowed::Page(_), None) => false,
            })
    }
}

impl Page {
    fn is_loopback(&self) -> bool {
        let is_loopback_ip = self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        matches!(self.scheme.as_str(), "http" | "https")
            && (self.host == "localhost" || is_loopback_ip)
    }

    fn covers(&self, other: &Self) -> bool {
        let is_port = self.port.is_none() || self.port == other.port;
        self.scheme == other.scheme && self.host == other.host && is_port
    }
}

/// Parses a scheme, a host and a port; the port is optional if the scheme has a default.
fn page(text: &str) -> Option<Page> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    if !is_bare || text.ends_with('/') || !is_host_and_port(authority) {
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
    fn loopback_origins_are_allowed() {
        for own in [
            "http://localhost",
            "https://LOCALHOST:8443",
            "http://127.0.0.1:3000",
            "http://[::1]:1",
        ] {
            assert!(origins(&[]).allows(own), "{own}");
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
            assert!(!origins(&[]).allows(other), "{other}");
        }
    }

    #[test]
    fn other_origins_are_allowed_with_their_port() {
        let origins = origins(&["https://a.example", "http://b.example:81", "http://c.example:*"]);
        assert!(origins.allows("https://a.example"));
        assert!(origins.allows("https://a.example:443"));
        assert!(!origins.allows("https://a.example:444"));
        assert!(!origins.allows("http://a.example"));
        assert!(origins.allows("http://b.example:81"));
        assert!(!origins.allows("http://b.example"));
        assert!(origins.allows("http://c.example:9"));
        assert!(!origins.allows("null"));
    }

    #[test]
    fn null_and_star_are_allowed_literally() {
        assert!(origins(&["null"]).allows("null"));
        assert!(!origins(&["null"]).allows("http://example.com"));
        assert!(origins(&["*"]).allows("null"));
        assert!(origins(&["*"]).allows("http://example.com"));
    }

    #[test]
    fn an_invalid_origin_is_rejected() {
        for text in ["example.com", "https://", "https://a.example/", "https://a.example/x", ""] {
            let problem = Origins::default().allow(text).expect_err(text);
            assert!(problem.contains("`https://example.com`"), "{problem}");
        }
    }
}
