//! Secrets have no debug form: a type with a field for one does not derive `Debug`, unless the field's own type hides it.

use syn::visit::{self, Visit};

/// Names of fields that hold secrets, in whole or at their ends.
const NAMES: &[&str] =
    &["password", "passphrase", "secret", "secret_key", "private_key", "client_key_data", "access_token", "token"];
/// Types that show what they hold: texts, bytes, and what is made of them.
const SHOWN: &[&str] = &["String", "str", "u8"];

#[derive(Default)]
struct Reader {
    complaints: Vec<String>,
}

impl Reader {
    fn check(&mut self, name: &syn::Ident, attributes: &[syn::Attribute], fields: &syn::Fields) {
        if !attributes.iter().any(derives_debug) {
            return;
        }
        for field in fields {
            let Some(ident) = &field.ident else { continue };
            let text = ident.to_string();
            let is_secret = NAMES.iter().any(|secret| text == *secret || text.ends_with(&format!("_{secret}")));
            if is_secret && is_shown(&field.ty) {
                self.complaints.push(format!("{name}.{ident} would be shown by {name}'s Debug"));
            }
        }
    }
}

fn derives_debug(attribute: &syn::Attribute) -> bool {
    let mut found = false;
    if attribute.path().is_ident("derive") {
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("Debug");
            Ok(())
        });
    }
    found
}

fn is_shown(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(reference) => is_shown(&reference.elem),
        syn::Type::Path(path) => path.path.segments.iter().any(|segment| {
            let within = match &segment.arguments {
                syn::PathArguments::AngleBracketed(arguments) => arguments
                    .args
                    .iter()
                    .any(|argument| matches!(argument, syn::GenericArgument::Type(ty) if is_shown(ty))),
                _ => false,
            };
            within || SHOWN.iter().any(|shown| segment.ident == shown)
        }),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.check(&item.ident, &item.attrs, &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        for variant in &item.variants {
            self.check(&item.ident, &item.attrs, &variant.fields);
        }
    }
}

/// Secrets that a file would show.
pub fn complaints(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.complaints
}
