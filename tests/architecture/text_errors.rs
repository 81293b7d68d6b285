//! Functions whose errors are texts: callers can show these, but not tell them apart.

use syn::visit::{self, Visit};

/// Most functions whose errors may be texts. The number only gets smaller; what remains are helpers inside one file.
pub const MOST: usize = 143;

/// How far below the limit the number may be before the limit has to follow.
pub const SLACK: usize = 20;

/// The names of the functions in a file, outside tests, that return a `Result<_, String>`, also within another type.
pub fn functions(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.functions
}

#[derive(Default)]
struct Reader {
    functions: Vec<String>,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !super::imports::are_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let mut found = TextErrors(false);
        found.visit_return_type(&signature.output);
        if found.0 {
            self.functions.push(signature.ident.to_string());
        }
    }
}

/// Whether a type has a `Result<_, String>` in it.
struct TextErrors(bool);

impl<'ast> Visit<'ast> for TextErrors {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Result"
            && let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments
            && let Some(syn::GenericArgument::Type(syn::Type::Path(error))) = arguments.args.iter().nth(1)
        {
            self.0 |= error.path.is_ident("String");
        }
        visit::visit_path_segment(self, segment);
    }
}
