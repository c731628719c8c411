//! The risk of a call, as the model that makes it judges it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The risk of a call, as the model that makes it judges it. `Unknown` is not low: a model that says
/// nothing has not judged the call. The variants have no order.
///
/// ```
/// use tool_runtime::govern::Risk;
///
/// assert_eq!(Risk::default(), Risk::Unknown);
/// assert_eq!(Risk::High.as_str(), "HIGH");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Risk {
    /// Reads, or changes that are undone easily.
    Low,
    /// Changes within the task at hand.
    Medium,
    /// Changes outside it, or that cannot be undone.
    High,
    /// Not judged.
    #[default]
    Unknown,
}

impl Risk {
    /// The name in JSON and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
