//! The metadata of a program in its `Cargo.toml`.

/// The package of a program. A value that is not set is empty.
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
