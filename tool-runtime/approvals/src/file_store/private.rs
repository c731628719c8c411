//! Files of one user.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use other::{check, create, options, user};
#[cfg(unix)]
pub(super) use unix::{check, create, options, user};
