//! Chooses how a descriptor is written.

use super::descriptor_kind::{Opened, open_by_kind};
use super::polled::Direction;
use super::writer::{Pump, Writer};
use super::{pump_task, pump_thread};
use std::io;
use std::os::fd::OwnedFd;

/// Sorts a descriptor and prepares to write it. Needs a runtime.
pub(super) fn open(descriptor: OwnedFd) -> io::Result<(Writer, Pump)> {
    match open_by_kind(descriptor, Direction::Output)? {
        Opened::Polled(descriptor) => Ok(pump_task::start(descriptor)),
        Opened::Blocking(file) => pump_thread::start(file),
    }
}
