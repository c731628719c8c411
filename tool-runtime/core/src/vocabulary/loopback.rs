//! Addresses of this machine.

use std::net::IpAddr;

/// Whether a host is this machine: `localhost`, a name below it, or a loopback address, in brackets or
/// not.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let is_name = host == "localhost" || host.ends_with(".localhost");
    is_name || host.parse().is_ok_and(|ip: IpAddr| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_addresses_are_loopback() {
        for host in [
            "localhost",
            "LOCALHOST",
            "a.localhost",
            "127.8.0.1",
            "::1",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "example.com", "localhost.example.com", "10.0.0.1", "0.0.0.0", "::"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
