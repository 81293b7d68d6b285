//! Deferred changes: what a plan cannot decide yet, and a later plan does.

use std::sync::Arc;

use terrane_protocol::provider::DeferralReason;

use super::{ActionInvocation, ResourceChange};

/// Why a change is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeferredReason {
    /// The provider gave none.
    Unknown,
    /// `count` or `for_each`, of the block or of a module around it, is unknown.
    InstanceCountUnknown,
    ResourceConfigUnknown,
    ProviderConfigUnknown,
    /// Something outside of the configuration is missing.
    AbsentPrereq,
    /// It depends on an object that is deferred.
    DeferredPrereq,
}

impl DeferredReason {
    /// The value of "reason" in JSON.
    pub fn json_name(self) -> &'static str {
        match self {
            DeferredReason::Unknown => "unknown",
            DeferredReason::InstanceCountUnknown => "instance_count_unknown",
            DeferredReason::ResourceConfigUnknown => "resource_config_unknown",
            DeferredReason::ProviderConfigUnknown => "provider_config_unknown",
            DeferredReason::AbsentPrereq => "absent_prereq",
            DeferredReason::DeferredPrereq => "deferred_prereq",
        }
    }
}

impl From<DeferralReason> for DeferredReason {
    fn from(reason: DeferralReason) -> DeferredReason {
        match reason {
            DeferralReason::Unknown => DeferredReason::Unknown,
            DeferralReason::ResourceConfigUnknown => DeferredReason::ResourceConfigUnknown,
            DeferralReason::ProviderConfigUnknown => DeferredReason::ProviderConfigUnknown,
            DeferralReason::AbsentPrereq => DeferredReason::AbsentPrereq,
        }
    }
}

/// A change that is not applied. Its address has wildcard keys if the instances are not known.
#[derive(Clone, Debug)]
pub struct DeferredChange {
    pub reason: DeferredReason,
    /// As far as it is known.
    pub change: ResourceChange,
}

/// An invocation of an action that waits for the change of its caller, or that its provider deferred.
#[derive(Clone, Debug)]
pub struct DeferredInvocation {
    pub reason: DeferredReason,
    pub invocation: Arc<ActionInvocation>,
}
