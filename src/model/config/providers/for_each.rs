//! Provider configurations that lose an instance together with the objects that need it.

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use lang::syntax::ast::Expression;

use super::provider_ref::ProviderRef;
use crate::config::module::Module;

/// Warns where a resource or a module call repeats as the provider configuration does that it chooses an instance of.
pub fn warn(module: &Module, diags: &mut Diagnostics) {
    for resource in module.resources.values() {
        let target = resource.addr.in_module(module.path.clone()).to_string();
        let repeated = resource.for_each.as_ref().zip(resource.provider_ref.as_ref());
        diags.extend(repeated.and_then(|(own, reference)| warning(module, "resource", own, reference, &target)));
    }
    for call in module.calls.values() {
        let target = module.path.child(&call.name).to_string();
        let repeated = call.for_each.iter().flat_map(|own| call.providers.iter().map(move |p| (own, &p.in_parent)));
        diags
            .extend(repeated.filter_map(|(own, reference)| warning(module, "module", own, reference, &target)).take(1));
    }
}

fn warning(module: &Module, kind: &str, own: &Expression, reference: &ProviderRef, target: &str) -> Option<Diagnostic> {
    reference.key.as_ref()?;
    let of_provider = module.providers.get(&reference.addr)?.for_each.as_ref()?;
    if own.variables().is_empty() || written(own) != written(of_provider) {
        return None;
    }
    let detail = format!(
        "This provider configuration uses the same for_each expression as a {kind}, which means that subsequent removal of elements \
         from this collection would cause a planning error.\n\n{PROGRAM} relies on a provider instance to destroy resource instances \
         that are associated with it, and so the provider instance must outlive all of its resource instances by at least one \
         plan/apply round. For removal of instances to succeed in future you must structure the configuration so that the provider \
         block's for_each expression can produce a superset of the instances of the resources associated with the provider \
         configuration. Refer to the {PROGRAM} documentation for specific suggestions.\n\nTo destroy this object before removing the \
         provider configuration, consider first performing a targeted destroy:\n    {COMMAND} apply -destroy -target={target}"
    );
    let summary = format!("Provider configuration for_each matches {kind}");
    Some(Diagnostic::warning(summary, detail).at(own.range()))
}

/// The text of an expression without blanks.
fn written(expr: &Expression) -> String {
    expr.range().text().split_whitespace().collect()
}
