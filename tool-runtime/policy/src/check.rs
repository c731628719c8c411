//! Tests next to the rules, and mistakes that only a pool shows.

use crate::case::SampleCall;
use crate::condition::Condition;
use crate::explain::effect_name;
use crate::names::Wildcard;
use crate::policy::Policy;
use crate::predicate::Predicate;
use crate::rule::Rule;
use crate::touches::TouchedFiles;
use serde_json::{Map, Value};
use std::fmt;
use tool_runtime_core::govern::Effect;
use tool_runtime_core::pool::ToolPool;
#[cfg(feature = "cli")]
use tool_runtime_core::seam::excerpt;
use tool_runtime_core::seam::{PROMPTS, RESOURCES, nearest};
use tool_runtime_core::tool::Tool;
use tool_runtime_core::tool::prompt::Prompt;
use tool_runtime_core::tool::resource::Resource;

/// The most tools that a warning names.
const MAX_LISTED: usize = 5;

/// The results of the tests of a policy.
#[derive(Clone, Debug)]
pub struct TestReport {
    results: Vec<TestResult>,
}

/// The result of one test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestResult {
    /// The name of the test.
    pub name: String,
    /// The difference from what it expects. `None` if it passed.
    pub failure: Option<String>,
}

impl Policy {
    /// Runs the tests of the document, under its key `tests`.
    ///
    /// ```
    /// # #[cfg(feature = "yaml")] {
    /// use tool_runtime::policy::{Format, Policy};
    ///
    /// let policy = Policy::parse(
    ///     "
    /// rules:
    ///   - id: no-keys
    ///     when: {tools: [fs.read], arguments: {path: {matches: '.*\\.pem'}}}
    ///     then: deny
    ///   - {id: files, when: {tools: ['fs.*']}, then: allow}
    /// tests:
    ///   - {call: {tool: fs.read, arguments: {path: a.pem}}, expect: deny, rule: no-keys}
    ///   - {call: {tool: fs.read, arguments: {path: a.txt}}, expect: allow}
    ///   - {call: {tool: fs.read}, expect: deny}
    /// ",
    ///     Format::Yaml,
    /// )
    /// .unwrap();
    /// assert!(policy.test().is_passed());
    /// # }
    /// ```
    pub fn test(&self) -> TestReport {
        self.run_tests(SampleCall::clone, "")
    }

    /// Runs the tests as [`Self::test`] does, on the tools of a pool: their hints, tags, source and the files that they
    /// touch, see [`SampleCall::in_pool`].
    pub fn test_in(&self, pool: &ToolPool) -> TestReport {
        self.run_tests(|call| call.clone().in_pool(pool), "; the program has no such tool")
    }

    /// `unknown` is said of a failure about a tool that is not known.
    fn run_tests(&self, prepare: impl Fn(&SampleCall) -> SampleCall, unknown: &str) -> TestReport {
        let results = self.cases.iter().map(|case| {
            let call = prepare(&case.call);
            let decision = self.try_call(&call);
            let by =
                decision.rule().map_or("the default".to_owned(), |rule| format!("rule `{rule}`"));
            let is_rule = case.rule.is_none() || case.rule.as_deref() == decision.rule();
            let failure = (decision.effect() != case.effect || !is_rule).then(|| {
                let expected = match &case.rule {
                    Some(rule) => format!("{} by rule `{rule}`", effect_name(case.effect)),
                    None => effect_name(case.effect).to_owned(),
                };
                let is_unknown = call.called.is_none() && call.facts().is_about_tool();
                let unknown = if is_unknown { unknown } else { "" };
                let got = effect_name(decision.effect());
                format!("expected {expected}, got {got} by {by}{unknown}")
            });
            TestResult { name: case.name.clone(), failure }
        });
        TestReport { results: results.collect() }
    }

    /// Patterns of rules that select no tool of a pool, with the nearest id, arguments that selected tools lack, and
    /// selected tools that do not declare the files that a rule is about: mistakes, unless the tool is of a server that is
    /// not connected. Also resources and prompts that no rule is about, if the default denies them.
    pub fn unused_patterns(&self, pool: &ToolPool) -> Vec<String> {
        let mut warnings = self.unused_tools(pool);
        warnings.extend(self.unused_offerings(pool));
        warnings.extend(self.denied_offerings(pool));
        warnings.extend(self.lacks_of_tools(pool));
        warnings
    }

    /// Tests about a tool that a pool does not have: they prove nothing about the rules.
    #[cfg(feature = "cli")]
    pub(crate) fn tests_of_unknown_tools(&self, pool: &ToolPool) -> Vec<String> {
        let calls = self.cases.iter().map(|case| (&case.name, case.call.clone().in_pool(pool)));
        let unknown =
            calls.filter(|(_, call)| call.called.is_none() && call.facts().is_about_tool());
        unknown
            .map(|(name, call)| {
                format!("test `{name}`: the program has no tool `{}`", excerpt(&call.tool))
            })
            .collect()
    }

    /// The resources and prompts that are denied by default.
    fn denied_offerings(&self, pool: &ToolPool) -> Vec<String> {
        let snapshot = pool.snapshot();
        let is_selected = |name: &str| {
            let mut rules = self.rules.iter().filter(|rule| rule.effect != Effect::Deny);
            rules.any(|rule| rule.selects(name))
        };
        let is_allowed = |resource: &&Resource| {
            let mut rules = self.rules.iter().filter(|rule| rule.effect != Effect::Deny);
            let of_template = rules.any(|rule| {
                rule.resources.iter().any(|pattern| may_select(pattern, resource.uri()))
            });
            of_template || is_selected(&format!("{RESOURCES}{}", resource.uri()))
        };
        let resources = snapshot.resources().iter().filter(|it| !is_allowed(it));
        let resources: Vec<&str> = resources.map(Resource::uri).collect();
        let prompts = snapshot.prompts().iter();
        let prompts = prompts.filter(|it| !is_selected(&format!("{PROMPTS}{}", it.name())));
        let prompts: Vec<&str> = prompts.map(Prompt::name).collect();
        let denied = [("resources", resources), ("prompts", prompts)].into_iter();
        denied
            .filter(|(_, names)| self.default.0 == Effect::Deny && !names.is_empty())
            .map(|(kind, names)| {
                let names = listed(&names);
                format!("the default denies the {kind} {names}; a rule with `{kind}` allows them")
            })
            .collect()
    }

    /// Patterns of resources and prompts that select none.
    fn unused_offerings(&self, pool: &ToolPool) -> Vec<String> {
        let snapshot = pool.snapshot();
        let unused = |rule: &Rule| {
            let resources = rule.resources.iter().filter(|pattern| {
                !snapshot.resources().iter().any(|it| may_select(pattern, it.uri()))
            });
            let prompts = rule
                .prompts
                .iter()
                .filter(|pattern| !snapshot.prompts().iter().any(|it| pattern.matches(it.name())));
            let resources = resources.map(|it| (it, "resource")).collect::<Vec<_>>();
            let all = resources.into_iter().chain(prompts.map(|it| (it, "prompt")));
            all.map(|(pattern, kind)| format!("rule `{}`: `{pattern}` selects no {kind}", rule.id))
                .collect::<Vec<_>>()
        };
        self.rules.iter().filter(|rule| rule.merged_from.is_none()).flat_map(unused).collect()
    }

    fn unused_tools(&self, pool: &ToolPool) -> Vec<String> {
        let snapshot = pool.snapshot();
        let names: Vec<&str> = snapshot.tools().iter().map(|tool| tool.name()).collect();
        // Rules of `_global` are reported once, with its own.
        let own = self.rules.iter().filter(|rule| rule.merged_from.is_none());
        let patterns = own.flat_map(|rule| rule.tools.iter().map(move |it| (rule, it)));
        let unused = patterns.filter(|(_, it)| !names.iter().any(|name| it.matches(name)));
        unused
            .map(|(rule, pattern)| {
                let text = pattern.to_string();
                let is_wire =
                    |tool: &&tool_runtime_core::tool::Tool| tool.definition().wire_name() == text;
                let by_wire = snapshot.tools().iter().find(is_wire).map(|tool| tool.name());
                let near =
                    by_wire.or_else(|| nearest(&text, names.iter().copied(), 1).first().copied());
                let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("rule `{}`: `{text}` selects no tool{help}", rule.id)
            })
            .collect()
    }

    fn lacks_of_tools(&self, pool: &ToolPool) -> Vec<String> {
        let snapshot = pool.snapshot();
        let own = self.rules.iter().filter(|rule| rule.merged_from.is_none());
        let of_rule = |rule: &Rule| {
            let selected = snapshot.tools().iter().filter(|tool| rule.selects(tool.name()));
            lacks(rule, &selected.collect::<Vec<_>>())
        };
        own.flat_map(of_rule).collect()
    }

    /// What rules about a tool are about, and what the tool lacks.
    #[cfg(feature = "cli")]
    pub(crate) fn lacks_of(&self, tool: &Tool) -> Vec<String> {
        let rules = self.rules.iter().filter(|rule| rule.selects(tool.name()));
        rules.flat_map(|rule| lacks(rule, &[tool])).collect()
    }
}

/// Whether a pattern may select a resource, or one of a template: their strings before the first variable fit.
fn may_select(pattern: &Wildcard, uri: &str) -> bool {
    let pattern_text = pattern.to_string();
    let start =
        |text: &str, variable: char| text.split(variable).next().unwrap_or_default().to_owned();
    let (own, given) = (start(&pattern_text, '*'), start(uri, '{'));
    match uri.contains('{') {
        true => own.starts_with(&given) || pattern_text.contains('*') && given.starts_with(&own),
        false => pattern.matches(uri),
    }
}

/// What the selected tools lack for a rule.
fn lacks(rule: &Rule, selected: &[&Tool]) -> Vec<String> {
    let of_condition = |condition: &Condition| match condition {
        Condition::Argument(predicate) => missing_argument(rule, predicate, selected),
        Condition::Touches(files) => undeclared_access(rule, files, selected),
        _ => None,
    };
    rule.conditions.iter().filter_map(of_condition).collect()
}

/// A warning about tools that do not declare what they touch, so that a rule about files is uncertain for each call.
fn undeclared_access(rule: &Rule, files: &TouchedFiles, selected: &[&Tool]) -> Option<String> {
    let uncertain = selected.iter().filter(|tool| files.is_uncertain_for(tool));
    let tools: Vec<&str> = uncertain.map(|tool| tool.name()).collect();
    if tools.is_empty() {
        return None;
    }
    let tools = listed(&tools);
    let effect = uncertain_effect(rule.effect, "`if_undeclared: no_match`");
    let rule = &rule.id;
    Some(format!(
        "rule `{rule}`: these tools do not declare which files they touch, {tools}: {effect}"
    ))
}

/// What a rule does with the calls of tools for which a condition is uncertain.
fn uncertain_effect(effect: Effect, help: &str) -> String {
    match effect {
        Effect::Allow => "the rule allows none of their calls".to_owned(),
        Effect::Ask => "the rule asks about each of their calls".to_owned(),
        _ => format!("the rule denies each of their calls; name the tools, or write {help}"),
    }
}

/// A warning about an argument that none of the selected tools have, or that some lack so that the condition is uncertain
/// for each of their calls.
fn missing_argument(rule: &Rule, predicate: &Predicate, selected: &[&Tool]) -> Option<String> {
    let (name, _) = predicate.field.parts();
    let (lacking, having): (Vec<&Tool>, Vec<&Tool>) =
        selected.iter().copied().partition(|tool| lacks_argument(tool, name));
    if lacking.is_empty() || (!having.is_empty() && predicate.is_certain_if_absent()) {
        return None;
    }
    let tools: Vec<&str> = lacking.iter().map(|tool| tool.name()).collect();
    let tools = listed(&tools);
    let known = selected.iter().flat_map(|tool| properties(tool).into_iter().flatten());
    let near = nearest(name, known.map(|(name, _)| name.as_str()), 1).first().copied();
    let help = near.filter(|_| having.is_empty());
    let help = help.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let effect = match predicate.is_certain_if_absent() {
        true => "it is always absent".to_owned(),
        false => uncertain_effect(rule.effect, "`if_absent: no_match`"),
    };
    Some(format!("rule `{}`: the argument `{name}` is not one of {tools}: {effect}{help}", rule.id))
}

/// Whether a tool advertises its arguments, and not this one.
fn lacks_argument(tool: &Tool, name: &str) -> bool {
    properties(tool).is_some_and(|known| !known.contains_key(tool.argument_name(name)))
}

fn properties(tool: &Tool) -> Option<&Map<String, Value>> {
    tool.definition().input_schema.get("properties")?.as_object()
}

/// Names, the first of many.
fn listed(names: &[&str]) -> String {
    let quoted = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`"));
    let quoted = quoted.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        0 => quoted,
        more => format!("{quoted} and {more} more"),
    }
}

impl TestReport {
    /// Whether all tests passed. True without tests.
    pub fn is_passed(&self) -> bool {
        self.results.iter().all(|result| result.failure.is_none())
    }

    /// The results, in the order of the document.
    pub fn results(&self) -> &[TestResult] {
        &self.results
    }
}

impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for result in &self.results {
            match &result.failure {
                None => writeln!(f, "ok      {}", result.name)?,
                Some(failure) => writeln!(f, "FAILED  {}: {failure}", result.name)?,
            }
        }
        if self.results.is_empty() {
            return writeln!(f, "no tests; write some under the key `tests`");
        }
        let failed = self.results.iter().filter(|result| result.failure.is_some()).count();
        writeln!(f, "{} passed, {failed} failed", self.results.len() - failed)
    }
}
