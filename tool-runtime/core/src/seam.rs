//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

pub use crate::arguments::{EffectiveArgument, EffectiveArguments, RawMembers, push_member};
pub use crate::canonical::canonical;
pub use crate::content::{BlockForm, Media, ResourceMembers, normal_media, split_data_url};
pub use crate::context::{Session, SessionValues};
pub use crate::definition::unknown::{add as add_unknown, unknown};
pub use crate::error::{INTERNAL, excerpt, excerpt_of, panic_is_reported, panic_message};
pub use crate::future::spawn;
pub use crate::governance::{CallRounds, PROMPTS, RESOURCES};
pub use crate::hex::hex;
pub use crate::input::InputModel;
#[cfg(feature = "isolation")]
pub use crate::isolation::{
    FirstPoll, Isolation, Watched, fill_lifo_slot, first_polled, release_woken,
};
pub use crate::loopback::is_loopback;
pub use crate::mask::{Mask, as_json_in_place, has_secret, has_secret_key};
pub use crate::matching::argument_text;
pub use crate::name::{MAX_LENGTH, is_allowed, problem};
pub use crate::pool::{Absence, Claim, CommandFailure, Found, PoolNews, Watcher, run_printing};
pub use crate::printable::{one_line, printable, printable_lines};
pub use crate::program::program_name;
#[cfg(feature = "redact")]
pub use crate::redactor::{HIDDEN, MIN_LENGTH as MIN_SECRET, Redactor};
pub use crate::registration::{ExpectedTool, expected_tools};
pub use crate::schema::check::{check, hide_secrets};
pub use crate::schema::nearest::nearest;
pub use crate::schema::translate::{is_official_schema, schema_path, translate_schema};
pub use crate::sync::lock;
pub use crate::tokens::estimate_tokens;
pub use crate::unique_keys::{PathStep, read_unique};
pub use crate::wire_name::{MAX_WIRE_NAME, hashed};
