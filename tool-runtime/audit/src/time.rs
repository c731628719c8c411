//! Times as people read and write them, in UTC.

use chrono::DateTime;
#[cfg(feature = "cli")]
use chrono::{Days, NaiveDate, NaiveDateTime, Utc};
#[cfg(feature = "cli")]
use std::time::{Duration, SystemTime};

/// A time for a person, in UTC.
pub(crate) fn time(time_us: u64) -> String {
    let time = i64::try_from(time_us).ok().and_then(DateTime::from_timestamp_micros);
    time.unwrap_or_default().format("%Y-%m-%d %H:%M:%S%.3fZ").to_string()
}

/// Reads a time, in microseconds since 1970 UTC: a date, a time of a day as they are printed, RFC 3339, `today`, `yesterday`, or
/// the time before now as `30m`.
#[cfg(feature = "cli")]
pub(crate) fn parsed_time(given: &str) -> Option<u64> {
    let time = day(given).or_else(|| before_now(given)).or_else(|| at(given))?;
    Some(u64::try_from(time.timestamp_micros()).unwrap_or_default())
}

/// The beginning of a day of UTC.
#[cfg(feature = "cli")]
fn day(given: &str) -> Option<DateTime<Utc>> {
    let days = match given {
        "today" => 0,
        "yesterday" => 1,
        _ => return None,
    };
    let today = before_now("0s")?.date_naive();
    Some(today.checked_sub_days(Days::new(days))?.and_hms_opt(0, 0, 0)?.and_utc())
}

#[cfg(feature = "cli")]
fn before_now(given: &str) -> Option<DateTime<Utc>> {
    let unit = given.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let count: u64 = given[..given.len() - 1].parse().ok()?;
    let before = Duration::from_secs(count.checked_mul(seconds)?);
    let before =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.checked_sub(before)?;
    DateTime::from_timestamp_micros(i64::try_from(before.as_micros()).ok()?)
}

#[cfg(feature = "cli")]
fn at(given: &str) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(given) {
        return Some(time.to_utc());
    }
    if let Ok(date) = given.parse::<NaiveDate>() {
        return Some(date.and_hms_opt(0, 0, 0)?.and_utc());
    }
    let given = given.strip_suffix('Z').unwrap_or(given).replace(' ', "T");
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f"];
    let time = forms.into_iter().find_map(|form| NaiveDateTime::parse_from_str(&given, form).ok());
    Some(time?.and_utc())
}
