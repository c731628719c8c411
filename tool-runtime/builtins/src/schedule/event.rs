//! News of a host.

use super::job::RunState;
use std::fmt;

/// Something that a host did or noticed. Its text is one line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleEvent {
    /// The id of the job.
    pub job: String,
    /// The name of the job.
    pub name: String,
    /// The time when the run was due, in the time zone of the job; of several missed runs, the first.
    pub due: String,
    /// The state of the run now.
    pub state: RunState,
    /// The number of runs: one, but for missed ones.
    pub times: u32,
    /// The beginning of the result, or the reason.
    pub text: String,
}

impl fmt::Display for ScheduleEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, name, due, state, times, text } = self;
        write!(f, "{job} `{name}` {state}, due {due}")?;
        if *times > 1 {
            write!(f, " and {} more", times - 1)?;
        }
        // Control characters of a result must not reach a terminal.
        let line: String =
            text.chars().take(200).map(|it| if it.is_control() { ' ' } else { it }).collect();
        if line.is_empty() { Ok(()) } else { write!(f, ": {line}") }
    }
}
