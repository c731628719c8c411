//! No sockets of networks, by seccomp. Landlock denies only TCP: not UDP, other protocols, `MSG_FASTOPEN`, virtual sockets.

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io;

/// Families of sockets that are not networks.
const LOCAL: &[i32] = &[libc::AF_UNIX];
/// Families of a network of the program's own, and of its preparation.
const OWN: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The calls of the 32-bit ABI on 64-bit registers have this bit.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Denies this thread, and all processes that it starts, to create sockets of networks. `allows_own` leaves those that
/// reach no other machine if the program has a network of its own.
pub(super) fn deny(allows_own: bool) -> io::Result<()> {
    let program = filter(if allows_own { OWN } else { LOCAL }).map_err(io::Error::other)?;
    apply_filter(&program).map_err(io::Error::other)
}

fn filter(allowed: &[i32]) -> Result<BpfProgram, BackendError> {
    // A socket is denied if its family is none of the allowed ones.
    let other = |family: &i32| {
        SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            u64::from(family.cast_unsigned()),
        )
    };
    let conditions = allowed.iter().map(other).collect::<Result<Vec<_>, _>>()?;
    let mut rules = BTreeMap::from([
        (libc::SYS_socket, vec![SeccompRule::new(conditions.clone())?]),
        // It creates sockets without a call of `socket`.
        (libc::SYS_io_uring_setup, Vec::new()),
    ]);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_socket | X32, vec![SeccompRule::new(conditions)?]);
        rules.insert(libc::SYS_io_uring_setup | X32, Vec::new());
    }
    let denied = SeccompAction::Errno(libc::EACCES.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture)?.try_into()
}
