//! The implementations for a struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Fields, LitStr};

use crate::field::{Field, doc_text};

pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new(input.span(), "models are structs"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(syn::Error::new(input.span(), "models are structs with named fields"));
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(syn::Error::new(parameter.span(), "models have no type parameters"));
    }
    let mut deprecated = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("model")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("deprecated") {
                return Err(meta.error("unknown argument"));
            }
            deprecated = Some(meta.value()?.parse::<LitStr>()?);
            Ok(())
        })?;
    }
    let fields: Vec<Field<'_>> = named.named.iter().map(Field::read).collect::<syn::Result<_>>()?;
    let description = doc_text(&input.attrs);
    let deprecation = deprecated.map_or_else(|| quote!(None), |text| quote!(Some(#text)));
    let attributes = fields.iter().filter(|field| !field.is_block()).map(Field::schema);
    let blocks = fields.iter().filter(|field| field.is_block()).map(Field::schema);
    let checks = fields.iter().map(Field::checks);
    let keys = fields.iter().map(Field::key);
    let from_value = fields.iter().map(Field::read_expression);
    let into_value = fields.iter().map(Field::write_expression);
    let name = &input.ident;
    Ok(quote! {
        const _: () = { #(#checks)* };

        impl #name {
            #(#keys)*
        }

        impl ::terrane_sdk::Model for #name {
            fn block() -> ::terrane_sdk::Block {
                ::terrane_sdk::__derive::block(vec![#(#attributes),*], vec![#(#blocks),*], #description, #deprecation)
            }

            fn from_value(
                value: &::terrane_sdk::Value,
            ) -> ::core::result::Result<Self, ::terrane_sdk::Mismatch> {
                Ok(#name { #(#from_value),* })
            }

            fn into_value(self) -> ::terrane_sdk::Value {
                ::terrane_sdk::Value::object([#(#into_value),*])
            }
        }

        impl ::terrane_sdk::FieldType for #name {
            type Known = Self;

            fn shape() -> ::terrane_sdk::Shape {
                ::terrane_sdk::__derive::shape::<Self>()
            }

            fn from_value(
                value: &::terrane_sdk::Value,
            ) -> ::core::result::Result<Self, ::terrane_sdk::Mismatch> {
                ::terrane_sdk::__derive::known(value)
            }

            fn into_value(self) -> ::terrane_sdk::Value {
                ::terrane_sdk::Model::into_value(self)
            }

            fn into_field(self) -> ::terrane_sdk::Field<Self> {
                ::terrane_sdk::Field::Known(self)
            }

            fn from_field(
                field: ::terrane_sdk::Field<Self>,
            ) -> ::core::result::Result<Self, ::terrane_sdk::Mismatch> {
                ::terrane_sdk::__derive::only_known(field)
            }
        }
    })
}
