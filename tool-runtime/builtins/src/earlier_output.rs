//! What the earlier run of a job wrote: between the family of schedules, which runs it, and that of files.

/// The SHA-256, as hexadecimal digits, of the version of a file that the earlier run of a job wrote. A call that has it as
/// state may replace this version without having read it.
pub(crate) struct EarlierOutput(pub(crate) String);
