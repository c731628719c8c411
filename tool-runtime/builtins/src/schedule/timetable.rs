//! Cron expressions in time zones.

use super::text::nearest;
use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Year};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use std::time::Duration;
use tool_runtime::ToolError;

/// The fields of an expression with five fields, and their values.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "0-59"),
    ("hour", "0-23"),
    ("day of the month", "1-31, `L`, `15W`"),
    ("month", "1-12 or JAN-DEC"),
    ("day of the week", "0-7 or SUN-SAT, `FRI#2`, `FRI#L`"),
];
const SECOND: (&str, &str) = ("second", "0-59");
/// The times that are compared to find the shortest interval.
const COMPARED_TIMES: usize = 400;

/// The times of a job.
///
/// Around a change of the clock, an expression with one second, one minute and one hour runs once a day: at the first
/// moment after the gap if its time is skipped, and at the first of two times if it is repeated. All other expressions
/// follow the clock on the wall: times in a gap do not occur, repeated ones occur twice.
#[derive(Clone, Debug)]
pub(super) struct Timetable {
    cron: Cron,
    zone: TimeZone,
}

impl Timetable {
    /// # Errors
    /// The expression or the zone is invalid, or no time fits; the text says which field is wrong.
    pub(super) fn new(expression: &str, zone: &str) -> Result<Self, ToolError> {
        let (cron, zone) = (parse(expression)?, time_zone(zone)?);
        Ok(Self { cron, zone })
    }

    /// The first time after another, which need not be one of the timetable. `None` if there is none.
    pub(super) fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let start = time.to_zoned(self.zone.clone());
        let next = self.cron.find_next_occurrence(&start, false).ok()?.timestamp();
        // Whole seconds: `start` may have a fraction.
        (next > time).then_some(next)
    }

    pub(super) fn next(&self, after: Timestamp, count: usize) -> Vec<Timestamp> {
        std::iter::successors(self.after(after), |time| self.after(*time)).take(count).collect()
    }

    /// A time as people of the zone write it.
    pub(super) fn render(&self, time: Timestamp) -> String {
        let zoned: Zoned = time.to_zoned(self.zone.clone());
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// # Errors
    /// Two of the next times are closer than `shortest`, or there is no next time.
    pub(super) fn check(&self, now: Timestamp, shortest: Duration) -> Result<(), ToolError> {
        let times = self.next(now, COMPARED_TIMES);
        if times.is_empty() {
            let text = "`schedule` has no time in the future; check its day, month and year";
            return Err(ToolError::user(text));
        }
        let limit = SignedDuration::try_from(shortest).unwrap_or(SignedDuration::MAX);
        let close = times.windows(2).find(|pair| pair[1].duration_since(pair[0]) < limit);
        let Some(pair) = close else { return Ok(()) };
        let (first, second) = (self.render(pair[0]), self.render(pair[1]));
        let text = format!(
            "`schedule` is too frequent: it runs at {first} and at {second}; the shortest interval is {shortest:?}"
        );
        Err(ToolError::user(text))
    }
}

fn parse(expression: &str) -> Result<Cron, ToolError> {
    let fields: Vec<&str> = expression.split_whitespace().collect();
    if fields.is_empty() {
        let text = "`schedule` is empty; write for instance `0 9 * * MON-FRI` for nine o'clock on workdays";
        return Err(ToolError::user(text));
    }
    if fields[0].starts_with('@') {
        let text = format!(
            "`{}` is not supported; write five fields, for instance `0 0 * * *` for every midnight",
            fields[0]
        );
        return Err(ToolError::user(text));
    }
    if !(5..=6).contains(&fields.len()) {
        let text = format!(
            "`schedule` has {} fields; write five, minute hour day month weekday, or six with the second first",
            fields.len()
        );
        return Err(ToolError::user(text));
    }
    let parser = CronParser::builder().year(Year::Disallowed).build();
    parser.parse(&fields.join(" ")).map_err(|error| explain(&parser, &fields, &error))
}

/// Finds the field that is wrong: each is tried with fields that fit.
fn explain(parser: &CronParser, fields: &[&str], error: &CronError) -> ToolError {
    let names = if fields.len() == 6 { [&[SECOND][..], &FIELDS].concat() } else { FIELDS.to_vec() };
    for (index, (name, values)) in names.iter().enumerate() {
        let mut single = vec!["*"; fields.len()];
        single[index] = fields[index];
        if let Err(error) = parser.parse(&single.join(" ")) {
            let text = format!(
                "field {} of `schedule`, the {name}, is not valid: `{}` ({}); its values are {values}, with `*`, `,`, `-` and `/`",
                index + 1,
                fields[index],
                reason(&error)
            );
            return ToolError::user(text);
        }
    }
    ToolError::user(format!("`schedule` is not a valid cron expression: {}", reason(error)))
}

fn reason(error: &CronError) -> String {
    let text = match error {
        CronError::InvalidPattern(text)
        | CronError::IllegalCharacters(text)
        | CronError::ComponentError(text) => text.clone(),
        other => other.to_string(),
    };
    text.trim_end_matches('.').to_lowercase()
}

fn time_zone(name: &str) -> Result<TimeZone, ToolError> {
    TimeZone::get(name).map_err(|_| {
        let names: Vec<String> =
            jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = near.unwrap_or_else(|| "write a name like `Europe/Berlin` or `UTC`".to_owned());
        ToolError::user(format!("`{name}` is not the name of a time zone; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(expression: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
        let timetable = Timetable::new(expression, zone).unwrap();
        let next = timetable.next(after.parse().unwrap(), count);
        next.into_iter().map(|time| timetable.render(time)).collect()
    }

    #[test]
    fn a_daily_time_in_the_spring_gap_runs_once_after_it() {
        let found = times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(found, ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]);
    }

    #[test]
    fn times_of_an_interval_in_the_spring_gap_do_not_occur() {
        let found = times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:29:59Z", 3);
        let expected =
            ["2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_daily_time_in_the_autumn_overlap_runs_once() {
        let found = times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
        assert_eq!(found, ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]);
    }

    #[test]
    fn times_of_an_interval_in_the_autumn_overlap_occur_twice() {
        let found = times("*/30 2 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", 4);
        let expected = [
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_last_day_the_nearest_workday_and_the_second_friday() {
        let after = "2026-01-31T12:00:00Z";
        assert_eq!(times("0 0 L * *", "UTC", after, 1), ["2026-02-28T00:00:00+00:00"]);
        // The 15th is a Sunday.
        assert_eq!(times("0 0 15W * *", "UTC", after, 1), ["2026-02-16T00:00:00+00:00"]);
        assert_eq!(times("0 0 * * FRI#2", "UTC", after, 1), ["2026-02-13T00:00:00+00:00"]);
        assert_eq!(times("30 0 0 * * *", "UTC", after, 1), ["2026-02-01T00:00:30+00:00"]);
    }

    #[test]
    fn a_mistake_is_shown_with_its_field_and_its_values() {
        let error =
            |expression| Timetable::new(expression, "UTC").unwrap_err().message().to_owned();
        let hour = error("0 25 * * *");
        assert!(
            hour.contains("field 2 of `schedule`, the hour") && hour.contains("0-23"),
            "{hour}"
        );
        let weekday = error("0 0 * * FRU");
        assert!(weekday.contains("field 5 of `schedule`, the day of the week"), "{weekday}");
        let second = error("x 0 0 * * *");
        assert!(second.contains("field 1 of `schedule`, the second"), "{second}");
        assert!(error("0 0 * *").contains("has 4 fields; write five"));
        assert!(error(" ").contains("is empty"));
        assert!(error("@daily").contains("write five fields"));
        let zone = Timetable::new("0 0 * * *", "Europe/Berln").unwrap_err();
        assert!(zone.message().contains("did you mean `Europe/Berlin`?"), "{zone}");
    }

    #[test]
    fn an_expression_without_a_time_and_one_that_is_too_frequent_are_refused() {
        let check = |expression, shortest| {
            let now = "2026-01-01T00:00:00Z".parse().unwrap();
            let timetable = Timetable::new(expression, "UTC").unwrap();
            timetable.check(now, Duration::from_secs(shortest)).map_err(|it| it.to_string())
        };
        assert!(check("0 0 30 2 *", 60).unwrap_err().contains("no time in the future"));
        assert!(check("* * * * *", 60).is_ok());
        let often = check("*/5 * * * *", 600).unwrap_err();
        assert!(often.contains("the shortest interval is 600s"), "{often}");
        // Close together only at midnight.
        assert!(check("0 0,23 * * *", 3 * 3600).is_err());
    }
}
