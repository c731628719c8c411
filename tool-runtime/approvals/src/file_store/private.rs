//! Files of one user.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use other::{check, check_rights, create, options, user};
#[cfg(unix)]
pub(super) use unix::{check, check_rights, create, options, user};
