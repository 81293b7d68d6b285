//! States that stores keep compressed.

use std::io::Write;

use base::limits::{self, Limit};

use crate::contract::StoreError;

pub fn compress(content: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.map_err(|error| StoreError::new(error.to_string()))
}

pub fn decompress(payload: &[u8]) -> Result<Vec<u8>, StoreError> {
    decompress_within(payload, limits::state())
}

fn decompress_within(payload: &[u8], limit: Limit) -> Result<Vec<u8>, StoreError> {
    let plain = limit.read(flate2::read::MultiGzDecoder::new(payload));
    plain.map_err(|error| StoreError::damaged(format!("the state cannot be decompressed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_survives_and_damage_is_reported() {
        let packed = compress(b"state").unwrap();
        assert_eq!(decompress(&packed).unwrap(), b"state");
        let error = decompress(&packed[..packed.len() - 1]).unwrap_err();
        assert!(error.text.starts_with("the state cannot be decompressed: "), "{}", error.text);
    }

    #[test]
    fn a_state_that_inflates_without_end_is_an_error() {
        let packed = compress(&vec![0; 2 << 20]).unwrap();
        let error = decompress_within(&packed, Limit::bytes(1 << 20)).unwrap_err();
        assert_eq!(error.text, "the state cannot be decompressed: it is larger than 1 MiB");
    }
}
