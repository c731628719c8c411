//! JSON Schema to the subset that an API takes.
//!
//! The schema is translated to 2020-12 first. [`root`] turns its root into a plain object schema, as every API requires.
//! Without strict mode, [`plain`] rewrites what makes APIs reject a request. The dialects that restrict more walk the
//! whole schema ([`node`]): a keyword is kept, rewritten, moved into the description or dropped, and each change is
//! reported. What leaves is checked at the end ([`metaschema`]): one invalid schema makes an API reject the whole request.
//! The tool enforces its own schema in any case.

mod dialect;
mod keywords;
mod merge;
mod metaschema;
mod node;
mod plain;
mod refs;
mod root;
mod size;

pub(crate) use dialect::Dialect;
pub(crate) use refs::resolve;

use node::Lowering;
use serde_json::{Map, Value};
use tool_runtime_core::tool::export::SchemaChange;

/// A schema in a dialect.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) schema: Value,
    pub(crate) changes: Vec<SchemaChange>,
    /// The number of properties that are not required.
    pub(crate) optional: usize,
    /// The number of unions.
    pub(crate) unions: usize,
}

/// Converts the schema of a tool's arguments, which is one of 2020-12.
///
/// # Errors
/// The dialect cannot express it, with the reason.
pub(crate) fn lower(schema: &Map<String, Value>, dialect: Dialect) -> Result<Lowered, String> {
    let mut changes = Vec::new();
    let flat = root::flattened(schema, dialect, &mut changes)?;
    let lowered = match dialect {
        Dialect::Loose => plain::convert(flat, changes)?,
        _ => {
            let mut lowering = Lowering::new(&flat, dialect, changes);
            let schema = lowering.document()?;
            lowering.finish(schema)
        }
    };
    if dialect == Dialect::OpenAi {
        size::check(&lowered.schema)?;
    }
    metaschema::check(&lowered.schema)?;
    Ok(lowered)
}
