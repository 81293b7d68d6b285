//! Files to a module: everything that the files declare in one place, with duplicates reported.

use base::diag::Diagnostics;

use super::module_file::{ModuleFile, PartialModule};
use crate::config::blocks::kinds::BLOCK_KINDS;
use crate::config::blocks::terraform::TerraformBlock;
use crate::config::blocks::terraform_settings::{self, TerraformSettings};
use crate::config::blocks::{import, state_store};
use crate::config::module::Module;
use crate::config::providers::requirements::imply;
use crate::symbols;

/// Puts the files of a module together. `module` comes with its path and folder and nothing else; `overriding` holds
/// the `terraform` blocks of each override file.
pub fn merge(
    mut files: Vec<ModuleFile>,
    overriding: Vec<Vec<TerraformBlock>>,
    module: Module,
    diags: &mut Diagnostics,
) -> Module {
    let mut partial = PartialModule { module, terraform: TerraformSettings::default() };
    partial.module.requirements = terraform_settings::requirements(files.iter().flat_map(|f| &f.terraform), diags);
    for (entries, _) in overriding.iter().flatten().flat_map(|block| &block.requirements) {
        partial.module.requirements.extend(entries.clone());
    }
    partial.terraform.encryption = terraform_settings::encryption(files.iter().flat_map(|f| &f.terraform), diags);
    if !files.iter().any(|file| file.has_symbol_libraries) {
        diags.extend(files.iter().flat_map(|file| &file.symbols).cloned().map(symbols::not_enabled));
    }
    for file in &mut files {
        for kind in &BLOCK_KINDS {
            (kind.merge)(file, &mut partial, diags);
        }
    }
    for file in overriding {
        partial.terraform.override_by(file, diags);
    }
    finish(partial, diags)
}

/// Adds to the module what follows from all files together.
fn finish(partial: PartialModule, diags: &mut Diagnostics) -> Module {
    let PartialModule { mut module, mut terraform } = partial;
    (module.backend, module.conflicting_store) = terraform.select_backend(diags);
    if let Some(store) = module.conflicting_store.as_mut().or(module.backend.as_mut()) {
        state_store::resolve(store, &module.requirements, diags);
    }
    imply_by_imports(&mut module);
    module.required_versions = std::mem::take(&mut terraform.required_versions);
    module.encryption = terraform.encryption.take();
    module.provider_metas = terraform.provider_metas();
    import::check(&module.imports, &module.resources, diags);
    module
}

/// An import without a block gets one written, for a provider that nothing else may name.
fn imply_by_imports(module: &mut Module) {
    if !module.path.is_root() {
        return;
    }
    for import in &module.imports {
        let resource = &import.resource.resource;
        if !import.resource.module.is_root() || module.resources.contains_key(resource) {
            continue;
        }
        let written = import.provider_ref.as_ref().map(|p| p.addr.local_name.clone());
        let local_name = written.unwrap_or_else(|| resource.implied_provider().into());
        imply(&mut module.requirements, &local_name, &import.range);
    }
}
