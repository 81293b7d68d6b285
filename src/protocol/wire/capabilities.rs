//! Capabilities of callers and reasons of deferrals between the wire and the model.

use wire::deferred::Reason;

use super::message as wire;
use super::protocol::Protocol;
use crate::provider::{ClientCapabilities, DeferralReason};

/// What protocol 5 does not have is left out of its messages.
pub fn client_to_wire<P: Protocol>(client: ClientCapabilities) -> Option<wire::ClientCapabilities> {
    Some(wire::ClientCapabilities {
        deferral_allowed: client.deferral_allowed,
        write_only_attributes_allowed: client.write_only_attributes_allowed,
        store_planned_private: client.store_planned_private && P::VERSION >= 6,
        computed_blocks_allowed: client.computed_blocks_allowed && P::VERSION >= 6,
    })
}

/// A caller that says nothing can do nothing.
pub fn client_from_wire(client: Option<wire::ClientCapabilities>) -> ClientCapabilities {
    let client = client.unwrap_or_default();
    ClientCapabilities {
        deferral_allowed: client.deferral_allowed,
        write_only_attributes_allowed: client.write_only_attributes_allowed,
        store_planned_private: client.store_planned_private,
        computed_blocks_allowed: client.computed_blocks_allowed,
    }
}

pub fn deferral_to_wire(reason: Option<DeferralReason>) -> Option<wire::Deferred> {
    let reason = match reason? {
        DeferralReason::Unknown => Reason::Unknown,
        DeferralReason::ResourceConfigUnknown => Reason::ResourceConfigUnknown,
        DeferralReason::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
        DeferralReason::AbsentPrereq => Reason::AbsentPrereq,
    };
    Some(wire::Deferred { reason: reason as i32 })
}

pub fn deferral_from_wire(deferred: Option<wire::Deferred>) -> Option<DeferralReason> {
    Some(match deferred?.reason() {
        Reason::Unknown => DeferralReason::Unknown,
        Reason::ResourceConfigUnknown => DeferralReason::ResourceConfigUnknown,
        Reason::ProviderConfigUnknown => DeferralReason::ProviderConfigUnknown,
        Reason::AbsentPrereq => DeferralReason::AbsentPrereq,
    })
}

#[cfg(test)]
mod tests {
    use super::super::v5::V5;
    use super::super::v6::V6;
    use super::*;

    #[test]
    fn reasons_have_the_numbers_of_the_protocol() {
        let cases = [
            (DeferralReason::Unknown, 0),
            (DeferralReason::ResourceConfigUnknown, 1),
            (DeferralReason::ProviderConfigUnknown, 2),
            (DeferralReason::AbsentPrereq, 3),
        ];
        for (reason, number) in cases {
            assert_eq!(deferral_to_wire(Some(reason)), Some(wire::Deferred { reason: number }));
            assert_eq!(deferral_from_wire(Some(wire::Deferred { reason: number })), Some(reason));
        }
        let later = deferral_from_wire(Some(wire::Deferred { reason: 9 }));
        assert_eq!((deferral_from_wire(None), later), (None, Some(DeferralReason::Unknown)));
        assert_eq!(deferral_to_wire(None), None);
    }

    #[test]
    fn each_capability_crosses_the_wire_alone() {
        let none = ClientCapabilities::default();
        let cases = [
            (none, 5),
            (ClientCapabilities { deferral_allowed: true, ..none }, 5),
            (ClientCapabilities { write_only_attributes_allowed: true, ..none }, 5),
            (ClientCapabilities { store_planned_private: true, ..none }, 6),
            (ClientCapabilities { computed_blocks_allowed: true, ..none }, 6),
        ];
        for (client, since) in cases {
            assert_eq!(client_from_wire(client_to_wire::<V6>(client)), client);
            let in_5 = if since == 5 { client } else { none };
            assert_eq!(client_from_wire(client_to_wire::<V5>(client)), in_5);
        }
        assert_eq!(client_from_wire(None), none);
    }
}
