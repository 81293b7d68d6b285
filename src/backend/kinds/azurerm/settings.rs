//! The settings of the `azurerm` backend, as version 1.11.4 of the reference has them.

use terrane_protocol::schema::{Attribute, Block};
use terrane_value::Type;

use crate::contract::schema::{block, optional};

pub fn schema() -> Block {
    let text = |description: &str| optional(Type::String, description);
    let flag = |description: &str| optional(Type::Bool, description);
    let required = |description: &str| Attribute { optional: false, required: true, ..text(description) };
    block(&[
        ("storage_account_name", required("The name of the storage account.")),
        ("container_name", required("The container name to use in the Storage Account.")),
        ("key", required("The blob key to use in the Storage Container.")),
        ("subscription_id", text("The subscription of the storage account.")),
        ("resource_group_name", text("The resource group of the storage account.")),
        ("lookup_blob_endpoint", flag("Ask for the storage account's address, which DNS zone endpoints need.")),
        ("snapshot", flag("Keep a snapshot of the blob before each change.")),
        ("environment", text("The cloud: public, usgovernment or china.")),
        ("metadata_host", text("A host that says where the cloud's services are.")),
        ("access_key", text("A key of the storage account.")),
        ("sas_token", text("A shared access signature.")),
        ("use_azuread_auth", flag("Ask for blobs with a token of Microsoft Entra ID.")),
        ("tenant_id", text("The tenant.")),
        ("client_id", text("The client.")),
        ("client_id_file_path", text("A file with the client's ID.")),
        ("endpoint", Attribute { deprecated: true, ..text("Has no effect.") }),
        ("client_certificate", text("Base64 of the client's PKCS#12 bundle.")),
        ("client_certificate_path", text("The file of the client's PKCS#12 bundle.")),
        ("client_certificate_password", text("The bundle's password.")),
        ("client_secret", text("The client's secret.")),
        ("client_secret_file_path", text("A file with the client's secret.")),
        ("use_oidc", flag("Authenticate with a token of another identity provider.")),
        ("ado_pipeline_service_connection_id", text("The service connection of an Azure DevOps pipeline.")),
        ("oidc_request_token", text("What the request for a token carries.")),
        ("oidc_request_url", text("Where a token is requested.")),
        ("oidc_token", text("The token of another identity provider.")),
        ("oidc_token_file_path", text("A file with the token of another identity provider.")),
        ("use_msi", flag("Authenticate as the machine's managed identity.")),
        ("msi_endpoint", text("Where managed identities get tokens.")),
        ("use_cli", flag("Authenticate with the az program.")),
        ("use_aks_workload_identity", flag("Authenticate with what AKS gives to a pod.")),
    ])
}
