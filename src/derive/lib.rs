//! `#[derive(Model)]`: structs that stand for objects of the language.
//!
//! Owns the syntax of the attributes `#[model]`, `#[attribute]` and `#[block]`. What the written code calls is
//! `terrane_sdk::__derive`. Never knows schemas or values.

mod field;
mod model;

use proc_macro::TokenStream;

/// Makes a struct a model: each field is an attribute (`#[attribute(...)]`) or a nested block (`#[block(...)]`).
///
/// - `#[attribute(required)]`, `optional`, `computed`, `sensitive`, `write_only`: the flags of the attribute.
/// - `default = VALUE`: the planned value if none is configured; makes it optional and computed.
/// - `keep`, `keep_unless_null`, `replace`, `replace_if_configured`, `modifiers(A, B)`: plan modifiers.
/// - `validators(A, B)`, `deprecated = "..."`, `name = "..."`.
/// - `#[block(min = 1, max = 2, validators(...), modifiers(...))]`: a nested block.
/// - `#[model(deprecated = "...")]` on the struct.
///
/// Documentation comments are the descriptions. Each field gets a constant of its name in upper case: its key.
#[proc_macro_derive(Model, attributes(model, attribute, block))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    model::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
