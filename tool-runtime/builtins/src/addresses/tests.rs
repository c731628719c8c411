use super::*;
use std::net::Ipv4Addr;

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
    // No name has such a label, so that no server is asked for it.
    let missing = format!("{}.invalid", "x".repeat(64));
    let missing = AddressRules::resolve(&rules(&[]), &missing).await.unwrap_err();
    assert!(missing.is::<NoSuchHost>(), "{missing}");
}
