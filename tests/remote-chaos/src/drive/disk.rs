//! A small disk, which can be full.

use crate::Failure;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system in memory, unmounted on drop.
pub(super) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it on a folder.
    ///
    /// # Errors
    /// This user may not mount, or the system has no such file system.
    pub(super) fn mount(folder: &Path, megabytes: usize) -> Result<Self, Failure> {
        fs::create_dir(folder)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"]).arg(folder);
        let output = mount.output()?;
        match output.status.success() {
            true => Ok(Self(folder.to_owned())),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into()),
        }
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Leaves no room.
    pub(super) fn fill(&self) -> Result<(), Failure> {
        let mut filler = File::create(self.filler())?;
        loop {
            match filler.write_all(&[0; 4096]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes room again.
    pub(super) fn empty(&self) -> Result<(), Failure> {
        Ok(fs::remove_file(self.filler())?)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}
