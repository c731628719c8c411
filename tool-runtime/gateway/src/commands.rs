//! The commands `check` and `init`.

mod check;
mod init;

pub(crate) use check::Check;
pub(crate) use init::Init;
