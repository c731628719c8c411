//! The package of a program.

/// What `Cargo.toml` says about the package of a program. Empty strings: unknown.
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
