//! Variables of the services that keep states, modules and keys.

use super::Variable;

variables! {
    /// The server of OpenBao that encryption keys come from (https://127.0.0.1:8200).
    BAO_ADDR;
    /// See BAO_ADDR, which is above it.
    VAULT_ADDR;
    /// The token for BAO_ADDR.
    BAO_TOKEN;
    /// See BAO_TOKEN, which is above it.
    VAULT_TOKEN;
    /// The namespace of OpenBao.
    BAO_NAMESPACE;
    /// See BAO_NAMESPACE, which is above it.
    VAULT_NAMESPACE;
    /// A file with the certificate of the authority that OpenBao's certificate is checked by.
    BAO_CACERT;
    /// See BAO_CACERT, which is above it.
    VAULT_CACERT;
    /// `true`: OpenBao's certificate is not checked.
    BAO_SKIP_VERIFY;
    /// See BAO_SKIP_VERIFY, which is above it.
    VAULT_SKIP_VERIFY;
    /// Where AWS KMS is asked for keys, with its scheme.
    AWS_ENDPOINT_URL_KMS;
    /// The address of AWS services without a more specific variable, with its scheme.
    AWS_ENDPOINT_URL;
    /// `true`: AWS_ENDPOINT_URL is ignored.
    AWS_IGNORE_CONFIGURED_ENDPOINT_URLS;
    /// A token for modules and states in Google Cloud Storage.
    GOOGLE_OAUTH_ACCESS_TOKEN;
    /// A host that stands in for Google Cloud Storage, with its scheme.
    STORAGE_EMULATOR_HOST;
    /// A key of the storage account of the backend "azurerm".
    ARM_ACCESS_KEY;
    /// A shared access signature for the backend "azurerm".
    ARM_SAS_TOKEN;
    /// `true`: the backend "azurerm" asks for blobs with a token of Microsoft Entra ID.
    ARM_USE_AZUREAD;
    /// Azure's cloud: `public`, `usgovernment` or `china`.
    ARM_ENVIRONMENT;
    /// A host that says where the services of Azure's cloud are.
    ARM_METADATA_HOSTNAME;
    /// The same as ARM_METADATA_HOSTNAME, which is above it.
    ARM_METADATA_HOST;
    /// The subscription of the storage account.
    ARM_SUBSCRIPTION_ID;
    /// `true`: the storage account's address is asked for.
    ARM_USE_DNS_ZONE_ENDPOINT;
    /// `true`: the backend "azurerm" keeps a snapshot of the blob before each change.
    ARM_SNAPSHOT;
    /// The tenant of Microsoft Entra ID.
    ARM_TENANT_ID;
    /// The client of Microsoft Entra ID.
    ARM_CLIENT_ID;
    /// A file with the client's ID.
    ARM_CLIENT_ID_FILE_PATH;
    /// The client's secret.
    ARM_CLIENT_SECRET;
    /// A file with the client's secret.
    ARM_CLIENT_SECRET_FILE_PATH;
    /// The client's certificate and key: a PKCS #12 archive, base64-encoded.
    ARM_CLIENT_CERTIFICATE;
    /// The file of the PKCS #12 archive with the client's certificate and key.
    ARM_CLIENT_CERTIFICATE_PATH;
    /// The password of the PKCS #12 archive.
    ARM_CLIENT_CERTIFICATE_PASSWORD;
    /// `true`: authenticate with a token of another identity provider.
    ARM_USE_OIDC;
    /// The token of another identity provider.
    ARM_OIDC_TOKEN;
    /// A file with the token of another identity provider.
    ARM_OIDC_TOKEN_FILE_PATH;
    /// Where a token of another identity provider is requested.
    ARM_OIDC_REQUEST_URL;
    /// The same as ARM_OIDC_REQUEST_URL, in GitHub's actions.
    ACTIONS_ID_TOKEN_REQUEST_URL;
    /// The same as ARM_OIDC_REQUEST_URL, in Azure's pipelines.
    SYSTEM_OIDCREQUESTURI;
    /// What the request for a token carries.
    ARM_OIDC_REQUEST_TOKEN;
    /// The same as ARM_OIDC_REQUEST_TOKEN, in GitHub's actions.
    ACTIONS_ID_TOKEN_REQUEST_TOKEN;
    /// The same as ARM_OIDC_REQUEST_TOKEN, in Azure's pipelines.
    SYSTEM_ACCESSTOKEN;
    /// The service connection of an Azure pipeline.
    ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID;
    /// The same as ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID, which is above it.
    ARM_OIDC_AZURE_SERVICE_CONNECTION_ID;
    /// `true`: authenticate as the machine's managed identity.
    ARM_USE_MSI;
    /// Where managed identities get tokens.
    ARM_MSI_ENDPOINT;
    /// `false`: do not authenticate with the az program.
    ARM_USE_CLI;
    /// `true`: authenticate with what AKS gives to a pod.
    ARM_USE_AKS_WORKLOAD_IDENTITY;
    /// The client's ID that AKS gives to a pod.
    AZURE_CLIENT_ID;
    /// The tenant's ID that AKS gives to a pod.
    AZURE_TENANT_ID;
    /// The file with the token that AKS gives to a pod.
    AZURE_FEDERATED_TOKEN_FILE;
    /// JSON of an account for the backend "gcs", or the path of a file with it.
    GOOGLE_BACKEND_CREDENTIALS;
    /// The same as GOOGLE_BACKEND_CREDENTIALS, which is above it.
    GOOGLE_CREDENTIALS;
    /// The path of a file with Google's Application Default Credentials.
    GOOGLE_APPLICATION_CREDENTIALS;
    /// The host of the metadata service of a machine in Google Cloud.
    GCE_METADATA_HOST;
    /// A service account that the backend "gcs" acts as.
    GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT;
    /// The same as GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT, which is above it.
    GOOGLE_IMPERSONATE_SERVICE_ACCOUNT;
    /// Base64 of the key that the backend "gcs" encrypts states with, or the path of a file with it.
    GOOGLE_ENCRYPTION_KEY;
    /// The Cloud KMS key that the backend "gcs" encrypts states with.
    GOOGLE_KMS_ENCRYPTION_KEY;
    /// Where the backend "gcs" finds the storage service, with its scheme.
    GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT;
    /// The same as GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT, which is above it.
    GOOGLE_STORAGE_CUSTOM_ENDPOINT;
    /// The AWS access key: for modules and states in S3; with its secret and perhaps a session's token.
    AWS_ACCESS_KEY_ID;
    /// See AWS_ACCESS_KEY_ID.
    AWS_SECRET_ACCESS_KEY;
    /// See AWS_ACCESS_KEY_ID.
    AWS_SESSION_TOKEN;
    /// An older name of AWS_ACCESS_KEY_ID.
    AWS_ACCESS_KEY;
    /// An older name of AWS_SECRET_ACCESS_KEY.
    AWS_SECRET_KEY;
    /// The profile whose AWS credentials count.
    AWS_PROFILE;
    /// An older name of AWS_PROFILE.
    AWS_DEFAULT_PROFILE;
    /// The file with the keys of profiles, instead of `~/.aws/credentials`.
    AWS_SHARED_CREDENTIALS_FILE;
    /// The file with further settings of profiles, instead of `~/.aws/config`.
    AWS_CONFIG_FILE;
    /// The same, for the backend "s3", above AWS_CONFIG_FILE.
    AWS_SHARED_CONFIG_FILE;
    /// The region of the backend "s3", and of modules in S3 whose address names none.
    AWS_REGION;
    /// The older name of AWS_REGION.
    AWS_DEFAULT_REGION;
    /// The AWS role to assume with the token of AWS_WEB_IDENTITY_TOKEN_FILE.
    AWS_ROLE_ARN;
    /// A file with the token for AWS_ROLE_ARN.
    AWS_WEB_IDENTITY_TOKEN_FILE;
    /// What the use of AWS_ROLE_ARN is called in AWS's records.
    AWS_ROLE_SESSION_NAME;
    /// Where the backend "s3" finds S3, with its scheme.
    AWS_ENDPOINT_URL_S3;
    /// The older name of AWS_ENDPOINT_URL_S3.
    AWS_S3_ENDPOINT;
    /// Where the backend "s3" finds DynamoDB, with its scheme.
    AWS_ENDPOINT_URL_DYNAMODB;
    /// The older name of AWS_ENDPOINT_URL_DYNAMODB.
    AWS_DYNAMODB_ENDPOINT;
    /// Where the keys of AWS roles are asked for, with its scheme.
    AWS_ENDPOINT_URL_STS;
    /// The older name of AWS_ENDPOINT_URL_STS.
    AWS_STS_ENDPOINT;
    /// Where the backend "s3" finds IAM, with its scheme.
    AWS_ENDPOINT_URL_IAM;
    /// The older name of AWS_ENDPOINT_URL_IAM.
    AWS_IAM_ENDPOINT;
    /// Where the keys of sessions of IAM Identity Center are asked for, with its scheme.
    AWS_ENDPOINT_URL_SSO;
    /// Base64: the key that the backend "s3" encrypts states with, as its setting sse_customer_key.
    AWS_SSE_CUSTOMER_KEY;
    /// A file with certificates of authorities for requests to AWS.
    AWS_CA_BUNDLE;
    /// Any value: the backend "s3" uses hosts that conform to FIPS.
    AWS_USE_FIPS_ENDPOINT;
    /// Any value: the backend "s3" uses hosts that have addresses of IPv6 too.
    AWS_USE_DUALSTACK_ENDPOINT;
    /// `true`: the machine's host is not asked for keys.
    AWS_EC2_METADATA_DISABLED;
    /// Where the machine's host is asked for keys, with its scheme.
    AWS_EC2_METADATA_SERVICE_ENDPOINT;
    /// `IPv4` or `IPv6`: how the machine's host is asked for keys.
    AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE;
    /// The older name of AWS_EC2_METADATA_SERVICE_ENDPOINT.
    AWS_METADATA_URL;
    /// Where a container asks for its keys: a path of the host that containers know.
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
    /// Where a container asks for its keys: a whole address.
    AWS_CONTAINER_CREDENTIALS_FULL_URI;
    /// What a container shows when it asks.
    AWS_CONTAINER_AUTHORIZATION_TOKEN;
    /// A file with what a container shows when it asks.
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    /// Backend `http`: `address`.
    TF_HTTP_ADDRESS;
    /// Backend `http`: `update_method`.
    TF_HTTP_UPDATE_METHOD;
    /// Backend `http`: `lock_address`.
    TF_HTTP_LOCK_ADDRESS;
    /// Backend `http`: `lock_method`.
    TF_HTTP_LOCK_METHOD;
    /// Backend `http`: `unlock_address`.
    TF_HTTP_UNLOCK_ADDRESS;
    /// Backend `http`: `unlock_method`.
    TF_HTTP_UNLOCK_METHOD;
    /// Backend `http`: `username`.
    TF_HTTP_USERNAME;
    /// Backend `http`: `password`.
    TF_HTTP_PASSWORD;
    /// Backend `http`: `retry_max`.
    TF_HTTP_RETRY_MAX;
    /// Backend `http`: `retry_wait_min`.
    TF_HTTP_RETRY_WAIT_MIN;
    /// Backend `http`: `retry_wait_max`.
    TF_HTTP_RETRY_WAIT_MAX;
    /// Backend `http`: `client_ca_certificate_pem`.
    TF_HTTP_CLIENT_CA_CERTIFICATE_PEM;
    /// Backend `http`: `client_certificate_pem`.
    TF_HTTP_CLIENT_CERTIFICATE_PEM;
    /// Backend `http`: `client_private_key_pem`.
    TF_HTTP_CLIENT_PRIVATE_KEY_PEM;
    /// The `pg` backend's connection string, where its block has none.
    PG_CONN_STR;
    /// The `pg` backend's schema, where its block names none.
    PG_SCHEMA_NAME;
    /// `true`: the `pg` backend does not create its schema.
    PG_SKIP_SCHEMA_CREATION;
    /// `true`: the `pg` backend does not create its table.
    PG_SKIP_TABLE_CREATION;
    /// `true`: the `pg` backend does not create its index.
    PG_SKIP_INDEX_CREATION;
    /// For the `pg` backend, as all variables that begin so: the server's host, where the connection string has none.
    PGHOST;
    /// The address of PGHOST.
    PGHOSTADDR;
    /// The server's port (5432).
    PGPORT;
    /// The database (the name of the user).
    PGDATABASE;
    /// The user (that of the system).
    PGUSER;
    /// The user's password.
    PGPASSWORD;
    /// The file with passwords, instead of `~/.pgpass`.
    PGPASSFILE;
    /// Options for the server's process.
    PGOPTIONS;
    /// The name that the server lists connections under.
    PGAPPNAME;
    /// Whether to use TLS, and what to verify: `disable`, `allow`, `prefer`, `require`, `verify-ca` or `verify-full`.
    PGSSLMODE;
    /// `direct`: TLS begins without a request for it.
    PGSSLNEGOTIATION;
    /// The file with the client's certificate, instead of `~/.postgresql/postgresql.crt`.
    PGSSLCERT;
    /// The file with the key of PGSSLCERT, instead of `~/.postgresql/postgresql.key`.
    PGSSLKEY;
    /// The file with the authorities to trust, instead of the system's.
    PGSSLROOTCERT;
    /// The lowest version of TLS: `TLSv1.2` or `TLSv1.3`.
    PGSSLMINPROTOCOLVERSION;
    /// Whether authentication is bound to the TLS connection: `disable`, `prefer` or `require`.
    PGCHANNELBINDING;
    /// What a server must allow to be used: `any`, `read-write` or `read-only`.
    PGTARGETSESSIONATTRS;
    /// `random`: several hosts are tried in random order.
    PGLOADBALANCEHOSTS;
    /// How long connecting may take, in seconds (30); 0 for as long as it takes.
    PGCONNECT_TIMEOUT;
    /// Must be `UTF8`.
    PGCLIENTENCODING;
    /// The server's setting `datestyle`.
    PGDATESTYLE;
    /// The server's setting `timezone`.
    PGTZ;
    /// The server's setting `geqo`.
    PGGEQO;
    /// Not supported: an error, like the seven that follow.
    PGSERVICE;
    /// See PGSERVICE.
    PGSERVICEFILE;
    /// See PGSERVICE.
    PGREALM;
    /// See PGSERVICE.
    PGREQUIRESSL;
    /// See PGSERVICE.
    PGSSLCRL;
    /// See PGSERVICE.
    PGREQUIREPEER;
    /// See PGSERVICE.
    PGKRBSRVNAME;
    /// See PGSERVICE.
    PGGSSLIB;
    /// Consul's agent, for the `consul` backend: host and port, perhaps with a scheme (127.0.0.1:8500).
    CONSUL_HTTP_ADDR;
    /// The token for Consul.
    CONSUL_HTTP_TOKEN;
    /// A file with the token for Consul, above all other tokens.
    CONSUL_HTTP_TOKEN_FILE;
    /// Name and password for Consul, separated by a colon.
    CONSUL_HTTP_AUTH;
    /// `true`: Consul's agent is reached over TLS.
    CONSUL_HTTP_SSL;
    /// `false`: the certificate of Consul's agent is not verified.
    CONSUL_HTTP_SSL_VERIFY;
    /// A file with the authorities to trust for Consul.
    CONSUL_CACERT;
    /// A folder with files of authorities to trust for Consul.
    CONSUL_CAPATH;
    /// A file with the certificate to show to Consul.
    CONSUL_CLIENT_CERT;
    /// A file with the key of CONSUL_CLIENT_CERT.
    CONSUL_CLIENT_KEY;
    /// Not supported: an error.
    CONSUL_TLS_SERVER_NAME;
    /// Consul's namespace.
    CONSUL_NAMESPACE;
    /// Consul's partition.
    CONSUL_PARTITION;
    /// The kubeconfig file, for the `kubernetes` backend as all variables that begin so.
    KUBE_CONFIG_PATH;
    /// Several kubeconfig files, separated as in PATH.
    KUBE_CONFIG_PATHS;
    /// The context of the kubeconfig file.
    KUBE_CTX;
    /// The user of the kubeconfig file, in place of the context's.
    KUBE_CTX_AUTH_INFO;
    /// The cluster of the kubeconfig file, in place of the context's.
    KUBE_CTX_CLUSTER;
    /// The namespace (default).
    KUBE_NAMESPACE;
    /// The address of the API server.
    KUBE_HOST;
    /// The name for basic authentication.
    KUBE_USER;
    /// The password for basic authentication.
    KUBE_PASSWORD;
    /// The token to log in with.
    KUBE_TOKEN;
    /// `true`: the server's certificate is not verified.
    KUBE_INSECURE;
    /// The client's certificate, as PEM.
    KUBE_CLIENT_CERT_DATA;
    /// The key of KUBE_CLIENT_CERT_DATA, as PEM.
    KUBE_CLIENT_KEY_DATA;
    /// The authorities to trust, as PEM.
    KUBE_CLUSTER_CA_CERT_DATA;
    /// The proxy on the way to the server.
    KUBE_PROXY_URL;
    /// `true`: log in as the pod that the program runs in.
    KUBE_IN_CLUSTER_CONFIG;
    /// Accepted and ignored, as Terraform does.
    KUBE_LOAD_CONFIG_FILE;
    /// The address of the API server where nothing else names one.
    KUBERNETES_MASTER;
    /// The host of the API server, as pods see it.
    KUBERNETES_SERVICE_HOST;
    /// The port of KUBERNETES_SERVICE_HOST.
    KUBERNETES_SERVICE_PORT;
    /// The access key of Alibaba Cloud for the backend "oss".
    ALICLOUD_ACCESS_KEY;
    /// The same as ALICLOUD_ACCESS_KEY, which is above it.
    ALICLOUD_ACCESS_KEY_ID;
    /// The secret of ALICLOUD_ACCESS_KEY.
    ALICLOUD_SECRET_KEY;
    /// The same as ALICLOUD_SECRET_KEY, which is above it.
    ALICLOUD_ACCESS_KEY_SECRET;
    /// The token of temporary keys of Alibaba Cloud.
    ALICLOUD_SECURITY_TOKEN;
    /// The role of an ECS instance whose keys the backend "oss" uses.
    ALICLOUD_ECS_ROLE_NAME;
    /// The region of the backend "oss".
    ALICLOUD_REGION;
    /// The same as ALICLOUD_REGION, which is above it.
    ALICLOUD_DEFAULT_REGION;
    /// Where the backend "oss" finds OSS.
    ALICLOUD_OSS_ENDPOINT;
    /// The same as ALICLOUD_OSS_ENDPOINT, which is above it.
    OSS_ENDPOINT;
    /// The instance of Tablestore that the backend "oss" keeps locks in.
    ALICLOUD_TABLESTORE_ENDPOINT;
    /// Where the backend "oss" asks for keys of a role.
    ALICLOUD_STS_ENDPOINT;
    /// The file with profiles, instead of `~/.aliyun/config.json`.
    ALICLOUD_SHARED_CREDENTIALS_FILE;
    /// The profile whose keys and region the backend "oss" uses.
    ALICLOUD_PROFILE;
    /// The role that the backend "oss" assumes.
    ALICLOUD_ASSUME_ROLE_ARN;
    /// What the use of ALICLOUD_ASSUME_ROLE_ARN is called in the cloud's records.
    ALICLOUD_ASSUME_ROLE_SESSION_NAME;
    /// How long the keys of the role are valid, in seconds (3600).
    ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION;
    /// Setting of the backend "oci" that the rest of the name says, in lower case: `OCI_tenancy_ocid`.
    OCI_ = "OCI_";
    /// The folder that the backend "oci" looks for `.oci/config` in, instead of the home folder.
    OCI_HOME_OVERRIDE;
    /// The file with profiles for the backend "oci" without config_file_profile, instead of `~/.oci/config`.
    OCI_CONFIG_FILE;
    /// The version of the resource principal of the backend "oci": 2.2.
    OCI_RESOURCE_PRINCIPAL_VERSION;
    /// The token of the resource principal, or the path of its file.
    OCI_RESOURCE_PRINCIPAL_RPST;
    /// The key of the resource principal as PEM, or the path of its file.
    OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM;
    /// The password of the key, or the path of its file.
    OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM_PASSPHRASE;
    /// The region of the resource principal.
    OCI_RESOURCE_PRINCIPAL_REGION;
    /// The ID of the key of Tencent Cloud for the backend "cos".
    TENCENTCLOUD_SECRET_ID;
    /// The key of TENCENTCLOUD_SECRET_ID.
    TENCENTCLOUD_SECRET_KEY;
    /// The token of temporary keys of Tencent Cloud.
    TENCENTCLOUD_SECURITY_TOKEN;
    /// The region of the backend "cos".
    TENCENTCLOUD_REGION;
    /// Where the backend "cos" finds COS inside of the cloud.
    TENCENTCLOUD_ENDPOINT;
    /// The domain of Tencent Cloud's interfaces (tencentcloudapi.com).
    TENCENTCLOUD_DOMAIN;
    /// The role that the backend "cos" assumes; with TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME.
    TENCENTCLOUD_ASSUME_ROLE_ARN;
    /// What the use of TENCENTCLOUD_ASSUME_ROLE_ARN is called.
    TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME;
    /// How long the keys of the role are valid, in seconds (7200).
    TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION;
    /// The ID that the role expects.
    TENCENTCLOUD_ASSUME_ROLE_EXTERNAL_ID;
    /// The folder with profiles of the backend "cos", instead of `~/.tccli`.
    TENCENTCLOUD_SHARED_CREDENTIALS_DIR;
    /// The profile whose keys the backend "cos" uses (default).
    TENCENTCLOUD_PROFILE;
    /// The role of the machine whose keys the backend "cos" uses.
    TENCENTCLOUD_CAM_ROLE_NAME;
}
