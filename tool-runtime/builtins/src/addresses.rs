//! The addresses that tools may connect to.

use ipnet::IpNet;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::lookup_host;

/// Public addresses, and what the operator allows beside them. Clones share everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressRules(Arc<Allowed>);

#[derive(Debug, Default)]
struct Allowed {
    /// Names in lower case; `*.` in front for all subdomains.
    hosts: Vec<String>,
    networks: Vec<IpNet>,
}

/// The address of a host is not public, and not allowed.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{host}` has the address {address}, which is not public; the operator of the tools has not allowed it"
)]
pub(crate) struct NotPublic {
    host: String,
    address: IpAddr,
}

/// A host has no address.
#[derive(Debug, thiserror::Error)]
#[error("there is no host `{0}`; check the spelling")]
pub(crate) struct NoSuchHost(String);

impl AddressRules {
    /// Reads host names, `*.` names, addresses and networks such as `10.0.0.0/8`.
    ///
    /// # Errors
    /// An entry is none of them.
    pub(crate) fn parse(entries: &[String]) -> Result<Self, String> {
        let mut allowed = Allowed::default();
        for entry in entries {
            let entry = entry.trim();
            let name = entry.strip_prefix("*.").unwrap_or(entry);
            let is_name_character = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            if let Ok(address) = entry.parse::<IpAddr>() {
                allowed.networks.push(address.to_canonical().into());
            } else if let Ok(network) = entry.parse::<IpNet>() {
                allowed.networks.push(network);
            } else if !name.is_empty() && name.chars().all(is_name_character) {
                allowed.hosts.push(entry.to_ascii_lowercase());
            } else {
                return Err(format!(
                    "`{entry}` is not a host; write a name, `*.example.com`, an address, or a network as `10.0.0.0/8`"
                ));
            }
        }
        Ok(Self(Arc::new(allowed)))
    }

    /// Whether a connection to an address of a host is allowed.
    fn allows(&self, host: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address)
            || self.0.networks.iter().any(|network| network.contains(&address))
            || self.allows_name(host)
    }

    fn allows_name(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.hosts.iter().any(|allowed| match allowed.strip_prefix("*.") {
            Some(parent) => host.strip_suffix(parent).is_some_and(|front| front.ends_with('.')),
            None => *allowed == host,
        })
    }

    /// Checks a host that is an address. Names are checked when they are resolved.
    ///
    /// # Errors
    /// The address is not allowed.
    pub(crate) fn check_literal(&self, url: &Url) -> Result<(), NotPublic> {
        let host = url.host_str().unwrap_or_default();
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) if !self.allows(host, address) => {
                Err(NotPublic { host: host.to_owned(), address })
            }
            _ => Ok(()),
        }
    }

    /// The allowed addresses of a name.
    ///
    /// # Errors
    /// There are none.
    pub(crate) async fn resolve(
        &self,
        host: &str,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found: Vec<SocketAddr> = match lookup_host((host, 0)).await {
            Ok(found) => found.collect(),
            Err(_) => return Err(NoSuchHost(host.to_owned()).into()),
        };
        let first = found.first().ok_or_else(|| NoSuchHost(host.to_owned()))?.ip();
        let allowed: Vec<SocketAddr> =
            found.into_iter().filter(|found| self.allows(host, found.ip())).collect();
        if allowed.is_empty() {
            return Err(NotPublic { host: host.to_owned(), address: first }.into());
        }
        Ok(allowed)
    }
}

/// A connection uses the addresses that were checked, so a name that changes its address cannot circumvent the check.
impl Resolve for AddressRules {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = self.clone();
        Box::pin(async move {
            let allowed = Self::resolve(&rules, name.as_str()).await?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Whether an address belongs to the public Internet.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    let is_special = match (a, b, c) {
        // This network, private networks, loopback, multicast, reserved, broadcast.
        (0 | 10 | 127 | 224.., ..) | (172, 16..=31, _) | (192, 168, _) => true,
        // Networks of carriers, link-local with the metadata of clouds.
        (100, 64..=127, _) | (169, 254, _) => true,
        // Protocol assignments, documentation, 6to4 relays, benchmarks.
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => {
            true
        }
        _ => false,
    };
    // Azure answers machines at this address with their own secrets.
    !is_special && [a, b, c, d] != [168, 63, 129, 16]
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    match segments {
        // NAT64 leads to the IPv4 address in the last 32 bits.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        // Protocol assignments with Teredo, documentation, 6to4, documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // All other global addresses begin with 2 or 3.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(entries: &[&str]) -> AddressRules {
        let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
        AddressRules::parse(&entries).unwrap()
    }

    /// Whether an address that is the host of a URL is allowed.
    fn allows(rules: &AddressRules, host: &str) -> bool {
        let url = Url::parse(&format!("http://{host}/")).unwrap_or_else(|error| {
            panic!("{host}: {error}");
        });
        // Names would be resolved.
        let literal = url.host_str().unwrap().trim_matches(['[', ']']).parse::<IpAddr>();
        assert!(literal.is_ok(), "{host} is not an address: {url}");
        rules.check_literal(&url).is_ok()
    }

    #[test]
    fn private_addresses_are_refused_in_all_spellings() {
        let spellings = [
            // Loopback: dotted, short, decimal, octal, hexadecimal, mixed, escaped, wide digits, other dots.
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "127.255.255.254",
            "2130706433",
            "017700000001",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "0x7f.1",
            "0177.0x0.1",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
            "0x7F.0x0.0x0.0x1",
            // This host.
            "0.0.0.0",
            "0",
            "0x0",
            "00000000",
            "0.1.2.3",
            // Private networks.
            "10.0.0.1",
            "10.1",
            "167772161",
            "0xa000001",
            "012.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "192.168.257",
            "3232235521",
            "0xc0.0xa8.0.1",
            "0300.0250.0.1",
            // Link-local, metadata of clouds.
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            // Carriers, documentation, benchmarks, multicast, reserved, broadcast.
            "100.64.0.1",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "198.18.0.1",
            "192.88.99.1",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            // IPv6: loopback, unspecified, mapped, compatible, link-local, unique-local, site-local, multicast.
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:10.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[::127.0.0.1]",
            "[fe80::1]",
            "[febf::1]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fec0::1]",
            "[ff02::1]",
            // NAT64, 6to4, Teredo, documentation, discard.
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b:1::1]",
            "[2002:7f00:1::]",
            "[2001:0:7f00:1::1]",
            "[2001:db8::1]",
            "[3fff::1]",
            "[100::1]",
        ];
        assert!(spellings.len() >= 40);
        let none = rules(&[]);
        for host in spellings {
            assert!(!allows(&none, host), "{host} is allowed");
        }
    }

    #[test]
    fn public_addresses_are_allowed() {
        for host in [
            "8.8.8.8",
            "1.1.1.1",
            "134744072",
            "0x08080808",
            "9.9.9.9",
            "172.32.0.1",
            "172.15.0.1",
            "100.128.0.1",
            "100.63.0.1",
            "169.253.0.1",
            "192.167.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "[2606:4700:4700::1111]",
            "[2001:4860:4860::8888]",
            "[::ffff:8.8.8.8]",
            "[64:ff9b::8.8.8.8]",
        ] {
            assert!(allows(&rules(&[]), host), "{host} is refused");
        }
    }

    #[test]
    fn an_operator_allows_addresses_networks_and_names() {
        let allowed = rules(&["127.0.0.1", "10.1.0.0/16", "fd00::/8"]);
        for (host, expected) in [
            ("127.0.0.1", true),
            ("2130706433", true),
            ("[::ffff:127.0.0.1]", true),
            ("127.0.0.2", false),
            ("10.1.2.3", true),
            ("10.2.0.1", false),
            ("[fd12::1]", true),
            ("[fe80::1]", false),
        ] {
            assert_eq!(allows(&allowed, host), expected, "{host}");
        }
        let named = rules(&["Wiki.example", "*.corp.example"]);
        for (host, expected) in [
            ("wiki.example", true),
            ("WIKI.example.", true),
            ("a.wiki.example", false),
            ("xwiki.example", false),
            ("a.b.corp.example", true),
            ("corp.example", false),
            ("xcorp.example", false),
        ] {
            assert_eq!(named.allows(host, Ipv4Addr::LOCALHOST.into()), expected, "{host}");
        }
        assert!(AddressRules::parse(&["http://x".to_owned()]).is_err());
    }

    #[tokio::test]
    async fn names_are_checked_when_they_are_resolved() {
        let refused = AddressRules::resolve(&rules(&[]), "localhost").await.unwrap_err();
        assert!(refused.is::<NotPublic>(), "{refused}");
        assert!(AddressRules::resolve(&rules(&["localhost"]), "localhost").await.is_ok());
        let missing = AddressRules::resolve(&rules(&[]), "no-such-host.invalid").await.unwrap_err();
        assert!(missing.is::<NoSuchHost>(), "{missing}");
    }
}
