//! Several analyzers together.

use super::{SecurityAnalyzer, analyzed};
use tool_runtime_core::govern::{CallView, Risk};

/// Several analyzers. The highest risk counts; unless one finds a high risk, one that does not know
/// makes the result unknown.
///
/// ```
/// use tool_runtime::policy::{Ensemble, ModelRisk, PatternAnalyzer};
///
/// let ensemble = Ensemble::new().with(ModelRisk).with(PatternAnalyzer::common()).known_only();
/// # let _ = ensemble;
/// ```
#[derive(Default)]
pub struct Ensemble {
    members: Vec<Box<dyn SecurityAnalyzer>>,
    known_only: bool,
}

impl Ensemble {
    /// An ensemble without members: every risk is unknown.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an analyzer.
    #[must_use]
    pub fn with(mut self, analyzer: impl SecurityAnalyzer) -> Self {
        self.members.push(Box::new(analyzer));
        self
    }

    /// Ignores members that do not know, if another one does. Default: they make the result unknown.
    #[must_use]
    pub fn known_only(mut self) -> Self {
        self.known_only = true;
        self
    }
}

impl SecurityAnalyzer for Ensemble {
    fn analyze(&self, call: &CallView<'_>) -> Risk {
        let risks: Vec<Risk> =
            self.members.iter().map(|member| analyzed(&**member, call)).collect();
        combined(&risks, self.known_only)
    }

    fn reads_model_risk(&self) -> bool {
        self.members.iter().any(|member| member.reads_model_risk())
    }
}

fn combined(risks: &[Risk], known_only: bool) -> Risk {
    let has = |risk: Risk| risks.contains(&risk);
    let is_unknown = risks.is_empty() || has(Risk::Unknown) && !known_only;
    if has(Risk::High) {
        Risk::High
    } else if is_unknown {
        Risk::Unknown
    } else if has(Risk::Medium) {
        Risk::Medium
    } else if has(Risk::Low) {
        Risk::Low
    } else {
        Risk::Unknown
    }
}

impl std::fmt::Debug for Ensemble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ensemble").field("members", &self.members.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Risk::{High, Low, Medium, Unknown};

    #[test]
    fn the_highest_risk_counts_and_unknown_is_not_low() {
        for (risks, strict, known) in [
            (&[Low, High][..], High, High),
            (&[Low, Medium], Medium, Medium),
            (&[Low, Unknown], Unknown, Low),
            (&[Medium, Unknown], Unknown, Medium),
            (&[Unknown, High], High, High),
            (&[Unknown], Unknown, Unknown),
            (&[], Unknown, Unknown),
            (&[Low, Low], Low, Low),
        ] {
            assert_eq!(combined(risks, false), strict, "{risks:?}");
            assert_eq!(combined(risks, true), known, "{risks:?}");
        }
    }
}
