//! The structs and enums of one tool.

use super::definitions::Definition;
use super::idents::{Idents, Members, pascal};
use super::types::{SchemaLocation, Typed};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

/// A note on fields whose schema cannot be expressed.
const ANY_JSON: &str = "JSON: its schema cannot be expressed as a type.";

/// The items of one tool.
pub(super) struct Items<'a> {
    runtime: &'a Ident,
    idents: &'a mut Idents,
    written: Vec<TokenStream>,
}

/// A field of a struct.
struct Field {
    ident: Ident,
    /// The name in JSON.
    name: String,
    doc: String,
    typed: Typed,
}

impl<'a> Items<'a> {
    pub(super) fn new(runtime: &'a Ident, idents: &'a mut Idents) -> Self {
        Self { runtime, idents, written: Vec::new() }
    }

    pub(super) fn finish(self) -> TokenStream {
        self.written.into_iter().collect()
    }

    pub(super) fn private(&self) -> TokenStream {
        let runtime = self.runtime;
        quote!(::#runtime::__private)
    }

    /// The path as text, as serde's derives require it.
    fn serde(&self) -> String {
        format!("::{}::__private::serde", self.runtime)
    }

    /// The struct of the arguments, with a constructor from the required ones.
    pub(super) fn action(&mut self, tool: &Definition, stem: &str) -> Ident {
        let ident = format_ident!("{stem}Action");
        let fields =
            self.fields(&tool.input, SchemaLocation { root: &tool.input, name: stem, depth: 0 });
        let constructor = constructor(&ident, &tool.name, &fields);
        let default = fields.iter().all(|field| field.typed.is_optional);
        let default = default.then(|| quote!(::core::default::Default,));
        let doc = doc(&[
            &tool.description,
            &format!("Calls the tool `{}` of an external server.", tool.name),
        ]);
        let (private, serde) = (self.private(), self.serde());
        let fields = fields.iter().map(Field::tokens);
        self.written.push(quote! {
            #[doc = #doc]
            #[allow(missing_docs, rustdoc::all)]
            #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, #default #private::serde::Serialize)]
            #[serde(crate = #serde)]
            pub struct #ident { #(#fields,)* }

            #constructor
        });
        ident
    }

    /// The type of the structured result; `None` without an output schema.
    pub(super) fn output(&mut self, tool: &Definition, stem: &str) -> Option<TokenStream> {
        let root = tool.output.as_ref()?;
        let name = format!("{stem}Output");
        Some(self.type_of(root, SchemaLocation { root, name: &name, depth: 0 }).tokens)
    }

    /// A struct for an object within the arguments or the result.
    pub(super) fn nested(&mut self, schema: &Value, location: SchemaLocation<'_>) -> TokenStream {
        let ident = self.idents.of_type(location.name);
        let fields = self.fields(schema, location);
        let fields = fields.iter().map(Field::tokens);
        let doc = doc(&[schema["description"].as_str().unwrap_or_default()]);
        let (private, serde) = (self.private(), self.serde());
        self.written.push(quote! {
            #[doc = #doc]
            #[allow(missing_docs, rustdoc::all)]
            #[derive(
                ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq,
                #private::serde::Serialize, #private::serde::Deserialize,
            )]
            #[serde(crate = #serde)]
            pub struct #ident { #(#fields,)* }
        });
        quote!(#ident)
    }

    /// An enum of strings.
    pub(super) fn choice(&mut self, choices: &[String], name: &str) -> TokenStream {
        let (ident, mut members) = (self.idents.of_type(name), Members::new());
        let variants = choices.iter().map(|choice| {
            let (variant, doc) =
                (members.variant(choice), format!("`{}`", choice.replace('`', "'")));
            quote!(#[doc = #doc] #[serde(rename = #choice)] #variant)
        });
        let variants: Vec<TokenStream> = variants.collect();
        let (private, serde) = (self.private(), self.serde());
        self.written.push(quote! {
            #[allow(missing_docs, rustdoc::all, clippy::enum_variant_names)]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq,
                ::core::cmp::Eq, ::core::hash::Hash, #private::serde::Serialize, #private::serde::Deserialize,
            )]
            #[serde(crate = #serde)]
            pub enum #ident { #(#variants,)* }
        });
        quote!(#ident)
    }

    fn fields(&mut self, schema: &Value, location: SchemaLocation<'_>) -> Vec<Field> {
        let (mut members, mut fields) = (Members::new(), Vec::new());
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let type_name = format!("{}{}", location.name, pascal(name));
            let typed = self.type_of(property, SchemaLocation { name: &type_name, ..location });
            let is_required = required.iter().any(|required| required == name);
            let note = if typed.is_json { ANY_JSON } else { "" };
            let doc = doc(&[property["description"].as_str().unwrap_or_default(), note]);
            // A required value that may be null is still written.
            let typed =
                if is_required { Typed { is_optional: false, ..typed } } else { typed.optional() };
            fields.push(Field { ident: members.field(name), name: name.clone(), doc, typed });
        }
        fields
    }
}

impl Field {
    fn tokens(&self) -> TokenStream {
        let Self { ident, name, doc, typed } = self;
        let tokens = &typed.tokens;
        let skip = typed.is_optional.then(
            || quote!(#[serde(default, skip_serializing_if = "::core::option::Option::is_none")]),
        );
        quote!(#[doc = #doc] #[serde(rename = #name)] #skip pub #ident: #tokens)
    }
}

/// `new`, which takes the required arguments.
fn constructor(action: &Ident, tool: &str, fields: &[Field]) -> TokenStream {
    let required = || fields.iter().filter(|field| !field.typed.is_optional);
    let parameters =
        required().map(|Field { ident, typed, .. }| match (&typed.tokens, typed.is_text) {
            (_, true) => quote!(#ident: impl ::core::convert::Into<::std::string::String>),
            (tokens, false) => quote!(#ident: #tokens),
        });
    let values =
        fields.iter().map(|Field { ident, typed, .. }| match (typed.is_optional, typed.is_text) {
            (true, _) => quote!(#ident: ::core::option::Option::None),
            (false, true) => quote!(#ident: ::core::convert::Into::into(#ident)),
            (false, false) => quote!(#ident),
        });
    let doc = format!("A call of `{tool}` with the required arguments.");
    quote! {
        impl #action {
            #[doc = #doc]
            #[allow(clippy::too_many_arguments, dead_code)]
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#values),* }
            }
        }
    }
}

/// Text of a server as documentation, without code blocks, which would be compiled.
fn doc(paragraphs: &[&str]) -> String {
    let lines = |text: &&str| {
        let lines =
            text.lines().map(|line| line.trim().replace("```", "'''").replace("~~~", "'''"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let written = paragraphs.iter().filter(|text| !text.trim().is_empty());
    written.map(lines).collect::<Vec<_>>().join("\n\n")
}
