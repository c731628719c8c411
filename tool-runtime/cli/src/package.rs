//! The package of a program.

/// The metadata of a program in its `Cargo.toml`. A value that is not set is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Package {
    /// `name`.
    pub name: &'static str,
    /// `version`.
    pub version: &'static str,
    /// `description`.
    pub description: &'static str,
    /// `authors`, joined by `:`.
    pub authors: &'static str,
    /// `repository`.
    pub repository: &'static str,
    /// `homepage`.
    pub homepage: &'static str,
    /// `license`.
    pub license: &'static str,
}
