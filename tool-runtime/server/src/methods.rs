//! The methods of MCP.

use rmcp::model::{
    CallToolRequestMethod, CancelTaskMethod, CompleteRequestMethod, ConstString,
    DiscoverRequestMethod, GetPromptRequestMethod, GetSkillRequestMethod, GetTaskMethod,
    InitializeResultMethod, ListPromptsRequestMethod, ListResourceTemplatesRequestMethod,
    ListResourcesRequestMethod, ListSkillsRequestMethod, ListToolsRequestMethod, PingRequestMethod,
    ReadResourceDirectoryRequestMethod, ReadResourceRequestMethod, SetLevelRequestMethod,
    SubscribeRequestMethod, SubscriptionsListenRequestMethod, UnsubscribeRequestMethod,
    UpdateTaskMethod,
};

/// The methods that 2026-07-28 has removed.
const OLD: [&str; 5] = [
    InitializeResultMethod::VALUE,
    PingRequestMethod::VALUE,
    SetLevelRequestMethod::VALUE,
    SubscribeRequestMethod::VALUE,
    UnsubscribeRequestMethod::VALUE,
];

/// The other methods of rmcp's `ClientRequest`.
const CURRENT: [&str; 16] = [
    CallToolRequestMethod::VALUE,
    CancelTaskMethod::VALUE,
    CompleteRequestMethod::VALUE,
    DiscoverRequestMethod::VALUE,
    GetPromptRequestMethod::VALUE,
    GetSkillRequestMethod::VALUE,
    GetTaskMethod::VALUE,
    ListPromptsRequestMethod::VALUE,
    ListResourceTemplatesRequestMethod::VALUE,
    ListResourcesRequestMethod::VALUE,
    ListSkillsRequestMethod::VALUE,
    ListToolsRequestMethod::VALUE,
    ReadResourceDirectoryRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
    SubscriptionsListenRequestMethod::VALUE,
    UpdateTaskMethod::VALUE,
];

/// Whether 2026-07-28 has removed this method.
pub(crate) fn is_old_method(method: &str) -> bool {
    OLD.contains(&method)
}

/// Whether rmcp has a request type for `method`.
///
/// A `CustomRequest` with such a method had invalid parameters. Its handler should answer "invalid
/// params", unlike rmcp's "method not found".
pub(crate) fn is_known_method(method: &str) -> bool {
    is_old_method(method) || CURRENT.contains(&method)
}
