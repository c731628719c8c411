//! Schedules: days and hours in a time zone.

use crate::read::Fault;
use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use std::fmt;

const DAYS: [(&str, &str, Weekday); 7] = [
    ("mon", "monday", Weekday::Monday),
    ("tue", "tuesday", Weekday::Tuesday),
    ("wed", "wednesday", Weekday::Wednesday),
    ("thu", "thursday", Weekday::Thursday),
    ("fri", "friday", Weekday::Friday),
    ("sat", "saturday", Weekday::Saturday),
    ("sun", "sunday", Weekday::Sunday),
];

const HELP: &str = "write days, hours and a time zone, as in `mon-fri 09:00-17:00 Europe/Berlin`";

/// Days and hours in a time zone: `mon-fri 22:00-06:00 Europe/Berlin`. Days are a range, a list with
/// commas, or `daily`. The end is exclusive. Hours over midnight belong to the day on which they start.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    text: String,
    /// From Monday.
    days: [bool; 7],
    /// Minutes of the day.
    start: u16,
    end: u16,
    zone: TimeZone,
}

impl Schedule {
    /// # Errors
    /// The text is not a schedule.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = |problem: String| Fault::new(problem, HELP);
        let parts: Vec<&str> = text.split_whitespace().collect();
        let [days, hours, zone] = parts[..] else {
            return Err(wrong(format!("`{text}` is not a schedule")));
        };
        let (start, end) = hours
            .split_once('-')
            .and_then(|(start, end)| Some((minutes(start)?, minutes(end)?)))
            .filter(|(start, _)| *start < 24 * 60)
            .ok_or_else(|| wrong(format!("`{hours}` is not a range of hours")))?;
        if start == end {
            return Err(wrong(format!(
                "`{hours}` is empty; write `00:00-24:00` for the whole day"
            )));
        }
        let days = days_of(days).ok_or_else(|| wrong(format!("`{days}` is not a list of days")))?;
        let zone = TimeZone::get(zone).map_err(|_| wrong(format!("unknown time zone `{zone}`")))?;
        Ok(Self { text: text.to_owned(), days, start, end, zone })
    }

    /// Whether the time is in the schedule, by the clocks of its zone.
    pub(crate) fn contains(&self, time: Timestamp) -> bool {
        let local = self.zone.to_datetime(time);
        let day = local.weekday().to_monday_zero_offset();
        let today = usize::try_from(day).unwrap_or_default();
        let yesterday = (today + 6) % 7;
        let hour = u16::try_from(local.hour()).unwrap_or_default();
        let now = hour * 60 + u16::try_from(local.minute()).unwrap_or_default();
        if self.start < self.end {
            return self.days[today] && (self.start..self.end).contains(&now);
        }
        self.days[today] && now >= self.start || self.days[yesterday] && now < self.end
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The minute of the day of `HH:MM`, up to `24:00`.
fn minutes(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let two = |text: &str| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| is_number)
    };
    let (hour, minute) = (two(hour)?, two(minute)?);
    (minute < 60 && hour * 60 + minute <= 24 * 60).then_some(hour * 60 + minute)
}

fn days_of(text: &str) -> Option<[bool; 7]> {
    if text.eq_ignore_ascii_case("daily") || text == "*" {
        return Some([true; 7]);
    }
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut day, last) = (day_of(first)?, day_of(last)?);
        days[day] = true;
        while day != last {
            day = (day + 1) % 7;
            days[day] = true;
        }
    }
    Some(days)
}

fn day_of(text: &str) -> Option<usize> {
    let text = text.to_ascii_lowercase();
    DAYS.iter().position(|(short, long, _)| text == *short || text == *long)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, time: &str) -> bool {
        Schedule::parse(text).unwrap().contains(time.parse().unwrap())
    }

    #[test]
    fn hours_are_those_of_the_zone_and_the_end_is_exclusive() {
        // 2026-01-05 is a Monday; Berlin is one hour ahead in winter, two in summer.
        for (text, time, expected) in [
            ("mon-fri 09:00-17:00 UTC", "2026-01-05T09:00:00Z", true),
            ("mon-fri 09:00-17:00 UTC", "2026-01-05T08:59:59Z", false),
            ("mon-fri 09:00-17:00 UTC", "2026-01-05T17:00:00Z", false),
            ("mon-fri 09:00-17:00 UTC", "2026-01-10T12:00:00Z", false),
            ("mon-fri 09:00-17:00 Europe/Berlin", "2026-01-05T08:00:00Z", true),
            ("mon-fri 09:00-17:00 Europe/Berlin", "2026-07-06T07:00:00Z", true),
            ("mon-fri 09:00-17:00 Europe/Berlin", "2026-01-05T07:30:00Z", false),
            ("sat,sun 00:00-24:00 UTC", "2026-01-10T23:59:59Z", true),
            ("fri-mon 10:00-11:00 UTC", "2026-01-05T10:30:00Z", true),
            ("fri-mon 10:00-11:00 UTC", "2026-01-06T10:30:00Z", false),
            ("Monday 10:00-11:00 UTC", "2026-01-05T10:30:00Z", true),
            ("daily 10:00-11:00 Asia/Tokyo", "2026-01-05T01:30:00Z", true),
        ] {
            assert_eq!(at(text, time), expected, "{text} at {time}");
        }
    }

    #[test]
    fn hours_over_midnight_belong_to_the_day_on_which_they_start() {
        let night = "fri 22:00-06:00 UTC";
        assert!(at(night, "2026-01-09T22:00:00Z"));
        assert!(at(night, "2026-01-10T05:59:00Z"));
        assert!(!at(night, "2026-01-10T06:00:00Z"));
        assert!(!at(night, "2026-01-09T05:00:00Z"), "the night of Thursday");
        assert!(!at(night, "2026-01-10T22:00:00Z"));
    }

    #[test]
    fn texts_that_are_not_schedules_are_rejected() {
        for text in [
            "",
            "mon 09:00-17:00",
            "mon 9:00-17:00 UTC",
            "mon 09:00-25:00 UTC",
            "mon 09:60-10:00 UTC",
            "mon 24:00-10:00 UTC",
            "mon 09:00-09:00 UTC",
            "mo 09:00-10:00 UTC",
            "mon- 09:00-10:00 UTC",
            "mon 09:00-10:00 Europe/Berlim",
            "mon 09:00 10:00 UTC",
            "mon +9:00-10:00 UTC",
        ] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }
}
