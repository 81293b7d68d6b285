//! Extensions of certificates and of the requests for them, as they are written.

use super::der::oid::Oid;
use super::der::write;

/// An extension, with its value in DER.
pub struct Extension {
    pub oid: &'static Oid,
    pub is_critical: bool,
    pub value: Vec<u8>,
}

impl Extension {
    pub fn to_der(&self) -> Vec<u8> {
        let critical = if self.is_critical { write::boolean(true) } else { Vec::new() };
        write::sequence(&[&write::object_identifier(self.oid), &critical, &write::octet_string(&self.value)])
    }
}
