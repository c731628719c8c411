//! Patterns of URLs.

use super::{ArgumentMatch, ArgumentMatcher, MatchAs, Matcher, invalid};
use crate::vocabulary::matching::pattern::PatternError;
use fluent_uri::Uri;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Matches URLs by scheme, host and port.
///
/// | Pattern | Matches |
/// |---|---|
/// | `domain:example.com`, `example.com` | that host, by `http` or `https`, on the port of the scheme |
/// | `*.example.com` | its subdomains, not itself |
/// | `https://example.com` | only by `https` |
/// | `localhost:8080`, `localhost:*` | on that port, on every port |
/// | `https://*` | every host |
///
/// Only URLs of RFC 3986 are compared, since programs interpret others differently. These URLs are undecidable: all
/// others, and those with a user or a password, with a host that is not in ASCII (write `xn--..`), with an unusual
/// spelling of an IP address, or with a scheme or port that the pattern leaves open. Redirections are not seen.
///
/// ```
/// use tool_runtime::matching::{ArgumentMatch, ArgumentMatcher, UrlMatcher};
///
/// let docs = UrlMatcher::new().compile("domain:docs.rs")?;
/// assert_eq!(docs.matches("https://docs.rs/serde"), ArgumentMatch::Yes);
/// assert_eq!(docs.matches("https://docs.rs.example.com/"), ArgumentMatch::No);
/// assert!(matches!(docs.matches("https://docs.rs@example.com/"), ArgumentMatch::Undecidable(_)));
/// # Ok::<(), tool_runtime::matching::PatternError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlMatcher(());

#[derive(Debug)]
struct UrlPattern {
    /// Default: `http` and `https`.
    scheme: Option<String>,
    host: HostPattern,
    port: PortPattern,
}

#[derive(Debug)]
enum HostPattern {
    Any,
    /// A host, in its normal form.
    Is(String),
    /// The end of a host, with the dot before it.
    Below(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortPattern {
    OfScheme,
    Any,
    Is(u16),
}

impl UrlMatcher {
    /// The matcher.
    pub fn new() -> Self {
        Self::default()
    }
}

impl ArgumentMatcher for UrlMatcher {
    fn kind(&self) -> MatchAs {
        MatchAs::Url
    }

    fn compile(&self, pattern: &str) -> Result<Box<dyn Matcher>, PatternError> {
        let parsed = UrlPattern::parse(pattern);
        let parsed = parsed.map_err(|problem| invalid(MatchAs::Url, pattern, problem))?;
        Ok(Box::new(parsed))
    }
}

impl UrlPattern {
    fn parse(pattern: &str) -> Result<Self, String> {
        let (scheme, rest) = match pattern.strip_prefix("domain:") {
            Some(host) if host.contains(['/', ':']) => {
                return Err("`domain:` takes a host alone".to_owned());
            }
            Some(host) => (None, host),
            None => match pattern.split_once("://") {
                Some((scheme, rest)) => (Some(self::scheme(scheme)?), rest),
                None => (None, pattern),
            },
        };
        let authority = ["/**", "/*", "/"].iter().find_map(|path| rest.strip_suffix(path));
        let authority = authority.unwrap_or(rest);
        if authority.contains(['/', '?', '#', '@']) {
            return Err(
                "write a scheme, a host and a port alone, as in `https://example.com`".to_owned()
            );
        }
        let (host, port) = split_port(authority)?;
        Ok(Self { scheme, host: HostPattern::parse(host)?, port })
    }

    fn describes(&self, url: &Uri<&str>) -> Result<bool, String> {
        let authority = url.authority().ok_or("it has no host")?;
        if authority.has_userinfo() {
            return Err("it contains a user or a password; write it without".to_owned());
        }
        let host = host(authority.host())?;
        let port = authority.port_to_u16().map_err(|_| "its port is not valid")?;
        if !self.host.describes(&host) {
            return Ok(false);
        }
        let scheme = url.scheme().as_str().to_ascii_lowercase();
        let is_scheme = match &self.scheme {
            Some(own) => *own == scheme,
            None if matches!(scheme.as_str(), "http" | "https") => true,
            None => return Err(format!("the pattern does not name the scheme `{scheme}`")),
        };
        let is_port = match self.port {
            PortPattern::Any => true,
            PortPattern::Is(own) => port.or(default_port(&scheme)) == Some(own),
            PortPattern::OfScheme if port.is_none() || port == default_port(&scheme) => true,
            PortPattern::OfScheme => return Err("the pattern does not name the port".to_owned()),
        };
        Ok(is_scheme && is_port)
    }
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Any);
        }
        match text.strip_prefix("*.") {
            Some(parent) => Ok(Self::Below(format!(".{}", host(parent)?))),
            None => host(text).map(Self::Is),
        }
    }

    fn describes(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(own) => own == host,
            Self::Below(end) => {
                host.strip_suffix(end.as_str()).is_some_and(|start| !start.is_empty())
            }
        }
    }
}

fn scheme(text: &str) -> Result<String, String> {
    let is_scheme = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    match is_scheme {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("`{text}` is not a valid scheme")),
    }
}

fn split_port(authority: &str) -> Result<(&str, PortPattern), String> {
    let Some((host, port)) = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'))
    else {
        return Ok((authority, PortPattern::OfScheme));
    };
    let port = match port {
        "*" => PortPattern::Any,
        port => match port.parse() {
            Ok(port) => PortPattern::Is(port),
            Err(_) => return Err(format!("`{port}` is not a valid port")),
        },
    };
    Ok((host, port))
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        _ => None,
    }
}

/// The normal form of a host: lower case, without the dot at the end.
///
/// # Errors
/// The reason why the host is undecidable, as a sentence.
fn host(text: &str) -> Result<String, String> {
    if let Some(address) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr =
            address.parse().map_err(|_| format!("`{text}` is not a valid IPv6 address"))?;
        // A connection to it is one to the IPv4 address.
        return Ok(match address.to_ipv4_mapped() {
            Some(mapped) => mapped.to_string(),
            None => format!("[{address}]"),
        });
    }
    let host = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if !host.is_ascii() {
        return Err(format!("the host `{text}` is not in ASCII; write its form `xn--..`"));
    }
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    if !host.split('.').all(is_label) {
        return Err(format!("`{text}` is not a valid host"));
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return Err(format!("`{text}` is an unusual spelling of an IP address"));
    }
    Ok(host)
}

impl Matcher for UrlPattern {
    fn matches(&self, text: &str) -> ArgumentMatch {
        if !text.is_ascii() {
            let reason = "the URL is not in ASCII; write `xn--..` in the host, and escape the rest";
            return ArgumentMatch::Undecidable(reason.to_owned());
        }
        let Ok(url) = Uri::parse(text) else {
            return ArgumentMatch::Undecidable("the text is not a valid URL".to_owned());
        };
        match self.describes(&url) {
            Ok(true) => ArgumentMatch::Yes,
            Ok(false) => ArgumentMatch::No,
            Err(reason) => ArgumentMatch::Undecidable(format!("the URL is uncertain: {reason}")),
        }
    }
}
