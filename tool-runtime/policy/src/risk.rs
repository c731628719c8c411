//! Judgement of risk: analyzers, and questions about calls that are risky.

mod analyzers;
mod confirmation;
mod ensemble;
#[cfg(feature = "shell")]
mod shell;

pub use analyzers::{ModelRisk, PatternAnalyzer};
pub use confirmation::{ConfirmRisk, Confirmation, RiskThreshold};
pub use ensemble::Ensemble;
#[cfg(feature = "shell")]
pub use shell::ShellAnalyzer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use tool_runtime_core::govern::{CallView, Risk};

/// Judges the risk of calls.
///
/// Conditions of a [`Policy`](crate::Policy) with [`Policy::analyzer`](crate::Policy::analyzer) and a
/// [`ConfirmRisk`] read the result. `Unknown` is not low, and a panic is `High`.
///
/// ```
/// use tool_runtime::policy::SecurityAnalyzer;
/// use tool_runtime::govern::{CallView, Risk};
///
/// /// Everything that leaves the house is risky.
/// struct Outbound;
///
/// impl SecurityAnalyzer for Outbound {
///     fn analyze(&self, call: &CallView<'_>) -> Risk {
///         if call.annotations().is_open_world() { Risk::High } else { Risk::Low }
///     }
/// }
/// ```
pub trait SecurityAnalyzer: Send + Sync + 'static {
    /// Judges a call, on its thread: no I/O.
    fn analyze(&self, call: &CallView<'_>) -> Risk;

    /// Whether it reads the judgement of the model, [`CallView::risk`]. Models are then asked for it. Default: no.
    fn reads_model_risk(&self) -> bool {
        false
    }
}

/// The judgement of an analyzer; high if it panics.
pub(crate) fn analyzed(analyzer: &dyn SecurityAnalyzer, call: &CallView<'_>) -> Risk {
    catch_unwind(AssertUnwindSafe(|| analyzer.analyze(call))).unwrap_or_else(|_| {
        tracing::error!(tool = call.name(), "an analyzer panicked, so the risk is high");
        Risk::High
    })
}
