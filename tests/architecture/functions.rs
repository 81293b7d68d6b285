//! Limits for the parameters of functions, so that calls can be read.

use syn::visit::{self, Visit};

/// Most parameters, `self` aside.
const MOST: usize = 6;
/// Limit for boolean parameters, which cannot be distinguished in a call.
const MOST_BOOLEANS: usize = 1;

#[derive(Default)]
struct Reader {
    complaints: Vec<String>,
}

impl Reader {
    fn check(&mut self, signature: &syn::Signature) {
        let typed = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let (mut all, mut booleans) = (0, 0);
        for ty in typed {
            all += 1;
            booleans += usize::from(matches!(ty, syn::Type::Path(path) if path.path.is_ident("bool")));
        }
        if all > MOST || booleans > MOST_BOOLEANS {
            self.complaints.push(format!("{}: {all} parameters, {booleans} of them booleans", signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    /// Helpers of tests may be as they are.
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check(&item.sig);
        visit::visit_trait_item_fn(self, item);
    }
}

/// Functions of a file that ask too much.
pub fn complaints(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.complaints
}
