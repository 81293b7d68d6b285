//! States that stores keep compressed.

use std::io::{Read, Write};

use super::StoreError;

pub fn compress(content: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.map_err(|error| StoreError::new(error.to_string()))
}

pub fn decompress(payload: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut plain = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(payload).read_to_end(&mut plain);
    read.map_err(|error| StoreError::new(format!("the state cannot be decompressed: {error}")))?;
    Ok(plain)
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
}
