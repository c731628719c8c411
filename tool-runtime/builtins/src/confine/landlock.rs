//! Landlock of the kernel. It has no right for metadata: `chmod`, `chown` and `touch` work outside, unlike in bubblewrap.

use super::Rules;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
    path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::io;

/// Devices that programs write to.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// Whether the kernel can confine programs.
///
/// # Errors
/// The reason, and which version of the kernel can.
pub(super) fn check(network: bool) -> Result<(), String> {
    match ruleset(&Rules { writable: Vec::new(), network, namespaces: false }) {
        Ok(_) => Ok(()),
        Err(error) if network => Err(format!(
            "the kernel does not offer Landlock ({error}); use Linux 5.13 or later, or the sandbox `bubblewrap`"
        )),
        Err(error) => Err(format!(
            "the kernel cannot deny the network by Landlock ({error}); use Linux 6.7 or later, or the sandbox `bubblewrap`"
        )),
    }
}

pub(super) fn restrict_thread(rules: &Rules) -> io::Result<()> {
    let restricted = ruleset(rules).and_then(RulesetCreated::restrict_self);
    restricted.map_err(io::Error::other)?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}

/// Writing is required of the kernel, and TCP if there is to be no network. Later rights, which older kernels lack, are
/// used where they exist.
fn ruleset(rules: &Rules) -> Result<RulesetCreated, RulesetError> {
    let (required, known) = (AccessFs::from_write(ABI::V1), AccessFs::from_write(ABI::V3));
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(required)?;
    if !rules.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let writable = rules.writable.iter().map(|directory| {
        let is_file = directory.handle.metadata().is_ok_and(|metadata| !metadata.is_dir());
        let access = if is_file { known & AccessFs::from_file(ABI::V3) } else { known };
        Ok::<_, RulesetError>(PathBeneath::new(&*directory.handle, access))
    });
    ruleset = ruleset.set_compatibility(CompatLevel::BestEffort).handle_access(known)?;
    ruleset = ruleset.scope(Scope::Signal)?;
    if !rules.network {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket)?;
    }
    ruleset.create()?.add_rules(writable)?.add_rules(path_beneath_rules(DEVICES, known))
}
