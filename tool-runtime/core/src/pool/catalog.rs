//! The prompts and resources of a pool, their sources and problems.

use super::missing_state;
use super::problem::PoolProblem;
use crate::tool::context::State;
use crate::tool::offering::OfferingProperties;
use crate::tool::offering::prompt::Prompt;
use crate::tool::offering::resource::Resource;
use crate::tool::tool::source::Source;
use crate::vocabulary::mask::{Mask, has_secret};
use crate::vocabulary::name;
use std::cmp::Ordering;

/// The prompts and resources of one moment.
#[derive(Default)]
pub(crate) struct Catalog {
    /// Sorted by name.
    prompts: Vec<Prompt>,
    /// The most specific first.
    resources: Vec<Resource>,
    /// The sources of the prompts, then of the resources.
    sources: [Vec<Source>; 2],
    /// Whether the pool ever had any: clients that saw them keep sending requests.
    had_prompts: bool,
    had_resources: bool,
}

/// A prompt or a resource, and its source.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) item: Item,
    pub(super) source: Source,
}

#[derive(Clone)]
pub(super) enum Item {
    Prompt(Prompt),
    Resource(Resource),
}

impl Catalog {
    /// Makes a catalog from sorted entries, after another one of the same pool.
    pub(super) fn after(before: &Self, entries: &[Entry]) -> Self {
        let mut catalog = Self {
            had_prompts: before.had_prompts,
            had_resources: before.had_resources,
            ..Self::default()
        };
        for entry in entries {
            match &entry.item {
                Item::Prompt(prompt) => catalog.prompts.push(prompt.clone()),
                Item::Resource(resource) => catalog.resources.push(resource.clone()),
            }
            catalog.sources[usize::from(!entry.item.is_prompt())].push(entry.source.clone());
        }
        catalog.had_prompts |= !catalog.prompts.is_empty();
        catalog.had_resources |= !catalog.resources.is_empty();
        catalog
    }

    pub(super) fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    pub(super) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub(super) fn source_of_prompt(&self, name: &str) -> Option<&Source> {
        let position = self.prompts.iter().position(|prompt| prompt.name() == name)?;
        self.sources[0].get(position)
    }

    pub(super) fn source_of_resource(&self, uri: &str) -> Option<&Source> {
        let position = self.resources.iter().position(|resource| resource.uri() == uri)?;
        self.sources[1].get(position)
    }

    pub(super) fn offers_prompts(&self) -> bool {
        self.had_prompts
    }

    pub(super) fn offers_resources(&self) -> bool {
        self.had_resources
    }
}

impl Item {
    /// The name, or the URI.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Prompt(prompt) => prompt.name(),
            Self::Resource(resource) => resource.uri(),
        }
    }

    fn terms(&self) -> &OfferingProperties {
        match self {
            Self::Prompt(prompt) => prompt.terms(),
            Self::Resource(resource) => resource.terms(),
        }
    }

    pub(super) fn is_prompt(&self) -> bool {
        matches!(self, Self::Prompt(_))
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Prompt(one), Self::Prompt(other)) => one.is_same(other),
            (Self::Resource(one), Self::Resource(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// Prompts first, by name; then resources, the most specific first, and those next to each
    /// other that match the same URIs.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Prompt(one), Self::Prompt(other)) => one.name().cmp(other.name()),
            (Self::Resource(one), Self::Resource(other)) => resource_order(one, other),
            _ => other.is_prompt().cmp(&self.is_prompt()),
        }
    }

    fn problem(&self, reason: String) -> PoolProblem {
        self.problem_of(self.name().to_owned(), reason)
    }

    fn problem_of(&self, name: String, reason: String) -> PoolProblem {
        match self {
            Self::Prompt(_) => PoolProblem::InvalidPrompt { prompt: name, reason },
            Self::Resource(_) => PoolProblem::InvalidResource { uri: name, reason },
        }
    }
}

fn resource_order(one: &Resource, other: &Resource) -> Ordering {
    match (one.template(), other.template()) {
        (Some(one), Some(other)) => {
            one.breadth().cmp(&other.breadth()).then_with(|| one.shape().cmp(&other.shape()))
        }
        // A pool is not built with a template that cannot be parsed.
        _ => one.uri().cmp(other.uri()),
    }
}

/// Sorts entries, and leaves one of each: a linked entry yields to another one of its name.
/// Mistakes are added to the problems.
pub(super) fn settle(
    mut entries: Vec<Entry>,
    state: &State,
    problems: &mut Vec<PoolProblem>,
) -> Vec<Entry> {
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| (entry.source.rank(), entry.item.terms().origin);
        a.item.order(&b.item).then_with(|| key(a).cmp(&key(b)))
    });
    let mut settled: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        match settled.last_mut() {
            Some(earlier) if earlier.item.order(&entry.item).is_eq() => {
                if entry.item.is_same(&earlier.item) {
                    continue;
                }
                if earlier.source.rank() == entry.source.rank() {
                    problems.push(duplicate(earlier, &entry));
                }
                *earlier = entry;
            }
            _ => settled.push(entry),
        }
    }
    for entry in &settled {
        find_problems(&entry.item, state, problems);
        if !entry.source.is_external() {
            let own = own_problems(&entry.item).into_iter().flatten();
            problems.extend(own.map(|reason| entry.item.problem(reason)));
        }
    }
    settled
}

/// The prompts and resources whose names or URIs contain a secret.
pub(super) fn secret_names(settled: &[Entry], mask: &dyn Mask) -> Vec<PoolProblem> {
    let is_secret = |entry: &&Entry| has_secret(mask, entry.item.name());
    let problem = |entry: &Entry| {
        let name = mask.text(entry.item.name()).into_owned();
        let reason = "its name or URI contains a secret; give it another one".to_owned();
        entry.item.problem_of(name, reason)
    };
    settled.iter().filter(is_secret).map(problem).collect()
}

fn duplicate(earlier: &Entry, later: &Entry) -> PoolProblem {
    let what = match &later.item {
        Item::Prompt(_) => "two prompts have this name",
        Item::Resource(_) => "two resources match the same URIs",
    };
    let origin = |entry: &Entry| entry.source.location(entry.item.terms().origin);
    let (first, second) = (origin(earlier), origin(later));
    let reason = format!("{what}: one {first}, one {second}; change one, or leave one out");
    later.item.problem(reason)
}

/// Mistakes in a program's own definitions. Definitions of external servers are not checked.
fn own_problems(item: &Item) -> [Option<String>; 2] {
    let (title, priority) = match item {
        Item::Prompt(prompt) => (&prompt.definition().title, None),
        Item::Resource(resource) => {
            let definition = resource.definition();
            (&definition.title, definition.annotations.priority)
        }
    };
    let is_blank = title.as_ref().is_some_and(|title| title.trim().is_empty());
    let outside = priority.filter(|priority| !(0.0..=1.0).contains(priority));
    [
        is_blank.then(|| "its title is empty; write one, or leave it out".to_owned()),
        outside.map(|priority| format!("its priority is {priority}; write a number from 0 to 1")),
    ]
}

fn find_problems(item: &Item, state: &State, problems: &mut Vec<PoolProblem>) {
    let (given, found) = match item {
        Item::Prompt(prompt) => {
            let bad_name = name::problem(prompt.name());
            (
                bad_name.map(|problem| format!("bad name: {problem}; rename it")),
                &prompt.definition().problems,
            )
        }
        Item::Resource(resource) => {
            let is_nameless = resource.definition().name.trim().is_empty();
            let unnamed = is_nameless.then(|| "it has no name; give it one".to_owned());
            (unnamed, &resource.definition().problems)
        }
    };
    problems
        .extend(given.into_iter().chain(found.iter().cloned()).map(|reason| item.problem(reason)));
    for missing in item.terms().needs.iter().filter_map(|need| need.missing_from(state)) {
        problems.push(item.problem(format!(
            "it borrows a `{missing}` that the pool does not have; {}",
            missing_state::remedy(state, missing)
        )));
    }
}
