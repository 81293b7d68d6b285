//! The whole file of a state that is kept in pieces.

use std::sync::Arc;

use gotext::json::push_string;
use terrane_value::Type;

use super::{Objects, Rendered, close, render_resource, separate};
use crate::addr::{AbsProviderConfig, AbsResource};
use crate::state::{Attributes, Instance, Object, StateMeta};
use crate::version::version_of_state;

/// A text and the pieces that belong into it, each with its place in the text, in order.
#[derive(Default)]
struct Framed<'r> {
    text: Vec<u8>,
    pieces: Vec<(usize, TextPart<'r>)>,
}

enum TextPart<'r> {
    Output(&'r [u8]),
    Objects(&'r Objects),
}

impl TextPart<'_> {
    fn size(&self) -> usize {
        match self {
            TextPart::Output(text) => text.len(),
            TextPart::Objects(objects) => objects.size,
        }
    }
}

impl Framed<'_> {
    /// All of it, written once and where it stays: a large state is not copied while it grows.
    fn joined(&self) -> Arc<[u8]> {
        let length = self.text.len() + self.pieces.iter().map(|(_, piece)| piece.size()).sum::<usize>();
        let mut content: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
        let mut rest = Arc::get_mut(&mut content).unwrap_or_default();
        let mut put = |piece: &[u8]| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(piece.len());
            now.copy_from_slice(piece);
            rest = later;
        };
        let mut done = 0;
        let mut laid_out = Vec::new();
        for (at, piece) in &self.pieces {
            put(&self.text[done..*at]);
            match piece {
                TextPart::Output(text) => put(text),
                TextPart::Objects(objects) => {
                    laid_out.clear();
                    objects.lay_out(&mut laid_out);
                    put(&laid_out);
                }
            }
            done = *at;
        }
        put(&self.text[done..]);
        content
    }
}

impl Rendered {
    /// The version that the file names, if it named that of `meta` before.
    pub fn version(&self, meta: &StateMeta) -> String {
        let needs =
            self.resources.values().flat_map(|resource| resource.instances.values()).map(|objects| objects.needs);
        version_of_state(&meta.terraform_version, needs.max().unwrap_or_default().into())
    }

    /// The whole file.
    pub fn to_bytes(&self, meta: &StateMeta) -> Arc<[u8]> {
        let mut framed = Framed::default();
        let Framed { text, pieces } = &mut framed;
        text.extend_from_slice(b"{\n  \"version\": 4,\n  \"terraform_version\": ");
        push_string(&self.version(meta), text);
        text.extend_from_slice(format!(",\n  \"serial\": {},\n  \"lineage\": ", meta.serial).as_bytes());
        push_string(&meta.lineage, text);
        text.extend_from_slice(b",\n  \"outputs\": {");
        for (i, (name, output)) in self.outputs.iter().enumerate() {
            separate(i, 2, text);
            push_string(name, text);
            text.extend_from_slice(b": ");
            pieces.push((text.len(), TextPart::Output(output)));
        }
        close(self.outputs.is_empty(), b"}", 1, text);
        text.extend_from_slice(b",\n  \"resources\": [");
        for (i, ((module, resource), rendered)) in self.resources.iter().enumerate() {
            separate(i, 2, text);
            let provider = rendered.provider_of(rendered.instances.keys());
            let instances = rendered.instances.values();
            render_resource(module, resource, provider, instances, text, |text, objects| {
                pieces.push((text.len(), TextPart::Objects(objects)));
            });
        }
        close(self.resources.is_empty(), b"]", 1, text);
        text.extend_from_slice(b",\n  \"check_results\": ");
        text.extend_from_slice(if self.checks.is_empty() { b"null" } else { &self.checks });
        text.extend_from_slice(b"\n}\n");
        framed.joined()
    }
}

/// The minor release of Terraform that first knew what an instance has.
pub(super) fn needs(addr: &AbsResource, provider: &AbsProviderConfig, instance: &Instance) -> u8 {
    let is_data = &*addr.resource.kind == "terraform_data" && provider.provider.is_builtin();
    let has_store = |object: &Object| match &object.attributes {
        Attributes::Json(text) => text.contains("\"store\":"),
        Attributes::Value { ty: Type::Object(object), .. } => object.attributes.contains_key("store"),
        _ => false,
    };
    let has_identity = |object: &Object| object.identity.is_some();
    if is_data && instance.objects().any(has_store) {
        16
    } else if instance.objects().any(has_identity) {
        12
    } else {
        0
    }
}
