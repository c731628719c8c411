//! What a program is called.

use super::package::Package;

/// The name and description of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) about: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) instructions: Option<String>,
    #[cfg_attr(not(feature = "install"), expect(dead_code, reason = "only bundles name it"))]
    pub(crate) package: Package,
    /// Arguments of hosts, which the server ignores.
    pub(crate) ignored_arguments: Vec<String>,
}
