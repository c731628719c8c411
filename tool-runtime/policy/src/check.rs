//! Tests beside the rules, and mistakes that only a pool shows.

use crate::explain::effect_name;
use crate::policy::Policy;
use std::fmt;
use tool_runtime_core::ToolPool;
use tool_runtime_core::seam::nearest;

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
        let results = self.cases.iter().map(|case| {
            let decision = self.try_call(&case.call);
            let by =
                decision.rule().map_or("the default".to_owned(), |rule| format!("rule `{rule}`"));
            let is_rule = case.rule.is_none() || case.rule.as_deref() == decision.rule();
            let failure = (decision.effect() != case.effect || !is_rule).then(|| {
                let expected = match &case.rule {
                    Some(rule) => format!("{} by rule `{rule}`", effect_name(case.effect)),
                    None => effect_name(case.effect).to_owned(),
                };
                format!("expected {expected}, got {} by {by}", effect_name(decision.effect()))
            });
            TestResult { name: case.name.clone(), failure }
        });
        TestReport { results: results.collect() }
    }

    /// Patterns of rules that select no tool of a pool, with the nearest id: mistakes, unless the
    /// tool is of a server that is not connected.
    pub fn unused_patterns(&self, pool: &ToolPool) -> Vec<String> {
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
                    |tool: &&tool_runtime_core::Tool| tool.definition().wire_name() == text;
                let by_wire = snapshot.tools().iter().find(is_wire).map(|tool| tool.name());
                let near =
                    by_wire.or_else(|| nearest(&text, names.iter().copied(), 1).first().copied());
                let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("rule `{}`: `{text}` selects no tool{help}", rule.id)
            })
            .collect()
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
        let failed = self.results.iter().filter(|result| result.failure.is_some()).count();
        writeln!(f, "{} passed, {failed} failed", self.results.len() - failed)
    }
}
