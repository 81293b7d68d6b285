//! One field of a model: what its attributes say, and the code for it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, LitStr, Token, Type};

/// Flags of attributes, which are also the names of the functions that set them.
const FLAGS: &[&str] = &["required", "optional", "computed", "sensitive", "write_only"];
/// Plan modifiers without arguments, by the name of their function.
const MODIFIERS: &[&str] = &["keep", "keep_unless_null", "replace", "replace_if_configured"];

pub struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    visibility: &'a syn::Visibility,
    name: String,
    description: String,
    is_block: bool,
    flags: Vec<Ident>,
    default: Option<Expr>,
    deprecated: Option<LitStr>,
    modifiers: Vec<TokenStream>,
    validators: Vec<Expr>,
    min: Option<Expr>,
    max: Option<Expr>,
}

impl<'a> Field<'a> {
    pub fn read(field: &'a syn::Field) -> syn::Result<Field<'a>> {
        let Some(ident) = &field.ident else {
            return Err(syn::Error::new(field.span(), "fields of models have names"));
        };
        let mut read = Field {
            ident,
            ty: &field.ty,
            visibility: &field.vis,
            name: ident.unraw().to_string(),
            description: doc_text(&field.attrs),
            is_block: false,
            flags: Vec::new(),
            default: None,
            deprecated: None,
            modifiers: Vec::new(),
            validators: Vec::new(),
            min: None,
            max: None,
        };
        let mut marked = false;
        for attribute in &field.attrs {
            read.is_block |= attribute.path().is_ident("block");
            if attribute.path().is_ident("attribute") || attribute.path().is_ident("block") {
                marked = true;
                if !matches!(attribute.meta, syn::Meta::Path(_)) {
                    attribute.parse_nested_meta(|meta| read.argument(&meta))?;
                }
            }
        }
        let sayable = read.is_block || read.default.is_some();
        let settable = |flag: &Ident| flag == "required" || flag == "optional" || flag == "computed";
        if !marked || (!sayable && !read.flags.iter().any(settable)) {
            let text = "say #[attribute(required)], optional or computed, or #[block]";
            return Err(syn::Error::new(ident.span(), text));
        }
        Ok(read)
    }

    fn argument(&mut self, meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
        let Some(word) = meta.path.get_ident() else { return Err(meta.error("unknown argument")) };
        let text = word.to_string();
        match text.as_str() {
            "name" => self.name = meta.value()?.parse::<LitStr>()?.value(),
            "deprecated" => self.deprecated = Some(meta.value()?.parse()?),
            "modifiers" => self.modifiers.extend(expressions(meta)?.into_iter().map(|e| quote!(#e))),
            "validators" => self.validators.extend(expressions(meta)?),
            "min" if self.is_block => self.min = Some(meta.value()?.parse()?),
            "max" if self.is_block => self.max = Some(meta.value()?.parse()?),
            "default" if !self.is_block => self.default = Some(meta.value()?.parse()?),
            flag if !self.is_block && FLAGS.contains(&flag) => self.flags.push(word.clone()),
            modifier if MODIFIERS.contains(&modifier) => {
                self.modifiers.push(quote_spanned!(word.span()=> ::terrane_sdk::#word()));
            }
            _ => return Err(meta.error("unknown argument")),
        }
        Ok(())
    }

    pub fn is_block(&self) -> bool {
        self.is_block
    }

    /// An expression: the attribute or block of the schema.
    pub fn schema(&self) -> TokenStream {
        let Field { ty, name, description, modifiers, validators, flags, .. } = self;
        let span = ty.span();
        let common = quote!(#(.modifier(#modifiers))* #(.validator(#validators))*);
        if self.is_block {
            let min = self.min.iter();
            let max = self.max.iter();
            return quote_spanned! {span=> {
                #[allow(unused_mut)]
                let mut block = ::terrane_sdk::__derive::nested_block::<#ty>(#name, #description) #common;
                #(block.min_items = #min;)*
                #(block.max_items = #max;)*
                block
            }};
        }
        let default = self.default.iter();
        let deprecated = self.deprecated.iter();
        quote_spanned! {span=>
            ::terrane_sdk::__derive::attribute::<#ty>(#name, #description)
                #(.#flags())*
                #(.default(::terrane_sdk::__derive::default_value::<#ty>(#default)))*
                #(.deprecated(#deprecated))*
                #common
        }
    }

    /// Statements that do not compile if the field's type cannot hold what the attribute may be.
    pub fn checks(&self) -> TokenStream {
        let Field { ty, .. } = self;
        let has = |flag: &str| self.flags.iter().any(|word| word == flag);
        let unknown = has("computed") && self.default.is_none();
        let null = !self.is_block && !has("required") && self.default.is_none();
        let span = ty.span();
        if unknown {
            quote_spanned!(span=> ::terrane_sdk::__derive::holds_unknown::<#ty>();)
        } else if null {
            quote_spanned!(span=> ::terrane_sdk::__derive::holds_null::<#ty>();)
        } else {
            TokenStream::new()
        }
    }

    /// A field of the struct expression, read from `value`.
    pub fn read_expression(&self) -> TokenStream {
        let Field { ident, name, ty, .. } = self;
        quote_spanned!(ty.span()=> #ident: ::terrane_sdk::__derive::field::<#ty>(value, #name)?)
    }

    /// A name and a value.
    pub fn write_expression(&self) -> TokenStream {
        let Field { ident, name, ty, .. } = self;
        quote_spanned!(ty.span()=> (#name, ::terrane_sdk::__derive::FieldType::into_value(self.#ident)))
    }

    /// The constant that is the key of the field.
    pub fn key(&self) -> TokenStream {
        let Field { ident, name, ty, visibility, .. } = self;
        let constant = format_ident!("{}", ident.unraw().to_string().to_uppercase(), span = ident.span());
        let doc = format!("The key of the attribute `{name}`.");
        quote_spanned! {ty.span()=>
            #[doc = #doc]
            #[allow(dead_code)]
            #visibility const #constant:
                ::terrane_sdk::Key<Self, <#ty as ::terrane_sdk::__derive::FieldType>::Known> =
                ::terrane_sdk::Key::new(#name);
        }
    }
}

/// The expressions in the parentheses of an argument.
fn expressions(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<Punctuated<Expr, Token![,]>> {
    let content;
    syn::parenthesized!(content in meta.input);
    content.parse_terminated(<Expr as syn::parse::Parse>::parse, Token![,])
}

/// The documentation comment, without the space that each line begins with.
pub fn doc_text(attributes: &[syn::Attribute]) -> String {
    let line = |attribute: &syn::Attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
        let text = text.value();
        pair.path.is_ident("doc").then(|| text.strip_prefix(' ').unwrap_or(&text).to_owned())
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    lines.join("\n").trim().to_owned()
}
