//! Selects offered tools.

use super::selector::Selector;
use crate::tool::tool::Tool;
use crate::tool::tool::source::Source;
use serde::{Deserialize, Serialize};

/// Selects the offered tools that a pool contains. Restrictions narrow the selection at run time;
/// nothing widens it.
///
/// Without an allow list everything is allowed; an empty one allows nothing. Deny wins.
///
/// ```
/// use tool_runtime::pool::Filter;
///
/// let filter: Filter = serde_json::from_str(r#"{ "allow": ["fs.*", "tag:search"], "deny": ["hint:destructive"] }"#)?;
/// assert_eq!(filter.allow.unwrap().len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// In code:
///
/// ```
/// use tool_runtime::pool::{Filter, Selector};
///
/// let deny: Selector = "hint:destructive".parse()?;
/// let filter = Filter::default().deny([deny]);
/// assert_eq!(filter.deny.len(), 1);
/// # Ok::<(), tool_runtime::pool::SelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Filter {
    /// Only tools that one of these selectors picks. Default: `None`, all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<Selector>>,
    /// No tools that one of these selectors picks. Default: empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Selector>,
}

impl Filter {
    /// The filter of two lists, such as options of a command line. Empty ones restrict nothing; `None` if both are.
    #[doc(hidden)]
    pub fn from_lists(allow: Vec<Selector>, deny: Vec<Selector>) -> Option<Self> {
        if allow.is_empty() && deny.is_empty() {
            return None;
        }
        let filter = Self::default().deny(deny);
        Some(if allow.is_empty() { filter } else { filter.allow(allow) })
    }

    /// Allows tools that one of these selectors picks. More calls add selectors. An empty list allows nothing.
    #[must_use]
    pub fn allow(mut self, selectors: impl IntoIterator<Item = Selector>) -> Self {
        self.allow.get_or_insert_default().extend(selectors);
        self
    }

    /// Denies tools that one of these selectors picks.
    #[must_use]
    pub fn deny(mut self, selectors: impl IntoIterator<Item = Selector>) -> Self {
        self.deny.extend(selectors);
        self
    }

    /// The reason why the filter excludes a tool, if it does.
    pub(super) fn refusal(&self, tool: &Tool, source: &Source) -> Option<String> {
        if let Some(denied) = self.deny.iter().find(|selector| selector.picks(tool, source)) {
            return Some(format!("deny `{denied}`"));
        }
        let allowed = self.allow.as_ref()?;
        if allowed.iter().any(|selector| selector.picks(tool, source)) {
            return None;
        }
        Some(match allowed.as_slice() {
            [] => "the allow list is empty".to_owned(),
            _ => "nothing on the allow list picks it".to_owned(),
        })
    }

    /// Every selector that picks none of the given tools: most likely a mistake.
    pub(super) fn unmatched<'a>(
        &'a self,
        offers: impl Iterator<Item = (&'a Tool, &'a Source)> + Clone,
    ) -> Vec<Selector> {
        let selectors = self.allow.iter().flatten().chain(&self.deny);
        let is_idle = |selector: &&Selector| {
            !offers.clone().any(|(tool, source)| selector.picks(tool, source))
        };
        selectors.filter(is_idle).cloned().collect()
    }
}
