//! Link-time registrations of `#[tool]`, `#[prompt]` and `#[resource]`.

use crate::tool::offering::prompt::{Prompt, PromptAction};
use crate::tool::offering::resource::{Resource, ResourceAction};
use crate::tool::tool::action::Action;
use crate::tool::tool::{Origin, Tool};
#[cfg(feature = "linked")]
use crate::tool::toolset::ToolsetKind;

/// Link-time registration by `#[tool]`: how to make the tool, and where it was
/// written.
///
/// Collected by [`ToolPoolBuilder::linked`](crate::pool::ToolPoolBuilder::linked). The tools of a
/// dependency that nothing names are not linked: write `use my_tools as _;`. Static libraries
/// in foreign programs and wasm lose registrations too; name tools there with
/// [`ToolPoolBuilder::tool`](crate::pool::ToolPoolBuilder::tool).
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::tool::Registration;
///
/// /// Answer at once.
/// #[tool(register = false)]
/// async fn ping() -> &'static str { "pong" }
///
/// let registration = Registration::from_action::<PingAction>(file!(), line!());
/// assert_eq!(registration.tool().name(), "ping");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    make: fn() -> Tool,
    origin: Origin,
}

impl Registration {
    /// Registers an action, written at this location.
    pub const fn from_action<A: Action>(file: &'static str, line: u32) -> Self {
        Self { make: Tool::from_action::<A>, origin: Origin { file, line } }
    }

    /// Makes the tool.
    pub fn tool(&self) -> Tool {
        (self.make)().at(self.origin)
    }
}

/// Link-time registration by `#[prompt]`: how to make the prompt, and where it was
/// written.
#[derive(Clone, Copy, Debug)]
pub struct PromptRegistration {
    make: fn() -> Prompt,
    origin: Origin,
}

impl PromptRegistration {
    /// Registers an action, written at this location.
    pub const fn from_action<A: PromptAction>(file: &'static str, line: u32) -> Self {
        Self { make: Prompt::from_action::<A>, origin: Origin { file, line } }
    }

    /// Makes the prompt.
    pub fn prompt(&self) -> Prompt {
        (self.make)().at(self.origin)
    }
}

/// Link-time registration by `#[resource]`: how to make the resource, and where it
/// was written.
#[derive(Clone, Copy, Debug)]
pub struct ResourceRegistration {
    make: fn() -> Resource,
    origin: Origin,
}

impl ResourceRegistration {
    /// Registers an action, written at this location.
    pub const fn from_action<A: ResourceAction>(file: &'static str, line: u32) -> Self {
        Self { make: Resource::from_action::<A>, origin: Origin { file, line } }
    }

    /// Makes the resource.
    pub fn resource(&self) -> Resource {
        (self.make)().at(self.origin)
    }
}

/// Link-time registration by `external_tools!`: the schemas of an external tool, as its types were
/// generated from them.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedTool {
    name: &'static str,
    file: &'static str,
    schemas: &'static str,
}

impl ExpectedTool {
    /// The id of a tool, the file of its definition, and its schemas as JSON.
    pub const fn new(name: &'static str, file: &'static str, schemas: &'static str) -> Self {
        Self { name, file, schemas }
    }

    /// The tool's id.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The file of the definition, as the source code names it.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// `inputSchema` and `outputSchema`, as JSON.
    pub fn schemas(&self) -> &'static str {
        self.schemas
    }
}

#[cfg(feature = "linked")]
inventory::collect!(ExpectedTool);

/// The external tools that the binary has types for. Without the feature `linked` there are none.
pub fn expected_tools() -> impl Iterator<Item = &'static ExpectedTool> {
    #[cfg(feature = "linked")]
    return inventory::iter::<ExpectedTool>.into_iter();
    #[cfg(not(feature = "linked"))]
    std::iter::empty()
}

#[cfg(feature = "linked")]
inventory::collect!(Registration);

#[cfg(feature = "linked")]
inventory::collect!(PromptRegistration);

#[cfg(feature = "linked")]
inventory::collect!(ResourceRegistration);

#[cfg(feature = "linked")]
inventory::collect!(ToolsetKind);

/// All linked tools, in an unspecified order.
#[cfg(feature = "linked")]
pub(crate) fn linked() -> impl Iterator<Item = Tool> {
    inventory::iter::<Registration>.into_iter().map(Registration::tool)
}

/// All linked prompts, in an unspecified order.
#[cfg(feature = "linked")]
pub(crate) fn linked_prompts() -> impl Iterator<Item = Prompt> {
    inventory::iter::<PromptRegistration>.into_iter().map(PromptRegistration::prompt)
}

/// All linked resources, in an unspecified order.
#[cfg(feature = "linked")]
pub(crate) fn linked_resources() -> impl Iterator<Item = Resource> {
    inventory::iter::<ResourceRegistration>.into_iter().map(ResourceRegistration::resource)
}

/// All types of toolset that are linked in, sorted by name and location.
#[cfg(feature = "linked")]
pub(crate) fn linked_toolsets() -> Vec<ToolsetKind> {
    let key = |kind: &ToolsetKind| (kind.name(), kind.origin());
    let mut kinds: Vec<ToolsetKind> = Vec::new();
    // Insertion in order links less code than a sort, and the list is short.
    for kind in inventory::iter::<ToolsetKind> {
        let position = kinds.partition_point(|other| key(other) <= key(kind));
        kinds.insert(position, *kind);
    }
    kinds
}
