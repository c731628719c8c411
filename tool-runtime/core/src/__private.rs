//! Items for generated code. Not for users: they change with every version.

pub use crate::debug_as_message;
pub use crate::dispatch::typed::{CallAction, ResultType, TypedArgument, TypedArguments};
pub use crate::tool::arguments::constraint::{
    Constraint, Format, Length, Pattern, Range, ensure, format, length, pattern, range,
};
pub use crate::tool::arguments::parameter::{
    AdvertiseDefault, ArgumentType, DefaultOf, JsonOf, OfBytes, OfChrono, OfIndexmap, OfJiff,
    OfRustDecimal, OfSemver, OfUrl, OfUuid, OmitDefault, OmitJson, Parameter, Settings, WriteJson,
    advertise_example, argument, defaulted, flattened, json_object, matched_text, reject,
    text_default, to_display, to_json, type_default,
};
pub use crate::tool::arguments::{ArgumentReader, Arguments, DecodeError, Key, required};
pub use crate::tool::concurrency::access::{Access, KeyPart};
pub use crate::tool::context::{Injectable, ToolContext};
pub use crate::tool::offering::completion::{ArgumentCompleter, Complete};
pub use crate::tool::offering::prompt::{PromptAction, PromptDefinition, definition::PromptDraft};
pub use crate::tool::offering::resource::{
    ResourceAction, ResourceDefinition, definition::ResourceDraft,
};
pub use crate::tool::peer::{Form, FormChoice, FormField, form_types::form_field};
pub use crate::tool::results::observation::Observation;
pub use crate::tool::results::output::{
    DirectKind, ErrorKind, FlattenedKind, MessageKind, NestedResultKind, NotResult, Output,
    PlainKind, ReportedKind, Returned, StructuredKind, UnsupportedErrorKind, UnsupportedKind,
};
pub use crate::tool::tool::action::{Action, blocking, without_guard};
pub use crate::tool::tool::definition::{Draft, DraftOf, TaskSupport, ToolDefinition};
pub use crate::tool::tool::registration::{
    ExpectedTool, PromptRegistration, Registration, ResourceRegistration,
};
pub use crate::tool::toolset::{
    Toolset, ToolsetKind, ToolsetMethods, instance::receiver, method::Method,
};
pub use crate::vocabulary::error::{ToolError, debug::write_error};
pub use crate::vocabulary::matching::MatchAs;
pub use crate::vocabulary::need::Need;
#[cfg(feature = "linked")]
pub use inventory;
pub use serde;
pub use std::string::String;

/// Any JSON value. An alias, so that the compiler does not print this path for the type.
pub type JsonValue = serde_json::Value;
/// A JSON object.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// Registers nothing: the feature `linked` is off.
#[cfg(not(feature = "linked"))]
pub mod inventory {
    /// Drops its argument.
    #[macro_export]
    #[doc(hidden)]
    macro_rules! __not_linked {
        ($($tokens:tt)*) => {};
    }

    pub use __not_linked as submit;
}
