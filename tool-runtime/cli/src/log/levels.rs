//! Levels of the log that no user should have to know.

use super::LogFormat;
use tool_runtime_core::seam::CALL_SPANS;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// The target of the line that says where a server listens.
pub(crate) const LISTENING: &str = "tool_runtime_cli::listening";

/// The target of the errors that end the program.
pub(crate) const ERRORS: &str = "tool_runtime_cli::error";

/// The transport of a command that serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    Nothing,
    Stdio,
    /// Perhaps: the configuration of the program may have an address.
    Http,
}

/// Adds the levels of rmcp, and what the lines of a server need. Levels that were given stay.
pub(super) fn complete(given: Targets, format: LogFormat, serves: Serves) -> Targets {
    let names = |prefix: &str| given.iter().any(|(target, _)| target.starts_with(prefix));
    let (has_rmcp, has_calls) = (names("rmcp"), names(CALL_SPANS));
    let mut levels = given;
    if !has_rmcp {
        let default = levels.default_level().unwrap_or(LevelFilter::OFF);
        let rmcp = rmcp(default);
        levels = rmcp
            .into_iter()
            .fold(levels, |levels, (target, level)| levels.with_target(target, level.min(default)));
    }
    if serves == Serves::Http && !has_calls {
        levels = levels.with_target(CALL_SPANS, LevelFilter::INFO);
    }
    if format == LogFormat::Json {
        levels = levels.with_target(ERRORS, LevelFilter::ERROR);
        if serves != Serves::Nothing {
            levels = levels.with_target(LISTENING, LevelFilter::INFO);
        }
    }
    levels
}

/// The levels of rmcp for a level of ours. It logs a lost connection, which our client logs too, and an answer to a client that
/// left, which our server logs too, as errors, each unexpected message of a server as a warning, and all that a peer says
/// of itself at `info`.
fn rmcp(default: LevelFilter) -> [(&'static str, LevelFilter); 5] {
    let (others, service, connections) = match default {
        LevelFilter::TRACE => (LevelFilter::DEBUG, LevelFilter::DEBUG, LevelFilter::DEBUG),
        LevelFilter::DEBUG => (LevelFilter::INFO, LevelFilter::INFO, LevelFilter::INFO),
        _ => (LevelFilter::WARN, LevelFilter::OFF, LevelFilter::OFF),
    };
    [
        ("rmcp", others),
        ("rmcp::service", service),
        ("rmcp::transport::worker", connections),
        ("rmcp::transport::streamable_http_client", connections),
        ("rmcp::transport::common::client_side_sse", connections),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    fn complete(given: &str) -> Targets {
        super::complete(given.parse().expect("levels"), LogFormat::Text, Serves::Stdio)
    }

    #[test]
    fn rmcp_is_logged_at_its_weight() {
        let info = complete("info");
        assert!(!info.would_enable("rmcp::service", &Level::ERROR));
        assert!(!info.would_enable("rmcp::transport::worker", &Level::ERROR));
        assert!(info.would_enable("rmcp::handler", &Level::WARN));
        assert!(complete("debug").would_enable("rmcp::service", &Level::INFO));
        assert!(!complete("off").would_enable("rmcp", &Level::ERROR));
        assert!(complete("warn,rmcp=trace").would_enable("rmcp::service", &Level::TRACE));
    }
}
