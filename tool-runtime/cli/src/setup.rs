//! The commands of every program that register it with clients, and pack it.

use crate::about::About;
#[cfg(not(feature = "install"))]
use crate::missing::Missing;
use std::sync::Arc;
use tool_runtime_command::CliCommand;
#[cfg(not(feature = "install"))]
use tool_runtime_command::seam::SETUP;
#[cfg(feature = "install")]
use tool_runtime_install::{Bundle, Install, Package, Uninstall};

/// `install`, `uninstall` and `bundle`.
#[cfg(feature = "install")]
pub(crate) fn commands(about: &About) -> [Arc<dyn CliCommand>; 3] {
    let package = Package {
        name: about.name.clone(),
        version: about.version.clone(),
        description: about.about.clone().unwrap_or_default(),
        title: about.title.clone(),
        authors: about.package.authors.to_owned(),
        repository: about.package.repository.to_owned(),
        homepage: about.package.homepage.to_owned(),
        license: about.package.license.to_owned(),
    };
    [Arc::new(Install), Arc::new(Uninstall), Arc::new(Bundle::new(package))]
}

/// `install`, `uninstall` and `bundle`.
#[cfg(not(feature = "install"))]
pub(crate) fn commands(_: &About) -> [Arc<dyn CliCommand>; 3] {
    let missing = |name, about| -> Arc<dyn CliCommand> {
        Arc::new(Missing { name, about, heading: SETUP, feature: "install" })
    };
    [
        missing("install", "Register the program as an MCP server with a client"),
        missing("uninstall", "Remove the registration with a client"),
        missing("bundle", "Pack the program as an MCPB bundle, for clients and the registry"),
    ]
}

/// The options of one of these commands, which may have the names of options of the program.
pub(crate) fn own_options(command: &str) -> Vec<&'static str> {
    let commands = commands(&About::default());
    let form = commands.iter().map(|it| it.form()).find(|form| form.name == command);
    form.into_iter().flat_map(|form| form.options).map(|option| option.name).collect()
}
