//! AlgorithmIdentifiers, of keys and signatures.

use crate::providers::tls::der::oid::Oid;
use crate::providers::tls::der::write;

/// An AlgorithmIdentifier.
pub fn algorithm(oid: &Oid, parameters: &[u8]) -> Vec<u8> {
    write::sequence(&[&write::object_identifier(oid), parameters])
}
