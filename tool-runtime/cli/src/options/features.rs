//! Options whose cargo feature is not built in. They are listed and say what to add, so that the command line of a program
//! does not depend on the features that other packages turn on.

use super::forms::missing;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// An option of a command, and the feature that it needs.
struct Missing {
    command: &'static str,
    option: &'static str,
    feature: &'static str,
}

const MISSING: &[Missing] = &[
    #[cfg(not(feature = "http"))]
    Missing { command: "serve", option: "http", feature: "http" },
    #[cfg(all(feature = "http", not(feature = "jwt")))]
    Missing { command: "serve", option: "auth-jwt-issuer", feature: "jwt" },
    #[cfg(all(feature = "http", not(feature = "tls")))]
    Missing { command: "serve", option: "tls-cert", feature: "tls" },
    #[cfg(all(feature = "http", not(feature = "otel")))]
    Missing { command: "serve", option: "metrics", feature: "otel" },
    #[cfg(not(feature = "export"))]
    Missing { command: "list", option: "tokens", feature: "export" },
    #[cfg(not(feature = "export"))]
    Missing { command: "schema", option: "format", feature: "export" },
    #[cfg(not(feature = "export"))]
    Missing { command: "schema", option: "strict", feature: "export" },
];

/// Names the missing features in the help of a command.
pub(super) fn marked(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let missing = MISSING.iter().filter(|it| it.command == name);
    missing.fold(command, |command, Missing { option, feature, .. }| {
        command.mut_arg(option, |arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            arg.help(format!("{help} (needs the feature `{feature}`)"))
        })
    })
}

/// The reason why the given options of a command cannot be used.
pub(super) fn problem(command: &str, matches: &ArgMatches) -> Option<String> {
    let is_given = |option| {
        matches.try_contains_id(option).unwrap_or(false)
            && matches.value_source(option) == Some(ValueSource::CommandLine)
    };
    let missing = MISSING.iter().find(|it| it.command == command && is_given(it.option))?;
    Some(self::missing(&format!("{command} --{}", missing.option), missing.feature))
}
