//! The string formats of JSON Schema that are enforced, each by a crate for that format.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use crate::vocabulary::regex::Regex;
use chrono::{DateTime, NaiveDate, Timelike, Utc};
use email_address::{EmailAddress, Options};

#[cfg(test)]
mod tests;

/// The formats that [`conforms`] checks. `ip` is not in the standard: schemars writes it for `IpAddr`.
pub(crate) const ENFORCED: &[&str] = &[
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "uri",
    "uuid",
    "ipv4",
    "ipv6",
    "ip",
    "hostname",
];

/// Whether `text` conforms to `format`; `None` for a format that is not enforced.
pub(crate) fn conforms(format: &str, text: &str) -> Option<bool> {
    Some(match format {
        "date-time" => is_date_time(text),
        "date" => is_date(text),
        "time" => is_time(text),
        "duration" => is_duration(text),
        "email" => is_email(text),
        "uri" => fluent_uri::Uri::parse(text).is_ok(),
        "uuid" => is_uuid(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "ip" => text.parse::<IpAddr>().is_ok(),
        "hostname" => is_hostname(text),
        _ => return None,
    })
}

/// Describes a format in an error message.
pub(crate) fn hint(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "RFC 3339 with an offset, like \"2026-01-31T12:00:00Z\"",
        "date" => "like \"2026-01-31\"",
        "time" => "RFC 3339 with an offset, like \"12:00:00Z\"",
        "duration" => "ISO 8601, like \"PT1H30M\"",
        "email" => "like \"name@example.com\"",
        "uri" => "absolute, like \"https://example.com/path\"",
        "uuid" => "like \"123e4567-e89b-12d3-a456-426614174000\"",
        "ipv4" => "like \"192.0.2.1\"",
        "ipv6" => "like \"2001:db8::1\"",
        "ip" => "like \"192.0.2.1\" or \"2001:db8::1\"",
        "hostname" => "like \"www.example.com\"",
        _ => return None,
    })
}

/// RFC 3339, offset and all. chrono also takes a space for the `T`, which the RFC's grammar does not.
fn is_date_time(text: &str) -> bool {
    matches!(text.as_bytes().get(10), Some(b'T' | b't'))
        && DateTime::parse_from_rfc3339(text)
            .is_ok_and(|moment| leap_second_is_possible(&moment.to_utc()))
}

/// Leap seconds occur only at the end of a day of UTC.
fn leap_second_is_possible(moment: &DateTime<Utc>) -> bool {
    // chrono shows second 60 as second 59 with more than a second of nanoseconds.
    moment.nanosecond() < 1_000_000_000 || (moment.hour(), moment.minute()) == (23, 59)
}

/// RFC 3339's `full-date`: chrono's own format would take `+2026-1-1` as well.
fn is_date(text: &str) -> bool {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(i, byte)| match i {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    shaped && day(text).is_some()
}

/// The day of such a string, if the text is valid.
fn day(text: &str) -> Option<NaiveDate> {
    let (year, month, day) = (text[..4].parse(), text[5..7].parse(), text[8..].parse());
    NaiveDate::from_ymd_opt(year.ok()?, month.ok()?, day.ok()?)
}

/// RFC 3339's `full-time`: the part after the `T` of a date-time. The chosen day could end in a leap second.
fn is_time(text: &str) -> bool {
    is_date_time(&format!("1998-12-31T{text}"))
}

/// ISO 8601 as written by libraries: any unit may be omitted, seconds may have a fraction, a sign may come first.
fn is_duration(text: &str) -> bool {
    static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let date = r"(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+W)?(?:[0-9]+D)?";
        let time = r"(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:[.,][0-9]+)?S)?";
        Regex::new(&format!("^[-+]?P{date}(?:T{time})?$")).ok()
    });
    // Every unit is optional, but one must be there, and one after the `T` if there is a `T`.
    !text.ends_with(['P', 'T']) && SHAPE.as_ref().is_some_and(|shape| shape.is_match(text))
}

/// A bare address: `Name <a@b.c>` is a mailbox, not an address.
fn is_email(text: &str) -> bool {
    EmailAddress::parse_with_options(text, Options::default().without_display_text()).is_ok()
}

/// The hyphenated form only; the crate also accepts the braced, the bare and the `urn:` form.
fn is_uuid(text: &str) -> bool {
    text.len() == uuid::fmt::Hyphenated::LENGTH && uuid::Uuid::try_parse(text).is_ok()
}

/// RFC 1123: labels of letters, digits and inner hyphens.
fn is_hostname(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// One label of a host name.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
