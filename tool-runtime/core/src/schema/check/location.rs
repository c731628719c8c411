//! The location of the current value: a path from the arguments, kept on the stack.

use serde_json::Value;

use crate::schema::check::wording;

/// Limit on the nesting of values, which is serde_json's.
const MAX_DEPTH: u16 = 128;

/// Limit on the steps through subschemas: two for each level of the deepest value. In a debug build these fill less than
/// half of a thread's two megabytes of stack.
const MAX_HOPS: u16 = 256;

/// The kind of the document, which affects the wording of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// The arguments of a call.
    Arguments,
    /// The parameters in a configuration.
    Params,
    /// The result of a tool.
    Result,
}

/// One value, as seen by one subschema.
pub(super) struct Location<'p> {
    parent: Option<&'p Location<'p>>,
    whole: DocumentKind,
    step: Step<'p>,
    /// Whether the value must not be shown.
    secret: bool,
    level: u16,
    hops: u16,
}

/// The step from the parent of a location.
enum Step<'p> {
    /// The whole document.
    Start,
    /// Property of this name; without a name if the name is secret.
    Property(Option<&'p str>),
    /// Item of an array.
    Item(usize),
    /// The value seen by another subschema, whose address is kept if a reference led there.
    Same(Option<usize>),
}

impl<'p> Location<'p> {
    /// The whole document.
    pub(super) fn start(whole: DocumentKind, secret: bool) -> Self {
        Self { parent: None, whole, step: Step::Start, secret, level: 0, hops: 0 }
    }

    /// The whole document that contains this value.
    pub(super) fn all(&self) -> Location<'static> {
        Location::start(self.whole, false)
    }

    /// The property `name` of this value, declared by a schema, so that its name is not a secret.
    pub(super) fn property<'c>(&'c self, name: &'c str, secret: bool) -> Location<'c> {
        self.child(Step::Property(Some(name)), secret)
    }

    /// The property `name` of this value, which no schema declares: in a secret map the names are secret as well.
    pub(super) fn entry<'c>(&'c self, name: &'c str, secret: bool) -> Location<'c> {
        self.child(Step::Property((!self.secret).then_some(name)), secret)
    }

    /// The item at `index` of this value.
    pub(super) fn item(&self, index: usize, secret: bool) -> Location<'_> {
        self.child(Step::Item(index), secret)
    }

    /// This value as another subschema sees it.
    pub(super) fn same(&self) -> Location<'_> {
        Location { parent: Some(self), step: Step::Same(None), hops: self.hops + 1, ..*self }
    }

    /// This value as the target of a reference sees it; `None` in a cycle of references.
    pub(super) fn through(&self, target: &Value) -> Option<Location<'_>> {
        let address = std::ptr::from_ref(target).addr();
        let mut location = self;
        while let Step::Same(seen_by) = location.step {
            if seen_by == Some(address) {
                return None;
            }
            location = location.parent?;
        }
        Some(Location {
            parent: Some(self),
            step: Step::Same(Some(address)),
            hops: self.hops + 1,
            ..*self
        })
    }

    /// A location one level deeper.
    fn child<'c>(&'c self, step: Step<'c>, secret: bool) -> Location<'c> {
        Location {
            parent: Some(self),
            whole: self.whole,
            step,
            secret: self.secret || secret,
            level: self.level + 1,
            hops: self.hops + 1,
        }
    }

    /// Whether the value here must not be shown.
    pub(super) fn is_secret(&self) -> bool {
        self.secret
    }

    /// Whether the value is part of a tool's result.
    pub(super) fn is_in_result(&self) -> bool {
        self.whole == DocumentKind::Result
    }

    /// Whether the limits on nesting are exceeded.
    pub(super) fn is_too_deep(&self) -> bool {
        self.level > MAX_DEPTH || self.hops >= MAX_HOPS
    }

    /// The path in issues: `filter.range[2]["odd name"]`.
    pub(super) fn path(&self) -> String {
        let mut path = self.parent.map(Location::path_of).unwrap_or_default();
        self.step.write_to(&mut path);
        path
    }

    /// The path of a parent; a separate function for the sake of `map`.
    fn path_of(parent: &Location<'_>) -> String {
        parent.path()
    }

    /// The subject of a sentence about this value.
    pub(super) fn subject(&self) -> String {
        self.whole.subject(&self.path())
    }

    /// "is" or "are", to follow the subject.
    pub(super) fn verb(&self) -> &'static str {
        if self.is_whole() && self.whole != DocumentKind::Result { "are" } else { "is" }
    }

    /// The noun for properties of this value.
    pub(super) fn noun(&self) -> &'static str {
        match self.whole {
            DocumentKind::Arguments if self.is_whole() => "argument",
            DocumentKind::Params if self.is_whole() => "parameter",
            _ => "field",
        }
    }

    fn is_whole(&self) -> bool {
        self.path().is_empty()
    }

    /// " of `parent`", or nothing for the whole.
    pub(super) fn owner(&self) -> String {
        let path = self.path();
        if path.is_empty() { path } else { format!(" of `{path}`") }
    }
}

impl DocumentKind {
    /// The subject of a sentence about the value at `path`.
    fn subject(self, path: &str) -> String {
        match self {
            _ if !path.is_empty() => format!("`{path}`"),
            Self::Arguments => "the arguments".to_owned(),
            Self::Params => "the parameters".to_owned(),
            Self::Result => "the result".to_owned(),
        }
    }
}

impl Step<'_> {
    /// Adds the step to the path so far.
    fn write_to(&self, path: &mut String) {
        match self {
            Step::Start | Step::Same(_) => {}
            Step::Item(index) => path.push_str(&format!("[{index}]")),
            Step::Property(None) => path.push_str("[…]"),
            Step::Property(Some(name)) => wording::add_name(path, name),
        }
    }
}
