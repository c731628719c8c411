//! Sources of the values of `${VAR}`.

use super::expand::Reference;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

/// The variable that editors set to the folder that is open.
const WORKSPACE_FOLDER: &str = "workspaceFolder";

type LookUp = dyn Fn(&str) -> Option<String> + Send + Sync;

#[derive(Clone)]
pub(super) enum Source {
    /// Values from the host.
    Variables(BTreeMap<String, String>),
    /// A function of the host.
    LookUp(Arc<LookUp>),
    /// A copy of the environment at the time of the call.
    Environment(BTreeMap<String, String>),
}

impl Source {
    /// The environment of this process, with its current directory. Values that are not Unicode count as unset.
    pub(super) fn environment() -> Self {
        let unicode = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let folder = std::env::current_dir().ok();
        let folder = folder.map(|folder| (WORKSPACE_FOLDER.into(), folder.into_os_string()));
        // A variable of this name follows, and replaces it.
        let variables = folder.into_iter().chain(std::env::vars_os());
        Self::Environment(variables.filter_map(unicode).collect())
    }

    fn find(&self, name: &str) -> Option<String> {
        match self {
            Self::Variables(known) | Self::Environment(known) => known.get(name).cloned(),
            Self::LookUp(look_up) => look_up(name),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let known = match self {
            Self::Variables(known) | Self::Environment(known) => Some(known),
            Self::LookUp(_) => None,
        };
        known.into_iter().flat_map(|known| known.keys().map(String::as_str))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Variables(_) => "the given variables",
            Self::LookUp(_) => "the given function",
            Self::Environment(_) => "the environment",
        }
    }
}

/// Sources, in the order of lookup.
#[derive(Clone, Default)]
pub(super) struct Sources {
    sources: Vec<Source>,
    /// The command-line option that sets a variable. Without one, the host sets variables.
    option: Option<&'static str>,
}

impl Sources {
    pub(super) fn push(&mut self, source: Source) {
        self.sources.push(source);
    }

    pub(super) fn given_by(&mut self, option: &'static str) {
        self.option = Some(option);
    }

    /// The remedy for a variable without a value.
    pub(super) fn remedy(&self, name: &str) -> String {
        match self.option {
            Some(option) => format!("give it by `{option} {name}=..`"),
            None => format!("the host must provide the variable `{name}`"),
        }
    }

    /// The value from the first source that has one.
    pub(super) fn find(&self, reference: &Reference<'_>) -> Option<String> {
        self.sources_for(reference.is_environment).find_map(|source| source.find(reference.name))
    }

    /// The home directory of the user, for `~/`.
    pub(super) fn home(&self) -> Option<String> {
        let home = Reference { name: "HOME", is_environment: false, default: None };
        self.find(&home).filter(|home| !home.is_empty())
    }

    /// The sources for a reference.
    fn sources_for(&self, is_environment: bool) -> impl Iterator<Item = &Source> {
        let is_consulted =
            move |source: &&Source| !is_environment || matches!(source, Source::Environment(_));
        self.sources.iter().filter(is_consulted)
    }

    /// The names with a value.
    pub(super) fn names(&self, is_environment: bool) -> impl Iterator<Item = &str> {
        self.sources_for(is_environment).flat_map(Source::names)
    }

    /// The names of the sources.
    pub(super) fn kinds(&self, is_environment: bool) -> String {
        let kinds: Vec<&str> = self.sources_for(is_environment).map(Source::kind).collect();
        if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", then ") }
    }
}

/// Shows only the kinds, not the values.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sources.iter().map(Source::kind)).finish()
    }
}
