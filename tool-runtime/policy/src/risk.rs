//! Judgement of risk: analyzers, and questions about calls that are risky.

mod confirmation;

pub use confirmation::{ConfirmRisk, Confirmation, RiskThreshold};

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

/// The judgement of an analyzer; high if it panics.
pub(crate) fn analyzed(analyzer: &dyn SecurityAnalyzer, call: &CallView<'_>) -> Risk {
    catch_unwind(AssertUnwindSafe(|| analyzer.analyze(call))).unwrap_or_else(|_| {
        tracing::error!(tool = call.name(), "an analyzer panicked, so the risk is high");
        Risk::High
    })
}
