//! Every option of `#[tool]` and `#[arg]`: the only list of option names.

use crate::entries::{Entries, Known};
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
        "action",
        "register",
        "inline",
        "crate",
    ],
    instead: &[
        ("rename", "did you mean `name`?"),
        ("schema", "did you mean `input_schema`?"),
        ("output_schema", "it follows from the return type; derive `JsonSchema` for that"),
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
        "flatten",
        "undocumented",
    ],
    instead: &[
        ("name", "did you mean `rename`?"),
        ("description", "write a `///` comment above the parameter"),
        ("desc", "write a `///` comment above the parameter"),
        ("doc", "write a `///` comment above the parameter"),
        ("regex", "did you mean `pattern`?"),
        ("min", "write `range = 1..=50`, or `length = 1..=200` for text"),
        ("max", "write `range = 1..=50`, or `length = 1..=200` for text"),
        ("optional", "write the type `Option<T>`, or a `default`"),
        ("required", "a parameter is required unless its type is `Option<T>`; remove it"),
    ],
};

/// A hint that was given, and where.
pub(crate) type Hint = Option<(bool, Span)>;

/// The options of `#[tool(...)]`.
pub(crate) struct ToolOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) read_only: Hint,
    pub(crate) destructive: Hint,
    pub(crate) idempotent: Hint,
    pub(crate) open_world: Hint,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) meta: Option<Expr>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) input_schema: Option<Expr>,
    pub(crate) visualize: Option<Path>,
    pub(crate) action: Option<Ident>,
    pub(crate) register: bool,
    pub(crate) inline: Option<Span>,
    pub(crate) runtime: Option<Path>,
}

impl ToolOptions {
    /// Reads the options, reporting every mistake.
    pub(crate) fn parse(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut entries = Entries::parse(&TOOL, tokens, mistakes);
        Self {
            name: entries.text("name", "\"web.search\"", mistakes),
            title: entries.text("title", "\"Search the web\"", mistakes),
            description: entries.text("description", "\"Search the web.\"", mistakes),
            read_only: entries.flag("read_only", mistakes),
            destructive: entries.flag("destructive", mistakes),
            idempotent: entries.flag("idempotent", mistakes),
            open_world: entries.flag("open_world", mistakes),
            tags: entries.texts("tags", mistakes),
            meta: entries.expression("meta", "json!({ \"key\": 1 })", mistakes),
            timeout: entries
                .text("timeout", "\"30s\"", mistakes)
                .and_then(|text| mistakes.keep(duration(&text))),
            input_schema: entries.expression(
                "input_schema",
                "json!({ \"type\": \"object\" })",
                mistakes,
            ),
            visualize: entries.path("visualize", "my_function", mistakes),
            action: entries.ident("action", "MyAction", mistakes),
            register: entries.flag("register", mistakes).is_none_or(|(given, _)| given),
            inline: entries.word("inline", mistakes),
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
    pub(crate) flatten: Option<Span>,
    pub(crate) undocumented: Option<Span>,
}

impl ArgOptions {
    /// Reads all `#[arg]` attributes of one parameter as if they were one.
    pub(crate) fn parse(attributes: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut tokens = TokenStream::new();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("arg")) {
            match &attribute.meta {
                Meta::List(list) => {
                    let list = &list.tokens;
                    tokens.extend(quote::quote!(#list,));
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
            flatten: entries.word("flatten", mistakes),
            undocumented: entries.word("undocumented", mistakes),
        }
    }
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
        Err(_) => Err(refused("it is no duration")),
    }
}

/// Checks a tool name against the MCP specification.
pub(crate) fn check_name(name: &str, span: Span, mistakes: &mut Mistakes) {
    if let Some(problem) = names::name_problem(name) {
        mistakes.at(
            span,
            format!(
                "bad tool name {name:?}: it {problem}; write 1 to {} of `A-Z a-z 0-9 _ - .`, as in `name = \"web.search\"`",
                names::MAX_NAME_LENGTH
            ),
        );
    }
}
