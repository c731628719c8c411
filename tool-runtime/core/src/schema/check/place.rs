//! The path from the arguments to the current value, kept on the stack.

use serde_json::Value;

use crate::schema::check::wording;

/// Values nested deeper are not walked: serde_json does not parse them either.
const DEEPEST_VALUE: u16 = 128;

/// Longer ways through subschemas are not walked: two steps for each level of the deepest value, which in a debug build
/// fills less than half of the two megabytes of stack that a thread has.
const LONGEST_WAY: u16 = 256;

/// What is walked, for the words about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    /// What a call came with.
    Arguments,
    /// What a configuration says.
    Params,
    /// What a tool gave back.
    Result,
}

/// One value of the arguments or the result, as seen by one subschema.
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    whole: Whole,
    step: Step<'p>,
    /// Whether the value must not be shown.
    secret: bool,
    level: u16,
    hops: u16,
}

/// How a place is reached from its parent.
enum Step<'p> {
    /// It is the whole.
    Start,
    /// Property of this name; without a name if the name is secret.
    Property(Option<&'p str>),
    /// Item of an array.
    Item(usize),
    /// The name of a property, itself taken for a value; without it if it is secret.
    Name(Option<&'p str>),
    /// The same value seen by another subschema, whose address is kept if a reference led there.
    Same(Option<usize>),
}

impl<'p> Place<'p> {
    /// The whole.
    pub(super) fn start(whole: Whole, secret: bool) -> Self {
        Self { parent: None, whole, step: Step::Start, secret, level: 0, hops: 0 }
    }

    /// The whole that this is a part of.
    pub(super) fn all(&self) -> Place<'static> {
        Place::start(self.whole, false)
    }

    /// The property `name` of this value, declared by a schema, so that its name is not a secret.
    pub(super) fn property<'c>(&'c self, name: &'c str, secret: bool) -> Place<'c> {
        self.below(Step::Property(Some(name)), secret)
    }

    /// The property `name` of this value, which no schema declares: in a secret map the names are secret as well.
    pub(super) fn entry<'c>(&'c self, name: &'c str, secret: bool) -> Place<'c> {
        self.below(Step::Property((!self.secret).then_some(name)), secret)
    }

    /// The item at `index` of this value.
    pub(super) fn item(&self, index: usize, secret: bool) -> Place<'_> {
        self.below(Step::Item(index), secret)
    }

    /// The name of a property of this value. It counts as secret because the words for the place show it already.
    pub(super) fn name<'c>(&'c self, name: &'c str) -> Place<'c> {
        self.below(Step::Name((!self.secret).then_some(name)), true)
    }

    /// This value as another subschema sees it.
    pub(super) fn same(&self) -> Place<'_> {
        Place { parent: Some(self), step: Step::Same(None), hops: self.hops + 1, ..*self }
    }

    /// This value as the target of a reference sees it; `None` if the target sees it already: the schema goes in
    /// circles, and once round adds nothing.
    pub(super) fn through(&self, target: &Value) -> Option<Place<'_>> {
        let address = std::ptr::from_ref(target).addr();
        let mut place = self;
        while let Step::Same(seen_by) = place.step {
            if seen_by == Some(address) {
                return None;
            }
            place = place.parent?;
        }
        Some(Place {
            parent: Some(self),
            step: Step::Same(Some(address)),
            hops: self.hops + 1,
            ..*self
        })
    }

    /// A place one level down.
    fn below<'c>(&'c self, step: Step<'c>, secret: bool) -> Place<'c> {
        Place {
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

    /// Whether it is a part of a tool's result.
    pub(super) fn is_in_result(&self) -> bool {
        self.whole == Whole::Result
    }

    /// Whether it is too far down to go on.
    pub(super) fn is_too_deep(&self) -> bool {
        self.level > DEEPEST_VALUE || self.hops >= LONGEST_WAY
    }

    /// The path as issues show it: `filter.range[2]["odd name"]`.
    pub(super) fn path(&self) -> String {
        let mut path = self.parent.map(Place::path_of).unwrap_or_default();
        self.step.write_to(&mut path);
        path
    }

    /// The path of a parent; a function of its own for the sake of `map`.
    fn path_of(parent: &Place<'_>) -> String {
        parent.path()
    }

    /// What a sentence about this value begins with.
    pub(super) fn subject(&self) -> String {
        let mut place = self;
        while let (Step::Same(_), Some(parent)) = (&place.step, place.parent) {
            place = parent;
        }
        match (&place.step, place.parent) {
            (Step::Name(name), Some(object)) => {
                let name =
                    name.map(|name| format!(" {}", wording::quoted(name))).unwrap_or_default();
                format!("the {} name{name}{}", object.noun(), object.owner())
            }
            _ => self.whole.subject(&place.path()),
        }
    }

    /// "is" or "are", to follow the subject.
    pub(super) fn verb(&self) -> &'static str {
        if self.is_whole() && self.whole != Whole::Result { "are" } else { "is" }
    }

    /// What the properties of this value are called.
    pub(super) fn noun(&self) -> &'static str {
        match self.whole {
            Whole::Arguments if self.is_whole() => "argument",
            Whole::Params if self.is_whole() => "parameter",
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

impl Whole {
    /// What a sentence about the value at `path` begins with.
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
            Step::Start | Step::Same(_) | Step::Name(_) => {}
            Step::Item(index) => path.push_str(&format!("[{index}]")),
            Step::Property(None) => path.push_str("[…]"),
            Step::Property(Some(name)) => wording::add_name(path, name),
        }
    }
}
