//! What `Cargo.toml` says about a program.

/// The package of a program. Empty strings: unknown.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// A sentence about it.
    pub description: String,
    /// The title that clients show.
    pub title: Option<String>,
    /// `authors`, joined by `:`.
    pub authors: String,
    /// The URL of the repository.
    pub repository: String,
    /// The URL of its home page.
    pub homepage: String,
    /// An SPDX expression.
    pub license: String,
}
