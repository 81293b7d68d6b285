//! The schema of `connection` blocks: the arguments of all types of connections.

use std::sync::{Arc, LazyLock};

use terrane_protocol::schema::{Attribute, Block};
use terrane_value::Type;

static SCHEMA: LazyLock<Block> = LazyLock::new(|| {
    let texts = [
        "type",
        "host",
        "user",
        "password",
        "port",
        "timeout",
        "script_path",
        "target_platform",
        "private_key",
        "certificate",
        "host_key",
        "agent",
        "agent_identity",
        "proxy_scheme",
        "proxy_host",
        "proxy_port",
        "proxy_user_name",
        "proxy_user_password",
        "bastion_host",
        "bastion_host_key",
        "bastion_port",
        "bastion_user",
        "bastion_password",
        "bastion_private_key",
        "bastion_certificate",
        "https",
        "insecure",
        "use_ntlm",
        "cacert",
    ];
    let attribute = |name: &str| {
        let ty = match name {
            "agent" | "https" | "insecure" | "use_ntlm" => Type::Bool,
            "port" | "proxy_port" | "bastion_port" => Type::Number,
            _ => Type::String,
        };
        let shape = Attribute { optional: true, ..Attribute::new(ty) };
        (Arc::<str>::from(name), shape)
    };
    Block { attributes: texts.into_iter().map(attribute).collect(), ..Block::default() }
});

pub fn connection_schema() -> &'static Block {
    &SCHEMA
}
