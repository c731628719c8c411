//! Analyzers: the model's own judgement, and patterns.

use super::SecurityAnalyzer;
use crate::predicate::{Folded, folded, regex};
use crate::read::{PolicyError, PolicyProblem};
use regex::Regex;
use serde_json::Value;
use tool_runtime_core::govern::{CallView, Risk};

/// The judgement of the model that makes the call, see
/// [`MetaParameters`](tool_runtime_core::govern::MetaParameters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelRisk;

impl SecurityAnalyzer for ModelRisk {
    fn analyze(&self, call: &CallView<'_>) -> Risk {
        call.risk()
    }

    fn reads_model_risk(&self) -> bool {
        true
    }
}

/// Finds regular expressions in the texts of arguments, in any depth. Invisible characters are
/// removed and letters normalised before.
///
/// Arguments without a match are of unknown risk: the absence of known patterns proves nothing.
///
/// ```
/// use tool_runtime::policy::PatternAnalyzer;
///
/// let patterns = PatternAnalyzer::new([r"rm\s+-\w*r", r"curl[^|]*\|\s*(ba)?sh"], [r"\bsudo\b"])?;
/// # let _ = patterns;
/// # Ok::<(), tool_runtime::policy::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct PatternAnalyzer {
    high: Vec<Regex>,
    medium: Vec<Regex>,
}

impl PatternAnalyzer {
    /// Expressions whose match is a high risk, and those whose match is a medium one.
    ///
    /// # Errors
    /// All expressions that are not valid.
    pub fn new<S: AsRef<str>>(
        high: impl IntoIterator<Item = S>,
        medium: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, PolicyError> {
        let mut problems = Vec::new();
        let mut compile = |text: &str| {
            let regex = regex(text, false, false).map_err(|fault| {
                let (key, text, help) = (text.to_owned(), fault.text, fault.help);
                problems.push(PolicyProblem { file: None, line: None, key, text, help });
            });
            regex.ok()
        };
        let high = high.into_iter().filter_map(|text| compile(text.as_ref())).collect();
        let medium = medium.into_iter().filter_map(compile).collect();
        match problems.is_empty() {
            true => Ok(Self { high, medium }),
            false => Err(PolicyError::new(problems)),
        }
    }

    /// Patterns of deletions, raw disks and downloads that are executed.
    pub fn common() -> Self {
        let high = [
            r"\brm\s+(-\S+\s+)*-\w*[rR]",
            r"\b(mkfs(\.\w+)?|wipefs|shred)\b",
            r"\bdd\b[^|;&]*\bof=/dev/",
            r">\s*/dev/(sd|nvme|disk|vd)",
            r"\b(curl|wget)\b[^;&\n]*\|\s*(sudo\s+)?(\S*/)?(ba|z|da|k)?sh\b",
            r"\b(curl|wget)\b[^;&\n]*\|\s*(sudo\s+)?(python|perl|ruby|node)\w*\b",
            r"\bbase64\s+(-d|-D|--decode)\b[^;&\n]*\|",
            r":\(\)\s*\{",
            r"\bchmod\s+(-\S+\s+)*[0-7]?777\b",
            r"(?i)\bdrop\s+(table|database|schema)\b",
        ];
        let medium = [r"\b(sudo|doas|su)\b", r"\bgit\s+push\b[^;&\n]*(-f|--force)\b", r"\beval\b"];
        Self::new(high, medium).unwrap_or(Self { high: Vec::new(), medium: Vec::new() })
    }
}

impl SecurityAnalyzer for PatternAnalyzer {
    fn analyze(&self, call: &CallView<'_>) -> Risk {
        let finds = |expressions: &[Regex]| {
            let finds = |text: &str| expressions.iter().any(|regex| regex.is_match(text));
            any_text(call.arguments_value(), &|text| {
                finds(text)
                    || match folded(text) {
                        Folded::Same => false,
                        Folded::Other(folded) => finds(&folded),
                        Folded::TooLarge => true,
                    }
            })
        };
        if finds(&self.high) {
            Risk::High
        } else if finds(&self.medium) {
            Risk::Medium
        } else {
            Risk::Unknown
        }
    }
}

/// Whether a text in a value, or a key, has a property.
fn any_text(value: &Value, holds: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, holds)),
        Value::Object(members) => {
            members.iter().any(|(key, value)| holds(key) || any_text(value, holds))
        }
        _ => false,
    }
}
