//! Names that explain nothing: what no type and no function may be called.

use syn::visit::{self, Visit};

/// Participles in place of nouns.
const TYPES: &[&str] = &["Begun", "Deaf", "Found", "Gathered", "Said", "Shown", "Told"];
/// Participles and vague words in place of verbs with objects.
const FUNCTIONS: &[&str] = &["begun", "doomed", "early", "found", "judged", "parts", "said", "settle", "shown", "told"];
#[derive(Default)]
struct Reader {
    complaints: Vec<String>,
}

impl Reader {
    fn check_type(&mut self, name: &syn::Ident) {
        if TYPES.iter().any(|banned| name == banned) {
            self.complaints.push(format!("type {name}"));
        }
    }

    fn check_function(&mut self, name: &syn::Ident) {
        if FUNCTIONS.iter().any(|banned| name == banned) {
            self.complaints.push(format!("fn {name}"));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    /// Helpers of tests may be called as they are.
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.check_type(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.check_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.check_type(&variant.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.check_type(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.check_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check_function(&item.sig.ident);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check_function(&item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check_function(&item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }
}

/// Banned names in a file.
pub fn complaints(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.complaints
}
