//! The tool of a name.

use crate::pool::{PooledTool, Snapshot, ToolPool};
use crate::schema::nearest;
use crate::tool::arguments::repair::{Repair, repair_name};
use crate::tool::tool::Tool;
use crate::vocabulary::error::{CallError, ErrorClass, excerpt};

/// The number of names listed for an unknown name.
const MAX_LISTED: usize = 10;

/// A tool of the pool, for a call that may run or that is rejected at once.
pub(in crate::dispatch) struct Resolved {
    pub(in crate::dispatch) found: PooledTool,
    pub(in crate::dispatch) repairs: Vec<Repair>,
    pub(in crate::dispatch) rejection: Option<CallError>,
}

/// The tool that a call is about: that of its name, that which the name means if the pool repairs, or one that a
/// restriction hides, whose call is rejected.
///
/// # Errors
/// The pool has no such tool.
pub(in crate::dispatch) fn resolve(
    pool: &ToolPool,
    name: &str,
    found: Result<PooledTool, CallError>,
) -> Result<Resolved, CallError> {
    let error = match found {
        Ok(found) => return Ok(Resolved { found, repairs: Vec::new(), rejection: None }),
        Err(error) => error,
    };
    let is_repairable = pool.governance().repairs && error.class() == ErrorClass::NotFound;
    let meant = if is_repairable { repair_name(pool.current().tools(), name) } else { None };
    if let Some(Ok(found)) = meant.map(|meant| pool.find(&meant)) {
        return Ok(Resolved { found, repairs: vec![Repair::tool_name()], rejection: None });
    }
    match pool.find_any(name) {
        Some(found) => Ok(Resolved { found, repairs: Vec::new(), rejection: Some(error) }),
        None => Err(error),
    }
}

impl ToolPool {
    /// The visible tool of that exact name, or else of that [wire name](crate::tool::ToolDefinition::wire_name).
    ///
    /// # Errors
    /// [`ErrorClass::NotFound`], with the nearest names; [`ErrorClass::Denied`] for a tool that
    /// a restriction hides.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// let pool = ToolPool::builder().build()?;
    /// assert_eq!(pool.resolve("a").unwrap_err().message(), "unknown tool `a`; there are no tools");
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn resolve(&self, name: &str) -> Result<Tool, CallError> {
        self.find(name).map(|found| found.tool().clone())
    }

    /// The tool that a call by this name means, with its hooks.
    #[doc(hidden)]
    pub fn find(&self, name: &str) -> Result<PooledTool, CallError> {
        let snapshot = self.current();
        snapshot.find(name).ok_or_else(|| self.unresolved(&snapshot, name))
    }

    #[cold]
    fn unresolved(&self, snapshot: &Snapshot, name: &str) -> CallError {
        if snapshot.is_closed() {
            return closed_pool();
        }
        let name = &*excerpt(name);
        match self.restriction(name) {
            Some(to) => restricted(snapshot, name, &to),
            None => self.why_absent(name).unwrap_or_else(|| unknown(snapshot, name)),
        }
    }
}

/// The error of a call of a closed pool.
pub(in crate::dispatch) fn closed_pool() -> CallError {
    CallError::new(ErrorClass::Cancelled, "the tools have been shut down")
}

/// The message says that the tool exists, because the model may have called it before.
fn restricted(snapshot: &Snapshot, name: &str, to: &str) -> CallError {
    let names = snapshot.tools().iter().map(Tool::name);
    let rest = match snapshot.tools().len() {
        0 => "no tool is".to_owned(),
        1..=MAX_LISTED => format!("available are {}", quoted(names)),
        _ => format!("available are, for instance, {}", quoted(names.take(MAX_LISTED))),
    };
    CallError::new(ErrorClass::Denied, format!("`{name}` is not available now; {rest}"))
        .with_detail(format!("a restriction to {to} is in force"))
}

#[cold]
fn unknown(snapshot: &Snapshot, name: &str) -> CallError {
    let names = snapshot.tools().iter().map(Tool::name);
    let near = nearest::nearest(name, names.clone(), 3);
    // Names of the same server or group come first.
    let group = name.rfind('.').map_or("", |end| &name[..=end]);
    let (own, others): (Vec<&str>, Vec<&str>) =
        names.partition(|other| !group.is_empty() && other.starts_with(group));
    let names = own.into_iter().chain(others);
    let hint = match (near.as_slice(), snapshot.tools().len()) {
        ([], 0) => "; there are no tools".to_owned(),
        ([], 1..=MAX_LISTED) => format!("; the tools are {}", quoted(names)),
        ([], _) => format!("; some of the tools are {}", quoted(names.take(MAX_LISTED))),
        (near, _) => format!(
            "; did you mean {}?",
            near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or ")
        ),
    };
    CallError::new(ErrorClass::NotFound, format!("unknown tool `{name}`{hint}"))
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
