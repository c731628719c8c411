//! Names of all options, an example of each, and hints for common wrong names.

use crate::names;

/// The options of one attribute.
pub(super) struct Known {
    pub(super) attribute: &'static str,
    pub(super) options: &'static [Usage],
    /// Options of other attributes, and the reason why they are invalid here.
    pub(super) misplaced: &'static [(&'static str, &'static str)],
    /// Unknown names, and the words that follow `unknown option`.
    pub(super) instead: &'static [(&'static str, &'static str)],
}

/// Name, kind of value, and example of an option.
pub(super) type Usage = (&'static str, &'static str, &'static str);

const STRING: &str = "needs a string literal";
pub(super) const STRINGS: &str = "takes string literals";
const VALUE: &str = "needs a value";
const PATH: &str = "needs a path";
const NAME: &str = "needs a name";
const DURATION: &str = "needs a duration above zero";
const FLAG: &str = "is a flag";
const WORD: &str = "takes no value";

const TAGS: Usage = ("tags", STRINGS, r#"tags("a", "b")"#);
const SCOPE: Usage = ("scope", STRINGS, r#"scope = "notes:write"` or `scope("a", "b")"#);
const META: Usage = ("meta", VALUE, r#"meta = serde_json::json!({ "key": 1 })"#);
const TIMEOUT: Usage = ("timeout", DURATION, r#"timeout = "30s"`, `"500ms"` or `"2m""#);
const ACTION: Usage = ("action", NAME, "action = MyAction");
const REGISTER: Usage = ("register", FLAG, "register` or `register = false");
const INLINE: Usage = ("inline", WORD, "inline");
const ICON: Usage = ("icon", STRINGS, r#"icon("https://example.com/icon.png")"#);
const CRATE: Usage = ("crate", PATH, "crate = ::tool_runtime");
const READ_ONLY: Usage = ("read_only", FLAG, "read_only` or `read_only = false");
const DESTRUCTIVE: Usage = ("destructive", FLAG, "destructive` or `destructive = false");
const IDEMPOTENT: Usage = ("idempotent", FLAG, "idempotent` or `idempotent = false");
const OPEN_WORLD: Usage = ("open_world", FLAG, "open_world` or `open_world = false");

const ON_METHOD: &str = "write it on `#[tool]` of a method";
const ON_TOOLSET: &str = "holds for all methods of a type; write it on `#[toolset]`";
const NOT_BLOCKING: &str = "a plain `fn` runs on the blocking pool; remove it";
const URI_FIRST: &str = r#"write it first, as in `#[resource("notes://{id}")]`"#;
const DOC_COMMENT: &str = "write a `///` comment above the parameter";
const DOC_COMMENT_ABOVE: &str = "write a `///` comment above the function";
const ON_PARAMETERS: &str = "write `///` comments and `#[arg(..)]` above the parameters";
const COUNTED: &str = "write `range = 1..=50`";
const MEASURED: &str = "write `length = 1..=200`";
const CHOICES: &str = "write an enum as the type";
const LIMITS: &str = "write `range = 1..=50`, or `length = 1..=200` for text";

pub(super) static TOOL: Known = Known {
    attribute: "tool",
    options: &[
        ("name", STRING, r#"name = "web.search""#),
        ("title", STRING, r#"title = "Search the web""#),
        ("description", STRING, r#"description = "Search the web.""#),
        READ_ONLY,
        DESTRUCTIVE,
        IDEMPOTENT,
        OPEN_WORLD,
        TAGS,
        SCOPE,
        META,
        TIMEOUT,
        ("input_schema", VALUE, r#"input_schema = serde_json::json!({ "type": "object" })"#),
        ("visualize", PATH, "visualize = my_function"),
        ("reads", STRINGS, r#"reads("file:{path}")` or `reads()"#),
        ("writes", STRINGS, r#"writes("file:{path}")` or `writes()"#),
        ("access", PATH, "access = my_function"),
        ACTION,
        REGISTER,
        INLINE,
        ICON,
        ("progress", WORD, "progress"),
        ("task", STRING, r#"task = "optional""#),
        ("at_most_once", WORD, "at_most_once"),
        ("safe_to_retry", WORD, "safe_to_retry"),
        CRATE,
    ],
    misplaced: &[],
    instead: &[
        ("rename", "did you mean `name`?"),
        ("schema", "did you mean `input_schema`?"),
        ("output_schema", "it follows from the return type; derive `JsonSchema` for that"),
        ("read", "did you mean `reads`?"),
        ("write", "did you mean `writes`?"),
        ("scopes", "did you mean `scope`?"),
        ("icons", "did you mean `icon`?"),
        ("long_running", "did you mean `task`?"),
        ("retry", "did you mean `safe_to_retry`?"),
        ("retries", "did you mean `safe_to_retry`?"),
        ("safe", "did you mean `read_only`?"),
        ("annotations", "write the hints themselves, as in `#[tool(read_only, idempotent)]`"),
        ("about", DOC_COMMENT_ABOVE),
        ("summary", DOC_COMMENT_ABOVE),
        ("doc", DOC_COMMENT_ABOVE),
        ("help", DOC_COMMENT_ABOVE),
        ("params", ON_PARAMETERS),
        ("args", ON_PARAMETERS),
        ("required", "a parameter is required unless its type is `Option<T>`; remove it"),
        ("requires", "did you mean `scope`?"),
        ("group", "did you mean `tags`?"),
        ("prefix", "write it into the name, as in `name = \"web.search\"`"),
        ("state", "write a parameter `&T`"),
        ("blocking", NOT_BLOCKING),
    ],
};

pub(super) static METHOD: Known = Known {
    attribute: TOOL.attribute,
    options: TOOL.options,
    misplaced: &[("register", ON_TOOLSET), ("crate", ON_TOOLSET)],
    instead: TOOL.instead,
};

pub(super) static TOOLSET: Known = Known {
    attribute: "toolset",
    options: &[
        ("prefix", STRING, r#"prefix = "fs""#),
        READ_ONLY,
        DESTRUCTIVE,
        IDEMPOTENT,
        OPEN_WORLD,
        TAGS,
        SCOPE,
        TIMEOUT,
        REGISTER,
        CRATE,
    ],
    misplaced: &[],
    instead: &[
        ("name", "did you mean `prefix`?"),
        ("rename", "did you mean `prefix`?"),
        ("description", "each method has a `///` comment of its own; remove it"),
        ("title", ON_METHOD),
        ("meta", ON_METHOD),
        ("inline", ON_METHOD),
        ("action", ON_METHOD),
        ("reads", ON_METHOD),
        ("writes", ON_METHOD),
        ("access", ON_METHOD),
        ("at_most_once", ON_METHOD),
        ("safe_to_retry", ON_METHOD),
    ],
};

pub(super) static PROMPT: Known = Known {
    attribute: "prompt",
    options: &[
        ("name", STRING, r#"name = "review""#),
        ("title", STRING, r#"title = "Review""#),
        ("description", STRING, r#"description = "Review code.""#),
        ICON,
        META,
        TIMEOUT,
        ACTION,
        REGISTER,
        INLINE,
        CRATE,
    ],
    misplaced: &[],
    instead: &[
        ("rename", "did you mean `name`?"),
        ("read_only", "a prompt only makes messages; remove it"),
        ("role", "return `PromptMessage::assistant(..)` for what the model says"),
        ("blocking", NOT_BLOCKING),
    ],
};

pub(super) static RESOURCE: Known = Known {
    attribute: "resource",
    options: &[
        ("name", STRING, r#"name = "Notes""#),
        ("title", STRING, r#"title = "Notes""#),
        ("description", STRING, r#"description = "All notes.""#),
        ("mime_type", STRING, r#"mime_type = "text/plain""#),
        ("size", VALUE, "size = 1024"),
        ("audience", STRINGS, r#"audience("user")"#),
        ("priority", VALUE, "priority = 0.5"),
        ICON,
        META,
        TIMEOUT,
        ACTION,
        REGISTER,
        INLINE,
        CRATE,
    ],
    misplaced: &[],
    instead: &[
        ("uri", URI_FIRST),
        ("uri_template", URI_FIRST),
        ("template", URI_FIRST),
        ("rename", "did you mean `name`?"),
        ("mime", "did you mean `mime_type`?"),
        ("content_type", "did you mean `mime_type`?"),
        ("read_only", "a resource is only read; remove it"),
        ("blocking", NOT_BLOCKING),
    ],
};

pub(super) static ARG: Known = Known {
    attribute: "arg",
    options: &[
        ("rename", STRING, r#"rename = "new-name""#),
        ("alias", STRINGS, r#"alias("a", "b")"#),
        ("default", VALUE, "default` or `default = VALUE"),
        ("range", VALUE, "range = 1..=50"),
        ("length", VALUE, "length = 1..=200"),
        ("pattern", STRING, r#"pattern = "^[a-z]+$""#),
        ("format", STRING, r#"format = "date-time""#),
        ("example", VALUE, "example = VALUE"),
        ("secret", WORD, "secret"),
        ("header", STRING, r#"header = "Region""#),
        ("match_as", STRING, r#"match_as = "path""#),
        ("flatten", WORD, "flatten"),
        ("allow_unknown_fields", WORD, "allow_unknown_fields"),
        ("undocumented", WORD, "undocumented"),
        ("complete", PATH, "complete = my_function"),
    ],
    misplaced: &[],
    instead: &[
        ("name", "did you mean `rename`?"),
        ("description", DOC_COMMENT),
        ("desc", DOC_COMMENT),
        ("doc", DOC_COMMENT),
        ("regex", "did you mean `pattern`?"),
        ("completion", "did you mean `complete`?"),
        ("help", DOC_COMMENT),
        ("title", DOC_COMMENT),
        ("min", LIMITS),
        ("max", LIMITS),
        ("ge", COUNTED),
        ("gt", COUNTED),
        ("le", COUNTED),
        ("lt", COUNTED),
        ("minimum", COUNTED),
        ("maximum", COUNTED),
        ("min_length", MEASURED),
        ("max_length", MEASURED),
        ("min_items", MEASURED),
        ("max_items", MEASURED),
        ("values", CHOICES),
        ("choices", CHOICES),
        ("enum_values", CHOICES),
        ("one_of", CHOICES),
        ("possible_values", CHOICES),
        ("value_enum", CHOICES),
        ("sensitive", "did you mean `secret`?"),
        (
            "validate",
            "write `range`, `length`, `pattern` or `format`, or check the value in the function",
        ),
        ("long", "arguments have one name, in JSON and on the command line; remove it"),
        ("short", "arguments have one name, in JSON and on the command line; remove it"),
        ("env", "an argument comes from the model; remove it"),
        ("skip", "a parameter is an argument, or a reference to state; write `&T`"),
        ("hidden", "a parameter is an argument, or a reference to state; write `&T`"),
        ("open", "did you mean `allow_unknown_fields`?"),
        ("deny_unknown_fields", "unknown fields are refused by default; remove it"),
        ("optional", "write the type `Option<T>`, or a `default`"),
        ("required", "a parameter is required unless its type is `Option<T>`; remove it"),
    ],
};

pub(super) static FORM: Known =
    Known { attribute: "form", options: &[CRATE], misplaced: &[], instead: &[] };

impl Known {
    /// The option of a name.
    ///
    /// # Errors
    /// The message about a name that is not an option here.
    pub(super) fn find(&self, key: &str) -> Result<Usage, String> {
        if let Some((_, reason)) = self.misplaced.iter().find(|(word, _)| *word == key) {
            return Err(format!("`{key}` {reason}"));
        }
        let option = self.options.iter().find(|(name, ..)| *name == key);
        option.copied().ok_or_else(|| self.unknown(key))
    }

    /// Whether there is an option of that name.
    pub(super) fn has(&self, key: &str) -> bool {
        self.options.iter().any(|(name, ..)| *name == key)
    }

    fn unknown(&self, key: &str) -> String {
        let names: Vec<&str> = self.options.iter().map(|(name, ..)| *name).collect();
        unknown(key, &format!("#[{}]", self.attribute), &names, self.instead)
    }
}

/// The message about an option that `macro_name` does not have; `instead` are words of other programs with a remedy each.
pub(crate) fn unknown(
    key: &str,
    macro_name: &str,
    names: &[&str],
    instead: &[(&str, &str)],
) -> String {
    let remedy = match instead.iter().find(|(word, _)| *word == key) {
        Some((_, instead)) => (*instead).to_owned(),
        None => match names::nearest(key, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of `{}`", names.join("`, `")),
        },
    };
    format!("unknown option `{key}` of `{macro_name}`; {remedy}")
}

/// The message about an option that is given twice.
pub(super) fn repeated((key, kind, _): Usage) -> String {
    match kind {
        STRINGS => format!("option `{key}` is given twice; write `{key}(\"a\", \"b\")`"),
        _ => format!("option `{key}` is given twice; keep one of the two"),
    }
}

/// The message about a value of another kind.
pub(super) fn wrong((key, kind, example): Usage) -> String {
    format!("`{key}` {kind}; write `{example}`")
}
