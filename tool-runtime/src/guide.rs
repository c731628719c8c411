//! Guides, one topic a page. The [front page](crate#guides) has them in reading order.

#[doc = include_str!("../docs/guide/parameters.md")]
pub mod parameters {}

#[doc = include_str!("../docs/guide/axum.md")]
pub mod axum {}

#[doc = include_str!("../docs/guide/results.md")]
pub mod results {}

#[doc = include_str!("../docs/guide/testing.md")]
pub mod testing {}

#[doc = include_str!("../docs/guide/pools.md")]
pub mod pools {}

#[doc = include_str!("../docs/guide/selectors.md")]
pub mod selectors {}

#[doc = include_str!("../docs/guide/clients.md")]
pub mod clients {}

#[doc = include_str!("../docs/guide/command_line.md")]
#[cfg(feature = "cli")]
pub mod command_line {}

#[cfg(all(
    feature = "approvals",
    feature = "audit",
    feature = "cli",
    feature = "http",
    feature = "policy",
    feature = "yaml"
))]
#[doc = include_str!("../docs/guide/governing.md")]
pub mod governing {}

#[cfg(all(feature = "audit", feature = "cli", feature = "http"))]
#[doc = include_str!("../docs/guide/operating.md")]
pub mod operating {}

#[cfg(feature = "remote-hub")]
#[doc = include_str!("../docs/guide/remote.md")]
pub mod remote {}

#[cfg(feature = "export")]
#[doc = include_str!("../docs/guide/models.md")]
pub mod models {}
