//! Decides which of the offered tools a pool has. Building and changing a pool use the same rules.

use super::filter::Filter;
use super::missing_state;
use super::problem::{PoolError, PoolProblem};
use super::report::{PoolReport, ToolReport, ToolStatus};
use super::selector::Selector;
use crate::govern::hook::{Hooks, PooledTool};
use crate::schema::nearest::nearest;
use crate::tool::context::State;
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::source::Source;
use crate::vocabulary::error::excerpt;
use crate::vocabulary::mask::Mask;
use crate::vocabulary::matching::pattern::ToolPattern;
use crate::vocabulary::name;
use std::sync::Arc;

/// A tool and its source.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) tool: Tool,
    pub(super) source: Source,
    /// The tool as its source gave it, if a transform of the pool changed it.
    original: Option<Tool>,
}

/// A transform of a pool. It is a closure, so that only programs with transforms link them.
pub(super) struct PoolTransform {
    pub(super) selector: Selector,
    pub(super) apply: Box<dyn Fn(&Tool) -> Tool + Send + Sync>,
}

/// The rules by which offers are decided.
#[derive(Default)]
pub(super) struct Rules {
    /// The selectors of `allow` and `deny`.
    pub(super) filter: Filter,
    /// Filters that configurations added; each excludes more.
    pub(super) more_filters: Vec<Filter>,
    /// The ids that an MCP server's tool may take from another source.
    pub(super) mcp_replaces: Vec<ToolPattern>,
    /// Changes of tools before all other rules.
    pub(super) transforms: Vec<PoolTransform>,
    pub(super) state: State,
    pub(super) hooks: Arc<Hooks>,
}

/// The status of each offer.
pub(super) struct Decision {
    pub(super) offers: Vec<(Offer, ToolStatus)>,
    pub(super) problems: Vec<PoolProblem>,
}

impl Rules {
    /// Decides about all offers; the result is sorted by name, then source.
    pub(super) fn decide(&self, mut offers: Vec<Offer>) -> Decision {
        offers.iter_mut().for_each(|offer| self.transform(offer));
        // A linked tool has a source location, and comes before the same tool without one.
        offers.sort_by(|a, b| {
            let key = |offer: &Offer| (offer.source.clone(), offer.tool.origin());
            a.tool.name().cmp(b.tool.name()).then_with(|| key(a).cmp(&key(b)))
        });
        offers.dedup_by(|later, earlier| later.is_repeated(earlier));
        let decided = Vec::with_capacity(offers.len());
        let mut decision = Decision { offers: decided, problems: Vec::new() };
        let (mut group, mut rest) = (Vec::new(), offers.into_iter().peekable());
        while let Some(first) = rest.next() {
            group.push(first);
            while let Some(next) = rest.next_if(|next| next.tool.name() == group[0].tool.name()) {
                group.push(next);
            }
            remove_invalid(&mut group, &self.state, &mut decision);
            self.decide_group(&mut group, &mut decision);
        }
        find_case_collisions(&mut decision);
        decision
    }

    /// Transforms select by the tool that the source gave; each starts from the result of the one before.
    fn transform(&self, offer: &mut Offer) {
        if offer.original.is_some() {
            return;
        }
        let original = offer.tool.clone();
        for transform in &self.transforms {
            if transform.selector.picks(&original, &offer.source) {
                offer.tool = (transform.apply)(&offer.tool);
                offer.original = Some(original.clone());
            }
        }
    }

    /// The transforms that pick no tool, most likely a mistake.
    pub(super) fn idle_transforms(&self, offers: &[(Offer, ToolStatus)]) -> Vec<Selector> {
        let is_idle = |selector: &&Selector| {
            !offers.iter().any(|(offer, _)| selector.picks(offer.original(), &offer.source))
        };
        self.transforms
            .iter()
            .map(|transform| &transform.selector)
            .filter(is_idle)
            .cloned()
            .collect()
    }

    /// All offers of one name: a later source shadows an earlier one of lower rank. Others collide,
    /// unless the filter excludes one of the two.
    fn decide_group(&self, group: &mut Vec<Offer>, decision: &mut Decision) {
        let mut group = group.drain(..);
        let Some(mut holder) = group.next() else { return };
        for later in group {
            let (loser, status) = if self.is_shadowed(&holder, &later) {
                let by = later.source.clone();
                (std::mem::replace(&mut holder, later), ToolStatus::Shadowed { by })
            } else if let Some(by) = self.refusal(&later) {
                (later, ToolStatus::Filtered { by })
            } else if let Some(by) = self.refusal(&holder) {
                (std::mem::replace(&mut holder, later), ToolStatus::Filtered { by })
            } else if later.is_renamed_foreign() {
                let status = name_conflict(&holder);
                (later, status)
            } else if holder.is_renamed_foreign() {
                let status = name_conflict(&later);
                (std::mem::replace(&mut holder, later), status)
            } else {
                decision.problems.push(duplicate(&holder, &later));
                continue;
            };
            decision.offers.push((loser, status));
        }
        let status = self.status(&holder, &mut decision.problems);
        decision.offers.push((holder, status));
    }

    fn is_shadowed(&self, earlier: &Offer, later: &Offer) -> bool {
        let may_replace = match later.source {
            Source::Mcp(_) => self.mcp_replaces.iter().any(|p| p.matches(later.tool.name())),
            Source::Runner(_) => false,
            _ => true,
        };
        earlier.source.rank() < later.source.rank() && may_replace
    }

    fn status(&self, offer: &Offer, problems: &mut Vec<PoolProblem>) -> ToolStatus {
        if let Some(by) = self.refusal(offer) {
            return ToolStatus::Filtered { by };
        }
        if let Some(reason) = offer.tool.unusable_reason() {
            return ToolStatus::Unusable { reason: reason.to_owned() };
        }
        self.check_state(&offer.tool, problems);
        ToolStatus::Visible
    }

    /// The rule that excludes a tool, if any.
    fn refusal(&self, offer: &Offer) -> Option<String> {
        self.filters().find_map(|filter| filter.refusal(&offer.tool, &offer.source))
    }

    /// Whether a rule might match no tool.
    pub(super) fn may_be_idle(&self) -> bool {
        let selects = |filter: &Filter| filter.allow.is_some() || !filter.deny.is_empty();
        !self.hooks.is_empty() || self.filters().any(selects)
    }

    pub(super) fn filters(&self) -> impl Iterator<Item = &Filter> {
        std::iter::once(&self.filter).chain(&self.more_filters)
    }

    /// Called for visible tools only.
    fn check_state(&self, tool: &Tool, problems: &mut Vec<PoolProblem>) {
        for need in tool.needs() {
            let Some(type_name) = need.missing_from(&self.state) else { continue };
            let provides = |id| self.hooks.provides(tool.name(), id);
            if !need.type_ids().into_iter().any(provides) {
                let (tool, remedy) =
                    (tool.name().to_owned(), missing_state::remedy(&self.state, type_name));
                problems.push(PoolProblem::MissingState { tool, type_name, remedy });
            }
        }
        if let Some(toolset) = tool.missing_toolset().and_then(|it| it.missing_from(&self.state)) {
            let reason = format!(
                "it is a method of the toolset `{toolset}`; add the toolset, by `.toolset::<T>(params)`, instead of the method"
            );
            problems.push(PoolProblem::InvalidDefinition { tool: tool.name().to_owned(), reason });
        }
    }
}

impl Offer {
    pub(super) fn new(tool: Tool, source: Source) -> Self {
        Self { tool, source, original: None }
    }

    /// Whether a transform of the pool renamed an external tool.
    fn is_renamed_foreign(&self) -> bool {
        self.source.is_external() && self.original().name() != self.tool.name()
    }

    /// The tool as its source gave it.
    pub(super) fn original(&self) -> &Tool {
        self.original.as_ref().unwrap_or(&self.tool)
    }

    /// Whether the tool is the same as that of an earlier offer: linked and also given to the builder. Other
    /// sources own their tools.
    fn is_repeated(&self, earlier: &Self) -> bool {
        let is_builders = earlier.source == Source::Linked && self.source == Source::Custom;
        self.original().is_same(earlier.original())
            && (self.source == earlier.source || is_builders)
    }
}

impl Decision {
    /// The tools of the program itself whose names contain a secret. Not a rule of [`Rules::decide`]: a secret that is
    /// added later must not keep other tools from changing.
    pub(super) fn secret_names(&self, mask: &dyn Mask) -> Vec<PoolProblem> {
        let is_own = |offer: &&Offer| !offer.source.is_external();
        let problem = |offer: &Offer| {
            let reason = offer.tool.definition().secret_name(mask)?.to_owned();
            let tool = mask.text(offer.tool.name()).into_owned();
            Some(PoolProblem::InvalidDefinition { tool, reason })
        };
        self.visible().filter(is_own).filter_map(problem).collect()
    }

    /// The content of a snapshot.
    pub(super) fn visible_tools(&self) -> Vec<PooledTool> {
        self.visible()
            .map(|offer| PooledTool::new(offer.tool.clone(), offer.source.clone()))
            .collect()
    }

    /// The visible tools, sorted by name.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Offer> {
        let is_visible = |(_, status): &&(Offer, ToolStatus)| *status == ToolStatus::Visible;
        self.offers.iter().filter(is_visible).map(|(offer, _)| offer)
    }

    /// The reason why the tool of that name is unusable.
    pub(super) fn unusable(&self, name: &str) -> Option<String> {
        self.offers.iter().find_map(|(offer, status)| match status {
            ToolStatus::Unusable { reason } if offer.tool.name() == name => Some(reason.clone()),
            _ => None,
        })
    }

    pub(super) fn into_result(self) -> Result<Self, PoolError> {
        if self.problems.is_empty() { Ok(self) } else { Err(PoolError::new(self.problems)) }
    }

    pub(super) fn report(&self, rules: &Rules) -> PoolReport {
        let entry = |(offer, status): &(Offer, ToolStatus)| ToolReport {
            name: offer.tool.name().to_owned(),
            source: offer.source.clone(),
            made_from: offer.tool.made_from().map(|original| original.first_name().to_owned()),
            status: status.clone(),
            requirements: offer.tool.requirements().to_vec(),
        };
        let offers = self.offers.iter().map(|(offer, _)| (&offer.tool, &offer.source));
        let names: Vec<&str> = offers.clone().map(|(tool, _)| tool.name()).collect();
        PoolReport {
            idle_hooks: rules.hooks.idle(&names),
            tools: self.offers.iter().map(entry).collect(),
            alike: alike(self.visible().map(|offer| offer.tool.name()).collect()),
            unmatched: rules
                .filters()
                .flat_map(|filter| filter.unmatched(offers.clone()))
                .collect(),
            idle_transforms: rules.idle_transforms(&self.offers),
            absent: Vec::new(),
        }
    }
}

/// Removes tools that clients would reject: a problem for the program's own tools; an external tool
/// is quarantined, so that the other tools of its source remain.
fn remove_invalid(group: &mut Vec<Offer>, state: &State, decision: &mut Decision) {
    group.retain(|offer| {
        let problems = definition_problems(offer);
        if !offer.source.is_external() {
            decision.problems.extend(problems);
            return true;
        }
        let mask = state.mask.as_deref();
        let secret = mask.and_then(|mask| offer.tool.definition().secret_name(mask));
        let reasons: Vec<String> =
            problems.into_iter().map(reason).chain(secret.map(str::to_owned)).collect();
        if reasons.is_empty() {
            return true;
        }
        let status = ToolStatus::Quarantined { reason: reasons.join("; ") };
        decision.offers.push((offer.clone(), status));
        false
    });
}

/// A problem of a tool without the tool's name.
fn reason(problem: PoolProblem) -> String {
    match problem {
        PoolProblem::InvalidDefinition { reason, .. } => reason,
        PoolProblem::InvalidName { reason, .. } => format!("bad name: {reason}"),
        other => other.to_string(),
    }
}

fn definition_problems(offer: &Offer) -> Vec<PoolProblem> {
    let (tool, mut problems) = (&offer.tool, Vec::new());
    // MCP does not require a description.
    let is_foreign = offer.source.is_external();
    if let Some(reason) = name::problem(tool.name()) {
        problems.push(PoolProblem::InvalidName { name: tool.name().to_owned(), reason });
    }
    if !is_foreign && tool.definition().description.trim().is_empty() {
        problems.push(PoolProblem::InvalidDefinition {
            tool: tool.name().to_owned(),
            reason: "it has no description; say what it does and when to use it".to_owned(),
        });
    }
    if !is_foreign {
        problems.extend(
            blank_texts(tool.definition()).chain(invalid_scopes(tool.definition())).map(|reason| {
                PoolProblem::InvalidDefinition { tool: tool.name().to_owned(), reason }
            }),
        );
    }
    if tool.definition().lacks_patterns() {
        problems.push(PoolProblem::InvalidDefinition {
            tool: tool.name().to_owned(),
            reason: "its output schema has a `pattern`, and the program is built without what checks patterns; add `.check_outputs()` to the pool".to_owned(),
        });
    }
    problems.extend(tool.definition().problems.iter().map(|reason| {
        PoolProblem::InvalidDefinition { tool: tool.name().to_owned(), reason: reason.clone() }
    }));
    problems
}

fn blank_texts(definition: &ToolDefinition) -> impl Iterator<Item = String> {
    let is_blank = |text: &String| text.trim().is_empty();
    let title = definition.title.as_ref().filter(|title| is_blank(title));
    let tag = definition.tags.iter().find(|tag| is_blank(tag));
    let title = title.map(|_| "its title is empty; write one, or leave it out".to_owned());
    title.into_iter().chain(tag.map(|_| "one of its tags is empty; remove it".to_owned()))
}

/// Challenges carry scopes in a header (RFC 6749, section 3.3).
fn invalid_scopes(definition: &ToolDefinition) -> impl Iterator<Item = String> {
    let is_valid = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    let invalid = definition
        .scopes
        .iter()
        .filter(move |scope| scope.is_empty() || !scope.bytes().all(is_valid));
    invalid.map(|scope| format!("`{}` is not a valid scope; write visible ASCII without spaces, quotes and backslashes, such as `notes:write`", excerpt(scope)))
}

/// Models and file systems confuse names that differ only in case: a mistake in the program's own
/// tools. External ones may have them, and the report lists them.
fn find_case_collisions(decision: &mut Decision) {
    let own = |(offer, status): &&(Offer, ToolStatus)| {
        *status == ToolStatus::Visible && !offer.source.is_external()
    };
    let own = decision.offers.iter().filter(own);
    let groups = alike(own.map(|(offer, _)| offer.tool.name()).collect());
    for group in groups {
        for second in &group[1..] {
            let (first, second) = (group[0].clone(), second.clone());
            decision.problems.push(PoolProblem::CaseCollision { first, second });
        }
    }
}

/// Groups of different names that differ only in case, all sorted.
fn alike(mut names: Vec<&str>) -> Vec<Vec<String>> {
    fn lower(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().map(|byte| byte.to_ascii_lowercase())
    }
    let has_upper = |name: &&str| name.bytes().any(|byte| byte.is_ascii_uppercase());
    if !names.iter().any(has_upper) {
        return Vec::new();
    }
    names.sort_unstable_by(|a, b| lower(a).cmp(lower(b)).then_with(|| a.cmp(b)));
    let groups = names.chunk_by(|a, b| a.eq_ignore_ascii_case(b)).filter(|group| group.len() > 1);
    groups.map(|group| group.iter().map(|name| (*name).to_owned()).collect()).collect()
}

/// The status of an external tool whose transform gives it the name of another tool.
fn name_conflict(by: &Offer) -> ToolStatus {
    let origin = by.source.location(by.tool.origin());
    let reason =
        format!("its transform gives it the name of another tool ({origin}); write another name");
    ToolStatus::Quarantined { reason }
}

/// The remedy for a transform that picks no tool.
pub(super) fn nearest_help(selector: &Selector, offers: &[(Offer, ToolStatus)]) -> String {
    let names = offers.iter().map(|(offer, _)| offer.original().name());
    match nearest(&selector.to_string(), names, 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "correct it, or call `allow_empty` if the tool comes while the pool runs".to_owned()
        }
    }
}

fn duplicate(first: &Offer, second: &Offer) -> PoolProblem {
    if first.tool.is_same_method(&second.tool) {
        return PoolProblem::DuplicateToolset { name: second.tool.name().to_owned() };
    }
    PoolProblem::Duplicate {
        name: second.tool.name().to_owned(),
        first: first.source.location(first.tool.origin()),
        second: second.source.location(second.tool.origin()),
    }
}
