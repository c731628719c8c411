//! The function as a tool: each parameter classified once, options read, docs joined.

use crate::docs::Docs;
use crate::entries::Mistakes;
use crate::item::ToolFn;
use crate::names::{self, Runtime};
use crate::options::{ArgOptions, ToolOptions};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, Pat, PatType, ReturnType, Type};

/// Everything the later steps need to know of one tool.
pub(crate) struct Model<'a> {
    pub(crate) function: &'a ToolFn,
    pub(crate) options: ToolOptions,
    pub(crate) docs: Docs,
    pub(crate) parameters: Vec<Parameter<'a>>,
}

/// What a parameter is, by its shape: owned values come from the model, references are injected.
pub(crate) enum Parameter<'a> {
    Argument(Box<Argument<'a>>),
    Injected(Injected<'a>),
}

/// An owned parameter: a field of the action and a property of the schema.
pub(crate) struct Argument<'a> {
    pub(crate) typed: &'a PatType,
    /// The plain name; `None` for a pattern, which validation refuses.
    pub(crate) ident: Option<&'a Ident>,
    pub(crate) options: ArgOptions,
    pub(crate) docs: Docs,
}

/// A reference parameter: filled from the context.
pub(crate) struct Injected<'a> {
    pub(crate) typed: &'a PatType,
    pub(crate) target: &'a Type,
}

impl<'a> Model<'a> {
    /// Reads options and parameters; mistakes are collected, never returned early.
    pub(crate) fn new(options: TokenStream, function: &'a ToolFn, mistakes: &mut Mistakes) -> Self {
        let parameters = function.signature.inputs.iter();
        Self {
            function,
            options: ToolOptions::parse(options, mistakes),
            docs: Docs::of(&function.attributes),
            parameters: parameters
                .filter_map(|input| Parameter::new(input, mistakes))
                .collect(),
        }
    }

    /// The tool's id and the token it comes from.
    pub(crate) fn name(&self) -> (String, Span) {
        match &self.options.name {
            Some(name) => (name.value(), name.span()),
            None => (names::unraw(self.ident()), self.ident().span()),
        }
    }

    /// The function's name.
    pub(crate) fn ident(&self) -> &'a Ident {
        &self.function.signature.ident
    }

    /// The name of the generated struct.
    pub(crate) fn action(&self) -> Ident {
        self.options
            .action
            .clone()
            .unwrap_or_else(|| names::action_ident(self.ident()))
    }

    /// Where generated code finds the runtime.
    pub(crate) fn runtime(&self) -> Runtime<'_> {
        Runtime(self.options.runtime.as_ref())
    }

    /// The description as a `&'static str` expression.
    pub(crate) fn description(&self) -> TokenStream {
        match &self.options.description {
            Some(text) => text.to_token_stream(),
            None => self.docs.to_token_stream(),
        }
    }

    /// The return type, `()` where none is written.
    pub(crate) fn output(&self) -> TokenStream {
        match &self.function.signature.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, output) => output.to_token_stream(),
        }
    }

    /// The owned parameters, in order.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument<'a>> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(&**argument),
                Parameter::Injected(_) => None,
            })
    }

    /// The reference parameters, in order.
    pub(crate) fn injected(&self) -> impl Iterator<Item = &Injected<'a>> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(_) => None,
                Parameter::Injected(injected) => Some(injected),
            })
    }
}

impl<'a> Parameter<'a> {
    fn new(input: &'a FnArg, mistakes: &mut Mistakes) -> Option<Self> {
        let FnArg::Typed(typed) = input else {
            return None;
        };
        if let Type::Reference(reference) = &*typed.ty {
            return Some(Self::Injected(Injected {
                typed,
                target: &reference.elem,
            }));
        }
        Some(Self::Argument(Box::new(Argument {
            typed,
            ident: plain_ident(&typed.pat),
            options: ArgOptions::parse(&typed.attrs, mistakes),
            docs: Docs::of(&typed.attrs),
        })))
    }
}

impl Argument<'_> {
    /// The name in JSON, and the token it comes from.
    pub(crate) fn wire_name(&self) -> Option<(String, Span)> {
        match &self.options.rename {
            Some(name) => Some((name.value(), name.span())),
            None => self.ident.map(|ident| (names::unraw(ident), ident.span())),
        }
    }

    /// The parameter's type.
    pub(crate) fn ty(&self) -> &Type {
        &self.typed.ty
    }
}

fn plain_ident(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        _ => None,
    }
}
