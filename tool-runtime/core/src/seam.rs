//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

pub use crate::govern::call_view::{PROMPTS, RESOURCES};
pub use crate::govern::hook::pooled_tool::PooledTool;
pub use crate::govern::rounds::CallRounds;
pub use crate::pool::claim::Claim;
pub use crate::pool::core::Absence;
pub use crate::pool::watch::{PoolNews, Watcher};
pub use crate::schema::check::{check, hide_secrets};
pub use crate::schema::nearest::nearest;
pub use crate::schema::translate::{is_official_schema, schema_path, translate_schema};
pub use crate::tool::arguments::input::InputModel;
pub use crate::tool::arguments::{EffectiveArgument, EffectiveArguments, RawMembers, push_member};
#[cfg(feature = "isolation")]
pub use crate::tool::concurrency::isolation::{
    FirstPoll, Isolation, Watched, fill_lifo_slot, first_polled, release_woken,
};
pub use crate::tool::context::{Session, SessionValues};
pub use crate::tool::tool::definition::unknown::{add as add_unknown, unknown};
pub use crate::tool::tool::registration::{ExpectedTool, expected_tools};
pub use crate::vocabulary::canonical::canonical;
pub use crate::vocabulary::content::media::{Media, normal_media, split_data_url};
pub use crate::vocabulary::content::{BlockForm, ResourceMembers};
pub use crate::vocabulary::error::causes::with_causes;
pub use crate::vocabulary::error::excerpt::{excerpt, excerpt_of, listed};
pub use crate::vocabulary::error::panic::{panic_is_reported, panic_message};
pub use crate::vocabulary::error::tool_error::INTERNAL;
pub use crate::vocabulary::future::spawn;
pub use crate::vocabulary::hex::hex;
pub use crate::vocabulary::look_alike::{ascii_character, ascii_characters, look_alike};
pub use crate::vocabulary::loopback::is_loopback;
pub use crate::vocabulary::mask::{Mask, as_json_in_place, has_secret, has_secret_key};
pub use crate::vocabulary::matching::argument_text;
pub use crate::vocabulary::name::{MAX_LENGTH, is_allowed, problem};
pub use crate::vocabulary::printable::{
    ascii_name, escaped_name, escaped_text, one_line, printable, printable_lines,
};
pub use crate::vocabulary::program::program_name;
pub use crate::vocabulary::secret::name::is_secret_name;
#[cfg(feature = "redact")]
pub use crate::vocabulary::secret::redactor::{HIDDEN, MIN_LENGTH as MIN_SECRET, Redactor};
pub use crate::vocabulary::sync::lock;
pub use crate::vocabulary::tokens::estimate_tokens;
pub use crate::vocabulary::trace::{
    ACCESS, CALL_SPANS, DECISIONS, Propagator, RELOADS, REQUEST_SPANS, STATE_SPANS, TraceMembers,
    current_trace, error_type, is_in_call, propagator, record_error, set_propagator, span_name,
    trace_id,
};
pub use crate::vocabulary::unique_keys::{PathStep, read_unique};
pub use crate::vocabulary::wire_name::{MAX_WIRE_NAME, hashed};
