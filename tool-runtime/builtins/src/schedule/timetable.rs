//! Cron expressions in time zones.

use super::text::nearest;
use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Year};
use jiff::tz::{AmbiguousOffset, TimeZone};
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
/// Around a change of the clock, an expression without `*` in its second, minute and hour has fixed times: those that are
/// skipped run at the first moment after the gap, once, and repeated ones at the first of the two times. All other
/// expressions follow the clock on the wall: times in a gap do not occur, repeated ones occur twice.
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
        if !self.has_fixed_times() {
            return self.on_the_wall(time, false);
        }
        let mut next = self.on_the_wall(time, false)?;
        while self.is_repeated(next) {
            next = self.on_the_wall(next, false)?;
        }
        Some(self.after_gap(time, next).unwrap_or(next))
    }

    fn has_fixed_times(&self) -> bool {
        let pattern = &self.cron.pattern;
        let fields = [&pattern.seconds, &pattern.minutes, &pattern.hours];
        fields.iter().all(|field| !field.from_wildcard)
    }

    /// The first time after another by the clock on the wall.
    fn on_the_wall(&self, time: Timestamp, inclusive: bool) -> Option<Timestamp> {
        let start = time.to_zoned(self.zone.clone());
        let next = self.cron.find_next_occurrence(&start, inclusive).ok()?.timestamp();
        // Whole seconds: `start` may have a fraction.
        (next > time || inclusive && next == time).then_some(next)
    }

    /// Whether the clock on the wall showed this time before.
    fn is_repeated(&self, time: Timestamp) -> bool {
        let civil = self.zone.to_datetime(time);
        match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Fold { after, .. } => self.zone.to_offset(time) == after,
            _ => false,
        }
    }

    /// The end of the first gap between two times that skips a time of the expression.
    fn after_gap(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let changes = self.zone.following(after).map(|change| change.timestamp());
        changes.take_while(|change| *change < until).find(|change| {
            let before = self.zone.to_offset(*change - SignedDuration::from_secs(1));
            let skipped = self.zone.to_offset(*change).duration_since(before);
            // The skipped times, as if the clock had not changed.
            let unchanged = Self { zone: before.to_time_zone(), cron: self.cron.clone() };
            let first = unchanged.on_the_wall(*change, true);
            first.is_some_and(|first| first.duration_since(*change) < skipped)
        })
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
    /// Two of the next times are closer than `shortest`, or there is no next time. Changes of the clock do not count: a
    /// daily job has days of 23 hours.
    pub(super) fn check(&self, now: Timestamp, shortest: Duration) -> Result<(), ToolError> {
        if self.after(now).is_none() {
            let text = "`schedule` has no time in the future; check its day, month and year";
            return Err(ToolError::user(text));
        }
        let unchanged = Self { zone: TimeZone::UTC, cron: self.cron.clone() };
        let times = unchanged.next(now, COMPARED_TIMES);
        let limit = SignedDuration::try_from(shortest).unwrap_or(SignedDuration::MAX);
        let close = times.windows(2).find(|pair| pair[1].duration_since(pair[0]) < limit);
        let Some(pair) = close else { return Ok(()) };
        let [first, second] =
            [pair[0], pair[1]].map(|time| time.strftime("%Y-%m-%dT%H:%M:%S").to_string());
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
    let [day, weekday] = [fields.len() - 3, fields.len() - 1].map(|index| fields[index]);
    // As in crond, a day field that begins with `*` narrows the other one instead of adding days to it.
    let narrows = [day, weekday].iter().any(|field| field.starts_with(['*', '?']));
    let parser = CronParser::builder().year(Year::Disallowed).dom_and_dow(narrows).build();
    let sunday_last = sunday_last(weekday);
    let mut parsed = fields.clone();
    parsed[fields.len() - 1] = &sunday_last;
    let cron =
        parser.parse(&parsed.join(" ")).map_err(|error| explain(&parser, &fields, &error))?;
    check_steps(&fields)?;
    Ok(cron)
}

/// The weekdays with ranges until Sunday as `5-7`: `FRI-SUN` and `5-0` would end before they begin.
fn sunday_last(weekdays: &str) -> String {
    let weekdays = weekdays.to_uppercase();
    let part = |part: &str| {
        let (range, step) = part.split_once('/').map_or((part, None), |(it, by)| (it, Some(by)));
        let last = match range.split_once('-') {
            Some((first, "SUN" | "0")) if !["SUN", "0"].contains(&first) => format!("{first}-7"),
            _ => range.to_owned(),
        };
        step.map_or(last.clone(), |step| format!("{last}/{step}"))
    };
    weekdays.split(',').map(part).collect::<Vec<_>>().join(",")
}

/// # Errors
/// A step is longer than the range of its field: `*/90` minutes would be every hour.
fn check_steps(fields: &[&str]) -> Result<(), ToolError> {
    for (index, (field, (name, _))) in fields.iter().zip(names(fields)).enumerate() {
        let count: u32 = match name {
            "hour" => 24,
            "day of the month" => 31,
            "month" => 12,
            "day of the week" => 7,
            _ => 60,
        };
        let parts = field.split(',').filter_map(|part| part.split_once('/'));
        let mut steps = parts.filter_map(|(_, step)| step.parse::<u32>().ok());
        if let Some(step) = steps.find(|step| *step > count) {
            let text = format!(
                "field {} of `schedule`, the {name}, is not valid: the step {step} in `{field}` is longer than its {count} values, and would not be an interval of {step}; use the next field for longer intervals",
                index + 1
            );
            return Err(ToolError::user(text));
        }
    }
    Ok(())
}

/// The names of the fields, and their values.
fn names(fields: &[&str]) -> Vec<(&'static str, &'static str)> {
    if fields.len() == 6 { [&[SECOND][..], &FIELDS].concat() } else { FIELDS.to_vec() }
}

/// Finds the field that is wrong: each is tried with fields that fit.
fn explain(parser: &CronParser, fields: &[&str], error: &CronError) -> ToolError {
    for (index, (name, values)) in names(fields).iter().enumerate() {
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
    fn several_fixed_times_in_the_spring_gap_run_once_after_it() {
        let zone = "America/New_York";
        let found = times("30 2,14 14 3 *", zone, "2027-01-01T00:00:00Z", 2);
        assert_eq!(found, ["2027-03-14T03:00:00-04:00", "2027-03-14T14:30:00-04:00"]);
        let found = times("0,30 2 * * *", zone, "2027-03-14T06:00:00Z", 2);
        assert_eq!(found, ["2027-03-14T03:00:00-04:00", "2027-03-15T02:00:00-04:00"]);
        // The time after the gap is one of the expression itself.
        let found = times("30 2,3 * * *", zone, "2027-03-14T06:00:00Z", 2);
        assert_eq!(found, ["2027-03-14T03:00:00-04:00", "2027-03-14T03:30:00-04:00"]);
        let found = times("0 0 5 9 *", "America/Santiago", "2027-01-01T00:00:00Z", 1);
        assert_eq!(found, ["2027-09-05T01:00:00-03:00"]);
    }

    #[test]
    fn several_fixed_times_in_the_autumn_overlap_run_once() {
        let found = times("0,30 1 * * *", "America/New_York", "2027-11-07T04:00:00Z", 3);
        let expected =
            ["2027-11-07T01:00:00-04:00", "2027-11-07T01:30:00-04:00", "2027-11-08T01:00:00-05:00"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_star_with_a_step_in_a_day_field_narrows_the_other_as_in_crond() {
        let after = "2026-01-01T12:00:00Z";
        // Mondays of odd date.
        let mondays = times("0 0 */2 * 1", "UTC", after, 2);
        assert_eq!(mondays, ["2026-01-05T00:00:00+00:00", "2026-01-19T00:00:00+00:00"]);
        // Fifteenths that are a Sunday, Wednesday or Saturday.
        let fifteenths = times("0 0 15 * */3", "UTC", after, 2);
        assert_eq!(fifteenths, ["2026-02-15T00:00:00+00:00", "2026-03-15T00:00:00+00:00"]);
        // Without a star, days of both.
        let both = times("0 0 13 * 5", "UTC", after, 3);
        let expected =
            ["2026-01-02T00:00:00+00:00", "2026-01-09T00:00:00+00:00", "2026-01-13T00:00:00+00:00"];
        assert_eq!(both, expected);
    }

    #[test]
    fn a_week_may_end_with_sunday() {
        let after = "2026-01-01T12:00:00Z";
        let expected =
            ["2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00", "2026-01-04T00:00:00+00:00"];
        for weekdays in ["FRI-SUN", "fri-sun", "5-7", "5-0", "FRI-SUN/1"] {
            assert_eq!(times(&format!("0 0 * * {weekdays}"), "UTC", after, 3), expected);
        }
    }

    #[test]
    fn a_step_beyond_the_range_is_refused() {
        for expression in ["0-59/90 * * * *", "0 9 1-31/40 * *", "0 9 * * 1-5/9"] {
            let error = Timetable::new(expression, "UTC").unwrap_err();
            assert!(error.message().contains("is longer than its"), "{error}");
        }
        let error = Timetable::new("*/90 * * * *", "UTC").unwrap_err().message().to_owned();
        assert!(error.contains("field 1 of `schedule`, the minute, is not valid"), "{error}");
        assert!(error.contains("the step 90 in `*/90` is longer than its 60 values"), "{error}");
        for valid in ["*/60 * * * *", "0 */24 * * *", "0 0 */31 * *", "0 0 1 */12 *"] {
            assert!(Timetable::new(valid, "UTC").is_ok(), "{valid}");
        }
        for invalid in ["0 */25 * * *", "0 0 */32 * *", "0 0 1 */13 *", "*/61 0 0 * * *"] {
            assert!(Timetable::new(invalid, "UTC").is_err(), "{invalid}");
        }
    }

    #[test]
    fn a_daily_job_is_allowed_where_the_shortest_interval_is_a_day() {
        let check = |expression, shortest| {
            let timetable = Timetable::new(expression, "Europe/Berlin").unwrap();
            timetable.check("2026-03-01T00:00:00Z".parse().unwrap(), Duration::from_secs(shortest))
        };
        assert!(check("30 2 * * *", 86_400).is_ok());
        assert!(check("0 9 * * MON", 7 * 86_400).is_ok());
        assert!(check("0 9,21 * * *", 86_400).is_err());
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
