//! Stage one: the name to the tool.

use crate::error::{CallError, ErrorClass};
use crate::name;
use crate::pool::ToolPool;
use crate::schema::nearest;
use crate::tool::Tool;

/// How many names are listed for a model that has named none of them.
const LISTED: usize = 10;

impl ToolPool {
    /// The tool of that exact name.
    ///
    /// # Errors
    /// [`ErrorClass::NotFound`], with the nearest names.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// let pool = ToolPool::builder().build()?;
    /// assert_eq!(pool.resolve("a").unwrap_err().message(), "unknown tool `a`; there are no tools");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn resolve(&self, name: &str) -> Result<&Tool, CallError> {
        self.get(name).ok_or_else(|| unknown(self, name))
    }
}

#[cold]
fn unknown(pool: &ToolPool, name: &str) -> CallError {
    let names = pool.tools().iter().map(Tool::name);
    let near = nearest::nearest(name, names.clone(), 3);
    let hint = match (near.as_slice(), pool.tools().len()) {
        ([], 0) => "; there are no tools".to_owned(),
        ([], 1..=LISTED) => format!("; the tools are {}", quoted(names)),
        ([], _) => format!("; some of the tools are {}", quoted(names.take(LISTED))),
        (near, _) => format!(
            "; did you mean {}?",
            near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or ")
        ),
    };
    CallError::new(ErrorClass::NotFound, format!("unknown tool `{}`{hint}", shortened(name)))
}

/// A name may be as long as a message.
fn shortened(name: &str) -> std::borrow::Cow<'_, str> {
    match name.char_indices().nth(name::MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
