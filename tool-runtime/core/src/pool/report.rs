//! The status of every tool that was offered to a pool.

use super::selector::Selector;
use crate::tool::tool::source::Source;
use crate::tool::tool::{Requirement, RequirementState};
use crate::vocabulary::mask::{self, Mask};
use crate::vocabulary::name::MAX_LENGTH;
use crate::vocabulary::printable::one_line;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The status of every tool that was ever offered to a pool. It prints as a table.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::ToolStatus;
///
/// let pool = ToolPool::builder()
///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
///     .deny(["ping"])
///     .build()?;
/// let report = pool.report();
/// assert!(matches!(report.tools[0].status, ToolStatus::Filtered { .. }));
/// assert_eq!(report.to_string(), "ping  custom  filtered: deny `ping`\nthe pool is empty: 1 tool was offered and none is visible\n");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PoolReport {
    /// Every tool that was ever offered, sorted by name, then source.
    pub tools: Vec<ToolReport>,
    /// Selectors of the filter that pick nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<Selector>,
    /// The hooks that match no offered tool, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_hooks: Vec<String>,
    /// Selectors of transforms that pick nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_transforms: Vec<Selector>,
    /// Groups of visible tools whose names differ only in case, which models confuse. Each group
    /// has a tool of an external server or a runner; in others this is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<Vec<String>>,
    /// The sources whose tools are missing: external servers that are not connected, or whose
    /// entries cannot be used, and queues without runners. `runner:*` is a hub of remote runners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentSource>,
}

/// A source whose tools are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AbsentSource {
    /// The source.
    pub source: Source,
    /// The reason.
    pub reason: String,
}

impl AbsentSource {
    /// A source, and the reason why its tools are missing.
    pub fn new(source: Source, reason: impl Into<String>) -> Self {
        Self { source, reason: reason.into() }
    }
}

/// The status of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// The id of the tool.
    pub name: String,
    /// The source of the tool.
    pub source: Source,
    /// The name of the tool before it was [transformed](crate::tool::Tool::transform).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<String>,
    /// Whether the tool is visible, with the reason if not.
    #[serde(flatten)]
    pub status: ToolStatus,
    /// Requirements outside the pool, such as programs and settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
}

/// Whether a tool is visible, and why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolStatus {
    /// The tool is listed and can be called.
    Visible,
    /// A tool with the same name from another source replaces it.
    Shadowed {
        /// The source of the other.
        by: Source,
    },
    /// The pool's filter leaves it out.
    Filtered {
        /// The rule.
        by: String,
    },
    /// An active restriction hides it.
    Restricted {
        /// The tools that the restriction lets through.
        by: String,
    },
    /// The tool or toolset reports that it is unusable on this system.
    Unusable {
        /// The reason.
        reason: String,
    },
    /// The tool is invalid; the other tools of its source are not affected.
    Quarantined {
        /// The problem.
        reason: String,
    },
    /// The tool was removed while the pool ran, or when the pool was closed.
    Removed,
}

impl PoolReport {
    /// Whether no tool is visible.
    pub fn is_empty(&self) -> bool {
        !self.tools.iter().any(|tool| tool.status == ToolStatus::Visible)
    }

    /// Masks secrets in names and reasons: a tool may be left out for the secret in its name.
    pub(super) fn mask(&mut self, mask: &dyn Mask) {
        for tool in &mut self.tools {
            mask::in_place(mask, &mut tool.name);
            tool.made_from.iter_mut().for_each(|name| mask::in_place(mask, name));
            mask::as_json_in_place(mask, &mut tool.requirements);
            if let ToolStatus::Unusable { reason } | ToolStatus::Quarantined { reason } =
                &mut tool.status
            {
                mask::in_place(mask, reason);
            }
        }
        self.absent.iter_mut().for_each(|absent| mask::in_place(mask, &mut absent.reason));
    }
}

impl fmt::Display for ToolStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible => f.write_str("visible"),
            Self::Shadowed { by } => write!(f, "shadowed by {by}"),
            Self::Filtered { by } => write!(f, "filtered: {by}"),
            Self::Restricted { by } => write!(f, "restricted to {by}"),
            Self::Unusable { reason } => write!(f, "unusable: {reason}"),
            Self::Quarantined { reason } => write!(f, "quarantined: {reason}"),
            Self::Removed => f.write_str("removed"),
        }
    }
}

/// The most characters of a reason in the table. Names are cut after the longest valid one. Those of external tools have no
/// limit.
const MAX_REASON: usize = 1000;

/// The widest column: longer names do not move those of others.
const MAX_WIDTH: usize = 64;

/// The width of a column.
fn width(tools: &[ToolReport], cell: impl Fn(&ToolReport) -> String) -> usize {
    let widths = tools.iter().map(|tool| cell(tool).chars().count());
    widths.max().unwrap_or(0).min(MAX_WIDTH)
}

impl fmt::Display for PoolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |tool: &ToolReport| one_line(&tool.name, MAX_LENGTH);
        let source = |tool: &ToolReport| one_line(&tool.source.to_string(), MAX_LENGTH);
        let (names, sources) = (width(&self.tools, name), width(&self.tools, source));
        for tool in &self.tools {
            let ToolReport { made_from, status, requirements, .. } = tool;
            let status = one_line(&status.to_string(), MAX_REASON);
            write!(f, "{:names$}  {:sources$}  {status}", name(tool), source(tool))?;
            if let Some(original) = made_from {
                write!(f, ", made from `{original}`")?;
            }
            // The status has the one that is missing.
            let is_new = |it: &&Requirement| it.state != RequirementState::Missing;
            requirements.iter().filter(is_new).try_for_each(|it| write!(f, "; {it}"))?;
            writeln!(f)?;
        }
        for selector in &self.unmatched {
            writeln!(f, "`{selector}` in the filter picks no tool")?;
        }
        for selector in &self.idle_transforms {
            writeln!(f, "the transform of `{selector}` picks no tool")?;
        }
        for AbsentSource { source, reason } in &self.absent {
            writeln!(f, "{source} is not connected: {}", one_line(reason, MAX_REASON))?;
        }
        for hook in &self.idle_hooks {
            writeln!(f, "{hook} runs for no tool")?;
        }
        for names in &self.alike {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            writeln!(f, "{} differ only in case", names.join(" and "))?;
        }
        match self.tools.len() {
            _ if !self.is_empty() => Ok(()),
            0 => writeln!(f, "the pool is empty: no tool was offered"),
            1 => writeln!(f, "the pool is empty: 1 tool was offered and none is visible"),
            many => writeln!(f, "the pool is empty: {many} tools were offered and none is visible"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, queue: &str, reason: &str) -> ToolReport {
        ToolReport {
            name: name.to_owned(),
            source: Source::runner(queue),
            made_from: None,
            status: ToolStatus::Quarantined { reason: reason.to_owned() },
            requirements: Vec::new(),
        }
    }

    #[test]
    fn a_long_name_is_cut_and_does_not_move_the_columns_of_others() {
        let (long, reason) = ("x".repeat(5000), "why\n".repeat(5000));
        let mut report = PoolReport { tools: vec![tool("a", "b", "c")], ..PoolReport::default() };
        report.tools.push(tool(&long, &long, &reason));
        report.absent.push(AbsentSource::new(Source::runner("b"), &reason));
        let printed = report.to_string();
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines[0].chars().count() < 170, "{printed}");
        assert!(lines[1].contains("xx..  runner:xx") && lines[1].contains("why.."), "{printed}");
        assert!(lines[2].starts_with("runner:b is not connected: why why"), "{printed}");
        assert!(lines.iter().all(|line| line.chars().count() < 1400), "{printed}");
        assert_eq!(report.tools[1].name, long);
    }
}
