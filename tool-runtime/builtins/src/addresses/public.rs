//! Addresses of the public Internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to the public Internet.
pub(super) fn is_public(address: IpAddr) -> bool {
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
