//! The specification of a tool in a configuration.

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// A tool in a configuration: a name in a [`Registry`](crate::pool::Registry), or a glob over such
/// names, and parameters.
///
/// Written as `{ "name": "terminal", "params": { "shell": "bash" } }`, or only as the name if it
/// has no parameters. `"prefix": "left"` names a toolset's tools `left.…`, so that one type can be
/// used twice.
///
/// ```
/// use tool_runtime::pool::ToolSpec;
///
/// let specs: Vec<ToolSpec> = serde_json::from_str(r#"["fs.*", { "name": "terminal", "params": null }]"#)?;
/// assert_eq!(specs, [ToolSpec::new("fs.*"), ToolSpec::new("terminal")]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// A registered name, the id of one tool of a registered toolset, or a pattern over both.
    pub name: String,
    /// The prefix of the toolset's tools, instead of the type's own.
    /// Default: none, the type's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Parameters of the toolset or factory. Default: none.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

impl ToolSpec {
    /// A name without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), prefix: None, params: Map::new() }
    }

    /// Sets the prefix of a toolset's tools.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets a parameter.
    #[must_use]
    pub fn with(mut self, param: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.insert(param.into(), value.into());
        self
    }
}

/// Omits the values of the parameters, which may be secret.
impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<&String> = self.params.keys().collect();
        f.debug_struct("ToolSpec")
            .field("name", &self.name)
            .field("prefix", &self.prefix)
            .field("params", &params)
            .finish()
    }
}

impl<'de> Deserialize<'de> for ToolSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = ToolSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool's name, or an object with `name`, `prefix` and `params`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<ToolSpec, E> {
        Ok(ToolSpec::new(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ToolSpec, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            name: String,
            #[serde(default)]
            prefix: Option<String>,
            #[serde(default)]
            params: Option<Map<String, Value>>,
        }
        let fields = Fields::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(ToolSpec {
            name: fields.name,
            prefix: fields.prefix,
            params: fields.params.unwrap_or_default(),
        })
    }
}
