//! ASN.1 in DER: the subset that keys and certificates use.
//!
//! `write` makes elements, `read` takes them apart, `time` does both for times, `oid` lists object identifiers.
//! Never knows what the elements mean.

pub mod oid;
pub mod read;
pub mod time;
pub mod write;

/// Identifier octets.
pub mod tag {
    pub const BOOLEAN: u8 = 0x01;
    pub const INTEGER: u8 = 0x02;
    pub const BIT_STRING: u8 = 0x03;
    pub const OCTET_STRING: u8 = 0x04;
    pub const NULL: u8 = 0x05;
    pub const OBJECT_IDENTIFIER: u8 = 0x06;
    pub const UTF8_STRING: u8 = 0x0c;
    pub const NUMERIC_STRING: u8 = 0x12;
    pub const PRINTABLE_STRING: u8 = 0x13;
    pub const T61_STRING: u8 = 0x14;
    pub const IA5_STRING: u8 = 0x16;
    pub const UTC_TIME: u8 = 0x17;
    pub const GENERALIZED_TIME: u8 = 0x18;
    pub const BMP_STRING: u8 = 0x1e;
    pub const SEQUENCE: u8 = 0x30;
    pub const SET: u8 = 0x31;

    /// `[number]` without a constructed content, as implicit tags of strings have it.
    pub const fn context(number: u8) -> u8 {
        0x80 | number
    }

    /// `[number]` around whole elements.
    pub const fn context_constructed(number: u8) -> u8 {
        0xa0 | number
    }
}
