//! Output bits, least significant first.

/// Bits that are collected to bytes.
#[derive(Default)]
pub struct BitBuffer {
    bytes: Vec<u8>,
    /// The bits after the last whole byte.
    bits: u64,
    count: u32,
}

impl BitBuffer {
    /// Appends the `count` lowest bits of a value, 32 at most.
    pub fn push(&mut self, value: u32, count: u32) {
        self.bits |= u64::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.bits as u8);
            self.bits >>= 8;
            self.count -= 8;
        }
    }

    /// Fills the last byte with zero bits.
    pub fn align(&mut self) {
        if self.count > 0 {
            self.push(0, 8 - self.count);
        }
    }

    /// Appends whole bytes. The buffer must be aligned.
    pub fn extend(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.bytes.extend_from_slice(bytes);
    }

    /// The whole bytes so far, which are removed.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}
