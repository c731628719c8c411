//! Resources: a definition and the function that reads it.

mod action;
mod builder;
mod contents;
pub(crate) mod definition;
mod template;

pub use action::ResourceAction;
pub use builder::ResourceBuilder;
pub use contents::{IntoResource, ReadRequest};
pub use definition::ResourceDefinition;

use crate::tool::context::ToolContext;
use crate::tool::offering::text_arguments::TextArguments;
use crate::tool::offering::{Answer, Offering, OfferingBuilder, OfferingProperties, TextInput};
use crate::tool::tool::Origin;
use crate::vocabulary::content::ResourceContents;
use std::fmt;
use std::sync::Arc;
pub(crate) use template::UriTemplate;

/// A resource, or all resources of a URI template: a definition and the code that reads them. Cheap to clone.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// One note.
/// #[resource("notes://{id}", mime_type = "text/plain")]
/// async fn note(
///     /// The note's number.
///     id: u32,
/// ) -> Option<String> {
///     (id == 1).then(|| "Buy a map.".to_owned())
/// }
///
/// let resource = Resource::from_action::<NoteResource>();
/// assert_eq!(resource.uri(), "notes://{id}");
/// assert!(resource.definition().is_template());
/// ```
#[derive(Clone)]
pub struct Resource(Arc<Offering<Located, Run>>);

/// A definition, and its parsed URI template.
struct Located {
    definition: ResourceDefinition,
    /// `None` if the template is invalid, which is a problem of the definition.
    template: Option<UriTemplate>,
}

/// Reads one URI.
type Run = dyn for<'a> Fn(&'a TextArguments, ReadRequest<'a>, &'a ToolContext) -> Answer<'a, Contents>
    + Send
    + Sync;

/// `None` if no resource has this URI.
type Contents = Option<Vec<ResourceContents>>;

impl Resource {
    /// Creates a resource from an action, which `#[resource]` generates for a function.
    pub fn from_action<A: ResourceAction>() -> Self {
        let (input, terms) = TextInput::new::<A>(A::URI, &A::settings(), A::completers());
        let definition = A::definition().with_mime_type_of::<A::Output>();
        Self::from_parts(definition, terms, input, action::enter::<A>)
    }

    fn from_parts(
        definition: ResourceDefinition,
        terms: OfferingProperties,
        input: TextInput,
        enter: action::Enter,
    ) -> Self {
        Self::new(definition, terms, move |values, reading, context| {
            input.run(values, |arguments| enter(arguments, reading, context))
        })
    }

    fn new(
        mut definition: ResourceDefinition,
        terms: OfferingProperties,
        run: impl for<'a> Fn(
            &'a TextArguments,
            ReadRequest<'a>,
            &'a ToolContext,
        ) -> Answer<'a, Contents>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let template = match UriTemplate::parse(&definition.uri) {
            Ok(template) => Some(template),
            Err(problem) => {
                definition.problems.push(problem);
                None
            }
        };
        let definition = Located { definition, template };
        Self(Arc::new(Offering { definition, terms, run: Box::new(run) }))
    }

    /// Builds a resource from a closure. `uri` is a URI or a URI template; `description` is for clients.
    pub fn builder(
        uri: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> ResourceBuilder {
        let (uri, name, description) = (uri.into(), name.into(), description.into());
        let definition = ResourceDefinition { uri, name, description, ..Default::default() };
        OfferingBuilder::from_definition(definition)
    }

    /// The definition, as clients see it.
    pub fn definition(&self) -> &ResourceDefinition {
        &self.0.definition.definition
    }

    /// The URI, or the URI template.
    pub fn uri(&self) -> &str {
        &self.definition().uri
    }

    /// The values of the template's variables in a URI, percent-decoded; `None` if the URI does not match.
    ///
    /// ```
    /// use tool_runtime::Resource;
    ///
    /// let file = Resource::builder("file:///{+path}", "file", "A file.")
    ///     .handler(|| async { "its text" });
    /// assert_eq!(file.captures("file:///a%20b/c").unwrap()["path"], "a b/c");
    /// assert_eq!(file.captures("http://a"), None);
    /// ```
    pub fn captures(&self, uri: &str) -> Option<TextArguments> {
        self.0.definition.template.as_ref()?.captures(uri)
    }

    pub(crate) fn template(&self) -> Option<&UriTemplate> {
        self.0.definition.template.as_ref()
    }

    pub(crate) fn terms(&self) -> &OfferingProperties {
        &self.0.terms
    }

    /// Whether a variable can be completed.
    #[doc(hidden)]
    pub fn has_completers(&self) -> bool {
        self.0.terms.completers.arguments().next().is_some()
    }

    /// Reads a URI. `arguments` are the values of its variables.
    pub(crate) fn run<'a>(
        &'a self,
        uri: &'a str,
        arguments: &'a TextArguments,
        context: &'a ToolContext,
    ) -> Answer<'a, Contents> {
        let mime_type = self.definition().mime_type.as_deref();
        (self.0.run)(arguments, ReadRequest { uri, mime_type }, context)
    }

    /// Sets the position in the source code.
    pub(crate) fn at(self, origin: Origin) -> Self {
        Self(Offering::at(self.0, origin))
    }

    /// Whether both are the same resource, from any source.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Offering::is_same(&self.0, &other.0)
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("definition", self.definition()).finish_non_exhaustive()
    }
}
