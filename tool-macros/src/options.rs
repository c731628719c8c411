//! Every option of the attributes: the only list of option names.

mod offer;

pub(crate) use offer::OfferOptions;

use crate::entries::{Entries, Known};
use crate::hints::Hints;
use crate::kind::Kind;
use crate::mistakes::Mistakes;
use crate::names;
use proc_macro2::{Span, TokenStream};
use std::time::Duration;
use syn::{Attribute, Expr, Ident, LitStr, Meta, Path};

static TOOL: Known = Known {
    attribute: "tool",
    options: &[
        "name",
        "title",
        "description",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "tags",
        "meta",
        "timeout",
        "input_schema",
        "visualize",
        "reads",
        "writes",
        "access",
        "action",
        "register",
        "inline",
        "icon",
        "progress",
        "task",
        "crate",
    ],
    instead: &[
        ("rename", "did you mean `name`?"),
        ("schema", "did you mean `input_schema`?"),
        ("output_schema", "it follows from the return type; derive `JsonSchema` for that"),
        ("read", "did you mean `reads`?"),
        ("write", "did you mean `writes`?"),
        ("icons", "did you mean `icon`?"),
        ("long_running", "did you mean `task`?"),
        ("blocking", "a plain `fn` runs on the blocking pool; remove it"),
    ],
};

static TOOLSET: Known = Known {
    attribute: "toolset",
    options: &[
        "prefix",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "tags",
        "timeout",
        "register",
        "crate",
    ],
    instead: &[
        ("name", "did you mean `prefix`?"),
        ("rename", "did you mean `prefix`?"),
        ("title", "write it on `#[tool]` of a method"),
        ("description", "each method has a `///` comment of its own; remove it"),
        ("meta", "write it on `#[tool]` of a method"),
        ("inline", "write it on `#[tool]` of a method"),
        ("action", "write it on `#[tool]` of a method"),
        ("reads", "write it on `#[tool]` of a method"),
        ("writes", "write it on `#[tool]` of a method"),
        ("access", "write it on `#[tool]` of a method"),
    ],
};

static PROMPT: Known = Known {
    attribute: "prompt",
    options: &[
        "name",
        "title",
        "description",
        "icon",
        "meta",
        "timeout",
        "action",
        "register",
        "inline",
        "crate",
    ],
    instead: &[
        ("rename", "did you mean `name`?"),
        ("read_only", "a prompt only makes messages; remove it"),
        ("role", "return `PromptMessage::assistant(..)` for what the model says"),
        ("blocking", "a plain `fn` runs on the blocking pool; remove it"),
    ],
};

static RESOURCE: Known = Known {
    attribute: "resource",
    options: &[
        "name",
        "title",
        "description",
        "mime_type",
        "size",
        "audience",
        "priority",
        "icon",
        "meta",
        "timeout",
        "action",
        "register",
        "inline",
        "crate",
    ],
    instead: &[
        ("uri", "write it first, as in `#[resource(\"notes://{id}\")]`"),
        ("rename", "did you mean `name`?"),
        ("mime", "did you mean `mime_type`?"),
        ("content_type", "did you mean `mime_type`?"),
        ("read_only", "a resource is only read; remove it"),
        ("blocking", "a plain `fn` runs on the blocking pool; remove it"),
    ],
};

static ARG: Known = Known {
    attribute: "arg",
    options: &[
        "rename",
        "alias",
        "default",
        "range",
        "length",
        "pattern",
        "format",
        "example",
        "secret",
        "header",
        "flatten",
        "allow_unknown_fields",
        "undocumented",
        "complete",
    ],
    instead: &[
        ("name", "did you mean `rename`?"),
        ("description", "write a `///` comment above the parameter"),
        ("desc", "write a `///` comment above the parameter"),
        ("doc", "write a `///` comment above the parameter"),
        ("regex", "did you mean `pattern`?"),
        ("completion", "did you mean `complete`?"),
        ("min", "write `range = 1..=50`, or `length = 1..=200` for text"),
        ("max", "write `range = 1..=50`, or `length = 1..=200` for text"),
        ("open", "did you mean `allow_unknown_fields`?"),
        ("deny_unknown_fields", "unknown fields are refused by default; remove it"),
        ("optional", "write the type `Option<T>`, or a `default`"),
        ("required", "a parameter is required unless its type is `Option<T>`; remove it"),
    ],
};

/// The options of `#[tool(...)]`.
pub(crate) struct ToolOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) hints: Hints,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) meta: Option<Expr>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) input_schema: Option<Expr>,
    pub(crate) visualize: Option<Path>,
    /// The keys that a call reads; an empty list says that there are none.
    pub(crate) reads: Option<(Span, Vec<LitStr>)>,
    /// The keys that a call writes.
    pub(crate) writes: Option<(Span, Vec<LitStr>)>,
    pub(crate) access: Option<Path>,
    pub(crate) action: Option<Ident>,
    pub(crate) register: bool,
    pub(crate) inline: Option<Span>,
    pub(crate) icons: Vec<LitStr>,
    pub(crate) progress: Option<Span>,
    pub(crate) task: Option<LitStr>,
    pub(crate) runtime: Option<Path>,
}

impl ToolOptions {
    /// Reads the options, reporting every mistake.
    pub(crate) fn parse(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        Self::read(Entries::parse(&TOOL, tokens, mistakes), mistakes)
    }

    /// Reads the options of a method; what belongs to all of its type's methods is refused.
    pub(crate) fn of_method(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut entries = Entries::parse(&TOOL, tokens, mistakes);
        for key in ["register", "crate"] {
            let why = "holds for all methods of a type; write it on `#[toolset]`";
            entries.refuse(key, why, mistakes);
        }
        Self::read(entries, mistakes)
    }

    fn read(mut entries: Entries, mistakes: &mut Mistakes) -> Self {
        Self {
            name: entries.text("name", "\"web.search\"", mistakes),
            title: entries.text("title", "\"Search the web\"", mistakes),
            description: entries.text("description", "\"Search the web.\"", mistakes),
            hints: Hints::parse(&mut entries, mistakes),
            tags: entries.texts("tags", mistakes),
            meta: entries.expression("meta", "json!({ \"key\": 1 })", mistakes),
            timeout: timeout(&mut entries, mistakes),
            input_schema: entries.expression(
                "input_schema",
                "json!({ \"type\": \"object\" })",
                mistakes,
            ),
            visualize: entries.path("visualize", "my_function", mistakes),
            reads: entries.list("reads", "(\"file:{path}\")", mistakes),
            writes: entries.list("writes", "(\"file:{path}\")", mistakes),
            access: entries.path("access", "my_function", mistakes),
            action: entries.ident("action", "MyAction", mistakes),
            register: entries.flag("register", mistakes).is_none_or(|(given, _)| given),
            inline: entries.word("inline", mistakes),
            icons: entries.texts("icon", mistakes),
            progress: entries.word("progress", mistakes),
            task: entries.text("task", "\"optional\"", mistakes),
            runtime: entries.path("crate", "::tool_runtime", mistakes),
        }
    }
}

/// The options of `#[toolset(...)]`: what its tools have in common.
pub(crate) struct ToolsetOptions {
    pub(crate) prefix: Option<LitStr>,
    pub(crate) hints: Hints,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) register: bool,
    pub(crate) runtime: Option<Path>,
}

impl ToolsetOptions {
    /// Reads the options, reporting every mistake.
    pub(crate) fn parse(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut entries = Entries::parse(&TOOLSET, tokens, mistakes);
        Self {
            prefix: entries.text("prefix", "\"fs\"", mistakes),
            hints: Hints::parse(&mut entries, mistakes),
            tags: entries.texts("tags", mistakes),
            timeout: timeout(&mut entries, mistakes),
            register: entries.flag("register", mistakes).is_none_or(|(given, _)| given),
            runtime: entries.path("crate", "::tool_runtime", mistakes),
        }
    }
}

/// The options of `#[arg(...)]` on one parameter.
pub(crate) struct ArgOptions {
    pub(crate) rename: Option<LitStr>,
    pub(crate) aliases: Vec<LitStr>,
    /// `default` alone, or with an expression.
    pub(crate) default: Option<(Span, Option<Expr>)>,
    pub(crate) range: Option<Expr>,
    pub(crate) length: Option<Expr>,
    pub(crate) pattern: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) example: Option<Expr>,
    pub(crate) secret: Option<Span>,
    pub(crate) header: Option<LitStr>,
    /// What it could be, while somebody types it.
    pub(crate) complete: Option<Path>,
    pub(crate) flatten: Option<Span>,
    pub(crate) allow_unknown_fields: Option<Span>,
    pub(crate) undocumented: Option<Span>,
}

impl ArgOptions {
    /// Reads all `#[arg]` attributes of one parameter as if they were one.
    pub(crate) fn parse(attributes: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut tokens = TokenStream::new();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("arg")) {
            match &attribute.meta {
                Meta::List(list) => {
                    separate(&mut tokens);
                    tokens.extend(list.tokens.clone());
                }
                _ => {
                    mistakes.on(attribute, "`#[arg]` needs options; write `#[arg(default = 1)]`");
                }
            }
        }
        Self::read(Entries::parse(&ARG, tokens, mistakes), mistakes)
    }

    fn read(mut entries: Entries, mistakes: &mut Mistakes) -> Self {
        Self {
            rename: entries.text("rename", "\"new-name\"", mistakes),
            aliases: entries.texts("alias", mistakes),
            default: entries.optional_expression("default", mistakes),
            range: entries.expression("range", "1..=50", mistakes),
            length: entries.expression("length", "1..=200", mistakes),
            pattern: entries.text("pattern", "\"^[a-z]+$\"", mistakes),
            format: entries.text("format", "\"date-time\"", mistakes),
            example: entries.expression("example", "VALUE", mistakes),
            secret: entries.word("secret", mistakes),
            header: entries.text("header", "\"Region\"", mistakes),
            flatten: entries.word("flatten", mistakes),
            allow_unknown_fields: entries.word("allow_unknown_fields", mistakes),
            undocumented: entries.word("undocumented", mistakes),
            complete: entries.path("complete", "my_function", mistakes),
        }
    }
}

/// A comma between the lists of two attributes, where neither brings one.
fn separate(tokens: &mut TokenStream) {
    let last = tokens.clone().into_iter().last();
    if last.is_some_and(|last| last.to_string() != ",") {
        tokens.extend(quote::quote!(,));
    }
}

fn timeout(entries: &mut Entries, mistakes: &mut Mistakes) -> Option<Duration> {
    let text = entries.text("timeout", "\"30s\"", mistakes)?;
    mistakes.keep(duration(&text))
}

fn duration(text: &LitStr) -> syn::Result<Duration> {
    let refused = |why: &str| {
        syn::Error::new(
            text.span(),
            format!(
                "bad timeout `{}`: {why}; write `timeout = \"30s\"`, `\"500ms\"` or `\"2m\"`",
                text.value()
            ),
        )
    };
    match humantime::parse_duration(&text.value()) {
        Ok(duration) if duration.is_zero() => Err(refused("it is zero")),
        Ok(duration) => Ok(duration),
        Err(_) => Err(refused("it is not a duration")),
    }
}

/// Checks the name of a tool or a prompt against the MCP specification.
pub(crate) fn check_name(kind: Kind, name: &str, span: Span, mistakes: &mut Mistakes) {
    if let Some(problem) = names::name_problem(name) {
        mistakes.at(
            span,
            format!(
                "bad {} name {name:?}: it {problem}; write 1 to {} of `A-Z a-z 0-9 _ - .`, as in `name = \"web.search\"`",
                kind.noun(),
                names::MAX_NAME_LENGTH
            ),
        );
    }
}
