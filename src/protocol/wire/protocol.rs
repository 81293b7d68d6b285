//! What the two provider protocols do differently: how their methods are named and how a schema is written.
//!
//! All other messages are the same on the wire (`tests/protocols.rs` checks it), so one client and one server serve both.

use bytes::Bytes;
use prost::DecodeError;

use super::message::Schema;

/// The calls of a provider, by their names in protocol 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    PlanResourceChange,
    ApplyResourceChange,
    ReadResource,
    ValidateResourceConfig,
    UpgradeResourceState,
    ReadDataSource,
    ValidateDataResourceConfig,
    GetProviderSchema,
    ValidateProviderConfig,
    ConfigureProvider,
    StopProvider,
    ImportResourceState,
    MoveResourceState,
    CallFunction,
    GetFunctions,
    GetMetadata,
    ValidateEphemeralResourceConfig,
    OpenEphemeralResource,
    RenewEphemeralResource,
    CloseEphemeralResource,
    GetResourceIdentitySchemas,
    UpgradeResourceIdentity,
    GenerateResourceConfig,
    ValidateListResourceConfig,
    ListResource,
    ValidateActionConfig,
    PlanAction,
    InvokeAction,
    // From here on: of protocol 6 only.
    ValidateStateStoreConfig,
    ConfigureStateStore,
    ReadStateBytes,
    WriteStateBytes,
    LockState,
    UnlockState,
    GetStates,
    DeleteState,
}

/// One row per call, in the order of the enum: name in protocol 6, in protocol 5, in messages for people.
const CALLS: &[(Call, &str, &str, &str)] = &[
    (Call::PlanResourceChange, "PlanResourceChange", "PlanResourceChange", "PlanResourceChange"),
    (Call::ApplyResourceChange, "ApplyResourceChange", "ApplyResourceChange", "ApplyResourceChange"),
    (Call::ReadResource, "ReadResource", "ReadResource", "ReadResource"),
    (Call::ValidateResourceConfig, "ValidateResourceConfig", "ValidateResourceTypeConfig", "ValidateResourceConfig"),
    (Call::UpgradeResourceState, "UpgradeResourceState", "UpgradeResourceState", "UpgradeResourceState"),
    (Call::ReadDataSource, "ReadDataSource", "ReadDataSource", "ReadDataSource"),
    (
        Call::ValidateDataResourceConfig,
        "ValidateDataResourceConfig",
        "ValidateDataSourceConfig",
        "ValidateDataResourceConfig",
    ),
    (Call::GetProviderSchema, "GetProviderSchema", "GetSchema", "GetProviderSchema"),
    (Call::ValidateProviderConfig, "ValidateProviderConfig", "PrepareProviderConfig", "ValidateProviderConfig"),
    (Call::ConfigureProvider, "ConfigureProvider", "Configure", "ConfigureProvider"),
    (Call::StopProvider, "StopProvider", "Stop", "Stop"),
    (Call::ImportResourceState, "ImportResourceState", "ImportResourceState", "ImportResourceState"),
    (Call::MoveResourceState, "MoveResourceState", "MoveResourceState", "MoveResourceState"),
    (Call::CallFunction, "CallFunction", "CallFunction", "CallFunction"),
    (Call::GetFunctions, "GetFunctions", "GetFunctions", "GetFunctions"),
    (Call::GetMetadata, "GetMetadata", "GetMetadata", "GetMetadata"),
    (
        Call::ValidateEphemeralResourceConfig,
        "ValidateEphemeralResourceConfig",
        "ValidateEphemeralResourceConfig",
        "ValidateEphemeralResourceConfig",
    ),
    (Call::OpenEphemeralResource, "OpenEphemeralResource", "OpenEphemeralResource", "OpenEphemeralResource"),
    (Call::RenewEphemeralResource, "RenewEphemeralResource", "RenewEphemeralResource", "RenewEphemeralResource"),
    (Call::CloseEphemeralResource, "CloseEphemeralResource", "CloseEphemeralResource", "CloseEphemeralResource"),
    (
        Call::GetResourceIdentitySchemas,
        "GetResourceIdentitySchemas",
        "GetResourceIdentitySchemas",
        "GetResourceIdentitySchemas",
    ),
    (Call::UpgradeResourceIdentity, "UpgradeResourceIdentity", "UpgradeResourceIdentity", "UpgradeResourceIdentity"),
    (Call::GenerateResourceConfig, "GenerateResourceConfig", "GenerateResourceConfig", "GenerateResourceConfig"),
    (
        Call::ValidateListResourceConfig,
        "ValidateListResourceConfig",
        "ValidateListResourceConfig",
        "ValidateListResourceConfig",
    ),
    (Call::ListResource, "ListResource", "ListResource", "ListResource"),
    (Call::ValidateActionConfig, "ValidateActionConfig", "ValidateActionConfig", "ValidateActionConfig"),
    (Call::PlanAction, "PlanAction", "PlanAction", "PlanAction"),
    (Call::InvokeAction, "InvokeAction", "InvokeAction", "InvokeAction"),
    (
        Call::ValidateStateStoreConfig,
        "ValidateStateStoreConfig",
        "ValidateStateStoreConfig",
        "ValidateStateStoreConfig",
    ),
    (Call::ConfigureStateStore, "ConfigureStateStore", "ConfigureStateStore", "ConfigureStateStore"),
    (Call::ReadStateBytes, "ReadStateBytes", "ReadStateBytes", "ReadStateBytes"),
    (Call::WriteStateBytes, "WriteStateBytes", "WriteStateBytes", "WriteStateBytes"),
    (Call::LockState, "LockState", "LockState", "LockState"),
    (Call::UnlockState, "UnlockState", "UnlockState", "UnlockState"),
    (Call::GetStates, "GetStates", "GetStates", "GetStates"),
    (Call::DeleteState, "DeleteState", "DeleteState", "DeleteState"),
];

/// One version of the provider protocol.
pub trait Protocol: Send + Sync + 'static {
    const VERSION: u16;
    /// The package that messages for people name: "plugin6".
    const PACKAGE: &'static str;
    /// "/tfplugin6.Provider/"
    const SERVICE: &'static str;

    fn method(call: Call) -> &'static str;

    fn decode_schema(bytes: Bytes) -> Result<Schema, DecodeError>;
    fn encode_schema(schema: Schema) -> Vec<u8>;

    /// The path of a call.
    fn path(call: Call) -> String {
        format!("{}{}", Self::SERVICE, Self::method(call))
    }

    /// The call that a path means.
    fn call(path: &str) -> Option<Call> {
        let name = path.strip_prefix(Self::SERVICE)?;
        Call::all().find(|call| Self::method(*call) == name)
    }
}

impl Call {
    pub fn all() -> impl Iterator<Item = Call> {
        CALLS.iter().map(|row| row.0)
    }

    pub fn name_in_6(self) -> &'static str {
        CALLS[self as usize].1
    }

    pub fn name_in_5(self) -> &'static str {
        CALLS[self as usize].2
    }

    /// The name that users know from the reference's messages.
    pub fn name_for_people(self) -> &'static str {
        CALLS[self as usize].3
    }
}

#[cfg(test)]
mod tests {
    use super::super::v5::V5;
    use super::super::v6::V6;
    use super::*;

    #[test]
    fn paths_and_calls_fit_together() {
        for (i, call) in Call::all().enumerate() {
            assert_eq!(call as usize, i, "the table is in the order of the enum");
            assert_eq!(V5::call(&V5::path(call)), Some(call));
            assert_eq!(V6::call(&V6::path(call)), Some(call));
        }
        assert_eq!(V5::path(Call::GetProviderSchema), "/tfplugin5.Provider/GetSchema");
        assert_eq!(V6::path(Call::StopProvider), "/tfplugin6.Provider/StopProvider");
        assert_eq!(V6::call("/tfplugin6.Provider/GetSchema"), None);
        assert_eq!(V5::call("/tfplugin6.Provider/ReadResource"), None);
    }
}
