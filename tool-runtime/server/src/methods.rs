//! Requests that the protocol defines.

use rmcp::model::{
    CallToolRequestMethod, CancelTaskMethod, CompleteRequestMethod, ConstString,
    DiscoverRequestMethod, GetPromptRequestMethod, GetSkillRequestMethod, GetTaskMethod,
    InitializeResultMethod, ListPromptsRequestMethod, ListResourceTemplatesRequestMethod,
    ListResourcesRequestMethod, ListSkillsRequestMethod, ListToolsRequestMethod, PingRequestMethod,
    ReadResourceDirectoryRequestMethod, ReadResourceRequestMethod, SetLevelRequestMethod,
    SubscribeRequestMethod, SubscriptionsListenRequestMethod, UnsubscribeRequestMethod,
    UpdateTaskMethod,
};

/// The methods of rmcp's `ClientRequest`, one per variant.
const KNOWN: [&str; 21] = [
    CallToolRequestMethod::VALUE,
    CancelTaskMethod::VALUE,
    CompleteRequestMethod::VALUE,
    DiscoverRequestMethod::VALUE,
    GetPromptRequestMethod::VALUE,
    GetSkillRequestMethod::VALUE,
    GetTaskMethod::VALUE,
    InitializeResultMethod::VALUE,
    ListPromptsRequestMethod::VALUE,
    ListResourceTemplatesRequestMethod::VALUE,
    ListResourcesRequestMethod::VALUE,
    ListSkillsRequestMethod::VALUE,
    ListToolsRequestMethod::VALUE,
    PingRequestMethod::VALUE,
    ReadResourceDirectoryRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
    SetLevelRequestMethod::VALUE,
    SubscribeRequestMethod::VALUE,
    SubscriptionsListenRequestMethod::VALUE,
    UnsubscribeRequestMethod::VALUE,
    UpdateTaskMethod::VALUE,
];

/// Whether rmcp has a request type for `method`.
///
/// A request of such a method that nevertheless arrives as a `CustomRequest` had parameters that
/// do not fit; its handler should answer "invalid params", not rmcp's "method not found".
pub(crate) fn is_known_method(method: &str) -> bool {
    KNOWN.contains(&method)
}

/// The methods that only older clients have: 2026-07-28 removed them.
const OLD: [&str; 5] = [
    InitializeResultMethod::VALUE,
    PingRequestMethod::VALUE,
    SetLevelRequestMethod::VALUE,
    SubscribeRequestMethod::VALUE,
    UnsubscribeRequestMethod::VALUE,
];

/// Whether there is no such method for clients of 2026-07-28.
pub(crate) fn is_old_method(method: &str) -> bool {
    OLD.contains(&method)
}
