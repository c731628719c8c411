//! Rejects private addresses that a server refers to, unless the server has a private address
//! itself.

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rmcp::transport::auth::OAuthHttpClientError;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::net::lookup_host;
use tool_runtime_core::seam::is_loopback;

/// The kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Public,
    /// A private network.
    Private,
    /// This machine.
    Own,
    /// An address that no server can have.
    Never,
}

fn kind(ip: IpAddr) -> Kind {
    let ip = ip.to_canonical();
    if ip.is_loopback() {
        return Kind::Own;
    }
    if ip.is_unspecified() || ip.is_multicast() {
        return Kind::Never;
    }
    match ip {
        IpAddr::V4(ip) if ip.is_link_local() || ip == Ipv4Addr::BROADCAST => Kind::Never,
        // Networks of carriers count as private.
        IpAddr::V4(ip)
            if ip.is_private() || (ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64) =>
        {
            Kind::Private
        }
        IpAddr::V6(ip) if ip.is_unicast_link_local() => Kind::Never,
        IpAddr::V6(ip) if ip.is_unique_local() => Kind::Private,
        _ => Kind::Public,
    }
}

/// Allowed targets: public addresses, and kinds of addresses that the server itself has.
#[derive(Clone, Debug)]
pub(super) struct AddressFilter {
    kinds: Vec<Kind>,
    /// Whether the connection is unencrypted, like that to the server itself.
    pub(super) is_open: bool,
}

impl AddressFilter {
    pub(super) async fn for_server(server: &Url) -> Self {
        let port = server.port_or_known_default().unwrap_or(443);
        let host = server.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let found = lookup_host((host, port)).await.into_iter().flatten();
        let kinds = found.map(|address| kind(address.ip())).filter(|kind| *kind != Kind::Never);
        Self {
            kinds: std::iter::once(Kind::Public).chain(kinds).collect(),
            is_open: server.scheme() == "http",
        }
    }

    fn allows(&self, ip: IpAddr) -> bool {
        self.kinds.contains(&kind(ip))
    }

    pub(super) fn allows_url(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let ip = host.parse::<IpAddr>().ok();
        let is_own = is_loopback(host);
        let is_safe =
            url.scheme() == "https" || (url.scheme() == "http" && (self.is_open || is_own));
        is_safe && ip.is_none_or(|ip| self.allows(ip))
    }
}

impl Resolve for AddressFilter {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.clone();
        Box::pin(async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|found| reach.allows(found.ip())).collect();
            if allowed.is_empty() {
                return Err(rejected_target(name.as_str()));
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The error of a rejected target.
pub(super) fn rejected_target(host: &str) -> OAuthHttpClientError {
    format!("`{host}` is rejected: a server must not redirect this program there").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_endpoint_on_another_origin_is_rejected() {
        let (public, private) = ("https://8.8.8.8/mcp", "https://10.0.0.1/mcp");
        let loopback = "http://127.0.0.1:1/mcp";
        for (server, url, expected) in [
            (public, "https://9.9.9.9/token", true),
            (public, "http://9.9.9.9/token", false),
            (public, "https://10.0.0.2/token", false),
            (public, "https://127.0.0.1/token", false),
            (public, "https://[::ffff:127.0.0.1]/token", false),
            (public, "file:///etc/passwd", false),
            (private, "https://192.168.0.1/token", true),
            (private, "https://127.0.0.1/token", false),
            (private, "http://10.0.0.2/token", false),
            (loopback, "http://127.0.0.1:9/token", true),
            (loopback, "http://[::1]/token", true),
            (loopback, "http://10.0.0.2/token", false),
            (loopback, "http://169.254.169.254/latest", false),
        ] {
            let reach = AddressFilter::for_server(&Url::parse(server).unwrap()).await;
            assert_eq!(reach.allows_url(&Url::parse(url).unwrap()), expected, "{server}: {url}");
        }
    }
}
