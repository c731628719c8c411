//! Assembles a pool, and refuses one that cannot work.

use super::problem::{PoolError, PoolProblem};
use super::{Parts, ToolPool};
use crate::action::Action;
use crate::context::{State, ToolContext};
use crate::name;
use crate::tool::Tool;
use std::any::{Any, type_name};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Assembles a [`ToolPool`].
///
/// ```
/// use std::sync::Mutex;
/// use tool_runtime::prelude::*;
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// /// Keep a note.
/// #[tool(destructive = false)]
/// async fn remember(
///     /// What to remember.
///     text: String,
///     notes: &Notes,
/// ) {
///     notes.0.lock().unwrap().push(text);
/// }
///
/// let pool = ToolPool::builder()
///     .tool::<RememberAction>()
///     .state(Notes::default())
///     .build()?;
/// assert_eq!(pool.tools().len(), 1);
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
#[derive(Default)]
pub struct ToolPoolBuilder {
    tools: Vec<Tool>,
    state: State,
    timeout: Option<Duration>,
    problems: Vec<PoolProblem>,
}

impl ToolPoolBuilder {
    /// Adds every tool that `#[tool]` left in the binary.
    ///
    /// The tools of a dependency that nothing names are not in the binary: write
    /// `use my_tools as _;` beside this.
    #[cfg(feature = "linked")]
    #[must_use]
    pub fn linked(mut self) -> Self {
        let before = self.tools.len();
        self.tools.extend(crate::registration::linked());
        if self.tools.len() == before {
            self.problems.push(PoolProblem::Nothing);
        }
        self
    }

    /// Adds the tool of an action. One that is linked in anyway is still one tool.
    #[must_use]
    pub fn tool<A: Action>(self) -> Self {
        self.add(Tool::of::<A>())
    }

    /// Adds a tool.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "a builder adds; nobody adds pools with `+`")]
    pub fn add(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Provides a value that tools borrow by a parameter `&T`.
    #[must_use]
    pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
        if !self.state.insert(value) {
            self.problems.push(PoolProblem::DuplicateState { type_name: type_name::<T>() });
        }
        self
    }

    /// Limits the time of calls whose tool has no limit of its own. Default: no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// Everything that is wrong at once: two tools of one name, state that a tool borrows and
    /// nobody provides, names and definitions that clients would refuse.
    pub fn build(mut self) -> Result<ToolPool, PoolError> {
        // A linked tool carries its place in the source and comes first among equals.
        self.tools.sort_by(|a, b| {
            let unplaced = |tool: &Tool| tool.origin().is_none();
            (a.name(), unplaced(a), a.origin()).cmp(&(b.name(), unplaced(b), b.origin()))
        });
        self.tools.dedup_by(|later, earlier| later.is_same(earlier));
        self.find_duplicates();
        self.check_definitions();
        self.check_state();
        self.problems.dedup();
        if self.problems.is_empty() {
            Ok(self.assemble())
        } else {
            Err(PoolError::new(self.problems))
        }
    }

    fn find_duplicates(&mut self) {
        for pair in self.tools.windows(2) {
            let [first, second] = pair else { continue };
            if first.name() == second.name() {
                self.problems.push(PoolProblem::Duplicate {
                    name: first.name().to_owned(),
                    first: place(first),
                    second: place(second),
                });
            }
        }
    }

    fn check_definitions(&mut self) {
        for tool in &self.tools {
            if let Some(reason) = name::problem(tool.name()) {
                self.problems.push(PoolProblem::BadName { name: tool.name().to_owned(), reason });
            }
            if tool.definition().description.trim().is_empty() {
                self.problems.push(PoolProblem::BadDefinition {
                    tool: tool.name().to_owned(),
                    reason: "it has no description; say what it does and when to use it".to_owned(),
                });
            }
            let reasons = tool.definition().problems.iter();
            self.problems.extend(reasons.map(|reason| PoolProblem::BadDefinition {
                tool: tool.name().to_owned(),
                reason: reason.clone(),
            }));
        }
    }

    fn check_state(&mut self) {
        for tool in &self.tools {
            for need in tool.needs() {
                if let Some(type_name) = need.missing_from(&self.state) {
                    self.problems.push(PoolProblem::MissingState {
                        tool: tool.name().to_owned(),
                        type_name,
                    });
                }
            }
        }
    }

    fn assemble(self) -> ToolPool {
        let named = |tool: &Tool| (tool.name().to_owned(), tool.clone());
        ToolPool(Arc::new(Parts {
            by_name: self.tools.iter().map(named).collect(),
            tools: self.tools,
            context: ToolContext::over(self.state),
            timeout: self.timeout,
            listing: OnceLock::new(),
        }))
    }
}

fn place(tool: &Tool) -> String {
    match tool.origin() {
        Some(origin) => format!("at {origin}"),
        None => "added by hand".to_owned(),
    }
}
