//! JSON Schema to the subset that an API takes.
//!
//! [`root`] turns the root into a plain object schema, as every API requires. The dialects that restrict
//! more walk the whole schema ([`node`]): a keyword is kept, rewritten, moved into the description or
//! dropped, and each change is reported. The tool enforces its own schema in any case.

mod dialect;
mod keywords;
mod merge;
mod node;
mod refs;
mod rename;
mod root;
mod size;

pub(crate) use dialect::Dialect;
pub(crate) use refs::resolve;

use node::Lowering;
use serde_json::{Map, Value};
use tool_runtime_core::SchemaChange;

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

/// Converts the schema of a tool's arguments.
///
/// # Errors
/// The dialect cannot express it, with the reason.
pub(crate) fn lower(schema: &Map<String, Value>, dialect: Dialect) -> Result<Lowered, String> {
    let mut changes = Vec::new();
    let mut flat = root::flattened(schema, dialect, &mut changes)?;
    if dialect == Dialect::Loose {
        rename::rename(&mut flat, dialect)?;
        return Ok(Lowered { schema: Value::Object(flat), changes, optional: 0, unions: 0 });
    }
    let mut lowering = Lowering::new(&flat, dialect, changes);
    let schema = lowering.document()?;
    if dialect == Dialect::OpenAi {
        size::check(&schema)?;
    }
    Ok(lowering.finish(schema))
}
