//! Expansion of `#[derive(Form)]`: reports unsuitable items, and lets rustc check the type of each field.

use crate::codegen;
use crate::diagnostics::Diagnostics;
use crate::expand;
use crate::names::{Runtime, hygienic};
use crate::options::FormOptions;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DataEnum, DeriveInput, Error, Fields, Ident, Meta, Path, Type};

/// Options of serde and schemars that detach the schema of a field or variant from its type.
const DETACHING: &[&str] = &["with", "schema_with", "flatten", "skip", "skip_deserializing"];

/// Expands `#[derive(Form)]`. Takes `proc_macro2` tokens so that tests can call it.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut diagnostics = Diagnostics::default();
    let runtime = runtime(&item.attrs, &mut diagnostics);
    let fields = checked_fields(&item, &mut diagnostics);
    let is_found = expand::is_found("form", runtime.as_ref(), &mut diagnostics);
    let is_generic = !item.generics.params.is_empty();
    if is_generic {
        let message = "a form has no generic parameters or lifetimes; write concrete, owned types";
        diagnostics.error_on(&item.generics, message);
    }
    let is_form = !is_generic && !matches!(item.data, Data::Union(_));
    let generated = (is_found && is_form).then(|| generate(&item, &fields, runtime.as_ref()));
    let error = diagnostics.into_error().map(Error::into_compile_error);
    quote!(#generated #error)
}

/// The path in `#[form(crate = path)]`.
fn runtime(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Option<Path> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("form"))?;
    match &attribute.meta {
        Meta::List(list) => FormOptions::parse(list.tokens.clone(), diagnostics).runtime,
        _ => {
            diagnostics
                .error_on(attribute, "`#[form]` needs options; write `#[form(crate = path)]`");
            None
        }
    }
}

/// The types that rustc checks; reports an item that is neither a struct with named fields nor an
/// enum of unit variants.
fn checked_fields<'a>(item: &'a DeriveInput, diagnostics: &mut Diagnostics) -> Vec<&'a Type> {
    match &item.data {
        Data::Struct(data) => field_types(&item.ident, &data.fields, diagnostics),
        Data::Enum(data) => {
            report_data(data, diagnostics);
            Vec::new()
        }
        Data::Union(data) => {
            let message = "a union cannot be a form; write a struct with named fields";
            diagnostics.error_on(data.union_token, message);
            Vec::new()
        }
    }
}

fn field_types<'a>(
    ident: &Ident,
    fields: &'a Fields,
    diagnostics: &mut Diagnostics,
) -> Vec<&'a Type> {
    let remedy = format!("write `struct {ident} {{ name: String }}`");
    match fields {
        Fields::Named(fields) if !fields.named.is_empty() => {
            fields.named.iter().for_each(|field| report_options(&field.attrs, diagnostics));
            let is_checked = |field: &&syn::Field| !is_detached(&field.attrs);
            return fields.named.iter().filter(is_checked).map(|field| &field.ty).collect();
        }
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => diagnostics.error_on(
            fields,
            format!(
                "the fields of a form have names; {remedy}, or for a newtype `impl FormField for {ident} {{}}` instead of the derive"
            ),
        ),
        Fields::Unnamed(fields) => {
            diagnostics.error_on(fields, format!("the fields of a form have names; {remedy}"));
        }
        _ => diagnostics.error_on(ident, format!("a form has at least one field; {remedy}")),
    }
    Vec::new()
}

fn report_options(attributes: &[Attribute], diagnostics: &mut Diagnostics) {
    if let Some(attribute) = attributes.iter().find(|attribute| attribute.path().is_ident("form")) {
        diagnostics.error_on(attribute, "`#[form(..)]` goes on the struct or enum; remove it here");
    }
}

/// Reports the first variant with data.
fn report_data(data: &DataEnum, diagnostics: &mut Diagnostics) {
    data.variants.iter().for_each(|variant| report_options(&variant.attrs, diagnostics));
    let is_unit = |fields: &Fields| matches!(fields, Fields::Unit);
    let mut variants = data.variants.iter();
    if let Some(variant) =
        variants.find(|variant| !is_unit(&variant.fields) && !is_detached(&variant.attrs))
    {
        let name = &variant.ident;
        let message = format!(
            "an enum in a form has unit variants only; write `{name}` without data, and ask for the data in another field"
        );
        diagnostics.error_on(variant, message);
    }
}

/// Whether an attribute such as `#[schemars(with = "String")]` replaces or removes the schema of the type.
fn is_detached(attributes: &[Attribute]) -> bool {
    let is_schema = |it: &&Attribute| it.path().is_ident("serde") || it.path().is_ident("schemars");
    attributes.iter().filter(is_schema).any(|attribute| match &attribute.meta {
        Meta::List(list) => has_detaching(list.tokens.clone()),
        _ => false,
    })
}

fn has_detaching(options: TokenStream) -> bool {
    let mut is_first = true;
    for token in options {
        let is_key = |ident: &Ident| DETACHING.iter().any(|key| ident == key);
        if is_first && matches!(&token, TokenTree::Ident(ident) if is_key(ident)) {
            return true;
        }
        is_first = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
    }
    false
}

fn generate(item: &DeriveInput, fields: &[&Type], runtime: Option<&Path>) -> TokenStream {
    let (ident, runtime) = (&item.ident, Runtime(runtime));
    let allowed = codegen::allowed(&item.attrs);
    let choice = matches!(item.data, Data::Enum(_)).then(|| {
        quote! {
            #[automatically_derived]
            impl __tool::FormField for #ident {}
            #[automatically_derived]
            impl __tool::FormChoice for #ident {}
        }
    });
    let checks =
        fields.iter().map(|ty| quote_spanned!(hygienic(ty.span())=> __tool::form_field::<#ty>();));
    quote_spanned! {hygienic(Span::call_site())=>
        #(#allowed)*
        const _: () = {
            use #runtime::__private as __tool;
            #[automatically_derived]
            impl __tool::Form for #ident {}
            #choice
            #(#checks)*
        };
    }
}
