//! Numbers and strings as the SSH protocol writes them (RFC 4251).

/// What is left of a run of fields.
pub struct SshFields<'a> {
    rest: &'a [u8],
}

impl<'a> SshFields<'a> {
    pub fn new(rest: &'a [u8]) -> SshFields<'a> {
        SshFields { rest }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_be_bytes(*bytes))
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let before = self.rest;
        let length = self.number()? as usize;
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else {
            self.rest = before;
            return None;
        };
        self.rest = rest;
        Some(bytes)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        self.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    // Keys are far shorter than the 4 GB that a length can state.
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// An integer that is not negative, from its bytes.
pub fn write_unsigned(bytes: &[u8], out: &mut Vec<u8>) {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[zeros..];
    // The first bit is the sign.
    let has_sign_bit = digits.first().is_some_and(|byte| *byte >= 0x80);
    let padded = if has_sign_bit { [&[0], digits].concat() } else { digits.to_vec() };
    write_bytes(&padded, out);
}
