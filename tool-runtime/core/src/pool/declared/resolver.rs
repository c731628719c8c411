//! The effect of declarations on the tools of a snapshot.

use super::DeclaredTools;
use super::report::{DeclarationReport, DeclarationStatus};
use super::rule::{ArgumentRule, Limit};
use crate::pool::governance::Governance;
use crate::pool::snapshot::{Snapshot, Visibility};
use crate::schema::nearest::nearest;
use crate::tool::tool::{RemoteName, Tool};
use crate::vocabulary::matching::declaration::{Declaration, Declarations};
use crate::vocabulary::matching::pattern::ToolPattern;
use crate::vocabulary::matching::{
    ArgumentMatcher, MatchAs, MatchedArgument, PathMatcher, UrlMatcher,
};
use std::fmt;
use std::sync::Arc;

/// Declarations with all that is needed to resolve them.
pub(in crate::pool) struct Resolver {
    declared: DeclaredTools,
    matchers: Vec<Arc<dyn ArgumentMatcher>>,
    matched: Vec<(ToolPattern, MatchedArgument)>,
}

/// The effect of a declaration on a tool.
enum Effect {
    /// The declaration is about other tools.
    None,
    Whole,
    Limited(Limit),
    /// The declaration is about the tool and cannot be evaluated, for a reason.
    Unusable(String),
}

impl Resolver {
    pub(in crate::pool) fn new(declared: DeclaredTools, governance: &Governance) -> Self {
        let builtin: [Arc<dyn ArgumentMatcher>; 2] =
            [Arc::new(PathMatcher::new()), Arc::new(UrlMatcher::new())];
        let matchers = builtin.into_iter().chain(governance.matchers.iter().cloned()).collect();
        Self { declared, matchers, matched: governance.matched.clone() }
    }

    fn effect(
        &self,
        declaration: &Declaration,
        is_denied: bool,
        tool: &Tool,
        of: &Snapshot,
    ) -> Effect {
        if let Some(problem) = declaration.problem() {
            // An invalid name could refer to any tool.
            let is_other = declaration.has_name() && !is_named(declaration, is_denied, tool, of);
            return if is_other { Effect::None } else { Effect::Unusable(problem.to_owned()) };
        }
        if !is_named(declaration, is_denied, tool, of) {
            return Effect::None;
        }
        match declaration.limit().map(|pattern| self.limit(declaration, pattern, tool)) {
            None => Effect::Whole,
            Some(Ok(limit)) => Effect::Limited(limit),
            Some(Err(reason)) => Effect::Unusable(reason),
        }
    }

    /// Compiles the pattern of a declaration for a tool.
    ///
    /// # Errors
    /// The reason why the pattern cannot be evaluated.
    fn limit(
        &self,
        declaration: &Declaration,
        pattern: &str,
        tool: &Tool,
    ) -> Result<Limit, String> {
        let name = tool.name();
        let Some(matched) = self.matched(tool) else {
            return Err(format!(
                "`{name}` does not name the argument that a pattern is about; write `#[arg(match_as = \"shell\")]`, `\"path\"` or `\"url\"` on a parameter, or `.match_argument(..)` on the pool"
            ));
        };
        if tool.definition().argument(&matched.name).is_none() {
            return Err(format!("`{name}` has no argument `{}` for patterns", matched.name));
        }
        let matcher = self.matchers.iter().rev().find(|matcher| matcher.kind() == matched.kind);
        let matcher = matcher.ok_or_else(|| no_matcher(matched.kind))?;
        let matcher = matcher.compile(pattern).map_err(|error| error.to_string())?;
        Ok(Limit { declaration: declaration.to_string(), matcher })
    }

    /// The argument that patterns match: as the pool sets it, or else the tool.
    fn matched<'a>(&'a self, tool: &'a Tool) -> Option<&'a MatchedArgument> {
        let of_pool = self.matched.iter().rev().find(|(tools, _)| tools.matches(tool.name()));
        of_pool.map(|(_, matched)| matched).or_else(|| tool.matched())
    }

    /// The limits of the allow list. `None`: the tool is hidden; an empty list: every call is allowed.
    fn allowed(&self, tool: &Tool, of: &Snapshot) -> Option<Vec<Limit>> {
        let Some(allow) = &self.declared.allow else { return Some(Vec::new()) };
        let mut limits = Vec::new();
        for declaration in allow {
            match self.effect(declaration, false, tool, of) {
                Effect::None | Effect::Unusable(_) => {}
                Effect::Whole => return Some(Vec::new()),
                Effect::Limited(limit) => limits.push(limit),
            }
        }
        (!limits.is_empty()).then_some(limits)
    }

    /// The limits of the deny list. `None`: the tool is hidden.
    fn denied(&self, tool: &Tool, of: &Snapshot) -> Option<Vec<Limit>> {
        let mut limits = Vec::new();
        for declaration in &self.declared.deny {
            match self.effect(declaration, true, tool, of) {
                Effect::None => {}
                Effect::Limited(limit) => limits.push(limit),
                Effect::Whole | Effect::Unusable(_) => return None,
            }
        }
        Some(limits)
    }

    /// The effect of each declaration on the tools of a snapshot.
    pub(in crate::pool) fn report(&self, of: &Snapshot) -> DeclarationReport {
        let entries = |declarations: &Declarations, denies| -> Vec<_> {
            declarations.iter().map(|declaration| self.status(declaration, denies, of)).collect()
        };
        let mut report = DeclarationReport::default();
        let allow = self.declared.allow.as_ref();
        report.entries.extend(allow.map(|allow| entries(allow, false)).unwrap_or_default());
        report.entries.extend(entries(&self.declared.deny, true));
        report
    }

    fn status(&self, declaration: &Declaration, denies: bool, of: &Snapshot) -> DeclarationStatus {
        let (mut tools, mut reason) = (Vec::new(), declaration.problem().map(str::to_owned));
        for tool in of.tools() {
            match self.effect(declaration, denies, tool, of) {
                Effect::None => {}
                Effect::Whole | Effect::Limited(_) => tools.push(tool.name().to_owned()),
                Effect::Unusable(why) => {
                    if denies {
                        tools.push(tool.name().to_owned());
                    }
                    reason.get_or_insert(why);
                }
            }
        }
        if tools.is_empty() {
            reason.get_or_insert_with(|| unknown(declaration, of));
        }
        DeclarationStatus { declaration: declaration.to_string(), denies, tools, reason }
    }

    /// The visibility of a tool of a snapshot.
    pub(in crate::pool) fn visibility(&self, tool: &Tool, of: &Snapshot) -> Visibility {
        let Some(deny) = self.denied(tool, of) else { return Visibility::Hidden };
        let Some(allow) = self.allowed(tool, of) else { return Visibility::Hidden };
        match self.matched(tool) {
            Some(argument) if !allow.is_empty() || !deny.is_empty() => {
                let (tool, argument) = (tool.name().to_owned(), argument.clone());
                Visibility::Checked(Arc::new(ArgumentRule { tool, argument, allow, deny }))
            }
            _ => Visibility::Visible,
        }
    }
}

impl fmt::Display for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.declared.fmt(f)
    }
}

/// Whether a declaration is about a tool. Where it allows, the exact name wins.
fn is_named(declaration: &Declaration, is_denied: bool, tool: &Tool, of: &Snapshot) -> bool {
    let (name, id, wire) = (declaration.name(), tool.name(), tool.definition().wire_name());
    if let Some(glob) = declaration.glob() {
        let is_remote = |remote: &RemoteName| glob.matches(&declared_name(remote));
        return glob.matches(id)
            || glob.matches(&wire)
            || tool.remote_name().is_some_and(is_remote);
    }
    if id == name {
        return true;
    }
    if !is_denied && of.get(name).is_some() {
        return false;
    }
    let server = name.strip_prefix("mcp__").filter(|server| !server.contains("__"));
    let is_remote = |remote: &RemoteName| {
        declared_name(remote) == name || server == Some(&*folded(&remote.server))
    };
    wire == name || id.eq_ignore_ascii_case(name) || tool.remote_name().is_some_and(is_remote)
}

/// The name of a tool of an MCP server in declarations: `mcp__server__tool`.
fn declared_name(remote: &RemoteName) -> String {
    format!("mcp__{}__{}", folded(&remote.server), folded(&remote.tool))
}

/// A name with `_` for characters that declarations do not have.
fn folded(name: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '-';
    name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect()
}

fn unknown(declaration: &Declaration, of: &Snapshot) -> String {
    let names = of.tools().iter().map(Tool::name);
    let near = nearest(declaration.name(), names, 1);
    let hint = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("the pool has no tool `{}`{hint}", declaration.name())
}

fn no_matcher(kind: MatchAs) -> String {
    match kind {
        MatchAs::Shell => "the pool has no matcher of commands; enable the feature `shell`, and write `.argument_matcher(tool_runtime::shell::ShellMatcher)`".to_owned(),
        kind => format!("the pool has no matcher of kind `{kind}`"),
    }
}
