//! Types of resources that their provider does not have.

use base::diag::Diagnostic;
use model::config::Resource;
use model::model_errors::did_you_mean;
use terrane_protocol::schema::ResourceMode;

use crate::blocks::Blocks;

/// The error of a block whose provider has no such type.
pub fn unknown_type(blocks: &Blocks, config: &Resource) -> Diagnostic {
    let (kind, provider) = (&config.addr.kind, config.provider.for_display());
    let schemas = blocks.schemas.provider(&config.provider);
    let names = |data: bool| schemas.map_or_else(Vec::new, |s| if data { s.data_names() } else { s.managed_names() });
    let other = |mode| blocks.schemas.kind(&config.provider, mode, kind).is_some();
    let (summary, detail) = match config.addr.mode {
        ResourceMode::Data => {
            let hint = match other(ResourceMode::Managed) {
                true => format!(
                    "\n\nDid you intend to use the managed resource type {kind:?}? If so, declare this using a \"resource\" \
                     block instead of a \"data\" block."
                ),
                false => did_you_mean(kind, &names(true)),
            };
            ("Invalid data source", format!("The provider {provider} does not support data source {kind:?}.{hint}"))
        }
        ResourceMode::Managed => {
            let hint = match other(ResourceMode::Data) {
                true => format!(
                    "\n\nDid you intend to use the data source {kind:?}? If so, declare this using a \"data\" block instead \
                     of a \"resource\" block."
                ),
                false => did_you_mean(kind, &names(false)),
            };
            ("Invalid resource type", format!("The provider {provider} does not support resource type {kind:?}.{hint}"))
        }
        ResourceMode::List => {
            ("Invalid list resource", format!("The provider {provider} does not support list resource {kind:?}."))
        }
        ResourceMode::Ephemeral => (
            "Invalid ephemeral resource",
            format!("The provider {provider} does not support ephemeral resource {kind:?}."),
        ),
    };
    Diagnostic::error(summary, detail).at(config.type_range.clone())
}
