//! What a caller can handle, and why a provider defers a request.

use crate::schema::Block;

/// What a caller can handle beyond the first minor version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The provider may defer the request. The reference allows this during apply, and then refuses the answer.
    pub deferral_allowed: bool,
    /// Write-only attributes may be set.
    pub write_only_attributes_allowed: bool,
    /// The private data of a plan comes back as [`super::PlanRequest::planned_private`].
    pub store_planned_private: bool,
    /// Nested blocks of resources may be computed.
    pub computed_blocks_allowed: bool,
}

impl ClientCapabilities {
    /// The capabilities of this program's engine.
    pub fn of_engine(deferral_allowed: bool) -> ClientCapabilities {
        ClientCapabilities { deferral_allowed, write_only_attributes_allowed: true, ..ClientCapabilities::default() }
    }

    /// As [`of_engine`](Self::of_engine), for a resource: providers without computed blocks get the requests of Terraform 1.11.
    pub fn of_resource(deferral_allowed: bool, schema: &Block) -> ClientCapabilities {
        let computed_blocks_allowed = schema.has_computed_blocks();
        ClientCapabilities { computed_blocks_allowed, ..ClientCapabilities::of_engine(deferral_allowed) }
    }
}

/// Why a provider deferred a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferralReason {
    /// The provider gave none, or one of a later version of the protocol.
    Unknown,
    /// The configuration of the resource is not completely known.
    ResourceConfigUnknown,
    /// The configuration of the provider is not completely known.
    ProviderConfigUnknown,
    /// Something that must exist before is missing.
    AbsentPrereq,
}
