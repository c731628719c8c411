//! A file of pins.

use crate::pins::McpPins;
use std::fs;
use std::io;
use std::path::Path;

/// The pins in a file; none without the file.
///
/// # Errors
/// The file cannot be read, or has no pins.
pub(super) fn read(file: &Path) -> Result<McpPins, String> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(McpPins::default()),
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    serde_json::from_str(&text).map_err(|error| {
        format!("it is not a file of pins: {error}; restore it, or remove it and approve the tools again")
    })
}

/// Replaces the file as a whole, so that no reader sees a part of it.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(file: &Path, pins: &McpPins) -> Result<(), String> {
    let json = serde_json::to_string_pretty(pins).map_err(|error| error.to_string())?;
    let mut next = file.as_os_str().to_owned();
    next.push(format!(".{}", std::process::id()));
    let replaced = fs::write(&next, json + "\n").and_then(|()| fs::rename(&next, file));
    replaced.map_err(|error| {
        drop(fs::remove_file(&next));
        format!("it cannot be written: {error}")
    })
}
