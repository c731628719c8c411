//! The version of messages and records.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of everything that is written, in the member `v`.
const VERSION: u32 = 1;

/// The version of a message. Reading one of a newer version is an error; unknown members of the same version are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            1..=VERSION => Ok(Self),
            newer => Err(D::Error::custom(format!(
                "it has version {newer}, and this program reads up to version {VERSION}; update the program"
            ))),
        }
    }
}
