//! Reads tests, and the calls in them.

use super::object::{At, Mistakes, Object};
use super::rule::{outcome_name, risk};
use crate::case::{Case, SampleCall};
use crate::condition::Hint;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tool_runtime_core::tool::Source;
use tool_runtime_core::vocabulary::{Principal, ToolAnnotations};

/// `{name: .., call: {tool: .., arguments: {..}}, expect: deny, rule: no-keys}`.
pub(super) fn case(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Case> {
    let mut object = at.object(mistakes)?;
    let name = object.take("name").and_then(|at| at.text(mistakes));
    let call = object.take("call");
    let expect = object.take("expect");
    if call.is_none() || expect.is_none() {
        let help = "write both, as in `{call: {tool: fs.read}, expect: allow}`";
        mistakes.add(&at.path, "`call` or `expect` is missing", help);
    }
    let call = call.and_then(|at| self::call(&at, mistakes));
    let effect = expect.and_then(|at| outcome_name(&at, mistakes));
    let rule = object.take("rule").and_then(|at| at.text(mistakes));
    object.finish(mistakes);
    let (call, effect) = (call?, effect?);
    let name = name.unwrap_or_else(|| call.title());
    Some(Case { name, call, effect, rule })
}

/// Reads a call.
pub(super) fn call(at: &At<'_>, mistakes: &mut Mistakes) -> Option<SampleCall> {
    let mut object = at.object(mistakes)?;
    let mut text = |name| object.take(name).and_then(|at| at.text(mistakes));
    let about = (text("tool"), text("resource"), text("prompt"));
    let about = match about {
        (Some(tool), None, None) => Some(SampleCall::new(tool)),
        (None, Some(uri), None) => Some(SampleCall::resource(&uri)),
        (None, None, Some(name)) => Some(SampleCall::prompt(&name)),
        (None, None, None) => {
            mistakes.add(&at.path, "the key `tool` is missing", "write the id of a tool");
            None
        }
        _ => {
            let help = "keep one of `tool`, `resource` and `prompt`";
            mistakes.add(&at.path, "a call is about one of them", help);
            None
        }
    };
    let is_known = about.is_some();
    let mut call = about.unwrap_or_else(|| SampleCall::new(""));
    if let Some(at) = object.take("arguments") {
        call.arguments = match at.value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
    }
    let mut files = |name| {
        let files = object.take(name).map(|at| at.strings(mistakes));
        files.map(|files| files.into_iter().map(|(_, file)| file))
    };
    call = files("reads").into_iter().fold(call, SampleCall::reads);
    call = files("writes").into_iter().fold(call, SampleCall::writes);
    of_tool(&mut object, &mut call, mistakes);
    of_caller(&mut object, &mut call, mistakes);
    of_run(&mut object, &mut call, mistakes);
    object.finish(mistakes);
    is_known.then_some(call)
}

fn of_tool(object: &mut Object<'_>, call: &mut SampleCall, mistakes: &mut Mistakes) {
    if let Some(at) = object.take("source")
        && let Some(text) = at.text(mistakes)
    {
        match Source::try_from(text) {
            Ok(source) => call.source = Some(source),
            Err(error) => mistakes.add(&at.path, error, "name one source"),
        }
    }
    if let Some(at) = object.take("tags") {
        call.tags = Some(at.strings(mistakes).into_iter().map(|(_, tag)| tag).collect());
    }
    if let Some(at) = object.take("trusted") {
        call.is_trusted = at.flag(mistakes);
    }
    if let Some(at) = object.take("annotations")
        && let Some(mut hints) = at.object(mistakes)
    {
        for (name, hint) in Hint::ALL {
            let flag = hints.take(name).and_then(|at| at.flag(mistakes));
            if let Some(flag) = flag {
                call.annotations = with(hint, std::mem::take(&mut call.annotations), flag);
            }
        }
        hints.finish(mistakes);
    }
    if let Some(at) = object.take("risk") {
        call.risk = at.parsed(mistakes, risk).into_iter().next().unwrap_or_default();
    }
}

fn with(hint: Hint, annotations: ToolAnnotations, flag: bool) -> ToolAnnotations {
    match hint {
        Hint::ReadOnly => annotations.with_read_only(flag),
        Hint::Destructive => annotations.with_destructive(flag),
        Hint::Idempotent => annotations.with_idempotent(flag),
        Hint::OpenWorld => annotations.with_open_world(flag),
    }
}

fn of_caller(object: &mut Object<'_>, call: &mut SampleCall, mistakes: &mut Mistakes) {
    let id = object.take("principal").and_then(|at| at.text(mistakes));
    let scopes = object.take("scopes").map(|at| at.strings(mistakes));
    let claims = object.take("claims").and_then(|at| at.object(mistakes));
    let claims: Map<String, Value> = claims
        .map(|claims| {
            claims.members().map(|(name, at)| (name.to_owned(), at.value.clone())).collect()
        })
        .unwrap_or_default();
    let scopes = scopes.unwrap_or_default().into_iter().map(|(_, scope)| scope);
    call.principal = Principal::new(id.unwrap_or_default()).with_scopes(scopes).with_claims(claims);
}

fn of_run(object: &mut Object<'_>, call: &mut SampleCall, mistakes: &mut Mistakes) {
    if let Some(at) = object.take("labels")
        && let Some(labels) = at.object(mistakes)
    {
        let members: Vec<_> = labels.members().collect();
        let values = members.into_iter();
        let values = values.filter_map(|(name, at)| Some((name.to_owned(), at.text(mistakes)?)));
        call.labels = Some(values.collect());
    }
    call.steps = object.take("steps").and_then(|at| at.whole(mistakes));
    call.elapsed = object.take("elapsed").and_then(|at| at.duration(mistakes));
    if let Some(at) = object.take("at")
        && let Some(text) = at.text(mistakes)
    {
        match text.parse::<Timestamp>() {
            Ok(time) => call.at = Some(time),
            Err(_) => {
                let help = "write it as `2026-01-05T09:00:00Z`";
                mistakes.add(&at.path, format!("`{text}` is not a time"), help);
            }
        }
    }
}
