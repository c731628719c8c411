//! The functions and types of a file.

use super::Lifetimes;
use crate::expressions::delimiters;
use crate::kind::Kind;
use crate::names;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use std::iter::Peekable;

/// The functions and types of a source file.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) functions: Vec<Function>,
    pub(super) types: Vec<Type>,
    scopes: usize,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    parameters: String,
    /// The module or block that it is in.
    pub(super) scope: usize,
    pub(super) context: Context,
    /// The name of the struct that its attribute makes.
    pub(super) action: Option<String>,
    pub(super) is_conditional: bool,
}

#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) scope: usize,
    /// `None` if it has no lifetime.
    pub(super) lifetimes: Option<Lifetimes>,
    pub(super) is_conditional: bool,
}

/// Where a function is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Context {
    /// In a module or a block.
    Free,
    /// In an `impl` block.
    Impl,
    /// In a trait.
    Trait,
}

impl Function {
    /// Whether it is the one with this name and these parameters.
    pub(super) fn is(&self, name: &Ident, parameters: &TokenStream) -> bool {
        *name == self.name && self.parameters == spelled(parameters.clone())
    }
}

impl Outline {
    /// `None` if the text has no valid tokens.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let mut outline = Self::default();
        outline.read(text.parse().ok()?, Context::Free);
        Some(outline)
    }

    /// Reads the items of a scope, and those of the blocks in it.
    fn read(&mut self, tokens: TokenStream, context: Context) {
        let scope = self.scopes;
        self.scopes += 1;
        let (mut tokens, mut attributes) = (Tokens::from_tokens(tokens), Vec::new());
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(sign) if sign.as_char() == '#' => {
                    attributes.extend(tokens.attribute());
                    continue;
                }
                TokenTree::Ident(word) => match word.to_string().as_str() {
                    "fn" => self.function(&mut tokens, scope, context, &attributes),
                    "struct" | "enum" | "union" => self.ty(&mut tokens, scope, &attributes),
                    "impl" => self.block(&mut tokens, Context::Impl),
                    "trait" => self.block(&mut tokens, Context::Trait),
                    // `pub`, `async`, `mod name` and the like.
                    _ => continue,
                },
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    self.read_within(&group);
                    // `pub(crate)`
                    continue;
                }
                TokenTree::Group(group) => self.read(group.stream(), Context::Free),
                TokenTree::Punct(sign) if sign.as_char() == ';' => {}
                TokenTree::Punct(_) | TokenTree::Literal(_) => continue,
            }
            attributes.clear();
        }
    }

    /// Reads the blocks of an expression.
    fn read_within(&mut self, group: &Group) {
        for token in group.stream() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    self.read(group.stream(), Context::Free);
                }
                TokenTree::Group(group) => self.read_within(&group),
                _ => {}
            }
        }
    }

    fn function(
        &mut self,
        tokens: &mut Tokens,
        scope: usize,
        context: Context,
        attributes: &[Attribute],
    ) {
        // The type of a function has no name.
        let Some(name) = tokens.ident() else { return };
        let Some(parameters) = tokens.find_group(&[Delimiter::Parenthesis]) else { return };
        let own = attributes.iter().find_map(|it| Some((it.kind()?, it)));
        self.functions.push(Function {
            parameters: spelled(parameters.stream()),
            scope,
            context,
            action: own.map(|(kind, attribute)| attribute.action(kind, &name)),
            is_conditional: attributes.iter().any(Attribute::is_condition),
            name: name.to_string(),
        });
        if let Some(body) = tokens.find_group(&[Delimiter::Brace]) {
            self.read(body.stream(), Context::Free);
        }
    }

    fn ty(&mut self, tokens: &mut Tokens, scope: usize, attributes: &[Attribute]) {
        let Some(name) = tokens.ident() else { return };
        let has_lifetime = tokens.has_lifetime();
        let fields = tokens.find_group(&[Delimiter::Brace, Delimiter::Parenthesis]);
        let borrows = || fields.is_some_and(|fields| spelled(fields.stream()).contains("& '"));
        let lifetimes =
            has_lifetime.then(|| if borrows() { Lifetimes::Borrowed } else { Lifetimes::Passed });
        let is_conditional = attributes.iter().any(Attribute::is_condition);
        self.types.push(Type { name: name.to_string(), scope, lifetimes, is_conditional });
    }

    fn block(&mut self, tokens: &mut Tokens, context: Context) {
        if let Some(block) = tokens.find_group(&[Delimiter::Brace]) {
            self.read(block.stream(), context);
        }
    }
}

/// An attribute: the last word of its path, and what follows.
struct Attribute {
    name: String,
    arguments: TokenStream,
}

impl Attribute {
    fn from_group(group: &Group) -> Option<Self> {
        let mut name = None;
        for token in group.stream() {
            match token {
                TokenTree::Ident(word) => name = Some(word.to_string()),
                TokenTree::Group(arguments) => {
                    return Some(Self { name: name?, arguments: arguments.stream() });
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => {}
                _ => break,
            }
        }
        Some(Self { name: name?, arguments: TokenStream::new() })
    }

    fn kind(&self) -> Option<Kind> {
        match self.name.as_str() {
            "tool" => Some(Kind::Tool),
            "prompt" => Some(Kind::Prompt),
            "resource" => Some(Kind::Resource),
            _ => None,
        }
    }

    /// The name of the struct: that of the option `action`, or else that of the function.
    fn action(&self, kind: Kind, function: &Ident) -> String {
        let mut tokens = Tokens::from_tokens(self.arguments.clone());
        while let Some(token) = tokens.next() {
            if matches!(&token, TokenTree::Ident(word) if word == "action")
                && matches!(tokens.next(), Some(TokenTree::Punct(sign)) if sign.as_char() == '=')
                && let Some(name) = tokens.ident()
            {
                return name.to_string();
            }
        }
        names::action_ident(kind, None, function).to_string()
    }

    fn is_condition(&self) -> bool {
        matches!(self.name.as_str(), "cfg" | "cfg_attr")
    }
}

/// The tokens of a scope.
struct Tokens(Peekable<proc_macro2::token_stream::IntoIter>);

impl Iterator for Tokens {
    type Item = TokenTree;

    fn next(&mut self) -> Option<TokenTree> {
        self.0.next()
    }
}

impl Tokens {
    fn from_tokens(tokens: TokenStream) -> Self {
        Self(tokens.into_iter().peekable())
    }

    fn ident(&mut self) -> Option<Ident> {
        let is_ident = |token: &TokenTree| matches!(token, TokenTree::Ident(_));
        match self.0.next_if(is_ident)? {
            TokenTree::Ident(ident) => Some(ident),
            _ => None,
        }
    }

    /// The attribute after `#` or `#!`.
    fn attribute(&mut self) -> Option<Attribute> {
        self.0.next_if(|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == '!'));
        let is_group = |token: &TokenTree| matches!(token, TokenTree::Group(_));
        match self.0.next_if(is_group)? {
            TokenTree::Group(group) => Attribute::from_group(&group),
            _ => None,
        }
    }

    /// Whether generics begin with a lifetime.
    fn has_lifetime(&mut self) -> bool {
        let is = |token: &TokenTree, wanted: char| matches!(token, TokenTree::Punct(sign) if sign.as_char() == wanted);
        self.0.next_if(|token| is(token, '<')).is_some()
            && self.0.peek().is_some_and(|token| is(token, '\''))
    }

    /// The next group with one of these delimiters that is not in angle brackets, up to a semicolon.
    fn find_group(&mut self, delimiters: &[Delimiter]) -> Option<Group> {
        let (mut depth, mut is_arrow) = (0_i32, false);
        for token in self.by_ref() {
            match &token {
                TokenTree::Group(group)
                    if depth <= 0 && delimiters.contains(&group.delimiter()) =>
                {
                    return Some(group.clone());
                }
                TokenTree::Punct(sign) => match sign.as_char() {
                    '<' => depth += 1,
                    '>' if !is_arrow => depth -= 1,
                    ';' if depth <= 0 => return None,
                    _ => {}
                },
                _ => {}
            }
            is_arrow = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '-');
        }
        None
    }
}

/// The tokens without attributes and a last comma, each after a space.
fn spelled(tokens: TokenStream) -> String {
    let (mut tokens, mut text) = (Tokens::from_tokens(tokens), String::new());
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '#' => drop(tokens.attribute()),
            TokenTree::Group(group) => {
                let space = if group.delimiter() == Delimiter::None { "" } else { " " };
                let [open, close] = delimiters(&group);
                text += &format!("{space}{open}{}{space}{close}", spelled(group.stream()));
            }
            token => text += &format!(" {token}"),
        }
    }
    text.strip_suffix(" ,").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    fn outline(text: &str) -> Outline {
        Outline::from_text(text).expect("tokens")
    }

    fn functions(text: &str) -> Vec<(String, Context, Option<String>)> {
        let functions = outline(text).functions.into_iter();
        functions.map(|it| (it.name, it.context, it.action)).collect()
    }

    #[test]
    fn functions_are_found_where_they_are() {
        let text = "
            #[tool] pub(crate) async fn a<F: Fn(u8) -> u8>(/** x */ x: F) -> impl Send { fn b() {} }
            #[rt::tool(action = Other)] fn c() where fn(u8): Copy {}
            impl<'a> S<'a> { /// C.
                #[tool] async fn d(&self) {} }
            trait T { #[prompt] fn e(); fn f() { struct X; } }
            const _: () = { #[resource(\"x://{a}\")] fn g_h() {} };
            mod m { fn i(f: fn(u8)) {} }";
        let expected = [
            ("a", Context::Free, Some("AAction")),
            ("b", Context::Free, None),
            ("c", Context::Free, Some("Other")),
            ("d", Context::Impl, Some("DAction")),
            ("e", Context::Trait, Some("EPrompt")),
            ("f", Context::Trait, None),
            ("g_h", Context::Free, Some("GHResource")),
            ("i", Context::Free, None),
        ];
        let expected = expected
            .map(|(name, context, action)| (name.to_owned(), context, action.map(str::to_owned)));
        assert_eq!(functions(text), expected);
    }

    #[test]
    fn a_function_is_found_by_its_parameters() {
        let outline = outline("fn a(/** x */ #[arg(secret)] x: Vec<u8>,) {}");
        let is = |parameters: &str| {
            let name = Ident::new("a", Span::call_site());
            outline.functions[0].is(&name, &parameters.parse().expect("tokens"))
        };
        assert!(is("x : Vec < u8 >"));
        assert!(!is("x: Vec<u8>, y: u8"));
    }

    #[test]
    fn types_are_found_with_their_lifetimes() {
        let text =
            "struct A<'a> { a: &'a str } struct B<'a>(Cow<'a, str>); enum C<T: 'static> { D(T) }
            #[cfg(unix)] pub struct E; mod m { pub union F { a: u8 } }";
        let types = outline(text).types;
        let lifetimes: Vec<_> = types.iter().map(|it| (&*it.name, it.lifetimes)).collect();
        let (borrowed, passed) = (Some(Lifetimes::Borrowed), Some(Lifetimes::Passed));
        assert_eq!(
            lifetimes,
            [("A", borrowed), ("B", passed), ("C", None), ("E", None), ("F", None)]
        );
        let conditional: Vec<bool> = types.iter().map(|it| it.is_conditional).collect();
        assert_eq!(conditional, [false, false, false, true, false]);
        assert_ne!(types[3].scope, types[4].scope);
    }
}
