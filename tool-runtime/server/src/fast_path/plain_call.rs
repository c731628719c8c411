//! Calls that are exactly what they should be, read without rmcp.

use super::envelope::Envelope;
use super::meta::{Meta, MetaCache};
use crate::client::Subject;
use crate::rounds::Round;
use rmcp::model::{CallToolRequestMethod, ConstString as _, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// How many bytes there may be around the arguments: they are read into values, which take much
/// more room.
const MAX_AROUND: usize = 32 << 10;

/// A `tools/call` with nothing unusual about it.
pub(crate) struct PlainCall<'a> {
    pub(crate) id: RequestId,
    pub(crate) meta: Arc<Meta>,
    pub(crate) subject: Subject,
    pub(crate) round: Round,
    pub(crate) arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    request_state: Option<String>,
}

impl<'a> PlainCall<'a> {
    /// The call, if it is a plain one of a client of 2026-07-28, or of an older one.
    pub(crate) fn read(text: &'a str, is_modern: bool, metas: &MetaCache) -> Option<Self> {
        let Envelope { id, params, .. } = Envelope::<Params<'_>>::read(text)?;
        let around = text.len() - params.arguments.map_or(0, |raw| raw.get().len());
        if around > MAX_AROUND {
            return None;
        }
        Some(Self {
            id,
            meta: metas.read(params.meta, is_modern)?,
            arguments: params.arguments,
            round: Round {
                responses: read_or_default(params.input_responses)?,
                state: params.request_state,
            },
            subject: Subject {
                method: CallToolRequestMethod::VALUE,
                name: params.name.into_owned(),
                arguments: None,
            },
        })
    }
}

fn read_or_default<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> Option<T> {
    match raw {
        Some(raw) => T::deserialize(raw).ok(),
        None => Some(T::default()),
    }
}
