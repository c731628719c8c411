//! Conditions about arguments, in code.

use crate::predicate::{Constraint, Field, Predicate, paths, regex, shell, urls};
use crate::read::Fault;
use serde_json::{Number, Value};

/// A condition about one argument. All its constraints must hold.
///
/// An argument that is absent or of an unexpected type makes the condition uncertain: a rule that
/// denies denies then, and a rule that allows does not allow.
///
/// ```
/// use tool_runtime::policy::Argument;
///
/// let path = Argument::new("files[*].path").inside(["/work"]).max_length(200);
/// let amount = Argument::new("amount").at_most(100).if_absent(true);
/// # let _ = (path, amount);
/// ```
#[derive(Debug)]
pub struct Argument {
    name: String,
    parts: Vec<Part>,
    if_absent: Option<bool>,
    ignores_case: bool,
}

/// A part of a condition, before its patterns are compiled.
#[derive(Debug)]
pub(crate) enum Part {
    Ready(Constraint),
    /// A number, and the side that it bounds.
    Bound(Value, fn(Number) -> Constraint),
    Pattern(String, bool),
    Paths {
        directories: Vec<String>,
        relative_to: Option<String>,
        is_inside: bool,
    },
    Urls {
        schemes: Vec<String>,
        hosts: Vec<String>,
    },
    Commands(Vec<String>),
}

impl Argument {
    /// An argument by its name or path: `path`, `target.host`, `files[*].name`, `rows[0]`.
    pub fn new(path: impl Into<String>) -> Self {
        Self { name: path.into(), parts: Vec::new(), if_absent: None, ignores_case: false }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Equals a value.
    #[must_use]
    pub fn equals(self, value: impl Into<Value>) -> Self {
        self.constraint(Constraint::OneOf(vec![value.into()]))
    }

    /// Equals one of these values.
    #[must_use]
    pub fn one_of<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.constraint(Constraint::OneOf(values.into_iter().map(Into::into).collect()))
    }

    /// A text with this part.
    #[must_use]
    pub fn contains(self, part: impl Into<String>) -> Self {
        self.constraint(Constraint::Contains(part.into()))
    }

    /// A text in which a regular expression is found.
    #[must_use]
    pub fn pattern(self, regex: impl Into<String>) -> Self {
        self.part(Part::Pattern(regex.into(), false))
    }

    /// A text that a regular expression matches as a whole.
    #[must_use]
    pub fn matches(self, regex: impl Into<String>) -> Self {
        self.part(Part::Pattern(regex.into(), true))
    }

    /// A number of at least this.
    #[must_use]
    pub fn at_least(self, min: impl Into<Value>) -> Self {
        self.part(Part::Bound(min.into(), Constraint::Min))
    }

    /// A number of at most this.
    #[must_use]
    pub fn at_most(self, max: impl Into<Value>) -> Self {
        self.part(Part::Bound(max.into(), Constraint::Max))
    }

    /// A text of at most this number of characters.
    #[must_use]
    pub fn max_length(self, max: u64) -> Self {
        self.constraint(Constraint::Length(0, max))
    }

    /// A path in one of these directories, or a path that one of these globs matches. See
    /// [`PathMatcher`](tool_runtime_core::vocabulary::matching::PathMatcher): symbolic links are not resolved.
    #[must_use]
    pub fn inside<S: Into<String>>(self, directories: impl IntoIterator<Item = S>) -> Self {
        let directories = directories.into_iter().map(Into::into).collect();
        self.part(Part::Paths { directories, relative_to: None, is_inside: true })
    }

    /// A path in none of these directories.
    #[must_use]
    pub fn outside<S: Into<String>>(self, directories: impl IntoIterator<Item = S>) -> Self {
        let directories = directories.into_iter().map(Into::into).collect();
        self.part(Part::Paths { directories, relative_to: None, is_inside: false })
    }

    /// A URL of one of these hosts, see [`UrlMatcher`](tool_runtime_core::vocabulary::matching::UrlMatcher).
    #[must_use]
    pub fn host<S: Into<String>>(self, hosts: impl IntoIterator<Item = S>) -> Self {
        let hosts = hosts.into_iter().map(Into::into).collect();
        self.part(Part::Urls { schemes: Vec::new(), hosts })
    }

    /// A shell command that one of these patterns describes. Needs the feature `shell`.
    #[must_use]
    pub fn command<S: Into<String>>(self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.part(Part::Commands(patterns.into_iter().map(Into::into).collect()))
    }

    /// Present, or absent.
    #[must_use]
    pub fn present(self, is_present: bool) -> Self {
        self.constraint(Constraint::Present(is_present))
    }

    /// Compares strings without regard to case. Default: with regard to it.
    #[must_use]
    pub fn ignore_case(mut self) -> Self {
        self.ignores_case = true;
        self
    }

    /// Sets whether the condition holds if the argument is absent. Default: it is uncertain.
    #[must_use]
    pub fn if_absent(mut self, holds: bool) -> Self {
        self.if_absent = Some(holds);
        self
    }

    fn constraint(self, constraint: Constraint) -> Self {
        self.part(Part::Ready(constraint))
    }

    fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    pub(crate) fn into_predicate(self) -> Result<Predicate, Vec<Fault>> {
        let mut faults = Vec::new();
        if self.parts.is_empty() {
            faults.push(no_constraint());
        }
        let field = Field::parse(&self.name).map_err(|fault| faults.push(fault)).ok();
        let constraints = self.parts.into_iter().filter_map(|part| {
            part.compile(self.ignores_case).map_err(|fault| faults.push(fault)).ok()
        });
        let constraints = constraints.collect();
        match field {
            Some(field) if faults.is_empty() => Ok(Predicate {
                field,
                constraints,
                ignores_case: self.ignores_case,
                if_absent: self.if_absent,
            }),
            _ => Err(faults),
        }
    }
}

/// The fault of a condition that would hold for every value.
pub(crate) fn no_constraint() -> Fault {
    Fault::new("the condition has no constraint", "write one, such as `equals` or `pattern`")
}

impl Part {
    /// # Errors
    /// An invalid pattern.
    pub(crate) fn compile(self, ignores_case: bool) -> Result<Constraint, Fault> {
        Ok(match self {
            Self::Ready(constraint) => constraint,
            Self::Bound(Value::Number(number), side) => side(number),
            Self::Bound(..) => {
                return Err(Fault::new("the bound is not a number", "write a number"));
            }
            Self::Pattern(text, is_whole) => {
                Constraint::Pattern(regex(&text, is_whole, ignores_case)?, is_whole)
            }
            Self::Paths { directories, relative_to, is_inside } => {
                let inside = Constraint::Matches(paths(&directories, relative_to.as_deref())?);
                if is_inside { inside } else { Constraint::Not(vec![inside]) }
            }
            Self::Urls { schemes, hosts } => Constraint::Matches(urls(&schemes, &hosts)?),
            Self::Commands(patterns) => Constraint::Matches(shell(&patterns)?),
        })
    }
}
