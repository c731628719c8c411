//! Rewrites the arguments of a call to those of the original tool. Values stay raw JSON.

use crate::tool::arguments::{RawMembers, push_member};
use crate::vocabulary::matching::MatchedArgument;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The arguments that a transform changes.
#[derive(Default)]
pub(super) struct Mapping {
    pub(super) arguments: Vec<Argument>,
    /// A schema of what the transform asserts in addition to the tool, under the new names.
    pub(super) narrowed: Option<Value>,
}

/// A changed argument.
pub(super) struct Argument {
    /// The tool's own name.
    pub(super) original: String,
    /// The name for models; `None` if it is hidden.
    pub(super) advertised: Option<String>,
    /// Further names that the tool accepts, with its own.
    pub(super) aliases: &'static [&'static str],
    /// The value of every call, as JSON.
    pub(super) constant: Option<String>,
    /// The value of calls without the argument, as JSON.
    pub(super) default: Option<String>,
    /// Whether the tool accepts `null` for it.
    pub(super) takes_null: bool,
}

/// The argument that a key means.
enum Meaning<'m> {
    Changed(usize, &'m Argument),
    Unchanged,
    /// The original name of a hidden or renamed argument.
    Withheld,
}

impl Mapping {
    /// Whether arguments pass through unchanged and unread.
    pub(super) fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    fn meaning(&self, key: &str) -> Meaning<'_> {
        let mut arguments = self.arguments.iter().enumerate();
        let is_advertised =
            |(_, argument): &(usize, &Argument)| argument.advertised.as_deref() == Some(key);
        if let Some((index, argument)) = arguments.clone().find(is_advertised) {
            return Meaning::Changed(index, argument);
        }
        let is_named =
            |argument: &Argument| argument.original == key || argument.aliases.contains(&key);
        match arguments.find(|(_, argument)| is_named(argument)) {
            None => Meaning::Unchanged,
            Some((index, argument))
                if argument.advertised.is_some() && argument.original != key =>
            {
                Meaning::Changed(index, argument)
            }
            Some(_) => Meaning::Withheld,
        }
    }

    /// The arguments for the original tool.
    ///
    /// # Errors
    /// The name of a hidden argument.
    pub(super) fn rewrite(&self, members: &RawMembers<'_>) -> Result<String, String> {
        let (mut text, mut is_given) = (String::from("{"), vec![false; self.arguments.len()]);
        for (key, value) in &members.0 {
            let name = match self.meaning(key) {
                Meaning::Withheld => return Err(key.clone()),
                Meaning::Unchanged => key,
                Meaning::Changed(_, argument) if argument.is_absent(value) => continue,
                Meaning::Changed(index, argument) => {
                    is_given[index] = true;
                    &argument.original
                }
            };
            push_member(&mut text, name, value.get());
        }
        for (argument, is_given) in self.arguments.iter().zip(is_given) {
            let default = argument.default.as_ref().filter(|_| !is_given);
            if let Some(value) = argument.constant.as_ref().or(default) {
                push_member(&mut text, &argument.original, value);
            }
        }
        text.push('}');
        Ok(text)
    }

    /// The arguments as models see them, with aliases resolved.
    pub(super) fn advertised_arguments(&self, members: &RawMembers<'_>) -> Value {
        let mut arguments = Map::new();
        for (key, value) in &members.0 {
            let name = match self.meaning(key) {
                Meaning::Changed(_, argument) if argument.is_absent(value) => continue,
                Meaning::Changed(_, Argument { advertised: Some(name), .. }) => name,
                _ => key,
            };
            arguments.insert(name.clone(), serde_json::from_str(value.get()).unwrap_or_default());
        }
        arguments.into()
    }

    /// The argument that patterns of declarations are about, under its new name. `None` if models do not
    /// write it.
    pub(super) fn matched_argument(&self, original: &MatchedArgument) -> Option<MatchedArgument> {
        let changed = self.arguments.iter().find(|argument| argument.original == original.name);
        let Some(changed) = changed else { return Some(original.clone()) };
        let name = changed.advertised.clone()?;
        Some(MatchedArgument { name, ..original.clone() })
    }

    /// The name for models of an argument of the original.
    pub(super) fn advertised_name<'m>(&'m self, original: &'m str) -> &'m str {
        let renamed = self.arguments.iter().find(|argument| argument.original == original);
        renamed.and_then(|argument| argument.advertised.as_deref()).unwrap_or(original)
    }
}

impl Argument {
    /// Whether a value counts as absent: `null` where the tool does not take it and a default replaces it.
    fn is_absent(&self, value: &RawValue) -> bool {
        self.default.is_some() && !self.takes_null && value.get() == "null"
    }
}
