//! Model of a tool, a prompt or a resource: options read, docs joined, each parameter classified once.

use crate::diagnostics::Diagnostics;
use crate::docs::Docs;
use crate::hints::Hints;
use crate::item::{self, FnKind, ToolFn, plain_ident};
use crate::kind::Kind;
use crate::names::{self, Runtime};
use crate::options::{ArgOptions, FunctionOptions};
use crate::shape;
use crate::surroundings::{self, Rival};
use crate::toolset::Toolset;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::HashSet;
use std::time::Duration;
use syn::{Attribute, Expr, FnArg, LitStr, PatType, ReturnType, Type, TypeReference, parse_quote};

/// A function with everything that validation and code generation need.
pub(crate) struct Model<'a> {
    pub(crate) function: &'a ToolFn,
    /// The toolset of a method.
    pub(crate) toolset: Option<&'a Toolset<'a>>,
    pub(crate) options: FunctionOptions,
    pub(crate) kind: Kind,
    /// Hints of the tool, completed by those of its toolset.
    pub(crate) hints: Hints,
    pub(crate) docs: Docs,
    /// The parameters that were not rejected.
    pub(crate) parameters: Vec<Parameter<'a>>,
    /// An earlier method that is a tool of the same name.
    pub(crate) duplicate: Option<Ident>,
    /// What else has the name of the generated struct.
    pub(crate) same_struct: Option<Rival>,
    /// Whether generated code can call the function.
    pub(crate) is_callable: bool,
}

/// A parameter by its shape: owned values are arguments, references are injected.
pub(crate) enum Parameter<'a> {
    Argument(Box<Argument<'a>>),
    Injected(Injected<'a>),
}

/// An owned parameter: a field of the action and a property of the schema.
pub(crate) struct Argument<'a> {
    pub(crate) typed: &'a PatType,
    pub(crate) ident: &'a Ident,
    pub(crate) options: ArgOptions,
    pub(crate) docs: Docs,
}

/// A reference parameter: filled from the context.
pub(crate) struct Injected<'a> {
    pub(crate) typed: &'a PatType,
    pub(crate) reference: &'a TypeReference,
}

impl<'a> Model<'a> {
    /// Reads options and parameters; diagnostics are collected, never returned early.
    pub(crate) fn new(
        kind: Kind,
        options: TokenStream,
        function: &'a ToolFn,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let options = match kind {
            Kind::Tool => FunctionOptions::of_tool(options, diagnostics),
            Kind::Prompt => FunctionOptions::of_prompt(options, diagnostics),
            Kind::Resource => FunctionOptions::of_resource(options, diagnostics),
        };
        Self::with(kind, options, function, None, diagnostics)
    }

    /// Reads options and parameters of a method of a toolset.
    pub(crate) fn of_method(
        options: TokenStream,
        function: &'a ToolFn,
        toolset: &'a Toolset<'a>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let options = FunctionOptions::of_method(options, diagnostics);
        Self::with(Kind::Tool, options, function, Some(toolset), diagnostics)
    }

    fn with(
        kind: Kind,
        options: FunctionOptions,
        function: &'a ToolFn,
        toolset: Option<&'a Toolset<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let fn_kind = if toolset.is_some() { FnKind::Method } else { FnKind::Free };
        let shape = shape::signature_errors(function, fn_kind, kind);
        let is_callable = shape.is_empty();
        shape.into_iter().for_each(|mistake| diagnostics.push(mistake));
        let shared = toolset.map(|toolset| toolset.options.hints).unwrap_or_default();
        let parameters = function.signature.inputs.iter();
        let mut model = Self {
            function,
            toolset,
            hints: options.hints.or(shared),
            options,
            kind,
            docs: Docs::from_attributes(&function.attributes),
            parameters: parameters.filter_map(|input| Parameter::new(input, diagnostics)).collect(),
            duplicate: None,
            same_struct: None,
            is_callable,
        };
        if !function.signature.generics.params.is_empty() {
            model.parameters.clear();
        }
        model.check_values(diagnostics);
        if toolset.is_none() {
            let parameters = function.signature.inputs.to_token_stream();
            model.same_struct =
                surroundings::same_struct(model.ident(), &parameters, &model.action());
        }
        let mut seen = HashSet::new();
        model.parameters.retain(|parameter| match parameter {
            Parameter::Argument(argument) => seen.insert(argument.ident.to_string()),
            Parameter::Injected(_) => true,
        });
        model
    }

    /// Reports defaults and examples that need the function, and leaves them out.
    fn check_values(&mut self, diagnostics: &mut Diagnostics) {
        let names: Vec<&Ident> = item::parameter_names(&self.function.signature).collect();
        let mut check = |kind: &str, value: &mut Expr| {
            if let Some(error) = shape::value_error(kind, value, &names) {
                diagnostics.push(error);
                *value = parse_quote!(loop {});
            }
        };
        for parameter in &mut self.parameters {
            let Parameter::Argument(argument) = parameter else { continue };
            if let Some((_, Some(default))) = &mut argument.options.default {
                check("default", default);
            }
            if let Some(example) = &mut argument.options.example {
                check("example", &mut example.0);
            }
        }
    }

    /// The name of the tool, prompt or resource, and the span it comes from.
    pub(crate) fn name(&self) -> (String, Span) {
        let (own, span) = match &self.options.name {
            Some(name) => (name.value(), name.span()),
            None => (names::unraw(self.ident()), self.ident().span()),
        };
        match self.toolset {
            Some(toolset) => (toolset.tool_name(&own), span),
            None => (own, span),
        }
    }

    /// The function's name.
    pub(crate) fn ident(&self) -> &'a Ident {
        &self.function.signature.ident
    }

    /// The name of the generated struct.
    pub(crate) fn action(&self) -> Ident {
        let type_ident = self.toolset.and_then(Toolset::type_ident);
        let default_name = || names::action_ident(self.kind, type_ident, self.ident());
        self.options.action.clone().unwrap_or_else(default_name)
    }

    /// The path of the runtime in generated code.
    pub(crate) fn runtime(&self) -> Runtime<'_> {
        match self.toolset {
            Some(toolset) => toolset.runtime(),
            None => Runtime(self.options.runtime.as_ref()),
        }
    }

    /// The tags of the toolset, then those of the tool.
    pub(crate) fn tags(&self) -> Vec<&LitStr> {
        let shared = self.toolset.into_iter().flat_map(|toolset| &toolset.options.tags);
        distinct(shared.chain(&self.options.tags))
    }

    /// The scopes of the toolset, then those of the tool.
    pub(crate) fn scopes(&self) -> Vec<&LitStr> {
        let shared = self.toolset.into_iter().flat_map(|toolset| &toolset.options.scopes);
        distinct(shared.chain(&self.options.scopes))
    }

    /// The time limit of the tool, or of its toolset.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.options.timeout.or_else(|| self.toolset?.options.timeout)
    }

    /// `#[cfg]` attributes of a method, which generated items repeat. On a function, rustc has
    /// already evaluated them.
    pub(crate) fn conditions(&self) -> Vec<&'a Attribute> {
        self.function.attributes.iter().filter(|a| a.path().is_ident("cfg")).collect()
    }

    /// The description as a `&'static str` expression.
    pub(crate) fn description(&self) -> TokenStream {
        match &self.options.description {
            Some(text) => text.to_token_stream(),
            None => self.docs.to_token_stream(),
        }
    }

    /// The return type; that of a replacement if none is written or the written one was rejected.
    pub(crate) fn output(&self) -> TokenStream {
        match self.written_output() {
            Some(output) => output.to_token_stream(),
            None if self.kind == Kind::Tool => quote!(()),
            // Neither a prompt nor a resource returns nothing.
            None => quote!(__tool::String),
        }
    }

    /// The return type as it is written, unless it was rejected.
    pub(crate) fn written_output(&self) -> Option<&Type> {
        match &self.function.signature.output {
            ReturnType::Type(_, output) if self.has_valid_output(output) => Some(output),
            _ => None,
        }
    }

    fn has_valid_output(&self, output: &Type) -> bool {
        let is_generic = !self.function.signature.generics.params.is_empty();
        self.is_callable || !is_generic && shape::output_error(output, self.kind).is_none()
    }

    /// Whether items can follow the function. A `self`, a `Self` or a missing body shows that it is in
    /// a trait or an `impl` block. Items of a method of a toolset follow the block.
    pub(crate) fn is_free(&self) -> bool {
        let is_method = self.toolset.is_some();
        let is_offered = self.kind != Kind::Resource || self.options.uri.is_some();
        is_offered
            && self.function.has_body()
            && (is_method || self.function.signature.receiver().is_none())
            && !shape::mentions_self(self.function)
    }

    /// The owned parameters, in order.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument<'a>> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(&**argument),
            Parameter::Injected(_) => None,
        })
    }

    /// The reference parameters, in order.
    pub(crate) fn injected(&self) -> impl Iterator<Item = &Injected<'a>> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(_) => None,
            Parameter::Injected(injected) => Some(injected),
        })
    }
}

impl<'a> Parameter<'a> {
    fn new(input: &'a FnArg, diagnostics: &mut Diagnostics) -> Option<Self> {
        let FnArg::Typed(typed) = input else {
            return None;
        };
        let options = ArgOptions::parse(&typed.attrs, diagnostics);
        if shape::is_unsupported(typed) {
            return None;
        }
        if let Type::Reference(reference) = crate::types::ungrouped(&typed.ty) {
            return Some(Self::Injected(Injected { typed, reference }));
        }
        Some(Self::Argument(Box::new(Argument {
            typed,
            ident: plain_ident(&typed.pat)?,
            options,
            docs: Docs::from_attributes(&typed.attrs),
        })))
    }
}

impl Argument<'_> {
    /// The name in JSON, and the span it comes from.
    pub(crate) fn wire_name(&self) -> (String, Span) {
        match &self.options.rename {
            Some(name) => (name.value(), name.span()),
            None => (names::unraw(self.ident), self.ident.span()),
        }
    }

    /// Whether a required description is missing.
    pub(crate) fn lacks_description(&self) -> bool {
        let is_excused =
            self.options.undocumented.is_present() || self.options.flatten.is_present();
        self.docs.is_missing() && !is_excused
    }

    /// The parameter's type.
    pub(crate) fn ty(&self) -> &Type {
        &self.typed.ty
    }
}

impl Injected<'_> {
    /// The referenced type.
    pub(crate) fn target(&self) -> &Type {
        &self.reference.elem
    }
}

/// The first literal of each string.
fn distinct<'a>(literals: impl Iterator<Item = &'a LitStr>) -> Vec<&'a LitStr> {
    let mut distinct: Vec<&LitStr> = Vec::new();
    for literal in literals {
        if !distinct.iter().any(|known| known.value() == literal.value()) {
            distinct.push(literal);
        }
    }
    distinct
}

/// Finds methods that repeat the tool name or the struct name of an earlier one. Methods with
/// `#[cfg]` may exclude each other: rustc and the pool find their duplicates.
pub(crate) fn find_duplicates(tools: &mut [Model<'_>]) {
    for index in 1..tools.len() {
        let (earlier, rest) = tools.split_at_mut(index);
        let [tool, ..] = rest else { return };
        if !tool.conditions().is_empty() {
            continue;
        }
        let certain = || earlier.iter().filter(|other| other.conditions().is_empty());
        let duplicate = certain().find(|other| other.name().0 == tool.name().0);
        let same_struct = certain().find(|other| other.action() == tool.action());
        let (duplicate, same_struct) = (
            duplicate.map(|other| other.ident().clone()),
            same_struct.map(|other| Rival::Function(other.ident().to_string())),
        );
        (tool.duplicate, tool.same_struct) = (duplicate, same_struct);
    }
}
