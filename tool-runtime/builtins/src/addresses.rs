//! The addresses that tools may connect to.

mod public;

use ipnet::IpNet;
use public::is_public;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::lookup_host;

/// Public addresses, and what the operator allows besides them. Clones share everything.
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
    /// An entry is not one of them.
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
    /// No address is allowed.
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

#[cfg(test)]
mod tests;
