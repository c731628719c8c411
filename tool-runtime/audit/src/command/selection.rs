//! Which calls and records the commands choose.

use crate::calls::LoggedCall;
use crate::record::{LogRecord, RecordKind};
use crate::time::parsed_time;
use std::collections::HashSet;
use tool_runtime_command::seam::CommandFailure;
use tool_runtime_command::{CommandArguments, CommandForm};

/// The states of calls: those without an end, and the ends.
const STATES: &[RecordKind] = &[
    RecordKind::Asked,
    RecordKind::Started,
    RecordKind::Succeeded,
    RecordKind::Failed,
    RecordKind::Denied,
    RecordKind::Cancelled,
    RecordKind::Indeterminate,
    RecordKind::Resolved,
];

/// The decisions about calls.
const DECISIONS: &[RecordKind] =
    &[RecordKind::Allowed, RecordKind::Denied, RecordKind::Asked, RecordKind::Approved];

pub(super) const TIMES: &str = "TIME is `2026-01-31`, `2026-01-31T08:30` or `2026-01-31 08:30:15` in UTC, as times are printed, RFC 3339 with \
another zone, the beginning of `today` or `yesterday` in UTC, or the time before now: `90s`, `30m`, `12h`, `7d`.";

/// The conditions that all hold for what is chosen.
#[derive(Debug, Default)]
pub(super) struct Selection {
    run: Option<String>,
    tool: Option<String>,
    principal: Option<String>,
    decision: Option<RecordKind>,
    state: Option<RecordKind>,
    /// In microseconds since 1970 UTC.
    since: Option<u64>,
    until: Option<u64>,
    text: Option<String>,
    /// The processes and numbers of calls that were denied, whose last record is `failed`.
    denied: HashSet<(String, u64)>,
}

impl Selection {
    /// Adds its options. `what` are calls or records.
    pub(super) fn options(form: CommandForm) -> CommandForm {
        form.option("tool", "TOOL", "Only of this tool")
            .option("principal", "ID", "Only of this caller")
            .option(
                "decision",
                "DECISION",
                "Only those that were `allowed`, `denied`, `asked` or `approved`",
            )
            .option(
                "state",
                "STATE",
                "Only those that ended as `succeeded`, `failed`, `denied`, `cancelled`, `indeterminate` or `resolved`; or without an end yet: `asked` (a person), `started`",
            )
            .option("since", "TIME", "Only from this time on")
            .option("until", "TIME", "Only before this time")
            .option(
                "grep",
                "TEXT",
                "Only those with this text, in any case: in arguments, reasons, results, ids of traces and sessions",
            )
            .known_values("decision", DECISIONS.iter().map(|kind| kind.as_str()))
            .known_values("state", STATES.iter().map(|kind| kind.as_str()))
    }

    /// # Errors
    /// A value cannot be read.
    pub(super) fn from_arguments(arguments: &CommandArguments) -> Result<Self, CommandFailure> {
        let text = |name: &str| arguments.value(name).map(str::to_owned);
        let kind = |name: &str, known: &[RecordKind]| {
            arguments.value(name).map(|given| kind(name, given, known)).transpose()
        };
        let time = |name: &str| arguments.value(name).map(|given| time(name, given)).transpose();
        Ok(Self {
            run: text("run"),
            tool: text("tool"),
            principal: text("principal"),
            decision: kind("decision", DECISIONS)?,
            state: kind("state", STATES)?,
            since: time("since")?,
            until: time("until")?,
            text: text("grep").map(|text| text.to_lowercase()),
            denied: HashSet::new(),
        })
    }

    /// As [`Self::from_arguments`], for records.
    pub(super) fn of_records(arguments: &CommandArguments) -> Result<Self, CommandFailure> {
        let chosen = Self::from_arguments(arguments)?;
        if chosen.decision.is_some() && chosen.state.is_some() {
            let text = "a record is a decision or an end: leave out `--decision` or `--state`, or show calls by `log show`";
            return Err(CommandFailure::usage(text));
        }
        Ok(chosen)
    }

    /// Whether a record is chosen, after those before it.
    pub(super) fn has_record(&mut self, record: &LogRecord) -> bool {
        // Records are of one kind.
        let is_kind = |kind: Option<RecordKind>| kind.is_none_or(|kind| kind == record.kind);
        !self.ends_denied(record)
            && is_kind(self.decision)
            && is_kind(self.state)
            && self.is_at(record.time_us)
            && self.is_of(record)
            && self.has_text(|| serde_json::to_string(record).unwrap_or_default())
    }

    /// Whether the record is the end of a denied call, and failed ones are wanted.
    fn ends_denied(&mut self, record: &LogRecord) -> bool {
        if self.state != Some(RecordKind::Failed) {
            return false;
        }
        let call = || (record.process.clone(), record.call);
        match record.kind {
            RecordKind::Denied => {
                self.denied.insert(call());
                false
            }
            RecordKind::Failed => self.denied.remove(&call()),
            _ => false,
        }
    }

    /// Whether the record is of a call of the tool, the caller and the run. All records of a call have these.
    pub(super) fn is_of(&self, record: &LogRecord) -> bool {
        is_or_any(self.run.as_deref(), record.run.as_deref())
            && is_or_any(self.tool.as_deref(), Some(&record.tool))
            && is_or_any(self.principal.as_deref(), record.principal.as_deref())
    }

    /// Whether a call is chosen whose records are of the tool, the caller and the run. Its time is that of its proposal.
    pub(super) fn has_call(&self, call: &LoggedCall) -> bool {
        let is_decision = self.decision.is_none_or(|decision| call.kinds.contains(&decision));
        is_decision
            && self.state.is_none_or(|state| state == call.state)
            && self.is_at(call.time_us)
            && self.has_text(|| format!("{} {call}", call.arguments))
    }

    fn is_at(&self, time_us: u64) -> bool {
        self.since.is_none_or(|since| time_us >= since)
            && self.until.is_none_or(|until| time_us < until)
    }

    fn has_text(&self, within: impl FnOnce() -> String) -> bool {
        self.text.as_ref().is_none_or(|text| within().to_lowercase().contains(text))
    }
}

fn is_or_any(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| found == Some(wanted))
}

fn kind(option: &str, given: &str, known: &[RecordKind]) -> Result<RecordKind, CommandFailure> {
    known.iter().copied().find(|kind| kind.as_str() == given).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|kind| kind.as_str()).collect();
        let known = known.join("`, `");
        CommandFailure::usage(format!("`--{option} {given}` is not one of `{known}`"))
    })
}

/// Reads a time, in microseconds since 1970 UTC.
fn time(option: &str, given: &str) -> Result<u64, CommandFailure> {
    parsed_time(given)
        .ok_or_else(|| CommandFailure::usage(format!("`--{option} {given}` is no time. {TIMES}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_printed() {
        let us = |given: &str| time("since", given).unwrap();
        let expected = 1_769_848_215_000_000;
        for given in [
            "2026-01-31T08:30:15Z",
            "2026-01-31 08:30:15.000Z",
            "2026-01-31 08:30:15",
            "2026-01-31T10:30:15+02:00",
        ] {
            assert_eq!(us(given), expected, "{given}");
        }
        assert_eq!(us("2026-01-31T08:30"), expected - 15_000_000);
        assert_eq!(us("2026-01-31"), expected - 30_615_000_000);
        assert!(us("1d").abs_diff(us("3d")).abs_diff(172_800_000_000) < 60_000_000);
        assert!(us("0s") > us("1m"));
        assert_eq!(us("today") - us("yesterday"), 86_400_000_000);
        assert!(us("today") <= us("0s"));
        for given in ["tuesday", "", "-1h", "2026-13-01", "9999999999999999999d", "é"] {
            let Err(CommandFailure::Usage(text)) = time("since", given) else { panic!("{given}") };
            assert!(text.contains("is no time. TIME is `2026-01-31`"), "{text}");
        }
    }
}
