//! `allowed_uses`: key usages and extended key usages.

use crate::providers::tls::der::oid::Oid;
use crate::providers::tls::der::write;

/// Names of bits of the key usage extension, from the first bit on.
const KEY_USAGES: [&str; 9] = [
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "cert_signing",
    "crl_signing",
    "encipher_only",
    "decipher_only",
];

const EXTENDED_KEY_USAGES: [(&str, &Oid); 14] = [
    ("any_extended", &[2, 5, 29, 37, 0]),
    ("server_auth", &[1, 3, 6, 1, 5, 5, 7, 3, 1]),
    ("client_auth", &[1, 3, 6, 1, 5, 5, 7, 3, 2]),
    ("code_signing", &[1, 3, 6, 1, 5, 5, 7, 3, 3]),
    ("email_protection", &[1, 3, 6, 1, 5, 5, 7, 3, 4]),
    ("ipsec_end_system", &[1, 3, 6, 1, 5, 5, 7, 3, 5]),
    ("ipsec_tunnel", &[1, 3, 6, 1, 5, 5, 7, 3, 6]),
    ("ipsec_user", &[1, 3, 6, 1, 5, 5, 7, 3, 7]),
    ("timestamping", &[1, 3, 6, 1, 5, 5, 7, 3, 8]),
    ("ocsp_signing", &[1, 3, 6, 1, 5, 5, 7, 3, 9]),
    ("microsoft_server_gated_crypto", &[1, 3, 6, 1, 4, 1, 311, 10, 3, 3]),
    ("netscape_server_gated_crypto", &[2, 16, 840, 1, 113730, 4, 1]),
    ("microsoft_commercial_code_signing", &[1, 3, 6, 1, 4, 1, 311, 2, 1, 22]),
    ("microsoft_kernel_code_signing", &[1, 3, 6, 1, 4, 1, 311, 61, 1, 1]),
];

/// All values of `allowed_uses`, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    let extended = EXTENDED_KEY_USAGES.iter().map(|(name, _)| *name);
    let mut names: Vec<_> = KEY_USAGES.into_iter().chain(extended).collect();
    names.sort_unstable();
    names
}

/// The contents of the key usage extension, if there is one. Unknown names are ignored.
pub fn key_usage(uses: &[String]) -> Option<Vec<u8>> {
    let is_used = |name: &str| uses.iter().any(|used| used == name);
    let bits: Vec<usize> = (0..KEY_USAGES.len()).filter(|at| is_used(KEY_USAGES[*at])).collect();
    let last = *bits.last()?;
    let mut bytes = vec![0; last / 8 + 1];
    for bit in bits {
        bytes[bit / 8] |= 0x80 >> (bit % 8);
    }
    Some(write::bit_string_without(7 - (last % 8) as u8, &bytes))
}

/// The contents of the extended key usage extension, if there is one: in the order of the uses, repeated if they are.
pub fn extended_key_usage(uses: &[String]) -> Option<Vec<u8>> {
    let oid_of = |use_: &String| EXTENDED_KEY_USAGES.iter().find(|(name, _)| name == use_).map(|(_, oid)| *oid);
    let oids: Vec<_> = uses.iter().filter_map(oid_of).map(write::object_identifier).collect();
    (!oids.is_empty()).then(|| write::sequence(&[&oids.concat()]))
}

#[cfg(test)]
mod tests {
    /// The list of the error "Invalid Attribute Value Match", recorded from the provider.
    #[test]
    fn names_are_sorted() {
        let names = super::names();
        assert_eq!(names.len(), 23);
        assert_eq!((names[0], names[22]), ("any_extended", "timestamping"));
        assert!(names.is_sorted());
    }
}
