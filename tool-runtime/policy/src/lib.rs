//! Rules about the calls of tools. Users depend on `tool-runtime`, which exports everything public here
//! as `tool_runtime::policy`.
//!
#![doc = include_str!("../../docs/policy.md")]
//!
//! | Module | Topic |
//! |---|---|
//! | `read` | text to rules; all mistakes with their lines |
//! | `rule`, `argument`, `builder` | rules in code |
//! | `condition`, `predicate`, `touches`, `schedule`, `names` | conditions; about arguments, files, times, callers |
//! | `facts`, `subject`, `truth` | what conditions read; yes, no, uncertain |
//! | `lines` | decisions about the commands of a line |
//! | `policy`, `index`, `policies`, `folder`, `loaded`, `live` | decisions; several policies; files that change |
//! | `limits` | rates and budgets |
//! | `modes`, `shorthand`, `risk` | permission modes; rules in one line; judgement of risk |
//! | `case`, `check`, `explain`, `command` | tests, explanations, the commands `policy check` and so on, feature `cli` |

mod argument;
mod builder;
mod case;
mod check;
#[cfg(feature = "cli")]
mod command;
mod condition;
mod explain;
mod facts;
mod folder;
mod index;
mod limits;
mod lines;
mod live;
mod loaded;
mod modes;
mod names;
mod policies;
mod policy;
mod predicate;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
mod read;
mod risk;
mod rule;
mod schedule;
#[doc(hidden)]
pub mod seam;
mod shorthand;
mod subject;
mod touches;
mod truth;

pub use argument::Argument;
pub use builder::PolicyBuilder;
pub use case::SampleCall;
pub use check::{TestReport, TestResult};
pub use condition::Hint;
pub use explain::{ComparedRule, Explanation};
pub use folder::PolicyFolder;
#[cfg(feature = "store")]
pub use limits::SqliteBudgets;
pub use limits::{BudgetStore, LimitKeeper, Share};
pub use live::LivePolicy;
pub use modes::{NoSession, PermissionMode, Permissions};
pub use policies::Policies;
pub use policy::Policy;
pub use read::{Format, PolicyError, PolicyProblem};
pub use risk::{ConfirmRisk, Confirmation, ModelRisk, RiskThreshold, SecurityAnalyzer};
pub use rule::Rule;
pub use shorthand::{CanUse, PoolRules};
pub use touches::Touches;
pub use truth::Truth;

#[cfg(test)]
mod tests;
