//! Questions about calls that are risky.

use super::{ModelRisk, SecurityAnalyzer, analyzed};
use serde::{Deserialize, Serialize};
use std::fmt;
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine, Risk};

/// Which calls a person is asked about.
///
/// ```
/// use tool_runtime::policy::Confirmation;
///
/// let text = r#"{"risk":{"threshold":"MEDIUM","confirm_unknown":true}}"#;
/// let confirmation: Confirmation = serde_json::from_str(text)?;
/// assert_eq!(serde_json::to_string(&confirmation)?, text);
/// let error = serde_json::from_str::<Confirmation>(r#"{"risk":{"threshold":"UNKNOWN"}}"#);
/// assert!(error.is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Confirmation {
    /// All.
    Always,
    /// None.
    Never,
    /// Those of a risk.
    Risk(RiskThreshold),
}

/// The risk from which a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Written")]
pub struct RiskThreshold {
    threshold: Risk,
    confirm_unknown: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    threshold: Risk,
    #[serde(default = "yes")]
    confirm_unknown: bool,
}

fn yes() -> bool {
    true
}

impl TryFrom<Written> for RiskThreshold {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written.threshold {
            Risk::Unknown => Err("the threshold must be `LOW`, `MEDIUM` or `HIGH`"),
            threshold => Ok(Self { threshold, confirm_unknown: written.confirm_unknown }),
        }
    }
}

impl Confirmation {
    /// Asks about calls of at least a high risk, and about those of unknown risk.
    pub fn high() -> Self {
        Self::Risk(RiskThreshold { threshold: Risk::High, confirm_unknown: true })
    }

    /// Asks about calls of at least a medium risk, and about those of unknown risk.
    pub fn medium() -> Self {
        Self::Risk(RiskThreshold { threshold: Risk::Medium, confirm_unknown: true })
    }

    /// Does not ask about calls of unknown risk.
    #[must_use]
    pub fn allow_unknown(self) -> Self {
        match self {
            Self::Risk(own) => Self::Risk(RiskThreshold { confirm_unknown: false, ..own }),
            other => other,
        }
    }

    /// Whether a person is asked about a call of this risk.
    pub fn asks(self, risk: Risk) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Risk(own) => match (risk, own.threshold) {
                (Risk::Low, threshold) => threshold == Risk::Low,
                (Risk::Medium, threshold) => threshold != Risk::High,
                (Risk::High, _) => true,
                _ => own.confirm_unknown,
            },
        }
    }
}

/// Has a person asked about risky calls. Tools that only read are never asked about.
///
/// ```
/// use tool_runtime::policy::{ConfirmRisk, Confirmation};
/// use tool_runtime::ToolPool;
///
/// let pool = ToolPool::builder()
///     .policy(ConfirmRisk::new(Confirmation::high()))
///     .allow_empty()
///     .build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub struct ConfirmRisk {
    confirmation: Confirmation,
    analyzer: Box<dyn SecurityAnalyzer>,
}

impl ConfirmRisk {
    /// Asks by the judgement of the model itself: the tools of the pool have a parameter for it.
    pub fn new(confirmation: Confirmation) -> Self {
        Self { confirmation, analyzer: Box::new(ModelRisk) }
    }

    /// Asks by the judgement of an analyzer instead.
    #[must_use]
    pub fn analyzer(mut self, analyzer: impl SecurityAnalyzer) -> Self {
        self.analyzer = Box::new(analyzer);
        self
    }
}

impl PolicyEngine for ConfirmRisk {
    fn reads_risk(&self) -> bool {
        self.analyzer.reads_model_risk()
    }

    /// It judges the call as a whole.
    fn reads_files(&self) -> bool {
        false
    }

    fn decide(&self, call: &CallView<'_>) -> Decision {
        if call.annotations().is_read_only() {
            return Decision::allow();
        }
        let risk = analyzed(&*self.analyzer, call);
        match self.confirmation.asks(risk) {
            // An answer that is remembered is for this risk.
            true => Decision::ask(format!("Let `{}` run? Its risk is {risk}.", call.name()))
                .with_rule(format!("confirm-risk:{risk}")),
            false => Decision::allow(),
        }
    }
}

impl fmt::Debug for ConfirmRisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfirmRisk")
            .field("confirmation", &self.confirmation)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Risk::{High, Low, Medium, Unknown};

    #[test]
    fn a_threshold_asks_from_its_risk_on_and_about_unknown_ones_unless_told_otherwise() {
        for (confirmation, expected) in [
            (Confirmation::Always, [true, true, true, true]),
            (Confirmation::Never, [false, false, false, false]),
            (Confirmation::medium(), [false, true, true, true]),
            (Confirmation::high(), [false, false, true, true]),
            (Confirmation::high().allow_unknown(), [false, false, true, false]),
        ] {
            let asks = [Low, Medium, High, Unknown].map(|risk| confirmation.asks(risk));
            assert_eq!(asks, expected, "{confirmation:?}");
        }
    }
}
