//! Values that each format accepts and rejects.

use crate::schema::format::{ENFORCED, conforms, hint};

/// A format, with valid and invalid values.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

/// All formats, in the order in which they are listed.
const TABLE: &[Row] = &[
    (
        "date-time",
        &[
            "2026-01-31T12:00:00Z",
            "2026-01-31t12:00:00z",
            "2026-01-31T12:00:00.123456789012+05:30",
            "2026-01-31T12:00:00-00:00",
            "1998-12-31T23:59:60Z",
            "1998-12-31T15:59:60.123-08:00",
            "2024-02-29T00:00:00Z",
        ],
        &[
            "",
            "2026-02-30T12:00:00Z",
            "2023-02-29T12:00:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31 12:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:60:00Z",
            "1998-12-31T23:58:60Z",
            "1998-12-31T22:59:60Z",
            "2026-01-31T12:00:00+24:00",
            "2026-01-31T12:00:00+0530",
            "2026-01-31T12:00Z",
            "26-01-31T12:00:00Z",
            "2026-01-31",
            "2026-01-31T12:00:00.Z",
            "２026-01-31T12:00:00Z",
            "2026-01-31T12:00:00Zé",
        ],
    ),
    (
        "date",
        &["2026-01-31", "2024-02-29", "0000-01-01"],
        &[
            "2026-02-30",
            "2026-1-31",
            "26-01-31",
            "2026/01/31",
            "+026-01-31",
            "2026-01-3é",
            "2026-13-01",
            "",
        ],
    ),
    (
        "time",
        &["12:00:00Z", "12:00:00z", "12:00:00.5+01:00", "23:59:60Z", "15:59:60-08:00"],
        &[
            "12:00:00",
            "24:00:00Z",
            "12:00Z",
            "12:60:00Z",
            "22:59:60Z",
            "1:00:00Z",
            "12:00:00 Z",
            "",
        ],
    ),
    (
        "duration",
        &["P1D", "PT1H30M", "P1Y2M3DT4H5M6S", "P4W", "PT0.5S", "PT0S", "P1YT1S", "-PT1H"],
        &[
            "", "P", "PT", "P1", "P1DT", "1D", "PT1D", "P1H", "p1d", "P1D2Y", "P-1D", "PT1.5H",
            "P１D",
        ],
    ),
    (
        "email",
        &[
            "name@example.com",
            "first.last+tag@sub.example.co",
            "\"odd name\"@example.com",
            "é@example.com",
        ],
        &[
            "",
            "name",
            "name@",
            "@example.com",
            "a@b@c",
            "Name <name@example.com>",
            ".a@example.com",
            "a b@example.com",
        ],
    ),
    (
        "uri",
        &[
            "https://example.com/a?b=c#d",
            "urn:isbn:0451450523",
            "mailto:a@b.c",
            "file:///tmp/x",
            "a:",
        ],
        &[
            "",
            "/relative/path",
            "example.com",
            "//example.com",
            "https://exa mple.com",
            "https://example.com/é",
            "http://[::1",
        ],
    ),
    (
        "uuid",
        &[
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567-E89B-12D3-A456-426614174000",
            "00000000-0000-0000-0000-000000000000",
        ],
        &[
            "",
            "123e4567e89b12d3a456426614174000",
            "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "123e4567-e89b-12d3-a456-42661417400g",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e-4567e89b-12d3-a456-426614174000",
        ],
    ),
    (
        "ipv4",
        &["192.0.2.1", "0.0.0.0"],
        &["", "256.0.0.1", "192.0.2", "01.2.3.4", "192.0.2.1/24", "::1"],
    ),
    (
        "ipv6",
        &["::1", "2001:db8::1", "::ffff:192.0.2.1"],
        &["", "192.0.2.1", "fe80::1%eth0", "12345::", ":::1"],
    ),
    ("ip", &["192.0.2.1", "::1"], &["", "localhost"]),
    (
        "hostname",
        &["example.com", "localhost", "a-b.c", "xn--4gbwdl.xn--wgbh1c", "1.example"],
        &[
            "",
            ".",
            "a..b",
            "-a.com",
            "a-.com",
            "under_score.com",
            "example.com.",
            "exämple.com",
            "a b",
        ],
    ),
];

#[test]
fn each_format_accepts_and_rejects_its_samples() {
    for (format, valid, invalid) in TABLE {
        for text in *valid {
            assert_eq!(conforms(format, text), Some(true), "{format} takes {text:?}");
        }
        for text in *invalid {
            assert_eq!(conforms(format, text), Some(false), "{format} rejects {text:?}");
        }
    }
}

#[test]
fn exactly_the_listed_formats_are_enforced() {
    let tested: Vec<&str> = TABLE.iter().map(|(format, ..)| *format).collect();
    assert_eq!(tested, ENFORCED);
    for format in ENFORCED {
        assert!(hint(format).is_some(), "{format}");
    }
    for format in ["", "color", "regex", "int32", "partial-time", "DATE"] {
        assert_eq!((conforms(format, "x"), hint(format)), (None, None), "{format}");
    }
}

#[test]
fn limits_of_host_names() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert_eq!(longest.len(), 253);
    assert_eq!(conforms("hostname", &longest), Some(true));
    assert_eq!(conforms("hostname", &format!("{longest}a")), Some(false));
    assert_eq!(conforms("hostname", &format!("{label}a.com")), Some(false));
}

#[test]
fn every_hint_gives_an_example_that_conforms() {
    for format in ENFORCED {
        let example = hint(format).and_then(|hint| hint.split('"').nth(1)).unwrap();
        assert_eq!(conforms(format, example), Some(true), "{format}: {example}");
    }
}
