//! Which calls and records the commands choose.

use crate::calls::LoggedCall;
use crate::record::{LogRecord, RecordKind};
use crate::time::parsed_time;
use tool_runtime_command::seam::CommandFailure;
use tool_runtime_command::{CommandArguments, CommandForm};

/// The decisions about calls.
const DECISIONS: [RecordKind; 4] =
    [RecordKind::Allowed, RecordKind::Denied, RecordKind::Asked, RecordKind::Approved];

pub(super) const TIMES: &str = "TIME is `2026-01-31`, `2026-01-31T08:30` or `2026-01-31 08:30:15` in UTC, as times are printed, RFC 3339 with \
another zone, or the time before now: `90s`, `30m`, `12h`, `7d`.";

/// The conditions that all hold for what is chosen.
#[derive(Debug, Default)]
pub(super) struct Selection {
    run: Option<String>,
    tool: Option<String>,
    principal: Option<String>,
    decision: Option<RecordKind>,
    /// In microseconds since 1970 UTC.
    since: Option<u64>,
    until: Option<u64>,
    text: Option<String>,
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
            .option("since", "TIME", "Only from this time on")
            .option("until", "TIME", "Only before this time")
            .option(
                "grep",
                "TEXT",
                "Only those with this text, in any case: in arguments, reasons, results",
            )
            .known_values("decision", DECISIONS.map(RecordKind::as_str))
    }

    /// # Errors
    /// A value cannot be read.
    pub(super) fn from_arguments(arguments: &CommandArguments) -> Result<Self, CommandFailure> {
        let text = |name: &str| arguments.value(name).map(str::to_owned);
        let decision = arguments.value("decision").map(decision).transpose()?;
        let time = |name: &str| arguments.value(name).map(|given| time(name, given)).transpose();
        Ok(Self {
            run: text("run"),
            tool: text("tool"),
            principal: text("principal"),
            decision,
            since: time("since")?,
            until: time("until")?,
            text: text("grep").map(|text| text.to_lowercase()),
        })
    }

    pub(super) fn has_record(&self, record: &LogRecord) -> bool {
        let is_decision = self.decision.is_none_or(|decision| decision == record.kind);
        is_decision
            && self.is_at(record.time_us)
            && self.is_of(record)
            && self.has_text(|| serde_json::to_string(record).unwrap_or_default())
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

fn decision(given: &str) -> Result<RecordKind, CommandFailure> {
    DECISIONS.into_iter().find(|decision| decision.as_str() == given).ok_or_else(|| {
        let known = DECISIONS.map(RecordKind::as_str).join("`, `");
        CommandFailure::usage(format!("`--decision {given}` is not one of `{known}`"))
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
        for given in ["tuesday", "", "-1h", "2026-13-01", "9999999999999999999d", "é"] {
            let Err(CommandFailure::Usage(text)) = time("since", given) else { panic!("{given}") };
            assert!(text.contains("is no time. TIME is `2026-01-31`"), "{text}");
        }
    }
}
