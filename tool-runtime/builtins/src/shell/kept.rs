//! How much of an output a result keeps.

use tool_runtime::ToolContext;

/// Bytes of standard output: 50,000 of its beginning and of its end.
const STDOUT: usize = 100_000;
/// Bytes of standard error.
const STDERR: usize = 40_000;
/// Characters of the rest of a result: the exit code, and notices.
const REST: usize = 2_000;

/// The bytes of the outputs of one command that its result keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) stdout: usize,
    pub(super) stderr: usize,
    /// The characters of a result, if the pool allows fewer than the tool would keep.
    limit: Option<usize>,
}

impl Kept {
    /// The bytes that the limits of the caller's pool allow.
    pub(super) fn for_context(context: &ToolContext) -> Self {
        Self::within(context.pool().and_then(|pool| pool.output_limits()?.room()))
    }

    fn within(limit: Option<usize>) -> Self {
        let Some(limit) = limit.filter(|limit| *limit < STDOUT + STDERR + REST) else {
            return Self { stdout: STDOUT, stderr: STDERR, limit: None };
        };
        let room = limit.saturating_sub(REST).max(limit / 2);
        let stdout = room * STDOUT / (STDOUT + STDERR);
        Self { stdout, stderr: room - stdout, limit: Some(limit) }
    }

    /// Says what is kept of an output that was cut, if that is due to the pool.
    pub(super) fn notice(self) -> Option<String> {
        let limit = self.limit?;
        let (stdout, stderr) = (self.stdout / 2, self.stderr / 2);
        Some(format!(
            "the host limits results to {limit} characters: the first and the last {stdout} bytes of standard output are kept, and {stderr} of standard error"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_any_limit_have_room_for_both_outputs() {
        assert_eq!(Kept::within(None), Kept { stdout: 100_000, stderr: 40_000, limit: None });
        assert_eq!(Kept::within(Some(1 << 20)), Kept::within(None));
        for limit in [0, 1, 100, 3_000, 30_000, 100_000, 141_999] {
            let Kept { stdout, stderr, .. } = Kept::within(Some(limit));
            assert!(stdout + stderr <= limit && stdout >= stderr, "{limit}");
        }
    }
}
