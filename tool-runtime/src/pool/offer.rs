//! Of all tools that are offered, those that a pool has: pure, so that a build and a change
//! decide alike.

use super::problem::{PoolError, PoolProblem};
use super::report::{PoolReport, ToolReport, ToolStatus};
use super::{Filter, Source};
use crate::context::State;
use crate::hook::Hooks;
use crate::name;
use crate::pattern::ToolPattern;
use crate::tool::Tool;
use std::sync::Arc;

/// A tool and who offers it.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) tool: Tool,
    pub(super) source: Source,
}

/// What decides about offers.
#[derive(Default)]
pub(super) struct Rules {
    /// What `allow` and `deny` said.
    pub(super) filter: Filter,
    /// Filters that configurations added: each leaves out more.
    pub(super) further: Vec<Filter>,
    /// The ids that an MCP server's tool may take from another source.
    pub(super) mcp_replaces: Vec<ToolPattern>,
    pub(super) state: State,
    pub(super) hooks: Arc<Hooks>,
}

/// What became of each offer.
pub(super) struct Decision {
    pub(super) offers: Vec<(Offer, ToolStatus)>,
    pub(super) problems: Vec<PoolProblem>,
}

impl Rules {
    /// Decides about all offers; the result is sorted by name, then source.
    pub(super) fn decide(&self, mut offers: Vec<Offer>) -> Decision {
        // A linked tool carries its place in the source and comes first among equals.
        offers.sort_by(|a, b| {
            let key = |offer: &Offer| (offer.source.clone(), offer.tool.origin());
            a.tool.name().cmp(b.tool.name()).then_with(|| key(a).cmp(&key(b)))
        });
        offers.dedup_by(|later, earlier| later.tool.is_same(&earlier.tool));
        let mut decision = Decision { offers: Vec::new(), problems: Vec::new() };
        let mut rest = offers.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut group = vec![first];
            while let Some(next) = rest.next_if(|next| next.tool.name() == group[0].tool.name()) {
                group.push(next);
            }
            self.decide_group(group, &mut decision);
        }
        find_case_collisions(&mut decision);
        decision
    }

    /// All offers of one name: the last source has it, unless that is not for it to take.
    fn decide_group(&self, group: Vec<Offer>, decision: &mut Decision) {
        let group = without_odd(group, decision);
        self.find_collisions(&group, &mut decision.problems);
        let highest = group.iter().map(|offer| offer.source.rank()).max();
        let winner = group.iter().find(|offer| Some(offer.source.rank()) == highest).cloned();
        for offer in group {
            let status = match &winner {
                Some(winner) if winner.source != offer.source => {
                    ToolStatus::Shadowed { by: winner.source.clone() }
                }
                _ => self.status(&offer, &mut decision.problems),
            };
            decision.offers.push((offer, status));
        }
    }

    fn find_collisions(&self, group: &[Offer], problems: &mut Vec<PoolProblem>) {
        for pair in group.windows(2) {
            let [earlier, later] = pair else { continue };
            let is_mcp = matches!(later.source, Source::Mcp(_));
            let replaces = self.mcp_replaces.iter().any(|p| p.matches(later.tool.name()));
            let gives_way = earlier.source.rank() < later.source.rank() && (!is_mcp || replaces);
            if !gives_way {
                problems.push(PoolProblem::Duplicate {
                    name: later.tool.name().to_owned(),
                    first: place(earlier),
                    second: place(later),
                });
            }
        }
    }

    fn status(&self, offer: &Offer, problems: &mut Vec<PoolProblem>) -> ToolStatus {
        let refusal = |filter: &Filter| filter.refusal(&offer.tool, &offer.source);
        if let Some(by) = self.filters().find_map(refusal) {
            return ToolStatus::Filtered { by };
        }
        if let Some(reason) = offer.tool.why_unusable() {
            return ToolStatus::Unusable { reason };
        }
        self.check_state(&offer.tool, problems);
        ToolStatus::Visible
    }

    pub(super) fn filters(&self) -> impl Iterator<Item = &Filter> {
        std::iter::once(&self.filter).chain(&self.further)
    }

    /// Tools that are filtered out need nothing.
    fn check_state(&self, tool: &Tool, problems: &mut Vec<PoolProblem>) {
        for need in tool.needs() {
            let Some(type_name) = need.missing_from(&self.state) else { continue };
            if !self.hooks.provides(tool.name(), need.type_id()) {
                problems
                    .push(PoolProblem::MissingState { tool: tool.name().to_owned(), type_name });
            }
        }
    }
}

impl Decision {
    /// The visible tools, sorted by name.
    pub(super) fn visible(&self) -> Vec<Tool> {
        let is_visible = |(_, status): &&(Offer, ToolStatus)| *status == ToolStatus::Visible;
        self.offers.iter().filter(is_visible).map(|(offer, _)| offer.tool.clone()).collect()
    }

    pub(super) fn checked(self) -> Result<Self, PoolError> {
        if self.problems.is_empty() { Ok(self) } else { Err(PoolError::new(self.problems)) }
    }

    pub(super) fn report(&self, rules: &Rules) -> PoolReport {
        let entry = |(offer, status): &(Offer, ToolStatus)| ToolReport {
            name: offer.tool.name().to_owned(),
            source: offer.source.clone(),
            status: status.clone(),
        };
        let offers = self.offers.iter().map(|(offer, _)| (&offer.tool, &offer.source));
        PoolReport {
            tools: self.offers.iter().map(entry).collect(),
            unmatched: rules
                .filters()
                .flat_map(|filter| filter.unmatched(offers.clone()))
                .collect(),
        }
    }
}

/// Sets aside what clients would refuse: of our own program it is a mistake to be mended, of a
/// server's one odd tool must not cost the others.
fn without_odd(group: Vec<Offer>, decision: &mut Decision) -> Vec<Offer> {
    let mut sound = Vec::with_capacity(group.len());
    for offer in group {
        let problems = definition_problems(&offer);
        if problems.is_empty() {
            sound.push(offer);
        } else if matches!(offer.source, Source::Mcp(_)) {
            let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let reason = reasons.join("; ");
            decision.offers.push((offer, ToolStatus::Quarantined { reason }));
        } else {
            decision.problems.extend(problems);
            sound.push(offer);
        }
    }
    sound
}

fn definition_problems(offer: &Offer) -> Vec<PoolProblem> {
    let (tool, mut problems) = (&offer.tool, Vec::new());
    // MCP does not demand a description.
    let is_foreign = matches!(offer.source, Source::Mcp(_));
    if let Some(reason) = name::problem(tool.name()) {
        problems.push(PoolProblem::BadName { name: tool.name().to_owned(), reason });
    }
    if !is_foreign && tool.definition().description.trim().is_empty() {
        problems.push(PoolProblem::BadDefinition {
            tool: tool.name().to_owned(),
            reason: "it has no description; say what it does and when to use it".to_owned(),
        });
    }
    problems.extend(tool.definition().problems.iter().map(|reason| PoolProblem::BadDefinition {
        tool: tool.name().to_owned(),
        reason: reason.clone(),
    }));
    problems
}

/// Models and file systems confuse names that differ in case alone.
fn find_case_collisions(decision: &mut Decision) {
    let mut visible: Vec<(String, usize)> = Vec::new();
    for (index, (offer, status)) in decision.offers.iter().enumerate() {
        if *status == ToolStatus::Visible {
            visible.push((offer.tool.name().to_ascii_lowercase(), index));
        }
    }
    visible.sort();
    for pair in visible.windows(2) {
        let [(first, a), (second, b)] = pair else { continue };
        let differ = decision.offers[*a].0.tool.name() != decision.offers[*b].0.tool.name();
        if first != second || !differ {
            continue;
        }
        let (earlier, later) = (decision.offers[*a].0.clone(), decision.offers[*b].0.clone());
        if matches!(later.source, Source::Mcp(_)) {
            let name = earlier.tool.name();
            decision.offers[*b].1 = ToolStatus::Quarantined {
                reason: format!(
                    "its name differs from `{name}` of {} in case alone",
                    earlier.source
                ),
            };
        } else {
            decision.problems.push(PoolProblem::CaseCollision {
                first: earlier.tool.name().to_owned(),
                second: later.tool.name().to_owned(),
            });
        }
    }
}

fn place(offer: &Offer) -> String {
    match (offer.tool.origin(), &offer.source) {
        (Some(origin), _) => format!("at {origin}"),
        (None, Source::Custom) => "added by hand".to_owned(),
        (None, source) => format!("of {source}"),
    }
}
