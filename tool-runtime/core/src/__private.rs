//! Items for generated code. Not for users: they change with every version.

pub use crate::access::{Access, KeyPart};
pub use crate::action::{Action, blocking, without_guard};
pub use crate::arguments::{ArgumentReader, Arguments, DecodeError, Key, required};
pub use crate::completion::{ArgumentCompleter, Complete};
pub use crate::constraint::{
    Constraint, Format, Length, Pattern, Range, ensure, format, length, pattern, range,
};
pub use crate::context::{Injectable, ToolContext};
pub use crate::debug_as_message;
pub use crate::definition::{Draft, DraftOf, TaskSupport, ToolDefinition};
pub use crate::dispatch::{CallAction, ResultType, TypedArgument, TypedArguments};
pub use crate::error::{ToolError, write_error};
pub use crate::matching::MatchAs;
pub use crate::need::Need;
pub use crate::observation::Observation;
pub use crate::output::{
    DirectKind, ErrorKind, FlattenedKind, MessageKind, NestedResultKind, NotResult, Output,
    PlainKind, ReportedKind, Returned, StructuredKind, UnsupportedErrorKind, UnsupportedKind,
};
pub use crate::parameter::{
    AdvertiseDefault, ArgumentType, DefaultOf, JsonOf, OfBytes, OfChrono, OfIndexmap, OfJiff,
    OfRustDecimal, OfSemver, OfUrl, OfUuid, OmitDefault, OmitJson, Parameter, Settings, WriteJson,
    advertise_example, argument, defaulted, flattened, json_object, matched_text, reject, shown,
    text_default, to_json, type_default,
};
pub use crate::peer::{Form, FormChoice, FormField, form_field};
pub use crate::prompt::{PromptAction, PromptDefinition, PromptDraft};
pub use crate::registration::{
    ExpectedTool, PromptRegistration, Registration, ResourceRegistration,
};
pub use crate::resource::{ResourceAction, ResourceDefinition, ResourceDraft};
pub use crate::toolset::{Method, Toolset, ToolsetKind, ToolsetMethods, receiver};
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
